"""What a simulator is asked to run: layers of phases and mixing, a start, a diagonal observable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.sector import subsets

Edges = Sequence[tuple[int, int]]
"""Disjoint pairs of qubits of one register, which therefore act at once."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Register:
    """One side: n qubits of which `chosen` are 1, and the mixer that moves them.

    Attributes:
        n: qubits.
        chosen: the budget.
        classes: edge-colour classes of the mixer graph, in the order in which they act.
    """

    n: int
    chosen: int
    classes: tuple[Edges, ...]

    @property
    def subsets(self) -> NDArray[np.int64]:
        """The basis: ascending subsets in colexicographic order, the order of their bitmasks."""
        return subsets(self.n, self.chosen)


@dataclass(frozen=True, kw_only=True, eq=False)
class Layers:
    """p layers; each is a diagonal phase and then mixing on both registers.

    The phase of layer l multiplies |S, F⟩ by exp(i(Σ_{i∈S} sample + Σ_{j∈F} feature + Σ_{i∈S,j∈F} pair)).

    Attributes:
        sample: (p, N).
        feature: (p, D).
        pair: (p, N, D).
        mixing: β of each layer, (p,); every mixer edge is exp(-iβ(XX+YY)/2).
    """

    sample: NDArray[np.float64]
    feature: NDArray[np.float64]
    pair: NDArray[np.float64]
    mixing: NDArray[np.float64]

    @property
    def depth(self) -> int:
        """P."""
        return len(self.mixing)


@dataclass(frozen=True, kw_only=True, eq=False)
class PairGradient:
    """Derivatives of an expectation value.

    Attributes:
        pair: by every pair phase, (p, N, D). Within the budgets a sample phase acts as its row of pair phases over m,
            and a feature phase as its column over k, so these follow from it.
        mixing: by every β, (p,).
    """

    pair: NDArray[np.float64]
    mixing: NDArray[np.float64]

    def sample(self, m: int) -> NDArray[np.float64]:
        """Derivatives by the sample phases, (p, N)."""
        return self.pair.sum(axis=2) / m

    def feature(self, k: int) -> NDArray[np.float64]:
        """Derivatives by the feature phases, (p, D)."""
        return self.pair.sum(axis=1) / k


@dataclass(frozen=True, kw_only=True, eq=False)
class Observable:
    """A function of the energy, or any diagonal given value by value.

    Attributes:
        kind: `energy`: E; `hit`: 1 where E ≤ threshold (to within rounding, so that a state whose energy is the
            threshold counts); `excess`: min(E - threshold, 0), of which CVaR is made; `values`: the matrix itself.
        threshold: for `hit` and `excess`.
        values: C(N, k) × C(D, m) numbers in the order of the registers' subsets, for `values`.
    """

    kind: str = "energy"
    threshold: float = 0.0
    values: NDArray[np.float64] | None = None

    def of(self, energies: NDArray[np.float64]) -> NDArray[np.float64]:
        """The observable of a table of energies."""
        if self.kind == "energy":
            return energies
        if self.kind == "hit":
            return (energies <= self.threshold + self.slack(np.float64)).astype(np.float64)
        if self.kind == "excess":
            return np.minimum(energies - self.threshold, 0.0)
        assert self.values is not None
        return self.values

    def slack(self, real: type[np.floating[Any]]) -> float:
        """How far above the threshold rounding may lift an energy that equals it."""
        return 32 * float(np.finfo(real).eps) * max(1.0, abs(self.threshold))


ENERGY = Observable()


def energy_table(problem: SelectionProblem) -> NDArray[np.float64]:
    """The energy of every choice, C(N, k) × C(D, m)."""
    rows = subsets(problem.n_samples, problem.k)
    columns = subsets(problem.n_features, problem.m)
    by_sample = problem.coupling_weight * problem.coupling[:, columns].sum(axis=2, dtype=np.float64)
    scores = by_sample[rows].sum(axis=1)
    scores += problem.sample_scores[rows].sum(axis=1)[:, None]
    scores += problem.feature_scores[columns].sum(axis=1)
    return -scores
