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
from biselect_quantum.devices.circuit_files import StoredCircuit
from biselect_quantum.devices.compiled_circuit import Resources
from biselect_quantum.devices.execution.run import StoredRun, by_repeat, calibration_of, measurements
from biselect_quantum.devices.execution.samplers import RawShots, place_of, sampler_for
from biselect_quantum.devices.readout import Corrected, UnreadableBitError, correct

ANALYSIS = "analysis.json"
REP_DELAY = 250e-6  # seconds between two shots, the default of IBM's devices


def forecast(circuit: StoredCircuit, request: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a `plan`, or of a fixed run's content; refuses what a simulator could not measure.

    No service is asked.
    """
    place, compiled, planned = place_of(request["on"]), circuit.compiled, measurements(request)
    if not place.service:
        sampler_for(request["on"]).check(compiled)
    return {
        "on": request["on"],
        "kind": request["kind"],
        "problem_hash": circuit.problem.digest,
        "target": circuit.manifest["target"],
        "qubits": compiled.program.qubits,
        "physical_qubits": list(compiled.final_layout),
        "path": compiled.path.name,
        "depth": compiled.resources.depth,
        "two_qubit_gates": compiled.resources.two_qubit_gates,
        **{name: request[name] for name in ("shots", "repeats", "seeds")},
        "circuit_seconds": compiled.resources.duration,
        "readout": request["readout"],
        "circuits": len(planned),
        "shots_taken": sum(measurement.shots for measurement in planned),
        "estimated_device_seconds": device_seconds(compiled.resources, sum(each.shots for each in planned)),
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
    problem, sparse = run.circuit.problem, run.circuit.surrogate
    layout = run.circuit.compiled.clbits
    repeats = by_repeat(run.measurements, readouts)
    dense_shots = [readout.decoded(problem, layout) for readout in repeats]
    sparse_shots = [readout.decoded(sparse, layout) for readout in repeats]
    threshold = run.threshold.of(problem)
    corrected = uncorrected = None
    if calibration := calibration_of(run.circuit, run.measurements, readouts):
        facts: dict[str, Any] = {"layout": layout, "seed": int(run.content["seed"])}
        try:
            corrected = correct(pooled(dense_shots), calibration, problem, goal=goal_of(problem, threshold), **facts)
        except UnreadableBitError as error:  # shots that were paid for keep all their other figures
            uncorrected = str(error)
    return Outcome(
        run=run,
        kind=run.kind,
        strict=analyse(problem, dense_shots, threshold=threshold, reference=run.reference("dense")),
        repaired=analyse_repaired(sparse, sparse_shots, reference=run.reference("sparse")),
        shots_taken=sum(readout.shots for readout in readouts),
        corrected=corrected,
        uncorrected=uncorrected,
    )


def conclude(run: StoredRun, readouts: Sequence[RawShots]) -> Outcome:
    """`outcome`, written to the run's folder too."""
    result = outcome(run, readouts)
    write_file(run.folder / ANALYSIS, json.dumps(result.to_dict(), indent=1, allow_nan=False) + "\n")
    return result
