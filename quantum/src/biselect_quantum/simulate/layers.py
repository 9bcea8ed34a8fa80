"""What a simulator is asked to run: layers of phases and mixing, a start, a diagonal observable."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.rules import Blocks
from biselect.core.sector import BlockRanks, block_subsets, rank, subsets
from biselect.errors import InputError
from biselect_quantum.simulate.limits import NEVER, Stop, check_memory, parts

Edges = Sequence[tuple[int, int]]
"""Disjoint pairs of qubits of one register, which therefore act at once."""

SMALLEST_COSINE = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class Register:
    """One side: n qubits of which `ones` are 1, and the mixer that moves them.

    Attributes:
        n: qubits.
        ones: the budget.
        classes: edge-colour classes of the mixer graph, in the order in which they act.
        blocks: what rules leave of the subsets; None for all of them. No edge leads from one block to another.
    """

    n: int
    ones: int
    classes: tuple[Edges, ...]
    blocks: Blocks | None = None

    @cached_property
    def subsets(self) -> NDArray[np.int64]:
        """The basis: ascending subsets in colexicographic order, the order of their bitmasks."""
        return subsets(self.n, self.ones) if self.blocks is None else block_subsets(self.blocks)

    @cached_property
    def position(self) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
        """Where ascending subsets (last axis) stand in the basis."""
        return partial(rank, n=self.n) if self.blocks is None else BlockRanks(self.blocks)


@dataclass(frozen=True, kw_only=True, eq=False)
class Layers:
    """p layers; each is a diagonal phase and then mixing on both registers.

    The phase of layer l multiplies `|S, F⟩` by exp(i(Σ_{i∈S} sample + Σ_{j∈F} feature + Σ_{i∈S,j∈F} pair)).

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
        """How many layers, p."""
        return self.mixing.shape[-1]


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


OBSERVABLES = ("energy", "hit", "excess", "values", "cvar")
KINDS = {"energy": 0, "hit": 1, "excess": 2}  # as kernels know them


@dataclass(frozen=True, kw_only=True, eq=False)
class Observable:
    """A function of the energy, or any diagonal given value by value.

    Attributes:
        kind: `energy`: E; `hit`: 1 where E ≤ threshold (to within rounding, so that a state whose energy is the
            threshold counts); `excess`: min(E - threshold, 0), of which CVaR is made; `values`: the matrix itself;
            `cvar`: the mean energy of the lowest `share` of the distribution, which `Ansatz` turns into an `excess`.
        threshold: for `hit` and `excess`.
        values: C(N, k) × C(D, m) numbers in the order of the registers' subsets, for `values`.
        share: for `cvar`, in (0, 1].

    >>> Observable(kind="hit", threshold=-3.0).of(np.array([-4.0, -3.0, 1.0]), 10.0).tolist()
    [1.0, 1.0, 0.0]
    """

    kind: str = "energy"
    threshold: float = 0.0
    values: NDArray[np.float64] | None = None
    share: float = 0.05

    def __post_init__(self) -> None:
        if self.kind not in OBSERVABLES:
            raise InputError(f"an observable must be one of {', '.join(OBSERVABLES)}, got {self.kind!r}")
        if not np.isfinite(self.threshold):
            raise InputError(f"a threshold must be finite, got {self.threshold}")
        if (self.kind == "values") != (self.values is not None):
            raise InputError("an observable of kind 'values' needs values, and only that kind does")
        if self.values is not None and not np.isfinite(self.values).all():
            raise InputError("the values of an observable must be finite")
        if not 0 < self.share <= 1:
            raise InputError(f"share must lie in (0, 1], got {self.share}")

    def describe(self) -> dict[str, Any]:
        """Plain data that tells observables apart."""
        values = None if self.values is None else hashlib.sha256(self.values.tobytes()).hexdigest()
        return {"kind": self.kind, "threshold": self.threshold, "share": self.share, "values": values}

    def of(self, energies: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
        """The observable of a table of energies whose terms add up to at most `scale`."""
        if self.kind == "energy":
            return energies
        if self.kind == "hit":
            return (energies <= self.threshold + rounding_slack(scale, np.float64)).astype(np.float64)
        if self.kind == "excess":
            return np.minimum(energies - self.threshold, 0.0)
        assert self.values is not None  # "cvar" is no function of the energy alone
        return self.values


ENERGY = Observable()


def energy_scale(problem: SelectionProblem) -> float:
    """The largest that the terms of any energy add up to in size."""
    scores = problem.k * np.abs(problem.sample_scores).max() + problem.m * np.abs(problem.feature_scores).max()
    return float(scores + problem.k * problem.m * problem.coupling_weight * float(np.abs(problem.coupling).max()))


def rounding_slack(scale: float, real: type[np.floating[Any]]) -> float:
    """How far rounding may lift an energy that equals a threshold; its terms add up to at most `scale` in size."""
    return 8 * float(np.finfo(real).eps) * scale


@dataclass(frozen=True, kw_only=True, eq=False)
class Centred:
    """The same problem with all scores and weights about zero: single precision is spared their constants.

    Within the budgets a constant in a score or weight is a constant in the energy.

    Attributes:
        problem: the centred one.
        shift: what that adds to every energy.
        slack: how far rounding may lift an energy that equals a threshold, here or in the given problem.
    """

    problem: SelectionProblem
    shift: float
    slack: float

    @classmethod
    def of(cls, problem: SelectionProblem, real: type[np.floating[Any]]) -> Self:
        """A problem centred for energies of this precision."""
        a, b, w = problem.sample_scores, problem.feature_scores, problem.coupling.astype(np.float64)
        middles = [(float(part.max()) + float(part.min())) / 2 for part in (a, b, w)]
        shift = problem.k * middles[0] + problem.m * middles[1]
        shift += problem.k * problem.m * problem.coupling_weight * middles[2]
        about_zero = SelectionProblem(
            coupling=w - middles[2],
            sample_scores=a - middles[0],
            feature_scores=b - middles[1],
            k=problem.k,
            m=problem.m,
            coupling_weight=problem.coupling_weight,
        )
        own = rounding_slack(energy_scale(about_zero), real)
        slack = max(own, rounding_slack(energy_scale(problem), np.float64))  # thresholds come in float64
        return cls(problem=about_zero, shift=shift, slack=slack)

    def threshold(self, observable: Observable) -> float:
        """The observable's threshold among the centred energies."""
        return observable.threshold + self.shift + (self.slack if observable.kind == "hit" else 0.0)

    def as_given(self, value: float, observable: Observable) -> float:
        """The observable's value in the given problem."""
        return value - self.shift if observable.kind == "energy" else value


def cos_and_tan(beta: Any, real: type[np.floating[Any]]) -> tuple[Any, Any]:
    """Of mixing angles, as kernels take them: single precision overflows on tan³ β right at β = π/2."""
    cosine = np.cos(beta)
    if real is np.float32:
        cosine = np.where(np.abs(cosine) < SMALLEST_COSINE, np.copysign(SMALLEST_COSINE, cosine), cosine)
    return cosine, np.sin(beta) / cosine


def angle_lines(mixing: NDArray[np.float64], real: type[np.floating[Any]]) -> NDArray[np.float64]:
    """What the kernels want of each mixing angle, on one more axis: cos β, its square and cube, tan β."""
    cosine, tangent = cos_and_tan(mixing, real)
    return np.stack([cosine, cosine**2, cosine**3, tangent], axis=-1)


def energy_table(problem: SelectionProblem, stop: Stop = NEVER) -> NDArray[np.float64]:
    """The energy of every choice, C(N, k) × C(D, m), or of those that the rules allow."""
    check_memory(problem.sector, np.float64, states=1)
    rows, columns = map(block_subsets, problem.sector.blocks)
    by_sample = problem.coupling_weight * problem.coupling[:, columns].sum(axis=2, dtype=np.float64)
    energies = np.empty((len(rows), len(columns)))
    for part in parts(len(rows), len(columns) * problem.k, stop):
        scores = by_sample[rows[part]].sum(axis=1)
        scores += problem.sample_scores[rows[part]].sum(axis=1)[:, None]
        scores += problem.feature_scores[columns].sum(axis=1)
        np.negative(scores, out=energies[part])
    return energies
