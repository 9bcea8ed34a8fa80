"""Tabu search: always the best single swap, also when it costs; what has left may not return for a while."""

import numpy as np

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers.local_search import Swaps, greedy_start
from biselect.solvers.registry import Answer, Run


def tabu(problem: SelectionProblem, run: Run, *, steps: int = 500, tenure: int = 3) -> Answer:
    """The best state of a walk from the greedy start.

    Args:
        problem: what to solve.
        run: deadline and progress; nothing is drawn.
        steps: swaps to make.
        tenure: steps for which an item that has left may not return.
    """
    if steps < 1 or tenure < 0:
        raise InputError(f"steps must be at least 1 and tenure 0 or more, got {steps} and {tenure}")
    samples, features = greedy_start(problem)
    swaps = Swaps(problem, samples, features)
    best, best_score = (samples, features), swaps.score
    free_at = (np.zeros(problem.n_samples, dtype=np.int64), np.zeros(problem.n_features, dtype=np.int64))
    run.improved(0, -best_score)
    step = 0
    for step in range(1, steps + 1):
        if swaps.best_gain(free_at[0] > step, free_at[1] > step) == -np.inf or run.expired():
            break
        side, left, _ = swaps.swap()
        free_at[side][left] = step + tenure + 1
        if swaps.score > best_score + swaps.slack:
            best, best_score = (swaps.samples, swaps.features), swaps.score
            run.improved(step, -best_score)
        run.report(step / steps, -best_score)
    return Answer(samples=best[0], features=best[1], info={"steps": step})
