"""What a run would take, before anything is fixed or handed in; and what a finished one says."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect.core.files import write_file
from biselect_quantum.circuits.controls import ROWS, climb_rate
from biselect_quantum.devices.analysis import (
    MeasuredFigures,
    Range,
    RepairedFigures,
    analyse,
    analyse_repaired,
    exact_interval,
    goal_of,
    pooled,
)
from biselect_quantum.devices.device_circuit import DeviceCircuit
from biselect_quantum.devices.execution.run import FULL, StoredRun, by_repeat, calibration_of, measurements
from biselect_quantum.devices.execution.samplers import RawShots, place_of, sampler_for
from biselect_quantum.devices.readout import Corrected, UnreadableBitError, correct
from biselect_quantum.devices.resources import Resources
from biselect_quantum.shots import Shots
from biselect_quantum.simulate.layers import energy_table
from biselect_quantum.uniform import uniform_choices, uniform_energy

ANALYSIS = "analysis.json"
LOOKED_THROUGH = 10_000_000  # choices
REP_DELAY = 250e-6  # seconds between two shots, the default of IBM's devices


def forecast(circuit: DeviceCircuit, request: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a `plan`, or of a fixed run's content; refuses what a simulator could not measure.

    No service is asked.
    """
    place, planned = place_of(request["on"]), measurements(request)
    if not place.service:
        sampler_for(request["on"]).check(circuit)
    return {
        "on": request["on"],
        "kind": request["kind"],
        "problem_hash": circuit.problem.digest,
        "target": circuit.manifest()["target"],
        "qubits": circuit.program.qubits,
        "physical_qubits": list(circuit.layout.measured_on),
        "path": circuit.path.name,
        "depth": circuit.resources.depth,
        "two_qubit_gates": circuit.resources.two_qubit_gates,
        **{name: request[name] for name in ("shots", "repeats", "seeds")},
        "circuit_seconds": circuit.resources.duration,
        "readout": request["readout"],
        "circuits": len(planned),
        "shots_taken": sum(measurement.shots for measurement in planned),
        "estimated_device_seconds": device_seconds(circuit.resources, sum(each.shots for each in planned)),
    }


def device_seconds(resources: Resources, shots: int) -> float | None:
    """Estimated time on a device: circuit and pause for each shot, without queue and start-up."""
    return None if resources.duration is None else shots * (resources.duration + REP_DELAY)


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """Figures of a finished run.

    Attributes:
        run: the run.
        kind: what its shots are: an exact simulation, a noise model, hardware, or not known.
        strict: figures of the shots as measured.
        repaired: figures after band-1 repair.
        controls: figures of each control, as measured, by its row in `Nulls`.
        nulls: hits beside their nulls, row by row, as plain data; empty where no control was measured.
        dense_gain: g_dense: 1 where the optimum of the executed objective is the dense one, 0 at the mean of chance.
        shots_taken: all of them, calibration and controls included.
        corrected: estimates after readout correction, if it was asked for.
        uncorrected: why there are none although it was.
    """

    run: StoredRun
    kind: str
    strict: MeasuredFigures
    repaired: RepairedFigures
    controls: Mapping[str, MeasuredFigures]
    nulls: Sequence[Mapping[str, Any]]
    dense_gain: float
    shots_taken: int
    corrected: Corrected | None
    uncorrected: str | None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; the same for the same shots."""
        return {
            "on": self.run.on,
            "kind": self.kind,
            "manifest_hash": self.run.hash,
            "threshold_pool": self.run.threshold.pool,
            "shots_taken": self.shots_taken,
            "strict": asdict(self.strict),
            "controls": {row: asdict(figures) for row, figures in self.controls.items()},
            "nulls": list(self.nulls),
            "dense_gain": self.dense_gain,
            "readout_corrected": None if self.corrected is None else asdict(self.corrected),
            "not_corrected": self.uncorrected,
            "band_1_repair": asdict(self.repaired),
        }


def outcome(run: StoredRun, readouts: Sequence[RawShots]) -> Outcome:
    """Decode and analyse the raw shots that `execute` gave.

    Returns:
        Figures of the shots as measured, beside their nulls, after repair and, if it was asked for, after readout
        correction.
    """
    problem, begin = run.circuit.problem, run.circuit.program.choice
    shots = shots_of(run, readouts)
    dense_shots = shots[FULL]
    sparse_shots = [each.under(run.circuit.surrogate) for each in dense_shots]
    threshold = run.threshold.of(problem)
    how = {"threshold": threshold, "reference": run.reference("dense")}
    start = None if begin is None else problem.energy(*begin)
    figures = {row: analyse(repeats, **how, start=start) for row, repeats in shots.items()}
    corrected = uncorrected = None
    if calibration := calibration_of(run.circuit, run.measurements, readouts):
        facts: dict[str, Any] = {"layout": run.circuit.layout.read_into, "seed": int(run.content["seed"])}
        try:
            corrected = correct(pooled(dense_shots), calibration, goal=goal_of(problem, threshold), **facts)
        except UnreadableBitError as error:  # shots that were paid for keep all their other figures
            uncorrected = str(error)
    mean = uniform_energy(problem)[0]
    span, sparse = mean - run.reference("dense"), run.content["references"]["sparse"]["dense_energy"]
    return Outcome(
        run=run,
        kind=run.kind,
        strict=figures.pop(FULL),
        repaired=analyse_repaired(sparse_shots, reference=run.reference("sparse")),
        controls=figures,
        nulls=_nulls(run, shots, start) if figures else (),
        dense_gain=(mean - sparse) / span if span > 0 else 1.0,
        shots_taken=sum(readout.shots for readout in readouts),
        corrected=corrected,
        uncorrected=uncorrected,
    )


def shots_of(run: StoredRun, readouts: Sequence[RawShots]) -> dict[str, list[Shots]]:
    """The decoded repeats of the circuit and of each control, by its row in `Nulls`."""
    rows = (FULL, *run.content["controls"])
    planned = run.measurements
    return {row: [run.circuit.decode(readout) for readout in by_repeat(planned, readouts, row)] for row in rows}


def _nulls(run: StoredRun, shots: Mapping[str, Sequence[Shots]], start: float | None) -> list[dict[str, Any]]:
    """Hits of every row with their intervals; circuits as measured, what is classical without errors."""
    problem, seed = run.circuit.problem, int(run.content["seed"])
    threshold = run.threshold.of(problem)
    goal, taken = goal_of(problem, threshold), sum(each.shots for each in shots[FULL])
    rows = []
    for row, words in ROWS.items():
        interval: Range | None = None
        if row in shots:
            samples = [each.samples for each in shots[row]]
            hits = sum(int(each.counts[each.energies <= goal].sum()) for each in samples)
            interval = exact_interval(hits, sum(each.shots for each in shots[row]))
        elif row == "uniform":
            interval = chance_of(problem, goal, taken, seed)
        elif row == "tries":
            rate = climb_rate(problem, threshold, seed)
            interval = Range(rate, rate, rate)
        elif row == "start" and start is not None:
            interval = Range(*[float(start <= goal)] * 3)
        if interval is not None:
            seen = float(1 - (1 - interval.value) ** taken)
            rows.append({"row": row, "what": words, "rate": interval, "hits": interval.value * taken, "seen": seen})
    return rows


def chance_of(problem: SelectionProblem, goal: float, draws: int, seed: int) -> Range:
    """How often a uniform feasible choice hits: exactly where all can be looked through, else by as many draws."""
    if problem.sector.size <= LOOKED_THROUGH:
        share = float((energy_table(problem) <= goal).mean())
        return Range(share, share, share)
    energies = problem.energies(*uniform_choices(problem, draws, np.random.default_rng(seed)))
    return exact_interval(int((energies <= goal).sum()), draws)


def conclude(run: StoredRun, readouts: Sequence[RawShots]) -> Outcome:
    """`outcome`, written to the run's folder too."""
    result = outcome(run, readouts)
    write_file(run.folder / ANALYSIS, json.dumps(result.to_dict(), indent=1, allow_nan=False) + "\n")
    return result
