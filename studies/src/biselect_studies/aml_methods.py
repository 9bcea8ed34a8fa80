"""Every way of choosing k rows of an AML pool, by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.solvers import solve
from biselect.solvers.response import top
from biselect_studies.aml_fields import Scene
from biselect_studies.experiments.benchmark import OPTIONS
from biselect_studies.rankers import RULES


def choose(
    method: str, problem: SelectionProblem, rows: NDArray[np.float64], scene: Scene, seed: int
) -> NDArray[np.int64]:
    """A pool's rows, k of them.

    Args:
        method: a solver (`exact`), a sequential rule (`feature-first:sum`), a ranking of weights (`rule:weight-sum`), a
            detector (`detector:ecod`), `trigger` (the stage-1 score) or `budgeted` (its form with m features).
        problem: the pool's weights and budgets.
        rows: the pool's features.
        scene: where triggers and detectors come from.
        seed: of solvers that draw.
    """
    kind, _, rest = method.partition(":")
    if kind == "rule":
        return RULES[rest](problem.coupling, problem.k, problem.m)
    if kind == "detector":
        return top(scene.detector(rest)(rows), problem.k)
    if kind == "trigger":
        return top(scene.trigger.scores(rows), problem.k)
    if kind == "budgeted":
        return top(scene.budgeted.scores(rows), problem.k)
    options: dict[str, Any] = {"aggregate": rest} if rest else OPTIONS.get(kind, {})
    return solve(problem, kind, seed=seed, **options).samples
