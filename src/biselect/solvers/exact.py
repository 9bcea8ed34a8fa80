"""`exact`: the optimum with a proof, by enumeration where that is instant and by branch and bound beyond."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.solvers.annealing import anneal_lines
from biselect.solvers.bounds import ROUNDS, Root, root_bound, rounding
from biselect.solvers.branch_and_bound import eliminate, search
from biselect.solvers.coordinate_ascent import coordinate_ascent
from biselect.solvers.enumeration import Screen, screen, visit
from biselect.solvers.one_sided import OneSided, cheaper_side
from biselect.solvers.registry import Answer, Run
from biselect.solvers.response import has_room
from biselect.solvers.tame import tamed

INSTANT_CELLS = 22_000_000  # enumerated by NumPy before compiled kernels would have been made
SUBSET_CELLS = 100  # what a subset costs NumPy beside its cells
PROOF_SHARE = 1e-9  # a proof holds to this share of the score
SAMPLED = 100_000  # weights that a typical size is taken from
INSTANT_LIMITED_CELLS = 5_000_000  # the same where group limits are looked at subset by subset
SHORT_CELLS = 50_000_000  # searched in less time than it takes to push the bound down
WALK_CELLS = 1_000_000_000  # cells that annealing may look at for a first choice: about a second
WALK_PART = 20  # and at most one part in so many of a full search, so that easy searches do not wait for it


def exact(problem: SelectionProblem, run: Run, *, workers: int | None = None, search: bool = True) -> Answer:
    """Prove the optimum; with a time limit that strikes first, the best choice so far with a bound.

    `info["steps"]` says what was done, in order.

    Args:
        problem: what to solve.
        run: seed, deadline, progress.
        workers: threads at most; None for one per core. The answer does not depend on it.
        search: whether to branch where enumeration is not instant; otherwise a climb and a bound are all.
    """
    climb = coordinate_ascent(problem, _quiet(run), starts=16)
    score = problem.score(climb.samples, climb.features)
    task = cheaper_side(tamed(problem, score))
    run.improved(0, -score)
    info: dict[str, Any] = {"steps": ["coordinate ascent"], "searched": task.lines_are}
    run.report(0.0, -score)
    if (sieve := _instant(task, climb)) is not None:
        answer = _enumerate(task, climb, score, sieve, run, info, workers)
        if answer is not None:
            return answer
    if not search:
        info["steps"].append("Lagrangian bound")
        return replace(climb, bound=-root_bound(task, run, floor=score, workers=workers).score, info=info)
    return _branch(task, climb, score, run, info, workers)


def _instant(task: OneSided, start: Answer) -> Screen | None:
    """The screen that a good choice gives, where all subsets pass it in an instant."""
    instant = INSTANT_LIMITED_CELLS if task.line_limits or task.base_limits else INSTANT_CELLS
    if task.subsets * SUBSET_CELLS > instant or task.lines.size > INSTANT_CELLS:
        return None
    sieve = screen(task, start.features if task.lines_are == "features" else start.samples)
    return sieve if task.subsets * (sieve.base.size + SUBSET_CELLS) <= instant else None


def _enumerate(
    task: OneSided,
    start: Answer,
    score: float,
    sieve: Screen,
    run: Run,
    info: dict[str, Any],
    workers: int | None,
) -> Answer | None:
    """The answer of enumeration; None where ties let too many subsets through the screen."""
    slack = rounding(task, np.zeros(1))
    seen = visit(task, run, sieve, floor=score - slack)
    if not seen.complete and not run.expired():
        return None
    info["steps"].append("enumeration")
    info["subsets"], info["visited"] = task.subsets, seen.visited
    if seen.complete and seen.subset is not None:
        proven = _tells(slack, task, seen.score)
        return _answer(task, seen.subset, bound=-(seen.score + slack), proven=proven, info=info)
    bound = -root_bound(task, run, floor=score, workers=workers).score
    info["steps"].append("Lagrangian bound")
    if seen.subset is None or seen.score < score:
        return replace(start, bound=bound, info=info)
    return _answer(task, seen.subset, bound=bound, info=info)


def _branch(task: OneSided, start: Answer, score: float, run: Run, info: dict[str, Any], workers: int | None) -> Answer:
    subset = start.features if task.lines_are == "features" else start.samples
    rounds = 0 if task.cells <= SHORT_CELLS else ROUNDS
    root = root_bound(task, run, floor=score, rounds=rounds, workers=workers)
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
        return _answer(task, subset, bound=-root.score, proven=_tells(root.slack, task, score), info=info)
    found = search(task, root, subset, score, run, workers)
    info["steps"].append("branch and bound")
    info.update(found.info)
    if found.subset is not None:
        subset = found.subset
        run.improved(1 + found.info["nodes"], -task.score(subset, task.respond(subset)))
    proven = found.complete and _tells(root.slack, task, score)
    return _answer(task, subset, bound=-(found.bound + root.slack), proven=proven, info=info)


def _tells(slack: float, task: OneSided, score: float) -> bool:
    """Whether rounding is small enough for a proof: against the score, or against all but the largest 1 % of numbers.

    A few large numbers that cancel leave scores that float64 cannot tell apart; then there is a bound, but no proof.
    """
    if slack <= PROOF_SHARE * abs(score):
        return True
    weights = task.scale * task.lines.ravel()[:: 1 + task.lines.size // SAMPLED]
    sizes = np.abs(np.concatenate([weights, task.base, task.line_scores]))
    return not sizes.any() or bool(slack <= PROOF_SHARE * np.quantile(sizes[sizes > 0], 0.99))


def _walk(
    task: OneSided, root: Root, subset: NDArray[np.int64], score: float, run: Run, workers: int | None
) -> NDArray[np.int64]:
    """A good choice to start the search from: annealing over the lines that a better choice can use."""
    rest = eliminate(task, root, subset, score)
    lines = np.arange(task.lines.shape[0]) if rest is None else np.sort(rest.columns)
    width = task.base.size
    search_cells = comb(lines.size, task.choose) * (width if rest is None else rest.rows.size)
    cells = min(WALK_CELLS, search_cells // WALK_PART)
    steps = min(40 * task.choose * (lines.size - task.choose), cells // width)
    if steps < 1 or _most_lines(task, lines) < task.choose:
        return subset
    restarts = min(8, cells // (steps * width))
    smaller = replace(
        task,
        lines=task.lines if lines.size == task.lines.shape[0] else task.lines[lines],
        line_scores=task.line_scores[lines],
        line_limits=task.line_limits.keep(lines),
    )
    found, _ = anneal_lines(smaller, _quiet(run), restarts=restarts, steps=steps, workers=workers)
    return lines[found]


def _most_lines(task: OneSided, lines: NDArray[np.int64]) -> int:
    """How many of these lines the limits allow together."""
    return int(has_room(lines, task.line_limits).sum()) if task.line_limits else lines.size


def _quiet(run: Run) -> Run:
    """The same run without the watchers, for a step on the way."""
    return replace(run, progress=None, trajectory=None)


def _answer(task: OneSided, subset: NDArray[np.int64], **rest: Any) -> Answer:
    samples, features = task.order(subset, task.respond(subset))
    return Answer(samples=samples, features=features, **rest)
