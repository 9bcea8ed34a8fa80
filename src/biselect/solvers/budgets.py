"""Neighbouring budgets: what the answer would have been with a few rows or columns more or fewer."""

from collections.abc import Callable
from dataclasses import replace

from biselect.core import Selection, SelectionProblem
from biselect.errors import InfeasibleError, InputError
from biselect.progress import Progress, progress_of
from biselect.solvers.registry import Run, solve

PATIENCE = 5.0  # seconds for all neighbours together


def neighbours(
    selection: Selection,
    *,
    rows: int = 2,
    columns: int = 1,
    seed: int = 0,
    time_limit: float = PATIENCE,
    progress: Progress | bool | None = None,
    answer: Callable[[SelectionProblem, float], Selection] | None = None,
) -> list[Selection]:
    """The selection and those of the budgets k ± `rows` and m ± `columns`, by k and then m.

    Each comes with its own proof or bound. Budgets out of range, and those that the rules leave no choice for, are
    left out; so are the farthest when time is up. Branch and bound is used only where the selection itself needed it:
    an answer that took no compiled kernel has neighbours that take none either.

    Args:
        selection: the answer in the middle.
        rows: how far k goes to either side.
        columns: how far m goes.
        seed: fixes every draw.
        time_limit: seconds for all of them; each gets an equal share of what is left.
        progress: called with (done share, energy of the selection); otherwise as for `solve`.
        answer: solves a problem within so many seconds; None for `exact`.

    >>> from biselect.core import SelectionProblem
    >>> best = solve(SelectionProblem(coupling=[[3, 0, 1], [0, 2, 0], [2, 0, 2]], k=2, m=2))
    >>> [(near.problem.k, near.problem.m, near.score) for near in neighbours(best, rows=1, columns=0)]
    [(1, 2, 4.0), (2, 2, 8.0), (3, 2, 8.0)]
    """
    if min(rows, columns) < 0:
        raise InputError(f"neighbours reach 0 or more rows and columns, got {rows} and {columns}")
    deadline = Run.now() + time_limit
    done_before = selection.info.get("steps")  # of most solvers a number
    search = isinstance(done_before, list) and "branch and bound" in done_before

    def solved(problem: SelectionProblem, seconds: float) -> Selection:
        if answer is not None:
            return answer(problem, seconds)
        return solve(problem, "exact", seed=seed, time_limit=seconds, search=search, check_work=0)

    steps = [(up, right) for up in range(-rows, rows + 1) for right in range(-columns, columns + 1) if up or right]
    steps.sort(key=lambda step: (abs(step[0]) + abs(step[1]), step))  # the nearest first
    selections = [selection]
    with progress_of(progress, "Solving neighbouring budgets") as report:
        for count, (up, right) in enumerate(steps):
            seconds = deadline - Run.now()
            if seconds <= 0:
                break
            try:
                problem = replace(selection.problem, k=selection.problem.k + up, m=selection.problem.m + right)
            except (InputError, InfeasibleError):
                continue
            selections.append(solved(problem, seconds / (len(steps) - count)))
            if report is not None:
                report((count + 1) / len(steps), selection.energy)
    return sorted(selections, key=lambda near: (near.problem.k, near.problem.m))
