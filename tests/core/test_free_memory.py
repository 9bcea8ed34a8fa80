import os
from pathlib import Path

import pytest

from biselect.core.free_memory import free_memory
from biselect.data.readers.columnar import read_parquet
from biselect.errors import InputError


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
    monkeypatch.setattr("biselect.data.readers.columnar.free_memory", lambda: 7999)
    with pytest.raises(InputError, match="1,000 rows of 1 columns"):
        read_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr("biselect.data.readers.columnar.free_memory", lambda: 8000)
    assert read_parquet(tmp_path / "t.parquet").num_rows == 1000
