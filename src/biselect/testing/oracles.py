"""Slow and obvious answers to hold fast ones against."""

from collections.abc import Iterator
from itertools import combinations, product

from biselect.core import SelectionProblem


def all_selections(problem: SelectionProblem) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every pair of a k-subset of samples and an m-subset of features that the rules allow."""
    samples = combinations(range(problem.n_samples), problem.k)
    features = combinations(range(problem.n_features), problem.m)
    return product(filter(problem.sample_rules.allow, samples), filter(problem.feature_rules.allow, features))


def brute_force(problem: SelectionProblem) -> float:
    """The lowest energy, by looking at every pair."""
    return min(problem.energy(samples, features) for samples, features in all_selections(problem))
