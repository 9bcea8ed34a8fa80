"""Groups of cost terms: each gets its own γ. The paper's three components are the standard grouping."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError

ALIKE = 1e-12  # numbers this close, relative to the largest, are one number in other roundings


@dataclass(frozen=True, kw_only=True, eq=False)
class CostGroup:
    """Some terms of the energy -Σ a_i s_i - Σ b_j f_j - Σ w_ij s_i f_j that is minimised; λ is in w.

    Attributes:
        name: for people, and for the names of angles.
        sample: a, length N.
        feature: b, length D.
        pair: w, N × D.
    """

    name: str
    sample: NDArray[np.float64]
    feature: NDArray[np.float64]
    pair: NDArray[np.float64]

    def __post_init__(self) -> None:
        if np.shape(self.pair) != (np.size(self.sample), np.size(self.feature)):
            raise InputError(f"cost group {self.name!r} needs one pair coefficient for each sample and feature")
        if not all(np.isfinite(part).all() for part in (self.sample, self.feature, self.pair)):
            raise InputError(f"cost group {self.name!r} holds coefficients that are not finite")


def components(problem: SelectionProblem) -> tuple[CostGroup, ...]:
    """Split a problem's energy into H_S, H_F and H_SF (Eq. grouped_cost_decomposition).

    Returns:
        Groups named S, F and SF. H_SF holds all products, with the one-local shifts that they have as Pauli operators.
    """
    a, b = problem.sample_scores, problem.feature_scores
    weights = problem.coupling_weight * problem.coupling.astype(np.float64)
    no_a, no_b, no_weights = np.zeros_like(a), np.zeros_like(b), np.zeros_like(weights)
    return (
        CostGroup(name="S", sample=a, feature=no_b, pair=no_weights),
        CostGroup(name="F", sample=no_a, feature=b, pair=no_weights),
        CostGroup(name="SF", sample=no_a, feature=no_b, pair=weights),
    )


def split_terms(problem: SelectionProblem, assignment: Sequence[int] | NDArray[np.int64]) -> tuple[CostGroup, ...]:
    """Split a problem's energy into any groups.

    Args:
        problem: whose energy is split.
        assignment: the group number of each of its N + D + N·D terms: samples, features, products row by row.

    Returns:
        As many groups as there are numbers, in their order.
    """
    n, d = problem.n_samples, problem.n_features
    numbers = np.asarray(assignment)
    if numbers.shape != (n + d + n * d,) or not np.issubdtype(numbers.dtype, np.integer) or numbers.min() < 0:
        raise InputError(f"assignment must give a group number ≥ 0 to each of the {n + d + n * d} cost terms")
    weights = problem.coupling_weight * problem.coupling.astype(np.float64)
    return tuple(
        CostGroup(
            name=f"group {group}",
            sample=np.where(numbers[:n] == group, problem.sample_scores, 0.0),
            feature=np.where(numbers[n : n + d] == group, problem.feature_scores, 0.0),
            pair=np.where(numbers[n + d :].reshape(n, d) == group, weights, 0.0),
        )
        for group in range(int(numbers.max()) + 1)
    )


def surrogate(problem: SelectionProblem, cost_edges: Iterable[tuple[int, int]]) -> tuple[CostGroup, ...]:
    """Keep few products of a problem's energy, and all of its marginals.

    Args:
        problem: whose energy is thinned.
        cost_edges: (sample, feature) of each product that stays.

    Returns:
        The groups S, F and SF.
    """
    on_pairs = np.zeros(problem.coupling.shape, dtype=bool)
    for sample, feature in cost_edges:
        if not (0 <= sample < problem.n_samples and 0 <= feature < problem.n_features):
            raise InputError(f"cost edge ({sample}, {feature}) does not join a sample and a feature of the problem")
        on_pairs[sample, feature] = True
    return tuple(replace(group, pair=np.where(on_pairs, group.pair, 0.0)) for group in components(problem))


def spread(part: NDArray[np.floating[Any]]) -> float:
    """Standard deviation; 0 for a constant, of which NumPy's is often the rounding of its mean."""
    largest = float(np.abs(part).max(initial=0.0))
    if largest == 0:
        return 0.0
    relative = float(np.std(part / largest))  # divided first: squares of 1e200 are no numbers
    return relative * largest if relative > ALIKE else 0.0
