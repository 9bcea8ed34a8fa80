"""`exact`: the optimum with a proof, by enumeration where that is instant and by branch and bound beyond."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.solvers.annealing import anneal_lines
from biselect.solvers.bounds import root_bound, rounding
from biselect.solvers.branch_and_bound import search
from biselect.solvers.coordinate_ascent import coordinate_ascent
from biselect.solvers.enumeration import visit
from biselect.solvers.one_sided import OneSided, cheaper_side
from biselect.solvers.registry import Answer, Run

INSTANT_CELLS = 20_000_000  # enumerated in less time than the compiled kernels take to load
WALK_CELLS = 4_000_000_000  # cells that annealing may look at for a first choice: a second or two


def exact(problem: SelectionProblem, run: Run, *, workers: int | None = None) -> Answer:
    """Prove the optimum; with a time limit that strikes first, the best choice so far with a bound.

    `info["steps"]` says what was done, in order.

    Args:
        problem: what to solve.
        run: seed, deadline, progress.
        workers: threads at most; None for one per core. The answer does not depend on it.
    """
    task = cheaper_side(problem)
    climb = coordinate_ascent(problem, replace(run, progress=None), starts=16)
    score = problem.score(climb.samples, climb.features)
    info: dict[str, Any] = {"steps": ["coordinate ascent"], "searched": task.lines_are, "subsets": task.subsets}
    run.report(0.0, -score)
    if task.cells <= INSTANT_CELLS:
        return _enumerate(task, climb, score, run, info, workers)
    return _branch(task, climb, score, run, info, workers)


def _enumerate(
    task: OneSided, start: Answer, score: float, run: Run, info: dict[str, Any], workers: int | None
) -> Answer:
    seen = visit(task, run, floor=score - rounding(task, np.zeros(1)))
    info["steps"].append("enumeration")
    info["visited"] = seen.visited
    if seen.complete and seen.subset is not None:
        return _answer(task, seen.subset, proven=True, info=info)
    bound = -root_bound(task, run, floor=score, workers=workers).score
    info["steps"].append("Lagrangian bound")
    if seen.subset is None or seen.score < score:
        return replace(start, bound=bound, info=info)
    return _answer(task, seen.subset, bound=bound, info=info)


def _branch(task: OneSided, start: Answer, score: float, run: Run, info: dict[str, Any], workers: int | None) -> Answer:
    subset = start.features if task.lines_are == "features" else start.samples
    root = root_bound(task, run, floor=score, workers=workers)
    info["steps"].append("Lagrangian bound")
    info["bound_iterations"] = root.iterations
    run.report(0.1, -score)
    if root.raw > score + root.slack and not run.expired():
        walk = _first_walk(task, run, workers)
        info["steps"].append("annealing")
        if walk is not None and task.score(walk, task.respond(walk)) > score:
            subset, score = walk, task.score(walk, task.respond(walk))
        run.report(0.2, -score)
    if root.raw <= score + root.slack:
        return _answer(task, subset, proven=True, info=info)
    found = search(task, root, subset, score, run, workers)
    info["steps"].append("branch and bound")
    info.update(found.info)
    if found.subset is not None:
        subset = found.subset
    return _answer(task, subset, bound=-found.bound, proven=found.complete, info=info)


def _first_walk(task: OneSided, run: Run, workers: int | None) -> NDArray[np.int64] | None:
    """A good choice to start the search from: as much annealing as is cheap beside it."""
    steps = min(40 * task.choose * (task.lines.shape[0] - task.choose), WALK_CELLS // 2 // task.base.size)
    restarts = min(8, WALK_CELLS // max(1, steps * task.base.size))
    if restarts < 1 or steps < 1:
        return None
    quiet = replace(run, progress=None)
    return anneal_lines(task, quiet, restarts=restarts, steps=steps, workers=workers).subset


def _answer(task: OneSided, subset: NDArray[np.int64], **rest: Any) -> Answer:
    samples, features = task.order(subset, task.respond(subset))
    return Answer(samples=samples, features=features, **rest)
