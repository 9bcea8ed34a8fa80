"""Schedules: which angles are free, as a linear map to the angles of every layer (Table qaoa_parameterizations).

A circuit of depth p over G groups of cost terms has p·(G + 1) angles: in each layer one γ for each group, then β. A
schedule is a matrix from free angles to those, so every gradient is one chain rule, and one schedule contains another
exactly where the columns of its matrix span the other's.
"""

from __future__ import annotations

from dataclasses import dataclass

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
        """How many layers, p."""
        return self.matrix.shape[0]

    @property
    def groups(self) -> int:
        """G, the groups of cost terms."""
        return self.matrix.shape[1] - 1

    @property
    def size(self) -> int:
        """How many angles are free."""
        return self.matrix.shape[2]

    def expand(self, angles: ArrayLike) -> NDArray[np.float64]:
        """Layer angles (p, G + 1) of free angles."""
        given = np.asarray(angles, dtype=np.float64)
        if given.shape != (self.size,):
            raise InputError(
                f"schedule {self.name!r} at depth {self.depth} has {self.size} angles, got shape {given.shape}"
            )
        return self.expand_batch(given[None])[0]

    def expand_batch(self, angles: ArrayLike) -> NDArray[np.float64]:
        """Layer angles (batch, p, G + 1) of a batch of free angles, (batch, free)."""
        given = np.asarray(angles, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != self.size:
            raise InputError(f"a batch must have the shape (batch, {self.size}), got {given.shape}")
        if not np.isfinite(given).all():
            raise InputError(f"angles must be finite, got {given[~np.isfinite(given).all(axis=1)][0]}")
        return (given @ self.matrix.reshape(-1, self.size).T).reshape(-1, *self.matrix.shape[:2])

    def pull_back(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gradient by free angles, of a gradient by layer angles (p, G + 1); or of a batch of them."""
        return gradient.reshape(*gradient.shape[:-2], -1) @ self.matrix.reshape(-1, self.size)

    def embed(self, angles: ArrayLike, into: Schedule) -> NDArray[np.float64]:
        """The free angles of a larger schedule that give the same circuit."""
        target = self.expand(angles)
        flat = into.matrix.reshape(-1, into.size)
        if flat.shape[0] != target.size:
            raise InputError(f"{into.name!r} has another depth or number of groups than {self.name!r}")
        found = np.asarray(np.linalg.lstsq(flat, target.ravel(), rcond=None)[0], dtype=np.float64)
        if not np.allclose(flat @ found, target.ravel(), rtol=0, atol=1e-9 * (1 + np.abs(target).max())):
            raise InputError(f"schedule {self.name!r} is not contained in {into.name!r}")
        return found


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
