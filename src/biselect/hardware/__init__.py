"""Circuits for sparse devices, and bits that come back under the right names. The only package that imports Qiskit.

Names load on first use: patches, placements and masks can be had without Qiskit.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biselect.hardware.patches import Patch, choose_patch
    from biselect.hardware.targets import load_target

_HOME = {
    "Patch": "patches",
    "choose_patch": "patches",
    "load_target": "targets",
}

__all__ = ["Patch", "choose_patch", "load_target"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'biselect.hardware' has no attribute {name!r}")
    value = getattr(import_module(f"biselect.hardware.{_HOME[name]}"), name)
    globals()[name] = value
    return value
