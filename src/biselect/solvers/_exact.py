"""`exact`: the optimum with a proof, by enumeration where few choices are left and by branch and bound beyond.

`auto` does so where that is affordable, and otherwise gives the best choice so far with an honest bound.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.exact_sums import at_least
from biselect.core.proof import Proof
from biselect.errors import InfeasibleError
from biselect.solvers._branch_and_bound import RemainingProblem, Search, eliminate, search_tree
from biselect.solvers._enumeration import SubsetScan, count_subsets, scan_subsets
from biselect.solvers._incumbent import Incumbent, clamp_penalties
from biselect.solvers._lagrangian import Root, root_bound
from biselect.solvers._reduction import ReducedProblem, reduce_problem
from biselect.solvers._spectral import spectral_bound
from biselect.solvers.local_search import coordinate_ascent
from biselect.solvers.registry import Answer, Run, keeps_limits
from biselect.solvers.response import SideProblem, best_response, by_features, by_samples, cheaper_side

INSTANT_CELLS = 300_000_000  # that enumeration looks at in less time than it takes to look at the other side
LOOP_CELLS = 4_000_000_000  # that it may look at before branch and bound: some tenths of a second
WALK_CELLS = 1_000_000_000  # cells that annealing may look at for a first choice: about a second
WALK_PART = 20  # and at most one part in so many of a full search, so that easy searches do not wait for it
NEARLY = 1e-9  # a bound this close to the score, as a share of it, is above it by rounding alone
SPECTRAL_SHARE = 0.25  # of the time limit that the spectral bound may take before the search
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
    best = _incumbent(task, run.reduced or reduce_problem(problem), climb.samples, climb.features)
    run.improved(0, -best.floor)
    info: dict[str, Any] = {"steps": ["coordinate ascent"], "searched": task.lines_are}
    run.report(0.0, -best.floor)
    run.hold(_answer(best, info=info))
    info["steps"].append("Lagrangian bound")
    best, root, rest, bound = _bounded(problem, best, run, workers)
    task = best.task
    info["searched"] = task.lines_are
    run.report(0.1, -best.floor)
    run.hold(_answer(best, bound=-max(bound, best.floor), info=info))
    if rest is not None and not run.expired():
        few = _cells_left((best, root, rest)) <= LOOP_CELLS  # otherwise it pays if most of them are left out at once
        most = (LOOP_CELLS if few else LOOP_CELLS // 4) if search else INSTANT_CELLS
        answer = _enumerate(best, rest, run, info, bound, most)
        if answer is not None:
            return answer
    if search and not run.expired():
        return _search(best, root, rest, run, info, bound, workers)
    return _answer(best, bound=-max(bound, best.floor), info=info)


def _incumbent(
    task: SideProblem, reduced: ReducedProblem, samples: NDArray[np.int64], features: NDArray[np.int64]
) -> Incumbent:
    """A choice as seen from the side of a task."""
    return Incumbent(task, reduced, *((samples, features) if task.lines_are == "samples" else (features, samples)))


def _bounded(
    problem: SelectionProblem, best: Incumbent, run: Run, workers: int | None
) -> tuple[Incumbent, Root, RemainingProblem | None, float]:
    """The side that leaves less to search: the incumbent, its root bound, what that leaves; and the lesser bound.

    A block that is wider than it may be has many sets of columns that are nearly as good, but one set of rows.
    """
    samples, features = best.task.order(best.subset, best.items)
    sides = [best]
    if not problem.feature_rules.overlapping:  # then the best features for given samples are not a matter of sorting
        other = by_samples(problem) if best.task.lines_are == "features" else by_features(problem)
        sides.append(_incumbent(other, best.reduced, samples, features))
    seen: list[tuple[Incumbent, Root, RemainingProblem | None]] = []
    for one in sides:
        root = root_bound(one.task, one.units, workers)
        seen.append((one, root, eliminate(one.task, root, one)))
        if _cells_left(seen[-1]) <= INSTANT_CELLS or run.expired():
            break
    return *min(seen, key=_cells_left), min(root.score for _, root, _ in seen)


def _cells_left(seen: tuple[Incumbent, Root, RemainingProblem | None]) -> int:
    """Subsets that the root bound leaves times the rows that matter to them."""
    one, _, rest = seen
    return one.task.cells if rest is None else count_subsets(rest, one.task.choose) * (1 + rest.rows.size)


def _enumerate(
    best: Incumbent, rest: RemainingProblem, run: Run, info: dict[str, Any], bound: float, most: float
) -> Answer | None:
    """The answer of enumeration over the lines that are left; None if that would look at more cells than `most`.

    `bound` is known already and says what is open where time is up.
    """
    grid = rest.grid
    scan = scan_subsets(best.task, run, rest, floor=grid.floor(best.units), most=most, exact=best.reduced.exact)
    if not scan.complete and not run.expired():
        return None
    info["steps"].append("enumeration")
    info["subsets"], info["visited"] = count_subsets(rest, best.task.choose), scan.visited
    if _settled(best, scan, run):
        return _answer(best, proven=True, info=info, proof=_proof(best, rest, None))
    if scan.complete:
        bound = at_least(grid.score(scan.highest))
    return _answer(best, bound=-max(bound, best.floor), info=info)


def _settled(best: Incumbent, scan: SubsetScan, run: Run) -> bool:
    """Give the incumbent's place to the best candidate, the first among equals; whether it is the best of all."""
    first = True
    for subset in scan.candidates:
        if not first and run.expired():
            return False
        if best.offer(subset, or_equal=first):
            first = False
    return scan.complete and scan.certain


def _search(
    best: Incumbent,
    root: Root,
    rest: RemainingProblem | None,
    run: Run,
    info: dict[str, Any],
    bound: float,
    workers: int | None,
) -> Answer:
    """The answer of branch and bound, after what makes it shorter."""
    spectral = spectral_bound(best.task, replace(run, deadline=run.after(SPECTRAL_SHARE)))
    if spectral < bound:
        bound = spectral
        info["steps"].append("spectral bound")
    met = bound - best.floor <= NEARLY * abs(best.floor)  # the search has only to confirm it
    if not met and not run.expired():
        if (walked := _walk(best, rest, run, workers)) is not None:
            info["steps"].append("annealing")
            if best.offer(walked):
                run.improved(1, -best.floor)
                rest = eliminate(best.task, root, best)
        run.report(0.2, -best.floor)
    if run.expired():
        return _answer(best, bound=-max(bound, best.floor), info=info)
    searched = search_tree(root, rest, best, run, workers)
    info["steps"].append("branch and bound")
    info["nodes"] = searched.nodes
    if searched.rest is not None:
        info["rows"], info["lines"] = int(searched.rest.rows.size), int(searched.rest.columns.size)
        if searched.bound is None:
            return _answer(best, proven=True, info=info, proof=_proof(best, searched.rest, searched))
        if np.isfinite(searched.bound):
            bound = min(bound, at_least(searched.rest.grid.score(searched.bound)))
    return _answer(best, bound=-max(bound, best.floor), info=info)


def _walk(best: Incumbent, rest: RemainingProblem | None, run: Run, workers: int | None) -> NDArray[np.int64] | None:
    """A good choice to start the search from: annealing over the lines that a better choice can use.

    None where it would have to end before it has tried half of all swaps.
    """
    task = best.task
    lines = np.arange(task.lines.shape[0]) if rest is None else np.sort(rest.columns)
    width = task.base.size
    search_cells = task.cells if rest is None else count_subsets(rest, task.choose) * rest.rows.size
    cells = min(WALK_CELLS, search_cells // WALK_PART)
    swaps = task.choose * (lines.size - task.choose)
    steps = min(40 * swaps, cells // width)
    if steps < max(1, swaps // 2) or not _some_obey(task, lines):
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


def _some_obey(task: SideProblem, lines: NDArray[np.int64]) -> bool:
    """Whether any choice of these lines obeys the limits."""
    if lines.size < task.choose:
        return False
    try:
        some = best_response(np.zeros(lines.size), task.choose, task.line_limits.keep(lines))
    except InfeasibleError:
        return False
    return some.size == task.choose


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
