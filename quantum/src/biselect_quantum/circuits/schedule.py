"""Schedules: which angles are free, as a linear map to the angles of every layer (Table qaoa_parameterizations).

A circuit of depth p over G groups of cost terms has p·(G + 1) angles: in each layer one γ for each group, then β. A
schedule is a matrix from free angles to those, so every gradient is one chain rule, and one schedule contains another
exactly where the columns of its matrix span the other's.

Other libraries have other factors between their γ and β and ours. Ours: a layer is exp(-i Σ_g γ_g H_g) with the energy
that is minimised as cost, then exp(-iβ(XX+YY)/2) on every mixer edge, in the order of the mixer's classes
(`conventions`). A constant in the cost is a global phase.

| library | phase of a layer | an edge of the XY mixer | their γ | their β |
|---|---|---|---|---|
| PennyLane `qaoa.cost_layer`, `qaoa.mixer_layer` with `qaoa.xy_mixer` | exp(-iγH) | exp(-iβ(XX+YY)/2) | γ | β |
| OpenQAOA, standard parameters, `mixer_type="xy"` | exp(-iγH) | exp(-iβ(XX+YY)/2) | γ | β |
| QOKit, `get_qaoa_xyring_simulator` | exp(-iγC/2) | exp(-iβ(XX+YY)/2) | 2γ | β |

QOKit's documentation has /4 in the mixer; its simulators apply what is in the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core.checks import check_integer
from biselect.errors import InputError

SCHEDULES = ("tied", "layerwise", "bilinear", "fixed-transport", "fully-grouped")
COMPONENTS = ("S", "F", "SF")


@dataclass(frozen=True, kw_only=True, eq=False)
class Schedule:
    """A linear map from free angles to layer angles.

    Attributes:
        name: for people.
        matrix: (p, G + 1, free); the last of the middle axis is β.
        angle_names: what each free angle is.

    >>> [Schedule.named(name, depth=3).size for name in SCHEDULES]
    [2, 6, 5, 10, 12]
    """

    name: str
    matrix: NDArray[np.float64]
    angle_names: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.matrix.ndim != 3 or not len(self.matrix) or self.matrix.shape[2] != len(self.angle_names):
            raise InputError(
                "a schedule needs a (depth, groups + 1, free) matrix of at least one layer, and a name for each "
                "free angle"
            )

    @classmethod
    def named(cls, name: str, depth: int, groups: tuple[str, ...] = COMPONENTS) -> Schedule:
        """One of the paper's schedules.

        - `tied`: one γ and one β for all layers (the layer-shared baseline).
        - `layerwise`: γ_l and β_l, the usual XY-QAOA.
        - `bilinear`: γ_marg for the marginal components of all layers, γ_SF,l, and one β (bilinear-CG, p + 2).
        - `fixed-transport`: a γ for each component and layer, and one β (3p + 1).
        - `fully-grouped`: a γ for each component and layer, and β_l (4p).

        Raises:
            InputError: an unknown name, or `bilinear` with other groups than S, F and SF.
        """
        if name not in SCHEDULES:
            raise InputError(f"schedule must be one of {', '.join(SCHEDULES)}, got {name!r}")
        depth = check_integer("depth", depth)
        if name == "bilinear" and groups != COMPONENTS:
            raise InputError("the bilinear schedule is defined for the components S, F and SF only")
        # which free angle drives each γ and each β: a label for each, equal labels are tied
        labels = [
            [_gamma_label(name, group, layer) for group in groups] + [_beta_label(name, layer)]
            for layer in range(depth)
        ]
        free = list(dict.fromkeys(label for row in labels for label in row))
        if name in ("bilinear", "fixed-transport"):
            free.sort(key=lambda label: label == "β")  # the shared β comes last
        matrix = np.array([[[label == angle for angle in free] for label in row] for row in labels], dtype=np.float64)
        return cls(name=name, matrix=matrix, angle_names=tuple(free))

    @property
    def depth(self) -> int:
        """p, the number of layers."""
        return self.matrix.shape[0]

    @property
    def groups(self) -> int:
        """G, the number of groups of cost terms."""
        return self.matrix.shape[1] - 1

    @property
    def size(self) -> int:
        """Number of free angles."""
        return self.matrix.shape[2]

    def expand(self, angles: ArrayLike) -> NDArray[np.float64]:
        """Expand free angles to the angles of every layer.

        Args:
            angles: (size,), radians.

        Returns:
            (p, G + 1): γ of every group, then β.
        """
        vector = np.asarray(angles, dtype=np.float64)
        if vector.shape != (self.size,):
            raise InputError(
                f"schedule {self.name!r} at depth {self.depth} has {self.size} angles, got shape {vector.shape}"
            )
        if not np.isfinite(vector).all():
            raise InputError(f"angles must be finite, got {vector}")
        return self.matrix @ vector

    def pull_back(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Pull a gradient by layer angles back to the free angles.

        Args:
            gradient: (p, G + 1).

        Returns:
            (size,).
        """
        return gradient.ravel() @ self.matrix.reshape(-1, self.size)

    def embed(self, angles: ArrayLike, into: Schedule) -> NDArray[np.float64]:
        """Find the free angles of a larger schedule that give the same circuit.

        Args:
            angles: of this schedule, (size,).
            into: the larger schedule, of the same depth and groups.

        Returns:
            Free angles of `into`.

        Raises:
            InputError: `into` does not contain this schedule.
        """
        target = self.expand(angles)
        flat = into.matrix.reshape(-1, into.size)
        if flat.shape[0] != target.size:
            raise InputError(f"{into.name!r} has another depth or number of groups than {self.name!r}")
        solution = np.asarray(np.linalg.lstsq(flat, target.ravel(), rcond=None)[0], dtype=np.float64)
        if not np.allclose(flat @ solution, target.ravel(), rtol=0, atol=1e-9 * (1 + np.abs(target).max())):
            raise InputError(f"schedule {self.name!r} is not contained in {into.name!r}")
        return solution


def _gamma_label(name: str, group: str, layer: int) -> str:
    if name == "tied":
        return "γ"
    if name == "layerwise":
        return f"γ_{layer + 1}"
    if name == "bilinear" and group != "SF":
        return "γ_marg"
    return f"γ_{group},{layer + 1}"


def _beta_label(name: str, layer: int) -> str:
    return f"β_{layer + 1}" if name in ("layerwise", "fully-grouped") else "β"


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
    factors = CONVENTIONS[convention]
    return factors._replace(gamma=-factors.gamma) if maximised else factors
