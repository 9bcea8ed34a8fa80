"""`auto`: prove the optimum where that is affordable, otherwise the best found with an honest bound."""

import time

import numpy as np

from biselect.core import SelectionProblem
from biselect.solvers.bounds import rounding, score_bound
from biselect.solvers.coordinate_ascent import coordinate_ascent
from biselect.solvers.exact import CELLS_PER_SECOND, enumeration_cells, exact
from biselect.solvers.registry import Answer, Run
from biselect.solvers.top import folded

PATIENCE = 60.0  # seconds that `auto` spends on a proof when no time limit is given
INSTANT_CELLS = 20_000_000  # enumeration below this is faster than finding a bound


def auto(problem: SelectionProblem, run: Run, *, workers: int | None = None) -> Answer:
    """Climb, bound, and enumerate if neither the bound settles it nor the size forbids it.

    `info["steps"]` says what was done, in order.
    """
    cells = enumeration_cells(problem)
    if cells <= INSTANT_CELLS:
        return _with_steps(exact(problem, run, workers=workers), ["enumeration"])

    found = coordinate_ascent(problem, run)
    score = problem.score(found.samples, found.features)
    steps = ["coordinate ascent"]
    run.report(0.1, -score)

    bound = score_bound(problem, run, floor=score)
    steps.append("Lagrangian bound")
    run.report(0.2, -score)
    tolerance = rounding(folded(problem), np.zeros(1), problem.k, problem.m)
    if bound.score <= score + 4 * tolerance:
        info = {"steps": steps, "iterations": bound.iterations}
        return Answer(samples=found.samples, features=found.features, proven=True, info=info)

    seconds_left = min(PATIENCE, run.deadline - time.perf_counter())
    if cells / CELLS_PER_SECOND <= seconds_left:
        answer = exact(problem, run, workers=workers)
        if answer.proven:
            return _with_steps(answer, [*steps, "enumeration"])
    info = {"steps": steps, "iterations": bound.iterations, "enumeration_cells": float(cells)}
    return Answer(samples=found.samples, features=found.features, bound=-bound.score, info=info)


def _with_steps(answer: Answer, steps: list[str]) -> Answer:
    return Answer(
        samples=answer.samples,
        features=answer.features,
        bound=answer.bound,
        proven=answer.proven,
        info={"steps": steps, **answer.info},
    )
