"""Joint minus sequential F1 on pools of the mechanism suite."""

from __future__ import annotations

from collections.abc import Iterable

from biselect.core.metrics import f1_at_k
from biselect.data.synthetic import Mechanism
from biselect.solvers import solve
from biselect_studies.experiments.benchmark import best_sequential, combined_f1
from biselect_studies.task import Cell, Values


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """Lifts in feature F1 and in combined F1 over the best aggregate by planted combined F1."""
    mechanism = Mechanism(name=cell["mechanism"], k=cell["k"], shift=cell["shift"])
    values: Values = {"active": [], "combined": []}
    for seed in seeds:
        planted = mechanism.draw(seed=seed, center=cell["center"])
        problem = planted.problem(cell["k"], cell["m"])
        joint = solve(problem, "coordinate-ascent", seed=seed)
        best, aggregate = best_sequential(problem, planted)
        sequential = solve(problem, "feature-first", aggregate=aggregate)
        lift = f1_at_k(joint.features, planted.features) - f1_at_k(sequential.features, planted.features)
        values["active"].append(lift)
        values["combined"].append(combined_f1(joint.samples, joint.features, planted) - best)
    return values
