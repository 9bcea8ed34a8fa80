"""From a compiled circuit to shots, anywhere, the same way; names load on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biselect.hardware.execute.circuit_files import StoredCircuit, load_circuit
    from biselect.hardware.execute.devices import sampler_for
    from biselect.hardware.execute.findings import Outcome, outcome
    from biselect.hardware.execute.manifest import Run, freeze, load_run, plan
    from biselect.hardware.execute.primitive import SectorSampler
    from biselect.hardware.execute.readout import Readout
    from biselect.hardware.execute.runner import execute

_HOME = {
    "Outcome": "findings",
    "Readout": "readout",
    "Run": "manifest",
    "SectorSampler": "primitive",
    "StoredCircuit": "circuit_files",
    "execute": "runner",
    "freeze": "manifest",
    "load_circuit": "circuit_files",
    "load_run": "manifest",
    "outcome": "findings",
    "plan": "manifest",
    "sampler_for": "devices",
}

__all__ = [
    "Outcome",
    "Readout",
    "Run",
    "SectorSampler",
    "StoredCircuit",
    "execute",
    "freeze",
    "load_circuit",
    "load_run",
    "outcome",
    "plan",
    "sampler_for",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'biselect.hardware.execute' has no attribute {name!r}")
    return getattr(import_module(f"biselect.hardware.execute.{_HOME[name]}"), name)
