import os
from pathlib import Path

import numpy as np
import pytest

from biselect.core import checks
from biselect.core.checks import free_memory
from biselect.errors import InputError
from biselect.tables.readers._columnar import read_parquet


def test_a_table_of_numbers_becomes_read_only_float64():
    table = checks.matrix([[1, 2], [3, 4]])
    assert table.dtype == np.float64 and not table.flags.writeable


def test_single_precision_stays_and_a_frozen_table_is_shared():
    given = np.ones((2, 3), dtype=np.float32)
    given.flags.writeable = False
    assert checks.matrix(given) is given


def test_a_view_of_something_writable_is_copied():
    base = np.ones((2, 3))
    view = base[:]
    view.flags.writeable = False
    table = checks.matrix(view)
    base[0, 0] = 7
    assert table[0, 0] == 1


@pytest.mark.parametrize("given", [[1, 2], [[]], "no", [[1j]], [["a"]], [[1, 2], [3]]])
def test_what_is_no_table_is_refused(given):
    with pytest.raises(InputError, match="the coupling must be a table"):
        checks.matrix(given)


def test_the_first_unusable_value_is_named():
    with pytest.raises(InputError, match=r"2 values that are not finite, the first at \[0, 1\]: nan"):
        checks.matrix([[1, np.nan], [np.inf, 1]])


@pytest.mark.parametrize(
    ("given", "complaint"), [([0, 0], "repeat"), ([3], "within 0..2"), ([-1], "within"), ([0.5], "flat list")]
)
def test_positions_are_distinct_and_in_range(given, complaint):
    with pytest.raises(InputError, match=complaint):
        checks.check_positions("samples", given, 3)


def test_no_positions_are_positions_too():
    assert checks.check_positions("samples", [], 3).tolist() == []


def test_names_must_be_unique_and_as_many_as_items():
    assert checks.names("names", [1, "b"], 2, "rows") == ("1", "b")
    with pytest.raises(InputError, match="'a' stands twice"):
        checks.names("names", ["a", "a"], 2, "rows")
    with pytest.raises(InputError, match="got 1 names"):
        checks.names("names", ["a"], 2, "rows")
    with pytest.raises(InputError, match="list of names"):
        checks.names("names", "ab", 2, "rows")


def test_sums_beyond_all_numbers_are_refused():
    checks.refuse_overflow(4e303, 4e303)
    for parts in ((1e308, 1e308), (5e303, 6e303), (np.inf,), (np.nan,)):
        with pytest.raises(InputError, match="scale them down"):
            checks.refuse_overflow(*parts)


def test_whole_numbers_pass_and_nothing_else_does():
    assert checks.check_integer("n", 3) == 3 and checks.check_integer("n", np.int64(4)) == 4
    for other in (True, 2.0, "3", None, 0):
        with pytest.raises(InputError, match="n must be a whole number of at least 1"):
            checks.check_integer("n", other)


def test_caches_of_files_count_as_free(monkeypatch):
    told = "MemTotal: 64 kB\nMemFree: 1 kB\nMemAvailable:   48 kB\n"
    monkeypatch.setattr(Path, "read_text", lambda self: told)
    assert free_memory() == 48 * 1024


def test_a_system_that_says_nothing_gives_none(monkeypatch):
    def silent(*_):
        raise OSError

    monkeypatch.setattr(Path, "read_text", silent)
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert free_memory() is None


def test_a_table_that_does_not_fit_is_refused_before_it_is_read(tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": [1.0] * 1000}), tmp_path / "t.parquet")
    monkeypatch.setattr("biselect.tables.readers._columnar.free_memory", lambda: 7999)
    with pytest.raises(InputError, match="1,000 rows of 1 columns"):
        read_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr("biselect.tables.readers._columnar.free_memory", lambda: 8000)
    assert read_parquet(tmp_path / "t.parquet").num_rows == 1000
