import json
import shlex
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.options import Columns
from biselect.pages import render_inspection


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
def test_frames_are_looked_at_too(make):
    table = bs.inspect(make(frame().to_dict("list")))
    assert table.roles == {"id": "id", "when": "time", "x": "number", "y": "number", "z": "category"}
    assert "TABLE.csv" in str(table) and "<pre>120 rows" in table._repr_html_()
    assert str(table).splitlines()[0] == "120 rows, 5 columns"


def test_everything_is_plain_data(tmp_path):
    frame().to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    table = bs.inspect(str(tmp_path / "t.csv"))
    told = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert told["read_as"] == ["';' between values", "decimal comma in 'x', 'y'"]
    assert told["options"]["columns"]["time"] == "when"
    assert shlex.split(told["command"])[:3] == ["biselect", "select", str(tmp_path / "t.csv")]
    assert all(column["way_out"] for column in told["columns"])
    assert render_inspection(told).count("<tr>") == 6


def test_roles_can_be_changed_and_a_review_takes_them():
    table = bs.inspect(frame())
    other = table.with_roles({"z": "show"}, id="exclude", x="category")
    assert table.columns == Columns()  # which stays as it is
    assert other.columns == Columns(show=["z"], exclude=["id"], types={"x": "category"})
    assert other.roles["x"] == "category" and other.roles["id"] == "left out"
    assert other.with_roles(id="id").columns.id == "id" and other.with_roles(id="id").columns.exclude == []
    assert table.with_roles(z="label:b").columns.label == "z=b"
    with pytest.raises(InputError, match="only one column can be the id; got 'id' and 'z'"):
        replace(table, columns=Columns(id="id")).with_roles(z="id")
    with pytest.raises(InputError, match="a column is number, category, date or parts of it"):
        bs.review(table.with_roles(z="colour"), frame(), k=1, m=1)


def test_columns_without_use_are_left_out_and_said():
    table = frame()
    table["empty"] = None
    table["nested"] = [[1]] * len(table)
    for name in ("first, of two", "second", "third"):
        table[name] = [f"{name} text {i}" for i in range(len(table))]
    found = bs.inspect(table).guess
    assert found.described.show == ["when", "first, of two", "second"]
    assert set(found.described.exclude) == {"third", "empty", "nested"}
    assert any("'nested': its cells hold lists" in text for text, _ in found.notes)
