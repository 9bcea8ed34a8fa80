"""`exact`: the optimum with a proof, by enumeration where that is instant and by branch and bound beyond."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.solvers.annealing import anneal_lines
from biselect.solvers.bounds import Root, root_bound, rounding
from biselect.solvers.branch_and_bound import eliminate, search
from biselect.solvers.coordinate_ascent import coordinate_ascent
from biselect.solvers.enumeration import visit
from biselect.solvers.one_sided import OneSided, cheaper_side
from biselect.solvers.registry import Answer, Run

INSTANT_CELLS = 20_000_000  # enumerated in less time than the compiled kernels take to load
WALK_CELLS = 1_000_000_000  # cells that annealing may look at for a first choice: about a second
WALK_SHARE = 0.05  # and its share of a full search, so that easy searches do not wait for it


def exact(problem: SelectionProblem, run: Run, *, workers: int | None = None) -> Answer:
    """Prove the optimum; with a time limit that strikes first, the best choice so far with a bound.

    `info["steps"]` says what was done, in order.

    Args:
        problem: what to solve.
        run: seed, deadline, progress.
        workers: threads at most; None for one per core. The answer does not depend on it.
    """
    task = cheaper_side(problem)
    climb = coordinate_ascent(problem, _quiet(run), starts=16)
    score = problem.score(climb.samples, climb.features)
    run.improved(0, -score)
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
        walked = _walk(task, root, subset, score, run, workers)
        info["steps"].append("annealing")
        walked_score = task.score(walked, task.respond(walked))
        if walked_score > score:
            subset, score = walked, walked_score
            run.improved(1, -score)
        run.report(0.2, -score)
    if root.raw <= score + root.slack:
        return _answer(task, subset, proven=True, info=info)
    found = search(task, root, subset, score, run, workers)
    info["steps"].append("branch and bound")
    info.update(found.info)
    if found.subset is not None:
        subset = found.subset
        run.improved(1 + found.info["nodes"], -task.score(subset, task.respond(subset)))
    return _answer(task, subset, bound=-found.bound, proven=found.complete, info=info)


def _walk(
    task: OneSided, root: Root, subset: NDArray[np.int64], score: float, run: Run, workers: int | None
) -> NDArray[np.int64]:
    """A good choice to start the search from: annealing over the lines that a better choice can use."""
    rest = eliminate(task, root, subset, score)
    lines = np.arange(task.lines.shape[0]) if rest is None else np.sort(rest.columns)
    width = task.base.size
    cells = min(
        WALK_CELLS, int(WALK_SHARE * comb(lines.size, task.choose) * (width if rest is None else rest.rows.size))
    )
    steps = min(40 * task.choose * (lines.size - task.choose), cells // width)
    if steps < 1:
        return subset
    restarts = min(8, cells // (steps * width))
    smaller = replace(
        task,
        lines=task.lines if lines.size == task.lines.shape[0] else task.lines[lines],
        line_scores=task.line_scores[lines],
        line_limits=task.line_limits.keep(lines),
    )
    return lines[anneal_lines(smaller, _quiet(run), restarts=restarts, steps=steps, workers=workers).subset]


def _quiet(run: Run) -> Run:
    """The same run without the watchers, for a step on the way."""
    return replace(run, progress=None, trajectory=None)


def _answer(task: OneSided, subset: NDArray[np.int64], **rest: Any) -> Answer:
    samples, features = task.order(subset, task.respond(subset))
    return Answer(samples=samples, features=features, **rest)
