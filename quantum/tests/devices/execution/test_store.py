"""A run's store: one process at a time, whole records only, and nothing that was changed is believed."""

import json
import os
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from biselect.core.untrusted import seal
from biselect.errors import InputError
from biselect_quantum.devices.circuit_files import NEEDED
from biselect_quantum.devices.execution.exact_shots import SectorSampling
from biselect_quantum.devices.execution.run import NAME, load_run
from biselect_quantum.devices.execution.runner import execute
from biselect_quantum.devices.execution.samplers import RawShots
from biselect_quantum.devices.execution.store import RESULTS, BusyError, RunStore, locked


def write(folder, texts, table="measurements"):
    """Records as given, whatever they are."""
    with locked(folder) as database:
        database.executemany(f"INSERT INTO {table} (record) VALUES (?)", [(text,) for text in texts])


@given(st.integers(0, 1 << 20), st.binary(max_size=40), st.booleans())
@example(4079, b"\x80", False)  # in the schema, where text must be UTF-8
@settings(max_examples=40)
def test_a_damaged_file_gives_the_same_records_or_one_clear_error(whole, records, tmp_path_factory, place, noise, cut):
    """Cut off or overwritten anywhere."""
    full = (whole.folder / RESULTS).read_bytes()
    folder = tmp_path_factory.mktemp("damaged")
    for name in (NAME, *NEEDED):
        shutil.copy(whole.folder / name, folder)
    place %= len(full) + 1
    (folder / RESULTS).write_bytes(full[:place] + noise + (b"" if cut else full[place + len(noise) :]))
    try:
        execute(load_run(folder), SectorSampling())
    except InputError as error:
        assert RESULTS in str(error)
    else:
        assert records(folder) == records(whole.folder)


def test_what_was_not_committed_is_rolled_back(whole, fixed, records, tmp_path):
    """The journal of a process that died while it wrote, beside a half-written file."""
    run = fixed(tmp_path)
    shutil.copy(whole.folder / RESULTS, tmp_path)
    with closing(sqlite3.connect(tmp_path / RESULTS, isolation_level=None)) as database:
        database.execute("PRAGMA cache_size = 1")  # spills into the file before the commit
        database.execute("BEGIN IMMEDIATE")
        database.executemany("INSERT INTO measurements (record) VALUES (?)", [("x" * 5000,)] * 50)
        for name in (RESULTS, f"{RESULTS}-journal"):
            shutil.copy(tmp_path / name, tmp_path / f"{name}.died")
        database.execute("ROLLBACK")
    for name in (RESULTS, f"{RESULTS}-journal"):
        os.replace(tmp_path / f"{name}.died", tmp_path / name)
    assert (tmp_path / RESULTS).stat().st_size > (whole.folder / RESULTS).stat().st_size
    with RunStore.open(run) as store:
        assert len(store.readouts()) == 3
    assert records(tmp_path) == records(whole.folder)


@pytest.mark.parametrize("text", ["{}", "[]", "x", "[" * 200_000, None, json.dumps({"hash": 1}), '{"a": NaN}'])
@pytest.mark.parametrize("table", ["measurements", "jobs"])
def test_a_record_that_is_none_is_refused(fixed, tmp_path, text, table):
    run = fixed(tmp_path)
    write(tmp_path, [text], table)
    with pytest.raises(InputError, match=f"record 1 of {table}"), RunStore.open(run) as store:
        store.readouts(), store.jobs()


def test_a_changed_record_is_refused(whole, fixed, records, tmp_path):
    run = fixed(tmp_path)
    first, *others = map(json.dumps, records(whole.folder))
    write(tmp_path, [first.replace('"counts": [', '"counts": [1'), *others])
    with pytest.raises(InputError, match="record 1 of measurements: was changed"):
        execute(run, SectorSampling())


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(measurement=1),
        lambda record: record.update(seed=0),
        lambda record: record.update(asked=41),
        lambda record: record.update(counts=[count + 1 for count in record["counts"]]),
        lambda record: record.update(counts=[-count for count in record["counts"]]),
        lambda record: record.update(width=10),
        lambda record: record.pop("bits"),
    ],
)
def test_a_record_that_the_manifest_did_not_ask_for_is_refused(whole, fixed, records, tmp_path, change):
    """Its hash may be right: it does not say who wrote it."""
    run = fixed(tmp_path)
    record = records(whole.folder)[0]
    change(record)
    write(tmp_path, [json.dumps(seal(record))])
    with pytest.raises(InputError, match="record 1 does not belong to the run"):
        execute(run, SectorSampling())


def test_a_missing_repeat_and_one_too_many_are_refused(whole, fixed, records, tmp_path):
    found = records(whole.folder)
    write((run := fixed(tmp_path / "a")).folder, map(json.dumps, found[1:]))
    with pytest.raises(InputError, match="differs from the manifest in measurement"):
        execute(run, SectorSampling())
    write((run := fixed(tmp_path / "b")).folder, map(json.dumps, [*found, seal({**found[-1], "measurement": 3})]))
    with pytest.raises(InputError, match="3 measurements only"):
        execute(run, SectorSampling())


def test_shots_of_another_width_are_not_kept(fixed, records, tmp_path):
    class Narrow(SectorSampling):
        def sample(self, compiled, shots, seed):
            return RawShots.of(np.zeros((shots, 5), dtype=int))

    with pytest.raises(InputError, match="5 classical bits, the circuit has 9"):
        execute(fixed(tmp_path), Narrow())
    assert not records(tmp_path)


def test_records_of_another_manifest_are_refused(whole, fixed, tmp_path):
    run = fixed(tmp_path, seed=2)
    shutil.copy(whole.folder / RESULTS, tmp_path)
    with pytest.raises(InputError, match="another manifest"):
        execute(run, SectorSampling())


def test_two_processes_do_not_share_a_run(fixed, tmp_path):
    run = fixed(tmp_path)
    with locked(run.folder), pytest.raises(BusyError, match="another process"):
        execute(run, SectorSampling())
    assert len(execute(run, SectorSampling())) == 3  # the lock is gone with who held it


def test_a_file_that_is_no_database_is_one_clear_error(fixed, tmp_path):
    run = fixed(tmp_path)
    for harm in (lambda path: path.write_text("{}\n" * 2000), lambda path: (path.unlink(), path.mkdir())):
        harm(tmp_path / RESULTS)
        with pytest.raises(InputError, match=rf"{RESULTS}: is damaged or cannot be read"):
            execute(run, SectorSampling())
