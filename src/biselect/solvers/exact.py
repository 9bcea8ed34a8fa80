"""`exact`: the optimum with a proof, by enumerating the side that is cheaper to enumerate."""

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers.bounds import rounding, score_bound
from biselect.solvers.coordinate_ascent import coordinate_ascent
from biselect.solvers.enumeration import sides, visit
from biselect.solvers.registry import Answer, Run
from biselect.solvers.top import feature_values, folded, sample_values, top

CELLS_PER_SECOND = 1e9  # a cautious guess for one core, to say beforehand what a visit would take
LONGEST_UNASKED = 86_400.0  # seconds beyond which `exact` wants a time limit


def exact(problem: SelectionProblem, run: Run, *, workers: int | None = None) -> Answer:
    """Enumerate one side; on the other the best response is a top-k or top-m.

    With a time limit that strikes first, the best choice so far comes back with the Lagrangian bound.

    Args:
        problem: what to solve.
        run: seed, deadline, progress.
        workers: threads at most; None for one per core. The answer does not depend on it.
    """
    by_features, by_samples = sides(problem)
    task, enumerated = min(
        ((by_features, "features"), (by_samples, "samples")), key=lambda candidate: candidate[0].cells
    )
    seconds = task.cells / CELLS_PER_SECOND
    if seconds > LONGEST_UNASKED and run.deadline == np.inf:
        raise InputError(
            f"enumerating all {task.subsets:.2e} choices of {enumerated} would take about {seconds / 86_400:.0f} days; "
            "give a time limit, or use solver 'auto', which returns its best choice with a bound"
        )
    start = coordinate_ascent(problem, Run(seed=run.seed, deadline=run.deadline), starts=16)
    start_score = problem.score(start.samples, start.features)
    weights = folded(problem)
    floor = start_score - rounding(weights, np.zeros(1), problem.k, problem.m)
    seen = visit(task, run, floor=floor, workers=workers)
    answer = start if seen.subset is None else _respond(problem, task is by_features, seen.subset)
    info = {
        "method": "enumeration",
        "enumerated": enumerated,
        "subsets": task.subsets,
        "visited": seen.visited,
    }
    bound = -np.inf
    if not seen.complete:
        if start_score > problem.score(answer.samples, answer.features):
            answer = start
        bound = -score_bound(problem, Run(deadline=run.deadline), floor=start_score).score
    return Answer(samples=answer.samples, features=answer.features, bound=bound, proven=seen.complete, info=info)


def enumeration_cells(problem: SelectionProblem) -> int:
    """What `exact` would have to look at, for the cheaper side."""
    sector = problem.sector
    return min(
        sector.feature_subsets * problem.n_samples,
        sector.sample_subsets * problem.n_features,
    )


def _respond(problem: SelectionProblem, features_given: bool, subset: NDArray[np.int64]) -> Answer:
    """Best response to the subset that enumeration settled on."""
    if features_given:
        return Answer(samples=top(sample_values(problem, subset), problem.k), features=subset)
    return Answer(samples=subset, features=top(feature_values(problem, subset), problem.m))
