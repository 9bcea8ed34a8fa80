"""Circuits for sparse devices, and bits that come back under the right names. The only package that imports Qiskit.

Names load on first use: patches, placements and masks can be had without Qiskit.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biselect.hardware.circuits import build_circuit, qasm3_text, qpy_bytes, to_qiskit
    from biselect.hardware.compile import compile_circuit
    from biselect.hardware.compiled import Compiled
    from biselect.hardware.patches import Patch, choose_patch
    from biselect.hardware.paths import PATHS, QiskitPath, YFramePath, factorial
    from biselect.hardware.program import Op, Program, build_program
    from biselect.hardware.resources import Resources, count_resources
    from biselect.hardware.targets import load_target

_HOME = {
    "PATHS": "paths",
    "Compiled": "compiled",
    "Op": "program",
    "Patch": "patches",
    "Program": "program",
    "QiskitPath": "paths",
    "Resources": "resources",
    "YFramePath": "paths",
    "build_circuit": "circuits",
    "build_program": "program",
    "choose_patch": "patches",
    "compile_circuit": "compile",
    "count_resources": "resources",
    "factorial": "paths",
    "load_target": "targets",
    "qasm3_text": "circuits",
    "qpy_bytes": "circuits",
    "to_qiskit": "circuits",
}

__all__ = [
    "PATHS",
    "Compiled",
    "Op",
    "Patch",
    "Program",
    "QiskitPath",
    "Resources",
    "YFramePath",
    "build_circuit",
    "build_program",
    "choose_patch",
    "compile_circuit",
    "count_resources",
    "factorial",
    "load_target",
    "qasm3_text",
    "qpy_bytes",
    "to_qiskit",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'biselect.hardware' has no attribute {name!r}")
    value = getattr(import_module(f"biselect.hardware.{_HOME[name]}"), name)
    globals()[name] = value
    return value
