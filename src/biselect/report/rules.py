"""Rules beside the budgets, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from biselect.core import SelectionProblem
from biselect.core.rules import Rules

MOST_NAMES = 12  # of a rule that are written out


def rules_in_words(problem: SelectionProblem, per: str | None = None) -> dict[str, Any] | None:
    """The rules of a problem and the budgets they allow; None where there are none.

    Args:
        problem: what was asked.
        per: the column that the groups of samples were made from.
    """
    rows, columns = problem.sample_rules, problem.feature_rules
    if not rows and not columns:
        return None
    return {
        "words": [
            *_words(rows, "row", problem.sample_name, per),
            *_words(columns, "column", problem.feature_name, None),
        ],
        "k": [max(1, len(rows.forced_in)), rows.room(problem.n_samples)],
        "m": [max(1, len(columns.forced_in)), columns.room(problem.n_features)],
    }


def _words(rules: Rules, what: str, name: Callable[[int], str], per: str | None) -> list[str]:
    """One sentence for each kind of rule of one side."""

    def named(items: tuple[int, ...]) -> str:
        more = len(items) - MOST_NAMES
        return ", ".join(name(item) for item in items[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")

    said = []
    if rules.forced_in:
        said.append(f"{what}s that must be chosen: {named(rules.forced_in)}")
    if rules.forced_out:
        said.append(f"{what}s that must not be chosen: {named(rules.forced_out)}")
    for at_most, groups in sorted(Counter(group.at_most for group in rules.groups).items()):
        if per is not None:
            said.append(f"at most {at_most} {what}{'s' * (at_most != 1)} per {per}")
        elif groups == 1:
            members = next(group.members for group in rules.groups if group.at_most == at_most)
            said.append(f"at most {at_most} of the {what}s {named(members)}")
        else:
            said.append(f"at most {at_most} of each of {groups:,} groups of {what}s")
    return said
