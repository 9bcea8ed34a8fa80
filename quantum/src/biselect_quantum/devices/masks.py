"""Masks: which couplings stay in the phase separator, W̃ = M ⊙ W. Masks and problems are in the same order."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.devices.patches import Patch

Mask = NDArray[np.bool_]
EDGES = "edges"  # keep what hardware edges carry without routing


def hardware_mask(patch: Patch, problem: SelectionProblem | None = None) -> Mask:
    """Mark the couplings that cross edges of a patch carry without routing; item i sits at position i (`place`).

    With the problem also those of items that its rules settle: they act as fields, which need no edge.

    Returns:
        N × D truth values.
    """
    mask = np.zeros((patch.n_samples, patch.n_features), dtype=bool)
    mask[tuple(np.array(patch.cross_edges, dtype=np.int64).reshape(-1, 2).T)] = True
    if problem is not None and (problem.sample_rules or problem.feature_rules):
        samples, features = problem.sector.blocks
        mask |= ~np.isin(np.arange(patch.n_samples), samples.moving)[:, None]
        mask |= ~np.isin(np.arange(patch.n_features), features.moving)
    return mask


def top_mask(problem: SelectionProblem, count: int) -> Mask:
    """The `count` couplings of largest `|W|`; ties go to the lowest index."""
    cells = problem.coupling.size
    if not 0 <= count <= cells:
        raise InputError(f"the mask must keep between 0 and {cells} couplings, got {count}")
    order = np.argsort(-np.abs(problem.coupling), axis=None, kind="stable")
    mask = np.zeros(cells, dtype=bool)
    mask[order[:count]] = True
    return mask.reshape(problem.coupling.shape)


def masked(problem: SelectionProblem, mask: ArrayLike) -> SelectionProblem:
    """Leave out the couplings that a mask does not carry: W̃ = M ⊙ W.

    Returns:
        The sparse problem, positions and budgets as before.
    """
    return replace(problem, coupling=np.where(_checked(problem, mask), problem.coupling, 0.0))


def retained_mass(problem: SelectionProblem, mask: ArrayLike) -> tuple[float, float]:
    """Sum up the couplings that a mask carries: R_SF = Σ M|W|, and its share ρ_SF of Σ|W|.

    Returns:
        The mass, in units of W, and the share, which is 1 where there is nothing to lose.

    >>> problem = SelectionProblem(coupling=[[3.0, 1.0]], k=1, m=1)
    >>> retained_mass(problem, [[True, False]])
    (3.0, 0.75)
    """
    sizes = np.abs(problem.coupling.astype(np.float64))
    retained, total = float(sizes[_checked(problem, mask)].sum()), float(sizes.sum())
    return retained, retained / total if total else 1.0


def distortion_bound(problem: SelectionProblem, mask: ArrayLike) -> float:
    """The most that |E - Ẽ| can be for any choice inside the budgets.

    The paper's λkmτ takes the largest dropped |W| for every one of the k·m pairs (Eq. sparsification_bound); here every
    sample counts with its m largest dropped ones, and the k heaviest samples count. It is never above λkmτ.
    """
    dropped = dropped_sizes(problem, mask)
    by_sample = np.sort(np.sort(dropped, axis=1)[:, -problem.m :].sum(axis=1))[-problem.k :].sum()
    by_feature = np.sort(np.sort(dropped, axis=0)[-problem.k :].sum(axis=0))[-problem.m :].sum()
    return problem.coupling_weight * float(min(by_sample, by_feature))


def dropped_sizes(problem: SelectionProblem, mask: ArrayLike) -> NDArray[np.float64]:
    """|W| where it is left out, 0 elsewhere."""
    return np.abs(np.where(_checked(problem, mask), 0.0, problem.coupling.astype(np.float64)))


def _checked(problem: SelectionProblem, mask: ArrayLike) -> Mask:
    array = np.asarray(mask)
    if array.shape != problem.coupling.shape or array.dtype != np.bool_:
        raise InputError(f"a mask must be {problem.n_samples} × {problem.n_features} truth values")
    return array
