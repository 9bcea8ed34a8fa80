"""Angles in the conventions of other libraries: which factor stands between their γ and β and ours.

Ours: a layer is exp(-i Σ_g γ_g H_g) with the energy that is minimised as cost, then exp(-iβ(XX+YY)/2) on every mixer
edge, in the order of the mixer's classes (`core/conventions.py`). A constant in the cost is a global phase.

| library | phase of a layer | an edge of the XY mixer | their γ | their β |
|---|---|---|---|---|
| PennyLane `qaoa.cost_layer`, `qaoa.mixer_layer` with `qaoa.xy_mixer` | exp(-iγH) | exp(-iβ(XX+YY)/2) | γ | β |
| OpenQAOA, standard parameters, `mixer_type="xy"` | exp(-iγH) | exp(-iβ(XX+YY)/2) | γ | β |
| QOKit, `get_qaoa_xyring_simulator` | exp(-iγC/2) | exp(-iβ(XX+YY)/2) | 2γ | β |

QOKit's documentation has /4 in the mixer; its simulators apply what is in the table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.errors import InputError
from biselect_quantum.circuits.schedule import Schedule

Vector = NDArray[np.float64]


class Factors(NamedTuple):
    """By which our angles are multiplied to have another library's."""

    gamma: float
    beta: float


CONVENTIONS = {"pennylane": Factors(1.0, 1.0), "openqaoa": Factors(1.0, 1.0), "qokit": Factors(2.0, 1.0)}


def exported(
    schedule: Schedule, angles: ArrayLike, convention: str, *, maximised: bool = False, grouped: bool = False
) -> tuple[Vector, Vector]:
    """γ and β of every layer in another convention; see `AnsatzSpec.export_angles`."""
    factors = _factors(convention, maximised)
    table = schedule.expand(angles)
    gammas, betas = factors.gamma * table[:, :-1], factors.beta * table[:, -1]
    if grouped:
        return gammas, betas
    if not np.allclose(gammas, gammas[:, :1], rtol=1e-12, atol=1e-12):
        raise InputError(
            f"these angles have another γ for each group of cost terms, and {convention} has one a layer; give "
            "grouped=True for all of them and apply each group as a cost layer of its own, or train with "
            "schedule='layerwise'"
        )
    return gammas[:, 0], betas


def imported(
    schedule: Schedule, gammas: ArrayLike, betas: ArrayLike, convention: str, *, maximised: bool = False
) -> Vector:
    """Free angles of a schedule, from γ and β of every layer; see `AnsatzSpec.import_angles`."""
    factors = _factors(convention, maximised)
    phases, mixing = np.asarray(gammas, dtype=np.float64), np.asarray(betas, dtype=np.float64)
    if phases.ndim == 1:
        phases = np.repeat(phases[:, None], schedule.groups, axis=1)
    if phases.shape != (schedule.depth, schedule.groups) or mixing.shape != (schedule.depth,):
        raise InputError(
            f"{schedule.depth} layers need as many β, and one γ for each layer or one for each of its "
            f"{schedule.groups} groups; got shapes {phases.shape} and {mixing.shape}"
        )
    layers = np.column_stack([phases / factors.gamma, mixing / factors.beta])
    full = Schedule(
        name="given", matrix=np.eye(layers.size).reshape(*layers.shape, -1), angle_names=("",) * layers.size
    )
    return full.embed(layers.ravel(), schedule)


def _factors(convention: str, maximised: bool) -> Factors:
    if convention not in CONVENTIONS:
        raise InputError(f"convention must be one of {', '.join(CONVENTIONS)}, got {convention!r}")
    found = CONVENTIONS[convention]
    return found._replace(gamma=-found.gamma) if maximised else found
