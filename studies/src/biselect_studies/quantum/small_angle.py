"""The small-angle response of the Dicke-started ansatz, in closed form (Prop. grouped-phase-local-response).

r_a = ∂²E/∂β∂γ_a at the origin is a sum over single swaps along mixer edges. A swap i → i' changes the cost by
-(a_i' - a_i) - Σ_{j∈F} (w_i'j - w_ij), whatever else is chosen, and means over all F of products of such sums are
known, so no state is needed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.checks import number
from biselect.errors import InputError
from biselect_quantum.circuits.cost_groups import CostGroup, components
from biselect_quantum.circuits.mixers import both_mixers, mixer_classes


def responses(
    problem: SelectionProblem, groups: Sequence[CostGroup] | None = None, mixer: Any = "ring"
) -> NDArray[np.float64]:
    """R of each group: with the standard groups (r_S, r_F, r_SF) of Eq. grouped_component_response."""
    if problem.sample_rules or problem.feature_rules:
        raise InputError("the closed form is for plain budgets; under rules differentiate an Ansatz at small angles")
    parts = tuple(groups) if groups is not None else components(problem)
    sample_mixer, feature_mixer = both_mixers(mixer)
    weights = problem.coupling_weight * problem.coupling.astype(np.float64)
    cost = CostGroup(name="cost", sample=problem.sample_scores, feature=problem.feature_scores, pair=weights)
    n, d, k, m = problem.n_samples, problem.n_features, problem.k, problem.m
    samples = [(group.sample, group.pair) for group in (cost, *parts)]
    features = [(group.feature, group.pair.T) for group in (cost, *parts)]
    by_samples = _one_side(samples, mixer_classes(sample_mixer, n), n, k, d, m)
    return by_samples + _one_side(features, mixer_classes(feature_mixer, d), d, m, n, k)


def _one_side(
    terms: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    classes: Any,
    n: int,
    chosen: int,
    other: int,
    other_chosen: int,
) -> NDArray[np.float64]:
    """Responses from swaps of one register; `terms` are the coefficients of the measured cost, then of each group."""
    edges = np.array([edge for edges in classes for edge in edges], dtype=np.int64).reshape(-1, 2)
    if not len(edges) or chosen == n:
        return np.zeros(len(terms) - 1)
    here, there = edges.T
    steps = np.array([own[there] - own[here] for own, _ in terms])  # (cost and groups, edges)
    slopes = np.array([pair[there] - pair[here] for _, pair in terms])  # (cost and groups, edges, other)
    # mean over the other side's subsets of (step + Σ slope)(step_a + Σ slope_a): first and second moments
    share = other_chosen / other
    both = share * (other_chosen - 1) / (other - 1) if other > 1 else 0.0
    total_step, total_slope, steps, slopes = steps[0], slopes[0], steps[1:], slopes[1:]
    sums, total_sum = slopes.sum(axis=2), total_slope.sum(axis=1)
    products = np.einsum("eo,geo->ge", total_slope, slopes)
    mean = total_step * steps + share * (total_step * sums + total_sum * steps)
    mean += both * total_sum * sums + (share - both) * products
    # an edge acts on a share chosen·(n - chosen)/(n(n - 1)) of the states, counted once for each direction of the swap
    return 2 * chosen * (n - chosen) / (n * (n - 1)) * mean.sum(axis=1)


def grouping_gain(response: NDArray[np.float64]) -> float:
    """`√G‖r‖ - |1·r|`: how much more descent free group phases predict than tied ones of equal norm, over ε².

    Zero exactly where r is collinear with (1, …, 1) (Cor. grouped-equal-norm-descent).
    """
    return float(np.sqrt(len(response)) * np.linalg.norm(response) - abs(response.sum()))


def depth_efficiency(tied: float, grouped: float, tied_twice_as_deep: float) -> float:
    """(G_p - A_p) / (A_2p - A_p): the share of the gain from doubling the depth that grouping gives at depth p.

    Scores are such that larger is better, and twice the depth must score higher.
    """
    if not tied_twice_as_deep > tied:
        raise InputError(f"twice the depth must score higher than {tied:g}, got {tied_twice_as_deep:g}")
    return (grouped - tied) / (tied_twice_as_deep - tied)


def grouping_suffices(tied: float, grouped: float, tied_twice_as_deep: float, *, kept: float) -> bool:
    """Whether grouped angles at depth p are worth a tied circuit of depth 2p on a device: r_p ≥ ρ_extra.

    Args:
        tied: A_p.
        grouped: G_p.
        tied_twice_as_deep: A_2p without noise.
        kept: ρ_extra, the share of A_2p - A_p that the device keeps of the added layers, 0 to 1.

    >>> grouping_suffices(0.2, 0.25, 0.4, kept=0.2), grouping_suffices(0.2, 0.25, 0.4, kept=0.5)
    (True, False)
    """
    if not 0 <= number("kept", kept) <= 1:
        raise InputError(f"kept (ρ_extra) is a share and must lie in 0..1, got {kept:g}")
    return depth_efficiency(tied, grouped, tied_twice_as_deep) >= kept
