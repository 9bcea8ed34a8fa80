"""Rules given by name: rows and columns that must be in, rows that must not, at most t rows per value of a column."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from biselect.core import SelectionProblem
from biselect.core.rules import Group, Rules, groups_by
from biselect.errors import InfeasibleError, InputError
from biselect.options import ANY, RowRules, names_in, spell

MOST_NAMES = 12  # of a rule that are written out


def apply_rules(
    rules: RowRules, problem: SelectionProblem, labels: Sequence[str | None] | None = None
) -> SelectionProblem:
    """The problem with these rules; a row or column without a name is called by its position.

    Args:
        rules: by name.
        problem: without rules.
        labels: for `at_most`, one for each sample; None for a sample that no limit is about.

    Raises:
        InputError: the problem has not all the names.
        InfeasibleError: the rules contradict each other.
    """
    if (rules.at_most is None) != (rules.per is None):
        both = f"{spell(RowRules(at_most=ANY))} and {spell(RowRules(per=ANY))}"
        raise InputError(f"{both} go together: {spell(RowRules(at_most=1, per='machine'))}")
    rows = [problem.sample_name(i) for i in range(problem.n_samples)]
    open_ended = [j for j in range(problem.n_features) if problem.direction(j) in ("", "either")]  # what must be, is so
    must = _positions("must", rules.must, rows, "row of the pool")
    never = _positions("never", rules.never, rows, "row of the pool")
    columns = [problem.feature_name(j) for j in open_ended]
    must_columns = [open_ended[at] for at in _positions("must_columns", rules.must_columns, columns, "column in use")]
    if both_ways := [rows[i] for i in must if i in never]:
        names = f"{spell(RowRules(must=ANY))} and {spell(RowRules(never=ANY))}"
        raise InfeasibleError(f"{names} both name {both_ways[0]!r}; decide for one")
    groups: tuple[Group, ...] = ()
    if labels is not None and rules.at_most is not None:
        limited = Counter(label for i in must if (label := labels[i]) is not None)
        if crowded := [label for label, number in limited.items() if number > rules.at_most]:
            raise InfeasibleError(
                f"{spell(RowRules(must=ANY))} names {limited[crowded[0]]} rows with {rules.per} {crowded[0]!r}, but "
                f"{spell(RowRules(at_most=ANY))} is {rules.at_most}; relax one of them"
            )
        groups = groups_by(labels, rules.at_most)
    return replace(
        problem,
        sample_rules=Rules(forced_in=must, forced_out=never, groups=groups),
        feature_rules=replace(problem.feature_rules, forced_in=tuple(must_columns)),
    )


def _positions(field: str, rows: Sequence[Any], names: list[str], what: str) -> tuple[int, ...]:
    at = {name: position for position, name in enumerate(names)}
    once = dict.fromkeys(names_in(rows, names))
    if absent := [name for name in once if name not in at]:
        examples = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
        wrong: dict[str, Any] = {field: [absent[0]]}
        rule = spell(RowRules(**wrong))
        raise InputError(f"{rule}: there is no such {what}; there are {examples}")
    return tuple(at[name] for name in once)


def rules_in_words(problem: SelectionProblem, per: str | None = None) -> dict[str, Any] | None:
    """The rules of a problem and the budgets they allow, for people; None where there are none.

    Args:
        problem: what was asked.
        per: what the labels of groups of samples are called.
    """
    rows, columns = problem.sample_rules, problem.feature_rules
    named = columns if problem.directions is None else Rules(forced_in=columns.forced_in)  # directions are no rule
    if not rows and not named:
        return None
    return {
        "words": [
            *_words(rows, "row", problem.sample_name, per),
            *_words(named, "column", problem.feature_name, None),
        ],
        "k": [max(1, len(rows.forced_in)), rows.room(problem.n_samples)],
        "m": [max(1, len(columns.forced_in)), columns.room(problem.n_features)],
    }


def _words(rules: Rules, what: str, name: Callable[[int], str], per: str | None) -> list[str]:
    """One sentence for each kind of rule of one side."""

    def named(items: tuple[int, ...]) -> str:
        more = len(items) - MOST_NAMES
        return ", ".join(name(item) for item in items[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")

    sentences = []
    if rules.forced_in:
        sentences.append(f"{what}s that must be chosen: {named(rules.forced_in)}")
    if rules.forced_out:
        sentences.append(f"{what}s that must not be chosen: {named(rules.forced_out)}")
    for at_most, groups in sorted(Counter(group.at_most for group in rules.groups).items()):
        if per is not None:
            sentences.append(f"at most {at_most} {what}{'s' * (at_most != 1)} per {per}")
        elif groups == 1:
            members = next(group.members for group in rules.groups if group.at_most == at_most)
            sentences.append(f"at most {at_most} of the {what}s {named(members)}")
        else:
            sentences.append(f"at most {at_most} of each of {groups:,} groups of {what}s")
    return sentences
