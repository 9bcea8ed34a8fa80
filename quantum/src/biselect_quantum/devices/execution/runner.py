"""Executing a run: measurement after measurement, each kept before the next begins."""

import json
from collections.abc import Callable
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


def execute(
    run: StoredRun,
    sampler: Any = None,
    *,
    wait: float | None = None,
    resubmit: bool = False,
    say: Say = lambda text: None,
) -> list[RawShots]:
    """Execute what is left of a run, measurement by measurement.

    Each repeat is one measurement, beside two of calibration where readout is corrected.

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
        for kind in {run.measurements[number].repeat is None: number for number in missing}.values():
            taking.check(circuit_for(run.measurements[kind], run.circuit))
        if isinstance(taking, remote.Service):
            _submit(run, taking, store, missing, resubmit, say)
        for number in missing:
            measurement = run.measurements[number]
            if isinstance(taking, remote.Service):
                readout = _collect(run, taking, store, number, wait)
            else:
                readout = taking.sample(circuit_for(measurement, run.circuit), measurement.shots, measurement.seed)
            store.add(number, readout)
            readouts.append(readout)
            short = "" if readout.shots == measurement.shots else f" of {measurement.shots} asked for"
            say(f"{measurement.name}: {readout.shots} shots{short}")
        if taking.remark:
            say(taking.remark)
        return readouts


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
    missing = range(finished, len(run.measurements))
    return finished, sum(jobs.get(number, {}).get("event") == "submitted" for number in missing)


def _what(run: StoredRun) -> str:
    return "measurements" if run.readout else "repeats"


def _submit(run: StoredRun, service: remote.Service, store: RunStore, missing: range, resubmit: bool, say: Say) -> None:
    """Hand in a job for every measurement that has none, after looking for one that may be in the queue already."""
    jobs = store.jobs()
    calibration = None
    for number in missing:
        measurement, last = run.measurements[number], jobs.get(number, {"event": None})
        if last["event"] == "submitted" or (last["event"] == "uncollected" and not resubmit):
            continue
        known_job = service.find(last["tag"]) if last["event"] in ("submitting", "refused") else None
        if known_job is not None:
            store.note(number, "submitted", job=known_job)
            say(f"{measurement.name}: found again as job {known_job}")
            continue
        if calibration is None:
            calibration = _keep_calibration(run, service)
            if calibration != run.circuit.manifest()["target"]["hash"]:
                say("the device's calibration is not the one the circuit was compiled for; it is kept with the run")
        tag = f"biselect-{run.hash[:12]}-{number}-{token_hex(4)}"  # an equal run in another folder has other tags
        store.note(number, "submitting", tag=tag)
        try:
            job = service.submit(circuit_for(measurement, run.circuit), measurement.shots, tag)
        except remote.ConnectionLostError:
            raise  # it may have arrived: the next attempt looks for it
        except remote.ServiceError as error:
            store.note(number, "refused", tag=tag, why=str(error))
            raise
        store.note(number, "submitted", job=job, calibration=calibration)
        say(f"{measurement.name}: job {job}")


def _collect(run: StoredRun, service: remote.Service, store: RunStore, number: int, wait: float | None) -> RawShots:
    job, name = store.jobs()[number]["job"], run.measurements[number].name
    try:
        readout = service.collect(job, wait)
        store.check(number, readout)
    except remote.JobFailedError as error:
        store.note(number, "failed", job=job, why=str(error))
        raise remote.JobFailedError(f"{name}: {error}. All other jobs are kept; run again to submit it anew") from None
    except (remote.StillWaitingError, remote.ConnectionLostError):
        raise
    except (remote.ServiceError, InputError) as error:  # it may be there for another account: the user must give it up
        store.note(number, "uncollected", job=job, why=str(error))
        raise remote.UnknownJobStateError(
            f"{name}: job {job} gives no shots: {error}. All other jobs are kept; run again to ask once "
            "more, or with resubmit=True to hand it in anew, at the price of a job"
        ) from None
    return readout


def _keep_calibration(run: StoredRun, service: remote.Service) -> str:
    """Write the device's calibration of the moment beside the results; gives its hash."""
    content = service.snapshot()
    path = run.folder / f"calibration-{content['hash'][:12]}.json"
    write_file(path, json.dumps(content, indent=1, allow_nan=False) + "\n")
    return str(content["hash"])
