"""`exact`: the optimum with a proof, by enumeration where that is instant and by branch and bound beyond.

`auto` does so where that is affordable, and otherwise gives the best choice so far with an honest bound.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.exact_sums import at_least
from biselect.core.proof import Proof
from biselect.solvers._branch_and_bound import RemainingProblem, Search, eliminate, on_grid, search, search_on
from biselect.solvers._enumeration import Screening, SubsetScan, scan_subsets, screen
from biselect.solvers._incumbent import Incumbent, clamp_penalties, grid_for
from biselect.solvers._lagrangian import ROUNDS, Root, root_bound
from biselect.solvers._reduction import reduce_problem
from biselect.solvers._spectral import spectral_bound
from biselect.solvers.local_search import coordinate_ascent
from biselect.solvers.registry import Answer, Run, keeps_limits
from biselect.solvers.response import SideProblem, cheaper_side, has_room

INSTANT_CELLS = 22_000_000  # enumerated by NumPy before compiled kernels would have been made
SUBSET_CELLS = 100  # what a subset costs NumPy beside its cells
INSTANT_LIMITED_CELLS = 5_000_000  # the same where group limits are looked at subset by subset
SHORT_CELLS = 50_000_000  # searched in less time than it takes to push the bound down
WALK_CELLS = 1_000_000_000  # cells that annealing may look at for a first choice: about a second
WALK_PART = 20  # and at most one part in so many of a full search, so that easy searches do not wait for it
NEARLY = 1e-9  # a bound this close to the score, as a share of it, is above it by rounding alone
SPECTRAL_SHARE = 0.25  # of the time limit that the spectral bound may take before the search
SEARCH_SHARE = 0.5  # of the time limit; then come bounds that need no search, and it has what they leave
PATIENCE = 60.0  # seconds that `auto` spends on a proof when no time limit is given


@keeps_limits("all")
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
    task = cheaper_side(problem)
    start = (climb.features, climb.samples) if task.lines_are == "features" else (climb.samples, climb.features)
    best = Incumbent(task, run.reduced or reduce_problem(problem), *start)
    run.improved(0, -best.floor)
    info: dict[str, Any] = {"steps": ["coordinate ascent"], "searched": task.lines_are}
    run.report(0.0, -best.floor)
    run.hold(_answer(best, info=info))
    if (sieve := _instant(task, best)) is not None:
        answer = _enumerate(best, sieve, run, info, workers)
        if answer is not None:
            return answer
    if not search:
        info["steps"].append("Lagrangian bound")
        root = root_bound(task, run, floor=best.floor, workers=workers)
        return _answer(best, bound=-max(root.score, best.floor), info=info)
    return _branch(best, run, info, workers)


def _instant(task: SideProblem, best: Incumbent) -> Screening | None:
    """The screen that a good choice gives, where all subsets pass it in an instant."""
    instant = INSTANT_LIMITED_CELLS if task.line_limits or task.base_limits else INSTANT_CELLS
    if task.subsets * SUBSET_CELLS > instant or task.lines.size > INSTANT_CELLS:
        return None
    sieve = screen(task, grid_for(task, best.units), best.subset, exact=best.reduced.exact)
    return sieve if task.subsets * (sieve.rows.size + SUBSET_CELLS) <= instant else None


def _enumerate(best: Incumbent, sieve: Screening, run: Run, info: dict[str, Any], workers: int | None) -> Answer | None:
    """The answer of enumeration; None where ties let too many subsets through the screen."""
    task = best.task
    scan = scan_subsets(task, run, sieve, floor=sieve.grid.floor(best.units))
    if not scan.complete and not run.expired():
        return None
    info["steps"].append("enumeration")
    info["subsets"], info["visited"] = task.subsets, scan.visited
    if _settled(best, scan, run):
        tree = RemainingProblem(
            grid=sieve.grid,
            beta=np.zeros(task.lines.shape[0]),
            tau=sieve.threshold,
            rows=sieve.rows,
            columns=np.argsort(-sieve.lines[:, sieve.rows].sum(axis=1), kind="stable"),  # checked in fewer steps
            weights=sieve.lines,
            loss=sieve.loss,
        )
        return _answer(best, proven=True, info=info, proof=_proof(best, tree, None))
    if scan.complete:
        return _answer(best, bound=-at_least(sieve.grid.score(scan.highest)), info=info)
    info["steps"].append("Lagrangian bound")
    return _unproven(best, root_bound(task, run, floor=best.floor, rounds=0, workers=workers).score, run, info, workers)


def _settled(best: Incumbent, scan: SubsetScan, run: Run) -> bool:
    """Give the incumbent's place to the best candidate, the first among equals; whether it is the best of all."""
    first = True
    for subset in scan.candidates:
        if not first and run.expired():
            return False
        if best.offer(subset, or_equal=first):
            first = False
    return scan.complete and scan.certain


def _branch(best: Incumbent, run: Run, info: dict[str, Any], workers: int | None) -> Answer:
    task = best.task
    soon = replace(run, deadline=run.after(SPECTRAL_SHARE))
    spectral = spectral_bound(task, soon) if task.cells > SHORT_CELLS else np.inf  # before what takes all time
    rounds = 0 if task.cells <= SHORT_CELLS else ROUNDS
    root = root_bound(task, run, floor=best.floor, rounds=rounds, workers=workers)
    info["steps"].append("Lagrangian bound")
    info["bound_iterations"] = root.iterations
    root = on_grid(root, task, best.units, workers)[0]  # once, and not in every step that needs it so
    run.report(0.1, -best.floor)
    run.hold(_answer(best, bound=-max(root.score, best.floor), info=info))
    met = root.score - best.floor <= NEARLY * abs(best.floor)  # the search has only to confirm it
    if not met and not run.expired():
        if (walked := _walk(best, root, run, workers)) is not None:
            info["steps"].append("annealing")
            if best.offer(walked):
                run.improved(1, -best.floor)
        run.report(0.2, -best.floor)
    if run.expired():
        return _unproven(best, root.score, run, info, workers, spectral)
    searched = search(task, root, best, replace(run, deadline=run.after(SEARCH_SHARE)), workers)
    info["steps"].append("branch and bound")
    answer = _searched(best, searched, root.score, info)
    if not answer.proven:
        answer = _unproven(best, -answer.bound, run, info, workers, spectral)
        if searched.rest is not None and searched.batch:
            run.hold(answer)
            search_on(searched, searched.rest, best, run, workers)
            answer = _searched(best, searched, -answer.bound, info)
    return answer


def _searched(best: Incumbent, searched: Search, bound: float, info: dict[str, Any]) -> Answer:
    """The incumbent, proven, or with what the search leaves open where that is less than `bound`."""
    info["nodes"] = searched.nodes
    if searched.rest is not None:
        info["rows"], info["lines"] = int(searched.rest.rows.size), int(searched.rest.columns.size)
        if searched.bound is None:
            return _answer(best, proven=True, info=info, proof=_proof(best, searched.rest, searched))
        if np.isfinite(searched.bound):
            bound = min(bound, at_least(searched.rest.grid.score(searched.bound)))
    return _answer(best, bound=-max(bound, best.floor), info=info)


def _unproven(
    best: Incumbent, bound: float, run: Run, info: dict[str, Any], workers: int | None, spectral: float = np.inf
) -> Answer:
    """The incumbent, with the best of all bounds that there is time for."""
    spectral = spectral_bound(best.task, run) if spectral == np.inf else spectral
    if spectral < bound:
        bound = spectral
        info["steps"].append("spectral bound")
    if np.isfinite(bound) and not run.expired():
        from biselect.solvers._averaging import averaging_bound  # loads numba

        bound, size = averaging_bound(best.task, run, floor=best.floor, bound=bound, workers=workers)
        info["steps"] += [f"averaging bound, sets of {size}"] if size else []
    return _answer(best, bound=-max(bound, best.floor), info=info)


def _walk(best: Incumbent, root: Root, run: Run, workers: int | None) -> NDArray[np.int64] | None:
    """A good choice to start the search from: annealing over the lines that a better choice can use.

    None where it would have to end before it has tried half of all swaps.
    """
    task = best.task
    rest = eliminate(task, *on_grid(root, task, best.units, workers), best)
    lines = np.arange(task.lines.shape[0]) if rest is None else np.sort(rest.columns)
    width = task.base.size
    search_cells = comb(lines.size, task.choose) * (width if rest is None else rest.rows.size)
    cells = min(WALK_CELLS, search_cells // WALK_PART)
    swaps = task.choose * (lines.size - task.choose)
    steps = min(40 * swaps, cells // width)
    if steps < max(1, swaps // 2) or _most_lines(task, lines) < task.choose:
        return None
    from biselect.solvers.annealing import anneal_lines  # loads numba

    restarts = min(8, cells // (steps * width))
    task = clamp_penalties(task, best.floor)
    smaller = replace(
        task,
        lines=task.lines if lines.size == task.lines.shape[0] else task.lines[lines],
        line_scores=task.line_scores[lines],
        line_limits=task.line_limits.keep(lines),
    )
    subset, _ = anneal_lines(smaller, _quiet(run), restarts=restarts, steps=steps, workers=workers)
    return lines[subset]


def _most_lines(task: SideProblem, lines: NDArray[np.int64]) -> int:
    """How many of these lines the limits allow together."""
    return int(has_room(lines, task.line_limits).sum()) if task.line_limits else lines.size


def _quiet(run: Run) -> Run:
    """The same run without the watchers, for a step on the way."""
    return replace(run, progress=None, trajectory=None)


def _answer(best: Incumbent, **rest: Any) -> Answer:
    samples, features = best.task.order(best.subset, best.items)
    return Answer(samples=samples, features=features, **rest)


def _proof(best: Incumbent, rest: RemainingProblem, searched: Search | None) -> Proof:
    """What was searched, in positions of the problem as asked."""
    return Proof(
        lines=best.task.lines_are,
        exponent=rest.grid.exponent,
        prices=[int(price) for price in rest.beta],
        tau=int(rest.tau),
        order=best.reduced.places(best.task.lines_are, rest.columns).tolist(),
        closed=rest.grid.floor(best.units),
        dives=None if searched is None else searched.listed,
    )


@keeps_limits("all")
def auto(problem: SelectionProblem, run: Run, *, workers: int | None = None) -> Answer:
    """What `exact` reaches within a minute, or within the time limit: enumeration, or annealing, bound and search.

    `info["steps"]` says what was done, in order.

    Args:
        problem: what to solve.
        run: seed, deadline, progress.
        workers: threads at most; None for one per core.
    """
    return exact(problem, replace(run, deadline=min(run.deadline, Run.now() + PATIENCE)), workers=workers)
