"""What a run would take, before anything is fixed or handed in; and what a finished one says."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from biselect.core.files import write_file
from biselect.hardware.analysis import Repaired, Strict, analyse, analyse_repaired
from biselect.hardware.compiled_circuit import Resources
from biselect.hardware.execute.circuit_files import StoredCircuit
from biselect.hardware.execute.manifest import StoredRun
from biselect.hardware.execute.samplers import Readout, place_of, sampler_for

ANALYSIS = "analysis.json"
REP_DELAY = 250e-6  # seconds between two shots, the default of IBM's devices


def forecast(circuit: StoredCircuit, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a `plan`, or of a fixed run's content; refuses what a simulator could not measure.

    No service is asked.
    """
    place, compiled = place_of(asked["on"]), circuit.compiled
    if not place.service:
        sampler_for(asked["on"]).check(compiled)
    return {
        "on": asked["on"],
        "kind": asked["kind"],
        "problem_hash": circuit.problem.digest,
        "target": circuit.manifest["target"],
        "qubits": compiled.program.qubits,
        "physical_qubits": list(compiled.final_layout),
        "path": compiled.path.name,
        "depth": compiled.resources.depth,
        "two_qubit_gates": compiled.resources.two_qubit_gates,
        **{name: asked[name] for name in ("shots", "repeats", "seeds")},
        "circuit_seconds": compiled.resources.duration,
        "estimated_device_seconds": device_seconds(compiled.resources, asked["shots"], asked["repeats"]),
    }


def device_seconds(resources: Resources, shots: int, repeats: int) -> float | None:
    """Estimated time on a device: circuit and pause for each shot, without queue and start-up."""
    return None if resources.duration is None else repeats * shots * (resources.duration + REP_DELAY)


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What a run found.

    Attributes:
        run: the run.
        kind: what its shots are: an exact simulation, a noise model, hardware, or not known.
        strict: figures of the shots as measured.
        repaired: figures after band-1 repair.
    """

    run: StoredRun
    kind: str
    strict: Strict
    repaired: Repaired

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; the same for the same shots."""
        return {
            "on": self.run.on,
            "kind": self.kind,
            "manifest_hash": self.run.hash,
            "threshold_pool": self.run.threshold.pool,
            "strict": asdict(self.strict),
            "band_1_repair": asdict(self.repaired),
        }


def outcome(run: StoredRun, readouts: Sequence[Readout]) -> Outcome:
    """Decode and analyse the repeats of a run."""
    problem, sparse = run.circuit.problem, run.circuit.surrogate
    layout, placement = run.circuit.compiled.clbits, run.circuit.placement
    dense_shots = [readout.decoded(problem, layout, placement) for readout in readouts]
    sparse_shots = [readout.decoded(sparse, layout) for readout in readouts]
    threshold = run.threshold.of(problem)
    return Outcome(
        run=run,
        kind=run.kind,
        strict=analyse(problem, dense_shots, threshold=threshold, reference=run.reference("dense")),
        repaired=analyse_repaired(sparse, sparse_shots, reference=run.reference("sparse")),
    )


def conclude(run: StoredRun, readouts: Sequence[Readout]) -> Outcome:
    """`outcome`, written to the run's folder too."""
    found = outcome(run, readouts)
    write_file(run.folder / ANALYSIS, json.dumps(found.to_dict(), indent=1, allow_nan=False) + "\n")
    return found
