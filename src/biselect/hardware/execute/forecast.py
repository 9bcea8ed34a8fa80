"""What a run would take, before anything is fixed or handed in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from biselect.hardware.compiled_circuit import Resources
from biselect.hardware.execute.circuit_files import StoredCircuit
from biselect.hardware.execute.devices import kind_of, sampler_for
from biselect.hardware.execute.samplers import HARDWARE

REP_DELAY = 250e-6  # seconds between two shots, the default of IBM's devices


def forecast(circuit: StoredCircuit, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a planned run; refuses what a simulator could not measure, and asks no service.

    Args:
        circuit: what is measured.
        asked: from `plan`, or the content of a fixed run.
    """
    kind = kind_of(asked["on"])
    if kind != HARDWARE:
        sampler_for(asked["on"]).check(circuit.compiled)
    compiled = circuit.compiled
    return {
        "on": asked["on"],
        "kind": kind,
        "problem_hash": circuit.problem.digest,
        "target": circuit.manifest["target"],
        "qubits": compiled.program.qubits,
        "physical_qubits": list(compiled.final_layout),
        "path": compiled.path.name,
        "depth": compiled.resources.depth,
        "two_qubit_gates": compiled.resources.two_qubit_gates,
        "shots": asked["shots"],
        "repeats": asked["repeats"],
        "seeds": asked["seeds"],
        "circuit_seconds": compiled.resources.duration,
        "estimated_device_seconds": device_seconds(compiled.resources, asked["shots"], asked["repeats"]),
    }


def device_seconds(resources: Resources, shots: int, repeats: int) -> float | None:
    """Estimated time on a device: circuit and pause for each shot, without queue and start-up."""
    if resources.duration is None:
        return None
    return repeats * shots * (resources.duration + REP_DELAY)
