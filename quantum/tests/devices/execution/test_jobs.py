"""Runs in as few jobs as a service takes, circuits in turn, and no job paid for twice."""

import numpy as np
import pytest

from biselect.errors import InputError
from biselect_quantum.circuits.controls import CIRCUITS
from biselect_quantum.devices.circuit_files import load_circuit, write_circuit
from biselect_quantum.devices.execution.outcomes import outcome
from biselect_quantum.devices.execution.remote import StillWaitingError, UnknownJobStateError
from biselect_quantum.devices.execution.run import freeze, plan
from biselect_quantum.devices.execution.runner import execute, progress
from biselect_quantum.devices.execution.samplers import sampler_for
from biselect_quantum.devices.execution.store import RunStore

ON = "ibm:answering"


@pytest.fixture(scope="module")
def compared_folder(stored, tmp_path_factory):
    """The circuit beside its controls."""
    controls = {row: np.random.default_rng(seed).random(stored.spec.size) for seed, row in enumerate(CIRCUITS[:-1])}
    folder = tmp_path_factory.mktemp("compared")
    write_circuit(folder, stored.with_controls(controls))
    return folder


@pytest.fixture
def compared(compared_folder):
    """Fix a run of the circuit and its controls in a folder."""
    circuit = load_circuit(compared_folder)

    def fix(folder, on=ON, **options):
        asked = plan(circuit, on, **{"shots": 40, "repeats": 10, "seed": 1, "readout": 60} | options)
        return freeze(circuit, compared_folder, folder, asked)

    return fix


def test_ten_repeats_with_calibration_are_two_jobs_and_circuits_take_turns(compared, service, tmp_path):
    takes_many = service(most=100)
    run = compared(tmp_path)
    readouts = execute(run, takes_many.sampling())
    assert len(takes_many.queue) == 2 and len(readouts) == len(run.measurements) == 2 + 10 * 4
    rows = [each.row for each in run.measurements[2:]]
    assert rows == ["full", "mixer", "fields", "shuffled"] * 10
    assert [len(job["registers"]) for job in takes_many.queue] == [2, 40]
    found = outcome(run, readouts)
    assert set(found.controls) == {"mixer", "fields", "shuffled"}
    assert {row["row"] for row in found.nulls} >= {"uniform", "tries", "mixer", "fields", "shuffled", "full"}


@pytest.mark.parametrize("most", [1, 3, 7])
def test_a_service_that_takes_fewer_circuits_gets_more_jobs_and_gives_the_same_rows(compared, service, tmp_path, most):
    few = service(most=most)
    run = compared(tmp_path, repeats=2)
    assert [readout.shots for readout in execute(run, few.sampling())] == [30, 30, *[40] * 8]
    assert len(few.queue) == -(-2 // most) + -(-8 // most)


def test_every_job_is_handed_in_and_its_id_kept_before_anyone_waits(compared, service, records, tmp_path):
    busy = service(["queued", "queued"], most=100)
    run = compared(tmp_path, repeats=3)
    said = []
    with pytest.raises(StillWaitingError, match="job-0"):
        execute(run, busy.sampling(), wait=0.0, say=said.append)
    assert [record["job"] for record in records(tmp_path, "jobs") if record["event"] == "submitted"] == [
        "job-0",
        "job-1",
    ]
    assert progress(run) == (0, 14)
    assert "repeat 1 to repeat 3, numbers shuffled: job job-1" in said
    busy.finish()
    assert len(execute(run, busy.sampling())) == 14
    assert busy.submissions == 2


@pytest.mark.parametrize("most", [4, 100])
@pytest.mark.parametrize("dies_at", range(0, 9, 2))
def test_a_process_that_dies_while_it_writes_pays_for_no_job_twice(
    compared, service, monkeypatch, tmp_path, most, dies_at
):
    """Records of jobs and shots are written one by one; the process ends before any of them."""
    patient = service(most=most)
    run = compared(tmp_path, repeats=2)
    written, keep = [], RunStore._append

    def dying(self, table, record):
        if len(written) == dies_at:
            raise KeyboardInterrupt
        written.append(record)
        keep(self, table, record)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(RunStore, "_append", dying)
        execute(run, patient.sampling())
    assert len(execute(run, patient.sampling())) == 10
    assert len(patient.queue) == -(-2 // most) + -(-8 // most)


def test_a_job_of_which_half_was_written_is_not_handed_in_again(compared, service, monkeypatch, tmp_path):
    patient = service(most=100)
    run, keep = compared(tmp_path, repeats=2), RunStore.add

    def dying(self, number, readout):
        if number == 5:
            raise KeyboardInterrupt
        keep(self, number, readout)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(RunStore, "add", dying)
        execute(run, patient.sampling())
    assert progress(run) == (5, 5)
    assert len(execute(run, patient.sampling())) == 10
    assert patient.submissions == 2


def test_a_run_alone_measures_no_control_and_says_no_hit_rate(compared, stored, tmp_path):
    run = compared(tmp_path, "sector", repeats=2, readout=0, controls=False)
    found = outcome(run, execute(run))
    assert found.nulls == () and found.controls == {}
    with pytest.raises(InputError, match="holds another run"):
        compared(tmp_path, "sector", repeats=2, readout=0)


class Queue:
    """Somebody's backend without seeds, which counts its jobs; a job's id outlives the process that handed it in."""

    def __init__(self, target, gives_jobs=True):
        from qiskit.primitives import BaseSamplerV2, StatevectorSampler

        jobs, self.handed_in = {}, 0
        queue = self

        class Seedless(BaseSamplerV2):
            def run(self, pubs, *, shots=None):
                queue.handed_in += 1
                job = StatevectorSampler(seed=queue.handed_in).run(pubs, shots=shots)
                jobs[job.job_id()] = job
                return job

            if gives_jobs:

                def retrieve_job(self, number):
                    return jobs[number]

        self.make = Seedless


@pytest.fixture
def queue(small):
    pytest.importorskip("qiskit")
    return Queue


def test_a_sampler_without_seeds_gets_all_circuits_at_once_and_is_asked_for_its_job_after_a_kill(
    compared, queue, monkeypatch, tmp_path
):
    somebody = queue(None)
    run = compared(tmp_path, somebody.make(), readout=0, repeats=2)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(RunStore, "add", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        execute(run, somebody.make())
    assert somebody.handed_in == 1 and progress(run) == (0, 8)
    assert len(execute(run, somebody.make())) == 8
    assert somebody.handed_in == 1


def test_a_sampler_that_gives_no_job_again_is_paid_anew_only_when_told_to(compared, queue, monkeypatch, tmp_path):
    somebody = queue(None, gives_jobs=False)
    run = compared(tmp_path, somebody.make(), readout=0, repeats=2)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(RunStore, "add", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        execute(run, somebody.make())
    with pytest.raises(UnknownJobStateError, match="resubmit=True"):
        execute(run, somebody.make())
    assert somebody.handed_in == 1
    assert len(execute(run, somebody.make(), resubmit=True)) == 8
    assert somebody.handed_in == 2


def test_a_kill_while_a_job_is_handed_in_to_a_sampler_that_finds_none_is_said(compared, queue, monkeypatch, tmp_path):
    somebody = queue(None)
    run, keep = compared(tmp_path, somebody.make(), readout=0, repeats=2), RunStore.note

    def dying(self, measurements, event, **facts):
        if event == "submitted":
            raise KeyboardInterrupt
        keep(self, measurements, event, **facts)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(RunStore, "note", dying)
        execute(run, somebody.make())
    with pytest.raises(UnknownJobStateError, match="cannot say whether it came"):
        execute(run, somebody.make())
    assert somebody.handed_in == 1
    assert len(execute(run, somebody.make(), resubmit=True)) == 8


def test_a_seeded_sampler_of_qiskit_is_no_service(stored):
    from qiskit.primitives import StatevectorSampler

    from biselect_quantum.devices.execution.remote import Service

    assert not isinstance(sampler_for(StatevectorSampler()), Service)
