import json
import shlex

import numpy as np
import pandas as pd
import polars as pl
import pytest

import biselect as bs
from biselect.errors import InputError


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


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_are_looked_at_too_and_options_go_to_review(make):
    table = make(frame().to_dict("list"))
    found = bs.inspect(table)
    assert [column.role for column in found.columns] == ["id", "time", "number", "number", "category"]
    assert found.reading is None and found.form == {}
    review = bs.review(table, **found.options, kinds=1, neighbours=(0, 0))
    assert review.selection.samples.size == found.options["k"] == 4
    assert "TABLE.csv" in found.command() and "<table>" in found._repr_html_()


def test_everything_is_plain_data(tmp_path):
    frame().to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    found = bs.inspect(str(tmp_path / "t.csv"))
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["form"] == {"encoding": "utf-8", "between values": "semicolon", "decimals after a": "comma"}
    assert told["options"]["time_column"] == "when" and told["command"] == found.command()
    assert found.to_html().count("<tr>") == 6
    with pytest.raises(InputError, match="separator= is not known here"):
        bs.inspect(tmp_path / "t.csv", separator=";")


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
    assert found.options["na_values"] == ["off"] and found.options["label_column"] == "Class=declined"
    assert found.options["show"] == ["first, of two", "second"]
    assert set(found.options["exclude"]) == {"third", "empty", "worse"}
    parts = shlex.split(found.command())
    assert [parts[at + 1] for at, part in enumerate(parts) if part == "--show"] == ["second", "first, of two"]
    bs.review(tmp_path / "t.csv", **found.options, kinds=1, neighbours=(0, 0))
