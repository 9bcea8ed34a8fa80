"""Copies on the disk: gone in the end, and a full disk is said."""

import os

import pyarrow as pa
import pytest

from biselect.core import files
from biselect.errors import InputError
from biselect.large import spool as spooling
from biselect.large.spool import Spool

SCHEMA = pa.schema([("x", pa.int64())])
BLOCK = pa.table({"x": [1, 2]})


def test_a_spool_makes_its_folder_when_needed_and_removes_it(tmp_path):
    with Spool(tmp_path) as spool:
        assert list(tmp_path.iterdir()) == []
        spool.copied("numbers", SCHEMA, [BLOCK])
        assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(KeyboardInterrupt), Spool(tmp_path) as spool:
        spool.copied("numbers", SCHEMA, [BLOCK])
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_swept_away_and_what_is_in_use_stays(tmp_path):
    (tmp_path / f"{files.TEMPORARY}dead").mkdir()
    os.utime(tmp_path / f"{files.TEMPORARY}dead", (0, 0))
    with Spool(tmp_path) as living, Spool(tmp_path) as other:
        living.copied("numbers", SCHEMA, [BLOCK])
        os.utime(next(tmp_path.iterdir()), (0, 0))
        other.copied("numbers", SCHEMA, [BLOCK])
        assert len(list(tmp_path.iterdir())) == 2 and not (tmp_path / f"{files.TEMPORARY}dead").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_device_that_is_full_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(spooling, "temporary_file", lambda path: open("/dev/full", "wb"))
    said = rf"^{tmp_path}: is full: no room for a copy of about 3.0 GiB of day.csv, .* set TMPDIR to a folder"
    with Spool(tmp_path) as spool, pytest.raises(InputError, match=said):
        spool.copied("day.csv", SCHEMA, [BLOCK], needed=3 << 30)


def test_a_folder_that_takes_no_files_is_said(tmp_path):
    with Spool(tmp_path / "absent") as spool, pytest.raises(InputError, match="absent: cannot write there"):
        spool.copied("numbers", SCHEMA, [BLOCK])


def test_an_empty_table_is_refused(tmp_path):
    with Spool(tmp_path) as spool, pytest.raises(InputError, match="numbers: the table has columns but no rows"):
        spool.copied("numbers", SCHEMA, [])
