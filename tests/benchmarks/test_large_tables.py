"""A table that is computed from positions: the same rows however it is read, and what is planted is there."""

import importlib.util
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks._large_tables import CHUNK, SHAPES, LargeTable
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.errors import InputError

SCRIPT = Path(__file__).parents[2] / "scripts" / "large_tables.py"


def table(shape="planted", role="pool", rows=2 * CHUNK + 100, **options):
    return LargeTable(shape=shape, role=role, rows=rows, seed=3, **{"columns": 10, "k": 6, "m": 3, **options})


def cells(rows):
    return np.array([rows[name].to_numpy() for name in rows.column_names[2:]])


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(SHAPES), st.lists(st.integers(0, 2 * CHUNK + 100), max_size=3))
def test_rows_do_not_depend_on_where_a_reading_begins(shape, cuts):
    of = table(shape)
    ends = [0, *sorted(cuts), of.rows]
    pieces = [block for a, b in pairwise(ends) for block in of.read(a, b - a)]
    assert pa.concat_tables(pieces).equals(pa.concat_tables(of.read(0, of.rows)))


def test_the_script_writes_the_same_table_in_any_files(tmp_path, monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("large_tables_script", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for name, cut in (("whole", ["--files", "1"]), ("cut", ["--files", "3", "--group", "7000", "--workers", "2"])):
        shape = ["card-like", str(tmp_path / name), "--rows", "40000", "--reference-rows", "500"]
        monkeypatch.setattr("sys.argv", ["large_tables.py", *shape, "--columns", "5", *cut])
        script.main()
    assert "40,000 rows, 3 files" in capsys.readouterr().out
    for role in ("reference", "pool"):
        assert len(list((tmp_path / "cut" / role).iterdir())) == 3
        assert pq.read_table(tmp_path / "whole" / role).equals(pq.read_table(tmp_path / "cut" / role))


@pytest.mark.parametrize(("shape", "width"), [("planted", 3), ("twice-wide", 6)])
def test_planted_rows_stand_out_in_planted_columns_alone(shape, width):
    of = table(shape)
    assert of.planted_rows.size == 6 and of.planted_columns.size == width
    found = cells(pa.concat_tables(of.read(0, of.rows)))
    ranks = found.argsort(axis=1).argsort(axis=1)[:, of.planted_rows]
    out = np.abs(2 * ranks / of.rows - 1) > 0.999
    assert out[of.planted_columns].all()
    assert out[np.setdiff1d(np.arange(10), of.planted_columns)].mean() < 0.1
    assert of.unusual(np.arange(of.rows)).sum() == 6
    assert table(shape, "reference").planted_rows.size == 0


def test_card_like_pools_have_frauds_and_their_reference_has_none():
    of, clean = table("card-like"), table("card-like", "reference")
    share = of.unusual(np.arange(of.rows)).mean()
    assert 0.001 < share < 0.0025
    assert not clean.unusual(np.arange(100)).any()


def test_what_makes_no_table_is_refused():
    for options in ({"shape": "round"}, {"role": "both"}, {"k": 0}, {"m": 11}, {"shape": "twice-wide", "m": 6}):
        with pytest.raises(InputError):
            table(**options)
    with pytest.raises(InputError, match="the table has 50"):
        list(table(rows=50).read(10, 60))
