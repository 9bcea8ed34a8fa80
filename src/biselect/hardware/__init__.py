"""Circuits for sparse devices, and bits that come back under the right names. The only package that imports Qiskit.

Names load on first use: patches, placements and masks can be had without Qiskit.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biselect.hardware.compiled import Compiled
    from biselect.hardware.paths import PATHS, Path, QiskitPath, YFramePath, factorial
    from biselect.hardware.program import Op, Program, build_program
    from biselect.hardware.resources import Resources, count_resources

_HOME = {
    "Compiled": "compiled",
    "PATHS": "paths",
    "Path": "paths",
    "QiskitPath": "paths",
    "YFramePath": "paths",
    "factorial": "paths",
    "Op": "program",
    "Program": "program",
    "build_program": "program",
    "Resources": "resources",
    "count_resources": "resources",
}

__all__ = [
    "PATHS",
    "Compiled",
    "Op",
    "Path",
    "Program",
    "QiskitPath",
    "Resources",
    "YFramePath",
    "build_program",
    "count_resources",
    "factorial",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'biselect.hardware' has no attribute {name!r}")
    value = getattr(import_module(f"biselect.hardware.{_HOME[name]}"), name)
    globals()[name] = value
    return value
