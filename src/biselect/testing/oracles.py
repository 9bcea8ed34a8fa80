"""Slow and obvious answers to hold fast ones against."""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from biselect.core import SelectionProblem


def all_selections(problem: SelectionProblem) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every pair of a k-subset of samples and an m-subset of features that the rules allow."""
    samples = combinations(range(problem.n_samples), problem.k)
    features = combinations(range(problem.n_features), problem.m)
    return product(filter(problem.sample_rules.allow, samples), filter(problem.feature_rules.allow, features))


def brute_force(problem: SelectionProblem) -> float:
    """The lowest energy, by looking at every pair."""
    return min(problem.energy(samples, features) for samples, features in all_selections(problem))


def planted_problem(
    size: tuple[int, int, int, int], signal: float, *, seed: int, absolute: bool = False
) -> SelectionProblem:
    """Normal noise with a block that stands out, and marginal scores: `a_i = max_j W_ij`, `b_j = Var_i |Z_ij|`.

    Args:
        size: N, D, k, m.
        signal: what is added to the cells of a random block of k samples and m features.
        seed: fixes the instance.
        absolute: whether weights are absolute values.
    """
    n, d, k, m = size
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    Z[np.ix_(*(np.sort(rng.choice(whole, size=part, replace=False)) for whole, part in ((n, k), (d, m))))] += signal
    W = np.abs(Z) if absolute else Z
    return SelectionProblem(coupling=W, sample_scores=W.max(axis=1), feature_scores=np.abs(Z).var(axis=0), k=k, m=m)
