"""What one more row or column would add to an answer."""

from dataclasses import replace
from typing import Any

from biselect.core import Selection, SelectionProblem
from biselect.errors import InfeasibleError, InputError
from biselect.solvers import solve


def one_more(near: Selection, larger: Selection | None, side: str) -> dict[str, Any] | None:
    """What a budget larger by one adds to the score.

    Exact where both answers are proven. Where nobody solved the larger budget, at least what the best response to the
    side that stays adds. Where a proof is missing, about that.
    """
    if larger is not None:
        kind = "exactly" if near.proven_optimal and larger.proven_optimal else "about"
        return {"adds": larger.score - near.score, "kind": kind}
    try:
        response = solve(_other_side_held(near, side), check_work=0)
    except (InputError, InfeasibleError):  # nothing is left to choose
        return None
    return {"adds": response.score - near.score, "kind": "at least" if near.proven_optimal else "about"}


def _other_side_held(near: Selection, side: str) -> SelectionProblem:
    """The problem with one more row while the columns stay, or one more column while the rows stay."""
    problem = near.problem
    if side == "row":
        rules = replace(problem.feature_rules, forced_in=tuple(near.features))
        return replace(problem, k=problem.k + 1, feature_rules=rules)
    rules = replace(problem.sample_rules, forced_in=tuple(near.samples))
    return replace(problem, m=problem.m + 1, sample_rules=rules)
