"""`auto`: prove the optimum where that is affordable, otherwise the best found with an honest bound."""

from dataclasses import replace

from biselect.core import SelectionProblem
from biselect.solvers.exact import exact
from biselect.solvers.registry import Answer, Run, keeps_limits

PATIENCE = 60.0  # seconds that `auto` spends on a proof when no time limit is given


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
