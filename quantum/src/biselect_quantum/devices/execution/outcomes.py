"""What a run would take, before anything is fixed or handed in; and what a finished one says."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from biselect.core.files import write_file
from biselect_quantum.devices.analysis import (
    MeasuredFigures,
    RepairedFigures,
    analyse,
    analyse_repaired,
    goal_of,
    pooled,
)
from biselect_quantum.devices.device_circuit import DeviceCircuit
from biselect_quantum.devices.execution.run import StoredRun, by_repeat, calibration_of, measurements
from biselect_quantum.devices.execution.samplers import RawShots, place_of, sampler_for
from biselect_quantum.devices.readout import Corrected, UnreadableBitError, correct
from biselect_quantum.devices.resources import Resources

ANALYSIS = "analysis.json"
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
        shots_taken: all of them, calibration included.
        corrected: estimates after readout correction, if it was asked for.
        uncorrected: why there are none although it was.
    """

    run: StoredRun
    kind: str
    strict: MeasuredFigures
    repaired: RepairedFigures
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
            "readout_corrected": None if self.corrected is None else asdict(self.corrected),
            "not_corrected": self.uncorrected,
            "band_1_repair": asdict(self.repaired),
        }


def outcome(run: StoredRun, readouts: Sequence[RawShots]) -> Outcome:
    """Decode and analyse the raw shots that `execute` gave.

    Returns:
        Figures of the shots as measured, after repair and, where it was asked for, after readout correction.
    """
    problem = run.circuit.problem
    dense_shots = [run.circuit.decode(readout) for readout in by_repeat(run.measurements, readouts)]
    sparse_shots = [shots.under(run.circuit.surrogate) for shots in dense_shots]
    threshold = run.threshold.of(problem)
    corrected = uncorrected = None
    if calibration := calibration_of(run.circuit, run.measurements, readouts):
        facts: dict[str, Any] = {"layout": run.circuit.layout.read_into, "seed": int(run.content["seed"])}
        try:
            corrected = correct(pooled(dense_shots), calibration, goal=goal_of(problem, threshold), **facts)
        except UnreadableBitError as error:  # shots that were paid for keep all their other figures
            uncorrected = str(error)
    return Outcome(
        run=run,
        kind=run.kind,
        strict=analyse(dense_shots, threshold=threshold, reference=run.reference("dense")),
        repaired=analyse_repaired(sparse_shots, reference=run.reference("sparse")),
        shots_taken=sum(readout.shots for readout in readouts),
        corrected=corrected,
        uncorrected=uncorrected,
    )


def conclude(run: StoredRun, readouts: Sequence[RawShots]) -> Outcome:
    """`outcome`, written to the run's folder too."""
    result = outcome(run, readouts)
    write_file(run.folder / ANALYSIS, json.dumps(result.to_dict(), indent=1, allow_nan=False) + "\n")
    return result
