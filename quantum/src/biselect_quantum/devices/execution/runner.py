"""Executing a run: measurement after measurement, each kept before the next begins."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from secrets import token_hex
from typing import Any

from biselect.core.checks import check_integer
from biselect.core.files import write_file
from biselect.errors import InputError
from biselect_quantum.devices._circuit_checks import check_meaning
from biselect_quantum.devices.device_circuit import DeviceCircuit, installed
from biselect_quantum.devices.execution import remote
from biselect_quantum.devices.execution.run import PARTS, StoredRun, circuit_for
from biselect_quantum.devices.execution.samplers import RawShots, Sampler, sampler_for
from biselect_quantum.devices.execution.store import RunStore
from biselect_quantum.shots import Shots

Say = Callable[[str], None]
Job = tuple[int, ...]
"""The measurements that one job takes."""


def execute(
    run: StoredRun,
    sampler: Any = None,
    *,
    wait: float | None = None,
    resubmit: bool = False,
    say: Say = lambda text: None,
) -> list[RawShots]:
    """Execute what is left of a run, measurement by measurement.

    Each repeat is one measurement of the circuit and of each of its controls, one after the other, beside two of
    calibration if readout is corrected. A service gets them in as few jobs as it takes.

    Args:
        run: fixed by `freeze`.
        sampler: takes the shots, as `sampler_for` takes it: a place, or any BaseSamplerV2 or BackendV2. It must be the
            one that the manifest names. By default that one, connected to only if shots are missing: a finished run is
            read from its files.
        wait: seconds to wait for each job of a service; without end by default. A job that is not done then goes on,
            and the next call takes it up.
        resubmit: whether to hand a job in again whose shots the service does not give.
        say: told what happens.

    Returns:
        Raw shots of all measurements in order, calibration first, as `outcome` takes them; column c is classical bit c.

    Raises:
        InputError: a sampler of another name or kind than the run was fixed for.
        BusyError: another process is at work on the run.
        UnknownJobStateError: a job gives no shots, and may have run.
    """
    own = None if sampler is None else sampler_for(sampler)
    if own is not None and own.name != run.on:
        raise InputError(f"the run is fixed for {run.on}, not for {own.name}")
    if own is not None and own.kind != run.kind:
        raise InputError(f"the run is fixed for a {own.name} that gives {run.kind}; this one gives {own.kind}")
    with RunStore.open(run) as store:
        readouts = store.readouts()
        if readouts:
            say(f"{len(readouts)} of {len(run.measurements)} {_what(run)} are there already")
        missing = range(len(readouts), len(run.measurements))
        if not missing:
            return readouts
        if installed(PARTS) != run.content["versions"]:
            say("the versions installed are not those that the run was fixed with; simulated shots may differ")
        taking: Sampler = own or sampler_for(run.on)
        for circuit in {id(each): each for each in map(partial(_circuit, run), missing)}.values():
            taking.check(circuit)
        if isinstance(taking, remote.Service):
            jobs = _submit(run, taking, store, missing, resubmit, say)
            for numbers, job in jobs:
                readouts += _keep(store, run, _collect(run, taking, store, numbers, job, wait), len(readouts), say)
        else:
            for number in missing:
                measurement = run.measurements[number]
                taken = taking.sample(_circuit(run, number), measurement.shots, measurement.seed)
                readouts += _keep(store, run, {number: taken}, number, say)
        if taking.remark:
            say(taking.remark)
        return readouts


def _circuit(run: StoredRun, number: int) -> DeviceCircuit:
    return circuit_for(run.measurements[number], run.circuit)


def _keep(store: RunStore, run: StoredRun, shots: Mapping[int, RawShots], first: int, say: Say) -> list[RawShots]:
    """Write what was measured, from one measurement on."""
    for number, readout in shots.items():
        if number >= first:
            measurement = run.measurements[number]
            store.add(number, readout)
            short = "" if readout.shots == measurement.shots else f" of {measurement.shots} asked for"
            say(f"{measurement.name}: {readout.shots} shots{short}")
    return [readout for number, readout in shots.items() if number >= first]


def take_shots(circuit: DeviceCircuit, on: Any, *, shots: int = 4096, seed: int = 0) -> Shots:
    """Take shots of a circuit without any file; `plan`, `freeze` and `execute` keep them.

    A circuit on 16 qubits at most is simulated first and refused if it does not do what its program says.

    Args:
        circuit: of `compile_problem`, or from a folder.
        on: where, as `sampler_for` takes it: a place by name, or any BaseSamplerV2 or BackendV2.
        shots: how many.
        seed: fixes them, where the sampler takes a seed.

    Returns:
        Bitstrings under the problem's variables: column i is sample i, column N + j feature j.
    """
    sampler = sampler_for(on)
    sampler.check(circuit)
    check_meaning(circuit)
    readout = sampler.sample(circuit, check_integer("shots", shots), check_integer("seed", seed, least=0))
    return circuit.decode(readout)


def progress(run: StoredRun) -> tuple[int, int]:
    """How many measurements of a run are done, and how many more are with a service; no service is asked."""
    with RunStore.open(run) as store:
        finished, jobs = len(store.readouts()), store.jobs()
    handed_in = [numbers for numbers, record in jobs.items() if record["event"] == "submitted"]
    return finished, sum(number >= finished for numbers in handed_in for number in numbers)


def _what(run: StoredRun) -> str:
    return "measurements" if run.readout or run.content["controls"] else "repeats"


def _name(run: StoredRun, numbers: Sequence[int]) -> str:
    """Some measurements of one job, for people."""
    first, last = (run.measurements[numbers[end]].name for end in (0, -1))
    return first if len(numbers) == 1 else f"{first} to {last}"


def _groups(run: StoredRun, missing: range, jobs: Iterable[Job], most: int) -> list[Job]:
    """Missing measurements by job: as they were handed in, and the others in as few jobs as there can be.

    The circuits of a job have as many shots each; measurements keep their order, in which circuits alternate.
    """
    groups = [numbers for numbers in jobs if numbers[-1] >= missing.start]
    covered = {number for numbers in groups for number in numbers}
    left = [number for number in missing if number not in covered]
    for _, alike in groupby(left, key=lambda number: run.measurements[number].shots):
        numbers = list(alike)
        groups += [tuple(numbers[first : first + most]) for first in range(0, len(numbers), most)]
    return sorted(groups)


def _submit(
    run: StoredRun, service: remote.Service, store: RunStore, missing: range, resubmit: bool, say: Say
) -> list[tuple[Job, str]]:
    """Hand in all that is missing, after looking for what may be in the queue already; jobs and their ids in order."""
    jobs, calibration, submitted = store.jobs(), None, []
    for numbers in _groups(run, missing, jobs, service.most_circuits):
        last = jobs.get(numbers, {"event": None})
        if last["event"] == "submitted" or (last["event"] == "uncollected" and not resubmit):
            submitted.append((numbers, last["job"]))
            continue
        name, in_doubt = _name(run, numbers), last["event"] == "submitting"
        known_job = service.find(last["tag"]) if in_doubt or last["event"] == "refused" else None
        if known_job is not None:
            store.note(numbers, "submitted", job=known_job)
            say(f"{name}: found again as job {known_job}")
            submitted.append((numbers, known_job))
            continue
        if in_doubt and not service.finds_jobs and not resubmit:
            raise remote.UnknownJobStateError(
                f"{name}: was being handed in when the process ended, and {service.name} cannot say whether it came; "
                "run again with resubmit=True to hand it in anew, at the price of a job"
            )
        if calibration is None:
            calibration = _keep_calibration(run, service)
            if calibration != run.circuit.manifest()["target"]["hash"]:
                say("the device's calibration is not the one the circuit was compiled for; it is kept with the run")
        tag = f"biselect-{run.hash[:12]}-{numbers[0]}-{token_hex(4)}"  # an equal run in another folder has other tags
        store.note(numbers, "submitting", tag=tag)
        try:
            job = service.submit([_circuit(run, each) for each in numbers], run.measurements[numbers[0]].shots, tag)
        except remote.ConnectionLostError:
            raise  # it may have arrived: the next attempt looks for it
        except remote.ServiceError as error:
            store.note(numbers, "refused", tag=tag, why=str(error))
            raise
        store.note(numbers, "submitted", job=job, calibration=calibration)
        say(f"{name}: job {job}")
        submitted.append((numbers, job))
    return submitted


def _collect(
    run: StoredRun, service: remote.Service, store: RunStore, numbers: Job, job: str, wait: float | None
) -> dict[int, RawShots]:
    name = _name(run, numbers)
    try:
        shots = service.collect(job, [_circuit(run, each) for each in numbers], wait)
        for number, readout in zip(numbers, shots, strict=True):
            store.check(number, readout)
    except remote.JobFailedError as error:
        store.note(numbers, "failed", job=job, why=str(error))
        raise remote.JobFailedError(f"{name}: {error}. All other jobs are kept; run again to submit it anew") from None
    except (remote.StillWaitingError, remote.ConnectionLostError):
        raise
    except (remote.ServiceError, InputError) as error:  # it may be there for another account: the user must give it up
        store.note(numbers, "uncollected", job=job, why=str(error))
        raise remote.UnknownJobStateError(
            f"{name}: job {job} gives no shots: {error}. All other jobs are kept; run again to ask once "
            "more, or with resubmit=True to hand it in anew, at the price of a job"
        ) from None
    return dict(zip(numbers, shots, strict=True))


def _keep_calibration(run: StoredRun, service: remote.Service) -> str:
    """Write the device's calibration of the moment beside the results; gives its hash."""
    content = service.snapshot()
    path = run.folder / f"calibration-{content['hash'][:12]}.json"
    write_file(path, json.dumps(content, indent=1, allow_nan=False) + "\n")
    return str(content["hash"])
