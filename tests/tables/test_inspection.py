import json
import shlex
from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.options import Kinds, Search
from biselect.pages import render_inspection
from biselect.tables.inspection import options_with, parts_of, role_of


def frame(rows=120):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": [f"r{i}" for i in range(rows)],
            "when": pd.date_range("2026-01-01", periods=rows, freq="h"),
            "x": rng.normal(size=rows),
            "y": rng.normal(size=rows),
            "z": rng.choice(["a", "b"], rows),
        }
    )


def review_as(source, options):
    table = bs.table(source, columns=options.columns, csv=options.csv)
    quick = {"kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0))}
    return bs.review(table, split=options.split, **quick)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_are_looked_at_too_and_options_go_to_review(make):
    table = make(frame().to_dict("list"))
    found = bs.inspect(table)
    assert [column.role for column in found.columns] == ["id", "time", "number", "number", "category"]
    assert found.reading is None and found.form == {}
    review = review_as(table, found.options)
    assert (review.problem.k, review.problem.m) == (9, 2), "of 48 rows and three columns, as nobody said"
    assert "TABLE.csv" in found.command() and "<table>" in found._repr_html_()


def test_everything_is_plain_data(tmp_path):
    frame().to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    found = bs.inspect(str(tmp_path / "t.csv"))
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["form"] == {"encoding": "utf-8", "between values": "semicolon", "decimals after a": "comma"}
    assert told["options"]["columns"]["time"] == "when" and told["command"] == found.command()
    assert render_inspection(found.to_dict()).count("<tr>") == 6


def test_words_among_numbers_and_columns_without_use_are_taken_care_of(tmp_path):
    table = frame()
    table["odd"] = ["off" if i % 30 == 2 else f"{i}.5" for i in range(len(table))]
    table["worse"] = [f"word {i}" if i % 3 == 1 else f"{i}.5" for i in range(len(table))]
    table["empty"] = ""
    for name in ("first, of two", "second", "third"):
        table[name] = [f"{name} text {i}" for i in range(len(table))]
    table["Class"] = ["declined" if i % 12 == 0 else "settled" for i in range(len(table))]
    table.to_csv(tmp_path / "t.csv", index=False)
    found = bs.inspect(tmp_path / "t.csv")
    options = found.options
    assert options.csv.na_values == ["off"] and options.columns.label == "Class=declined"
    assert options.columns.show == ["first, of two", "second"]
    assert set(options.columns.exclude) == {"third", "empty", "worse"}
    parts = shlex.split(found.command())
    assert [parts[at + 1] for at, part in enumerate(parts) if part == "--show"] == ["second", "first, of two"]
    review_as(tmp_path / "t.csv", options)


def test_other_roles_become_options():
    import pyarrow as pa

    rows = 40
    table = pa.table(
        {
            "id": [f"r{i}" for i in range(rows)],
            "amount": [float(i * 7 % 13) for i in range(rows)],
            "mcc": [5411 + i % 3 for i in range(rows)],
            "currency": ["EUR"] * rows,
            "one": [1.0] * rows,
            "fraud": [int(i == 3) for i in range(rows)],
            "day": list(range(rows)),
        }
    )
    found = bs.inspect(table)
    roles = {column.name: role_of(column, found.options) for column in found.columns}
    assert roles == {
        **{"id": "id", "amount": "number", "mcc": "category", "currency": "category", "one": "number"},
        **{"fraud": "label", "day": "time"},
    }
    assert options_with(found, {}) == found.options  # nothing changed, nothing said
    told = options_with(found, {"mcc": "number", "id": "show", "fraud": "leave out", "day": "number"}).columns
    assert told.types == {"mcc": "number"} and told.show == ["id"] and told.exclude == ["fraud"]
    assert told.id is told.label is told.time is None
    with pytest.raises(InputError, match="only one column can be the id"):
        options_with(found, {"amount": "id"})
    with pytest.raises(InputError, match="no column 'x'"):
        options_with(found, {"x": "id"})
    with pytest.raises(InputError, match="got 'y'"):
        options_with(found, {"id": "y"})


def test_dates_can_be_shown_or_take_part_with_what_they_have():
    import pyarrow as pa

    hours = pa.array([datetime(2026, 3, 1 + i // 24, i % 24, 5) for i in range(40)])
    days = pa.array([datetime(2026, 3, 1 + i % 9) for i in range(40)])
    found = bs.inspect(pa.table({"paid": hours, "seen": days, "amount": [float(i * 7 % 13) for i in range(40)]}))
    assert [parts_of(column) for column in found.columns] == [("hour", "weekday", "gap"), ("weekday", "gap"), ()]
    told = options_with(found, {"seen": "show", "paid": "leave out"}, {"paid": ["hour", "gap"], "seen": []}).columns
    assert (told.show, told.types) == (["seen"], {"paid": "date:hour,gap"}) and not told.exclude
    with pytest.raises(InputError, match="'seen' has no hour"):
        options_with(found, {}, {"seen": ["hour"]})
