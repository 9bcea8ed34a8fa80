"""A run can be killed anywhere and taken up again with the same bytes; changed files are refused."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.errors import InputError
from biselect.hardware.execute.findings import outcome
from biselect.hardware.execute.manifest import NAME, freeze, load_run, plan, repeat_seed
from biselect.hardware.execute.readout import Readout
from biselect.hardware.execute.runner import execute
from biselect.hardware.execute.samplers import SectorSampling
from biselect.hardware.execute.store import RESULTS, BusyError, RunStore, _sealed, locked
from biselect.qaoa.thresholds import Threshold


@pytest.fixture(scope="session")
def whole(stored, circuit_folder, tmp_path_factory):
    """An uninterrupted run of three repeats."""
    asked = plan(stored, "sector", shots=40, repeats=3, seed=1)
    run = freeze(stored, circuit_folder, tmp_path_factory.mktemp("whole"), asked)
    execute(run, SectorSampling())
    return run


def test_a_run_is_fixed_before_its_first_shot(whole, stored, problem):
    content = json.loads((whole.folder / NAME).read_text())
    assert content["circuit"] == stored.manifest
    assert {"problem_hash", "target", "patch", "layout", "placement", "mask", "angles"} <= set(content["circuit"])
    assert content["seeds"] == [repeat_seed(1, repeat) for repeat in range(3)]
    assert content["threshold"]["problem_hash"] == problem.digest
    assert content["threshold"]["pool"] == "solver auto"
    assert content["references"]["dense"]["proven_optimal"]
    assert content["versions"]["qiskit"]


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_a_file_torn_anywhere_is_repaired_to_the_same_bytes(whole, tmp_path_factory, data):
    full = (whole.folder / RESULTS).read_bytes()
    folder = tmp_path_factory.mktemp("torn")
    for name in (NAME, "circuit.qpy", "problem.npz"):
        (folder / name).write_bytes((whole.folder / name).read_bytes())
    torn = full[: data.draw(st.integers(0, len(full)))] + data.draw(st.sampled_from([b"", b"\0\0\0", b'{"rep']))
    (folder / RESULTS).write_bytes(torn)
    execute(load_run(folder), SectorSampling())
    assert (folder / RESULTS).read_bytes() == full


def test_a_record_changed_in_the_middle_is_refused(whole, fixed, tmp_path):
    run = fixed(tmp_path)
    lines = (whole.folder / RESULTS).read_bytes().splitlines(keepends=True)
    changed = lines[0].replace(b'"counts":[', b'"counts":[1')
    (tmp_path / RESULTS).write_bytes(changed + lines[1])
    with pytest.raises(InputError, match="record 1 is broken"):
        execute(run, SectorSampling())
    (tmp_path / RESULTS).write_bytes(lines[1] + lines[2])
    with pytest.raises(InputError, match="repeat 0 is missing"):
        execute(run, SectorSampling())


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(seed=0),
        lambda record: record.update(asked=41),
        lambda record: record.update(counts=[count + 1 for count in record["counts"]]),
        lambda record: record.update(counts=[-count for count in record["counts"]]),
        lambda record: record.update(width=10),
        lambda record: record.pop("bits"),
    ],
)
def test_a_record_that_the_manifest_did_not_ask_for_is_refused(whole, fixed, tmp_path, change):
    """Its checksum may be right: it does not say who wrote it."""
    run = fixed(tmp_path)
    record = json.loads((whole.folder / RESULTS).read_text().splitlines()[0])
    del record["check"]
    change(record)
    (tmp_path / RESULTS).write_bytes(_sealed(record))
    with pytest.raises(InputError, match="record 1 does not belong to the run"):
        execute(run, SectorSampling())


def test_more_repeats_than_the_manifest_has_are_refused(whole, fixed, tmp_path):
    run = fixed(tmp_path)
    lines = (whole.folder / RESULTS).read_bytes().splitlines(keepends=True)
    record = json.loads(lines[-1])
    del record["check"]
    (tmp_path / RESULTS).write_bytes(b"".join([*lines, _sealed({**record, "repeat": 3})]))
    with pytest.raises(InputError, match="3 repeats only"):
        execute(run, SectorSampling())


def test_shots_of_another_width_are_not_kept(fixed, tmp_path):
    class Narrow(SectorSampling):
        def sample(self, compiled, shots, seed):
            return Readout.of(np.zeros((shots, 5), dtype=int))

    with pytest.raises(InputError, match="5 classical bits, the circuit has 9"):
        execute(fixed(tmp_path), Narrow())
    assert not (tmp_path / RESULTS).exists()


def test_records_of_another_manifest_are_refused(whole, fixed, tmp_path):
    run = fixed(tmp_path, seed=2)
    (tmp_path / RESULTS).write_bytes((whole.folder / RESULTS).read_bytes())
    with pytest.raises(InputError, match="another manifest"):
        execute(run, SectorSampling())


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(shots=1),
        lambda content: content["seeds"].reverse(),
        lambda content: content["threshold"].update(value=0.0),
        lambda content: content["circuit"]["layout"]["clbits"].reverse(),
        lambda content: content["circuit"]["placement"]["samples"].reverse(),
        lambda content: content.pop("hash"),
    ],
)
def test_a_tampered_manifest_is_refused(fixed, tmp_path, change):
    fixed(tmp_path)
    content = json.loads((tmp_path / NAME).read_text())
    change(content)
    (tmp_path / NAME).write_text(json.dumps(content))
    with pytest.raises(InputError, match="hash does not match"):
        load_run(tmp_path)


@pytest.mark.parametrize("name", ["circuit.qpy", "problem.npz"])
def test_a_changed_file_of_the_circuit_is_refused(fixed, tmp_path, name):
    fixed(tmp_path)
    content = bytearray((tmp_path / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name}: was changed"):
        load_run(tmp_path)


def test_a_folder_holds_one_run_only(fixed, tmp_path):
    first = fixed(tmp_path)
    assert fixed(tmp_path).hash == first.hash
    with pytest.raises(InputError, match="differs in shots"):
        fixed(tmp_path, shots=41)


def test_files_that_were_there_before_are_not_touched(fixed, tmp_path):
    mine = tmp_path / "problem.npz"
    mine.write_bytes(b"mine")
    with pytest.raises(InputError, match=r"problem\.npz: is there already"):
        fixed(tmp_path)
    assert mine.read_bytes() == b"mine" and not (tmp_path / NAME).exists()
    mine.unlink()
    assert fixed(tmp_path).shots == 40  # what the first attempt left behind is the run's own


def test_a_folder_is_fixed_by_one_process_at_a_time(fixed, tmp_path):
    with locked(tmp_path), pytest.raises(BusyError, match="another process"):
        fixed(tmp_path)
    assert not (tmp_path / NAME).exists()


def test_who_comes_second_gets_the_run_that_is_fixed(fixed, tmp_path, monkeypatch):
    """Both saw an empty folder; the first one's files stay as they are."""
    from biselect.hardware.execute import manifest

    found = []
    solve = manifest.solve

    def overtaken(*arguments, **options):
        if not found:
            found.append(None)
            found.append(fixed(tmp_path))
        return solve(*arguments, **options)

    monkeypatch.setattr(manifest, "solve", overtaken)
    with pytest.raises(InputError, match="differs in shots"):
        fixed(tmp_path, shots=41)
    assert load_run(tmp_path).hash == found[1].hash


def test_a_run_is_done_by_whom_it_was_fixed_for(fixed, tmp_path):
    with pytest.raises(InputError, match="fixed for wide"):
        execute(fixed(tmp_path, "wide"), SectorSampling())


def test_a_threshold_of_another_problem_is_refused(fixed, tmp_path):
    with pytest.raises(InputError, match="belongs to problem"):
        fixed(tmp_path, threshold=Threshold(problem_hash="0" * 64, value=-1.0, pool="elsewhere"))


def test_two_processes_do_not_share_a_run(fixed, tmp_path):
    run = fixed(tmp_path)
    with locked(run.folder), pytest.raises(BusyError, match="another process"):
        execute(run, SectorSampling())
    assert len(execute(run, SectorSampling())) == 3  # the lock is gone with who held it


SLOW_RUN = """
import sys, time
from pathlib import Path
from biselect.hardware.execute.manifest import load_run
from biselect.hardware.execute.runner import execute
from biselect.hardware.execute.samplers import SectorSampling

class Slow(SectorSampling):
    def sample(self, compiled, shots, seed):
        print("begun", flush=True)
        time.sleep(0.3)
        return super().sample(compiled, shots, seed)

execute(load_run(Path(sys.argv[1])), Slow())
"""


def test_a_killed_process_loses_only_the_repeat_it_was_at(whole, fixed, tmp_path):
    fixed(tmp_path)
    rivals = [
        subprocess.Popen(
            [sys.executable, "-c", SLOW_RUN, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    deadline = time.monotonic() + 120
    while not (tmp_path / RESULTS).exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    for rival in rivals:
        if rival.poll() is None:
            os.kill(rival.pid, signal.SIGKILL)
    errors = b"".join(rival.communicate()[1] for rival in rivals)
    kept = (tmp_path / RESULTS).read_bytes()
    full = (whole.folder / RESULTS).read_bytes()
    assert full.startswith(kept) and kept
    assert errors.count(b"BusyError: ") <= 1  # one of the two held the run, if the other came to ask
    execute(load_run(tmp_path), SectorSampling())
    assert (tmp_path / RESULTS).read_bytes() == full


def test_an_analysis_can_be_had_again_from_the_files(whole):
    again = load_run(whole.folder)
    readouts = RunStore(again).readouts()
    found = outcome(again, readouts)
    assert found.kind == "exact simulation, not hardware"
    assert found.strict.feasible == found.strict.shots == 120
    assert found.to_dict() == outcome(whole, execute(whole, SectorSampling())).to_dict()


@given(st.integers(1, 70), st.integers(1, 30), st.integers(0, 1 << 30))
@settings(max_examples=30, deadline=None)
def test_readouts_survive_their_file_form(width, shots, seed):
    table = np.random.default_rng(seed).integers(2, size=(shots, width))
    readout = Readout.of(table)
    again = Readout.from_dict(json.loads(json.dumps(readout.to_dict())))
    assert np.array_equal(again.bits, readout.bits) and np.array_equal(again.counts, readout.counts)
    everyone = np.repeat(again.bits, again.counts, axis=0)
    assert sorted(map(tuple, everyone.tolist())) == sorted(map(tuple, table.tolist()))
