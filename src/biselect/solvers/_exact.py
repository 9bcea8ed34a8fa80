"""`exact`: the optimum with a proof, from a tree over the lines whose nodes are closed by bounds.

A climb finds a good choice. Averaging over the lines drops what no better choice can use, which is often all, and the
search goes through what is left. Where that takes long, weights are split between rows and lines, which gives a second
tree with another bound; both are searched in turn, and the first that is through proves the answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection, SelectionProblem
from biselect.core.exact_sums import at_least, at_most
from biselect.core.proof import Proof
from biselect.solvers._incumbent import Incumbent
from biselect.solvers._reduction import reduce_problem
from biselect.solvers._root import Root, averaging_bound, root_of
from biselect.solvers._search import Search
from biselect.solvers._split import split_root
from biselect.solvers.local_search import coordinate_ascent
from biselect.solvers.registry import Answer, Run, keeps_limits
from biselect.solvers.response import cheaper_side

STARTS = 16  # of the climb
FIRST_CELLS = 300_000_000  # that the first tree is searched for before weights are split
BEHIND = 4  # by so many times less a search goes on whose bound is the higher one
PATIENCE = 60.0  # seconds that `auto` spends on a proof when no time limit is given


@keeps_limits("all")
def exact(problem: SelectionProblem, run: Run, *, workers: int | None = None) -> Answer:
    """Prove the optimum; with a time limit that strikes first, the best choice so far with a bound.

    `info["steps"]` says what was done, in order.

    Args:
        problem: what to solve.
        run: seed, deadline, progress.
        workers: threads at most; None for one per core. The answer does not depend on it.
    """
    climb = coordinate_ascent(problem, replace(run, progress=None, trajectory=None), starts=STARTS)
    task = cheaper_side(problem)
    choice = (climb.samples, climb.features) if task.lines_are == "samples" else (climb.features, climb.samples)
    best = Incumbent(task, run.reduced or reduce_problem(problem), *choice)
    run.improved(0, -best.floor)
    run.report(0.0, -best.floor)
    info: dict[str, Any] = {"steps": ["coordinate ascent"], "searched": task.lines_are}
    run.hold(_answer(best, info=info))
    root = None if run.expired() else root_of(best)
    if root is None:
        info["steps"].append("averaging bound")
        return _answer(best, bound=-max(averaging_bound(task, run), best.floor), info=info)
    info["steps"].append("averaging search")
    info |= {"rows": int(root.tree.base.size), "lines": int(root.lines.size)}
    searches = [Search(root)]
    cells, first = float(FIRST_CELLS), searches[0].bound(-np.inf)
    searches[0].advance(best, run, cells, workers)
    while (open_searches := _open(best, searches)) and not run.expired():
        bound = _bound(best, searches)
        run.hold(_answer(best, bound=-bound, info=info))
        run.report(1 - (bound - best.floor) / max(_score(root, first) - best.floor, 5e-324), -best.floor)
        if len(info["steps"]) == 2:
            info["steps"].append("split search")
            if (split := split_root(best, root, run)) is not None:
                searches.append(Search(split))
                continue
        for place, search in enumerate(open_searches):
            search.advance(best, run, cells if place == 0 else cells / BEHIND, workers)
            if not _open(best, searches):
                break
        cells *= 2
    closed = root.grid.floor(best.units)
    info["nodes"] = sum(search.nodes for search in searches)
    over = next((search for search in searches if search.bound(closed) <= closed), None)
    if over is None:
        return _answer(best, bound=-_bound(best, searches), info=info)
    return _answer(best, proven=True, info=info, proof=_proof(best, root, over.root))


def _open(best: Incumbent, searches: list[Search]) -> list[Search]:
    """The searches that can still prove the incumbent or find a better one, lowest bound first; none if one is over."""
    closed = searches[0].root.grid.floor(best.units)
    if any(search.bound(closed) <= closed for search in searches):
        return []
    return sorted((search for search in searches if search.is_open), key=lambda search: search.bound(closed))


def _bound(best: Incumbent, searches: list[Search]) -> float:
    """No choice scores more than this."""
    closed = searches[0].root.grid.floor(best.units)
    return max(_score(searches[0].root, min(search.bound(closed) for search in searches)), best.floor)


def _score(root: Root, units: float) -> float:
    """Whole units of a root's grid as a score, rounded up."""
    return at_least(root.grid.score(units)) if np.isfinite(units) else np.inf


def _answer(best: Incumbent, **rest: Any) -> Answer:
    samples, features = best.task.order(best.subset, best.items)
    return Answer(samples=samples, features=features, **rest)


def _proof(best: Incumbent, root: Root, over: Root) -> Proof:
    """What a checker needs to go through the same tree, in positions of the problem as asked."""
    ...


def certified(selection: Selection, *, time_limit: float = 60.0) -> Selection:
    """The same selection with the best bound that there is time for, if that is better than the bound it has.

    >>> from biselect.solvers import solve
    >>> found = solve(SelectionProblem(coupling=[[3, 0, 1], [0, 2, 0], [2, 0, 2]], k=2, m=2), "greedy")
    >>> found.gap, certified(found).gap
    (inf, 0.0)
    """
    if selection.proven_optimal:
        return selection
    bound = solve(selection.problem, "exact", time_limit=time_limit).bound
    units = selection.problem.score_units(selection.samples, selection.features)
    return replace(selection, bound=max(selection.bound, min(bound, at_most(-units))))


@keeps_limits("all")
def auto(problem: SelectionProblem, run: Run, *, workers: int | None = None) -> Answer:
    """What `exact` reaches within a minute, or within the time limit.

    `info["steps"]` says what was done, in order.

    Args:
        problem: what to solve.
        run: seed, deadline, progress.
        workers: threads at most; None for one per core.
    """
    return exact(problem, replace(run, deadline=min(run.deadline, Run.now() + PATIENCE)), workers=workers)
