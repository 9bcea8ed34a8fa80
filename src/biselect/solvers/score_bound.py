"""A bound for everyone: no choice scores more than this, whatever solver found the answer."""

from dataclasses import replace

from biselect.core import Selection, SelectionProblem
from biselect.core.exact_arithmetic import at_most
from biselect.solvers.bounds import root_bound
from biselect.solvers.forced import without_forced
from biselect.solvers.one_sided import by_features, by_samples
from biselect.solvers.registry import Run
from biselect.solvers.spectral import spectral_bound


def certified(selection: Selection, *, time_limit: float = 60.0) -> Selection:
    """The same selection with the best bound that there is time for, where that is better than the bound it has.

    >>> from biselect.solvers import solve
    >>> found = solve(SelectionProblem(coupling=[[3, 0, 1], [0, 2, 0], [2, 0, 2]], k=2, m=2), "feature-first")
    >>> found.gap, certified(found).gap < 0.3
    (inf, True)
    """
    reduced = without_forced(selection.problem)
    if reduced.rest is None or selection.proven_optimal:
        return selection
    run = Run(deadline=Run.now() + time_limit)
    units = selection.problem.score_units(selection.samples, selection.features)
    bound = reduced.bound(-score_bound(reduced.rest, run, floor=at_most(units - reduced.units)))
    return replace(selection, bound=max(selection.bound, min(bound, at_most(-units))))


def score_bound(problem: SelectionProblem, run: Run, *, floor: float, workers: int | None = None) -> float:
    """Upper bound on the best score; `floor` is the score of a known choice. The shorter side is priced."""
    from biselect.solvers.averaging import averaging_bound  # loads numba

    task = by_features(problem) if problem.n_features <= problem.n_samples else by_samples(problem)
    bound = min(root_bound(task, run, floor=floor, workers=workers).score, spectral_bound(task, run))
    return averaging_bound(task, run, floor=floor, bound=bound, workers=workers)[0]
