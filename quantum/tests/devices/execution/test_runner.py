"""Paid shots survive: queues, time-outs, failed and partial jobs, lost connections before and after handing in."""

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from biselect.errors import InputError
from biselect_quantum.devices.execution.exact_shots import SectorSampling
from biselect_quantum.devices.execution.outcomes import outcome
from biselect_quantum.devices.execution.remote import (
    ConnectionLostError,
    JobFailedError,
    ServiceError,
    StillWaitingError,
    UnknownJobStateError,
)
from biselect_quantum.devices.execution.run import load_run
from biselect_quantum.devices.execution.runner import execute, progress
from biselect_quantum.devices.execution.store import RESULTS

ON = "ibm:answering"


@pytest.fixture
def events(records):
    return lambda folder: [(tuple(record["measurements"]), record["event"]) for record in records(folder, "jobs")]


@pytest.fixture(scope="module")
def known():
    return []


@pytest.fixture
def uninterrupted(fixed, service, records, known):
    """The records of a run of which nothing was lost; run once, for all tests hold theirs against the same."""

    def run(folder):
        if not known:
            execute(fixed(folder, ON), service().sampling())
            known.extend(records(folder))
        return known

    return run


def test_every_repeat_is_a_job_whose_id_is_kept_before_anyone_waits(
    fixed, service, records, events, uninterrupted, tmp_path
):
    busy = service(["queued"])
    with pytest.raises(StillWaitingError, match="job-0"):
        execute(fixed(tmp_path / "run", ON), busy.sampling(), wait=0.0)
    assert events(tmp_path / "run") == [((r,), e) for r in range(3) for e in ("submitting", "submitted")]
    busy.finish()
    assert len(execute(fixed(tmp_path / "run", ON), busy.sampling())) == 3
    assert busy.submissions == 3
    assert records(tmp_path / "run") == uninterrupted(tmp_path / "other")


@pytest.mark.parametrize("fate", ["lost-after", "lost-before", "lost-while-waiting", "gateway"])
@pytest.mark.parametrize("place", [pytest.param(0, marks=pytest.mark.slow), 2])
def test_a_lost_connection_loses_and_repeats_nothing(fixed, service, records, uninterrupted, tmp_path, fate, place):
    shaky = service([*["done"] * place, fate])
    with pytest.raises(ConnectionLostError):
        execute(fixed(tmp_path / "run", ON), shaky.sampling())
    execute(fixed(tmp_path / "run", ON), shaky.sampling())
    assert len(shaky.queue) == 3  # no job was paid for twice
    assert records(tmp_path / "run") == uninterrupted(tmp_path / "other")


def test_the_calibration_of_the_moment_is_kept(fixed, service, records, tmp_path):
    said = []
    execute(fixed(tmp_path, ON), service().sampling(), say=said.append)
    (kept,) = tmp_path.glob("calibration-*.json")
    content = json.loads(kept.read_text())
    submitted = [record for record in records(tmp_path, "jobs") if "job" in record]
    assert {record["calibration"] for record in submitted} == {content["hash"]}
    assert any("not the one the circuit was compiled for" in line for line in said)


def test_a_torn_calibration_is_written_again(fixed, service, tmp_path):
    unlucky = service(["failed"])
    with pytest.raises(JobFailedError):
        execute(fixed(tmp_path, ON), unlucky.sampling())
    (kept,) = tmp_path.glob("calibration-*.json")
    whole = kept.read_bytes()
    kept.write_bytes(whole[:20])
    execute(fixed(tmp_path, ON), unlucky.sampling())
    assert kept.read_bytes() == whole


@pytest.mark.parametrize("fate", ["failed", "too-long", "cancelled"])
def test_a_failed_job_is_submitted_anew_and_the_others_are_kept(fixed, service, records, tmp_path, fate):
    unlucky = service(["done", fate])
    run = fixed(tmp_path, ON)
    with pytest.raises(JobFailedError, match="repeat 2: job job-1 failed"):
        execute(run, unlucky.sampling())
    assert len(records(tmp_path)) == 1
    assert len(execute(run, unlucky.sampling())) == 3
    assert [job["id"] for job in unlucky.queue] == [f"job-{number}" for number in range(4)]


@pytest.mark.parametrize("fate", ["gone", "narrow"])
def test_a_job_that_never_gives_its_shots_is_handed_in_again_only_when_told_to(fixed, service, records, tmp_path, fate):
    odd = service(["done", fate])
    run = fixed(tmp_path, ON)
    for _ in range(2):
        with pytest.raises(UnknownJobStateError, match=r"repeat 2: job job-1 gives no shots: .*resubmit=True"):
            execute(run, odd.sampling())
    assert len(records(tmp_path)) == 1 and odd.submissions == 3
    assert len(execute(run, odd.sampling(), resubmit=True)) == 3
    assert odd.submissions == 4


def test_a_job_without_shots_has_failed_and_is_submitted_anew(fixed, service, tmp_path):
    odd = service(["empty"])
    run = fixed(tmp_path, ON)
    with pytest.raises(JobFailedError, match="job-0 ended without shots"):
        execute(run, odd.sampling())
    assert len(execute(run, odd.sampling())) == 3


def test_a_refused_circuit_is_said_and_can_be_tried_again(fixed, service, events, tmp_path):
    strict = service(["refused"])
    with pytest.raises(ServiceError, match="not accepted"):
        execute(fixed(tmp_path, ON), strict.sampling())
    assert events(tmp_path)[-1] == ((0,), "refused")
    assert len(execute(fixed(tmp_path, ON), strict.sampling())) == 3


def test_a_partial_result_is_kept_and_counted_as_what_it_is(fixed, service, tmp_path):
    said = []
    run = fixed(tmp_path, ON)
    readouts = execute(run, service(["done", "partial"]).sampling(), say=said.append)
    assert [readout.shots for readout in readouts] == [40, 20, 40]
    assert any("20 shots of 40" in line for line in said)
    assert outcome(run, readouts).strict.shots == 100


def test_a_job_whose_id_was_not_yet_written_is_found_again(fixed, service, tmp_path):
    """Killed after the last job was handed in, before its id was on disk."""
    busy = service(["queued"])
    with pytest.raises(StillWaitingError):
        execute(fixed(tmp_path, ON), busy.sampling(), wait=0.0)
    busy.finish()
    with closing(sqlite3.connect(tmp_path / RESULTS)) as database, database:
        database.execute("DELETE FROM jobs WHERE number = (SELECT max(number) FROM jobs)")
    assert len(execute(fixed(tmp_path, ON), busy.sampling())) == 3
    assert busy.submissions == 3


def test_progress_counts_what_is_done_and_what_is_handed_in(fixed, service, tmp_path):
    busy = service(["done", "queued"])
    run = fixed(tmp_path, ON)
    assert progress(run) == (0, 0)
    with pytest.raises(StillWaitingError):
        execute(run, busy.sampling(), wait=0.0)
    assert progress(run) == (1, 2)


def test_equal_runs_in_two_folders_do_not_take_each_others_jobs(fixed, service, tmp_path):
    shared = service(["done", "done", "done", "lost-before"])
    first = fixed(tmp_path / "a", ON)
    execute(first, shared.sampling())
    second = fixed(tmp_path / "b", ON)
    assert first.hash == second.hash
    with pytest.raises(ConnectionLostError):
        execute(second, shared.sampling())
    execute(second, shared.sampling())
    assert len(shared.queue) == 6


def test_a_run_is_done_by_whom_it_was_fixed_for(fixed, tmp_path):
    with pytest.raises(InputError, match="fixed for wide"):
        execute(fixed(tmp_path, "wide"), SectorSampling())


HAND_IN = """
import sys, time
from pathlib import Path
from biselect_quantum.devices.execution.run import load_run
from biselect_quantum.devices.execution.remote import Service, ServiceError
from biselect_quantum.devices.execution.runner import execute
from biselect_quantum.devices.execution.exact_shots import SectorSampling

class Slow(Service):
    name, _backend, most_circuits = "ibm:answering", None, 1
    def snapshot(self):
        return {"hash": "0" * 64}
    def find(self, tag):
        return None
    def _meaning(self, error):
        return ServiceError
    def _run(self, circuits, shots, tag):
        job = Path(sys.argv[2]) / tag
        job.touch(exist_ok=False)
        time.sleep(0.2)
        return type("Job", (), {"job_id": lambda self: tag})()
    def _measured(self, job, circuits, wait):
        return [[[0] * 9] * 40 for _ in circuits]

execute(load_run(Path(sys.argv[1])), Slow())
"""


def test_two_processes_at_once_hand_no_job_in_twice(fixed, records, tmp_path):
    """They race for the same run; one works, the other is told so and can read the end of it."""
    fixed(tmp_path / "run", ON)
    (tmp_path / "jobs").mkdir()
    rivals = [start(HAND_IN, tmp_path / "run", tmp_path / "jobs") for _ in range(2)]
    errors = [rival.communicate()[1] for rival in rivals]
    codes = sorted(rival.returncode for rival in rivals)
    assert codes == [0, 1] if any("BusyError: " in error for error in errors) else codes == [0, 0], errors
    assert len(list((tmp_path / "jobs").iterdir())) == 3
    assert [record["measurement"] for record in records(tmp_path / "run")] == [0, 1, 2]


SLOW_RUN = """
import sys, time
from pathlib import Path
from biselect_quantum.devices.execution.run import load_run
from biselect_quantum.devices.execution.runner import execute
from biselect_quantum.devices.execution.exact_shots import SectorSampling

class Slow(SectorSampling):
    def sample(self, compiled, shots, seed):
        time.sleep(0.3)
        return super().sample(compiled, shots, seed)

execute(load_run(Path(sys.argv[1])), Slow(), say=lambda text: text.startswith("repeat") and Path(sys.argv[2]).touch())
"""


def start(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_killed_process_loses_only_the_repeat_it_was_at(whole, fixed, records, tmp_path):
    fixed(tmp_path)
    first = tmp_path / "first-repeat-done"
    rivals = [start(SLOW_RUN, tmp_path, first) for _ in range(2)]
    while not first.exists() and any(rival.poll() is None for rival in rivals):
        time.sleep(0.02)
    for rival in rivals:
        if rival.poll() is None:
            rival.kill()
    errors = "".join(rival.communicate()[1] for rival in rivals)
    assert errors.count("BusyError: ") <= 1  # one of the two held the run, if the other came to ask
    kept = records(tmp_path)
    assert 1 <= len(kept) <= 3 and kept == records(whole.folder)[: len(kept)]
    execute(load_run(tmp_path), SectorSampling())
    assert records(tmp_path) == records(whole.folder)
