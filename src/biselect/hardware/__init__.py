"""Circuits for sparse devices, and bits that come back under the right names. The only package that imports Qiskit.

Names load on first use: patches, placements and masks can be had without Qiskit.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biselect.hardware.bundle import Bundle, compile_problem, layout_of
    from biselect.hardware.circuits import build_circuit, qasm3_text, qpy_bytes, to_qiskit
    from biselect.hardware.compile import compile_circuit
    from biselect.hardware.compiled import Compiled
    from biselect.hardware.decode import decode_counts
    from biselect.hardware.masks import hardware_mask, masked, retained_mass, threshold_mask, top_mask
    from biselect.hardware.patches import Patch, choose_patch, make_patch
    from biselect.hardware.paths import PATHS, QiskitPath, YFramePath, factorial
    from biselect.hardware.placement import Placement, place
    from biselect.hardware.program import Op, Program, build_program
    from biselect.hardware.resources import Resources, count_resources
    from biselect.hardware.surrogates import choose_surrogate
    from biselect.hardware.targets import load_target

_HOME = {
    "PATHS": "paths",
    "Bundle": "bundle",
    "Compiled": "compiled",
    "Op": "program",
    "Patch": "patches",
    "Placement": "placement",
    "Program": "program",
    "QiskitPath": "paths",
    "Resources": "resources",
    "YFramePath": "paths",
    "build_circuit": "circuits",
    "build_program": "program",
    "choose_patch": "patches",
    "choose_surrogate": "surrogates",
    "compile_circuit": "compile",
    "compile_problem": "bundle",
    "count_resources": "resources",
    "decode_counts": "decode",
    "factorial": "paths",
    "hardware_mask": "masks",
    "layout_of": "bundle",
    "load_target": "targets",
    "make_patch": "patches",
    "masked": "masks",
    "place": "placement",
    "qasm3_text": "circuits",
    "qpy_bytes": "circuits",
    "retained_mass": "masks",
    "threshold_mask": "masks",
    "to_qiskit": "circuits",
    "top_mask": "masks",
}

__all__ = [
    "PATHS",
    "Bundle",
    "Compiled",
    "Op",
    "Patch",
    "Placement",
    "Program",
    "QiskitPath",
    "Resources",
    "YFramePath",
    "build_circuit",
    "build_program",
    "choose_patch",
    "choose_surrogate",
    "compile_circuit",
    "compile_problem",
    "count_resources",
    "decode_counts",
    "factorial",
    "hardware_mask",
    "layout_of",
    "load_target",
    "make_patch",
    "masked",
    "place",
    "qasm3_text",
    "qpy_bytes",
    "retained_mass",
    "threshold_mask",
    "to_qiskit",
    "top_mask",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'biselect.hardware' has no attribute {name!r}")
    value = getattr(import_module(f"biselect.hardware.{_HOME[name]}"), name)
    globals()[name] = value
    return value
