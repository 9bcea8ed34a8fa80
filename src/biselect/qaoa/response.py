"""The small-angle response of the Dicke-started ansatz, in closed form (Prop. grouped-phase-local-response).

r_a = ∂²E/∂β∂γ_a at the origin is a sum over single swaps along mixer edges. A swap i → i' changes the cost by
-(a_i' - a_i) - Σ_{j∈F} (w_i'j - w_ij), whatever else is chosen, and means over all F of products of such sums are
known, so no state is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.qaoa.groups import CostGroup, components
from biselect.qaoa.mixers import mixer_classes


def responses(
    problem: SelectionProblem, groups: Sequence[CostGroup] | None = None, mixer: Any = "ring"
) -> NDArray[np.float64]:
    """R of each group: with the standard groups (r_S, r_F, r_SF) of Eq. grouped_component_response."""
    parts = tuple(groups) if groups is not None else components(problem)
    sample_mixer, feature_mixer = mixer if isinstance(mixer, tuple) else (mixer, mixer)
    own = [group.sample for group in parts], [group.feature for group in parts]
    pairs = [group.pair for group in parts]
    n, d, k, m = problem.n_samples, problem.n_features, problem.k, problem.m
    by_samples = _one_side(own[0], pairs, mixer_classes(sample_mixer, n), n, k, d, m)
    by_features = _one_side(own[1], [pair.T for pair in pairs], mixer_classes(feature_mixer, d), d, m, n, k)
    return by_samples + by_features


def _one_side(
    own: Sequence[NDArray[np.float64]],
    pairs: Sequence[NDArray[np.float64]],
    classes: Any,
    n: int,
    chosen: int,
    other: int,
    other_chosen: int,
) -> NDArray[np.float64]:
    """Responses from swaps of one register. `own` and `pairs` are the groups' coefficients; they sum to the cost's."""
    edges = np.array([edge for edges in classes for edge in edges], dtype=np.int64).reshape(-1, 2)
    if not len(edges) or chosen == n:
        return np.zeros(len(own))
    here, there = edges.T
    steps = np.array([single[there] - single[here] for single in own])  # (groups, edges)
    slopes = np.array([pair[there] - pair[here] for pair in pairs])  # (groups, edges, other)
    # mean over the other side's subsets of (step + Σ slope)(step_a + Σ slope_a): first and second moments
    share = other_chosen / other
    both = share * (other_chosen - 1) / (other - 1) if other > 1 else 0.0
    total_step, total_slope = steps.sum(axis=0), slopes.sum(axis=0)
    sums, total_sum = slopes.sum(axis=2), total_slope.sum(axis=1)
    products = np.einsum("eo,geo->ge", total_slope, slopes)
    mean = total_step * steps + share * (total_step * sums + total_sum * steps)
    mean += both * total_sum * sums + (share - both) * products
    # an edge acts on a share chosen·(n - chosen)/(n(n - 1)) of the states, counted once for each direction of the swap
    return 2 * chosen * (n - chosen) / (n * (n - 1)) * mean.sum(axis=1)


def grouping_gain(response: NDArray[np.float64]) -> float:
    """√G‖r‖ - |1·r|: how much more descent free group phases predict than tied ones of equal norm, over ε².

    Zero exactly where r is collinear with (1, …, 1) (Cor. grouped-equal-norm-descent).
    """
    return float(np.sqrt(len(response)) * np.linalg.norm(response) - abs(response.sum()))


def depth_efficiency(tied: float, grouped: float, tied_twice_as_deep: float) -> float:
    """(G_p - A_p) / (A_2p - A_p): the share of the gain from doubling the depth that grouping gives at depth p."""
    return (grouped - tied) / (tied_twice_as_deep - tied)
