"""Slow and obvious answers to hold fast ones against."""

from collections.abc import Iterator
from itertools import combinations, product

from biselect.core import SelectionProblem


def all_selections(problem: SelectionProblem) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every pair of a k-subset of samples and an m-subset of features."""
    return product(
        combinations(range(problem.n_samples), problem.k),
        combinations(range(problem.n_features), problem.m),
    )


def brute_force(problem: SelectionProblem) -> float:
    """The lowest energy, by looking at every pair."""
    return min(problem.energy(samples, features) for samples, features in all_selections(problem))
