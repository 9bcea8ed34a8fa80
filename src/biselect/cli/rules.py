"""Rules that `select` takes by name: rows and columns that must be in, rows that must not, at most t per value."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from biselect.cli import options
from biselect.errors import InfeasibleError, InputError

if TYPE_CHECKING:
    from biselect.core import SelectionProblem
    from biselect.core.rules import Group
    from biselect.data.pools import Pool


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What was asked for beside the budgets.

    Attributes:
        at_most: rows with the same value of `per`, or None for any number.
        per: the column that the limit is about.
        must: names of rows to choose.
        never: names of rows not to choose.
        must_columns: names of columns to choose.
    """

    at_most: int | None = None
    per: str | None = None
    must: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    must_columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.at_most is None) != (self.per is None):
            raise InputError("--at-most and --per go together: --at-most 1 --per machine")

    def applied(self, problem: SelectionProblem, pool: Pool) -> SelectionProblem:
        """The problem with these rules; names it does not have are refused."""
        from biselect.core.rules import Rules, groups_by

        must = _positions(self.must, pool.sample_names, "--must", "row of the pool")
        never = _positions(self.never, pool.sample_names, "--never", "row of the pool")
        features = [problem.feature_name(j) for j in range(problem.n_features)]
        columns = _positions(self.must_columns, features, "--must-column", "column in use")
        if both := [pool.sample_names[i] for i in must if i in never]:
            raise InfeasibleError(f"--must and --never both name {both[0]!r}; decide for one")
        groups: tuple[Group, ...] = ()
        if pool.per is not None and self.at_most is not None:
            labels = Counter(label for i in must if (label := pool.per[i]) is not None)
            if crowded := [label for label, rows in labels.items() if rows > self.at_most]:
                raise InfeasibleError(
                    f"--must names {labels[crowded[0]]} rows with {self.per} {crowded[0]!r}, but --at-most is "
                    f"{self.at_most}; relax one of them"
                )
            groups = groups_by(pool.per, self.at_most)
        return replace(
            problem,
            sample_rules=Rules(forced_in=must, forced_out=never, groups=groups),
            feature_rules=Rules(forced_in=columns),
        )


def _positions(given: tuple[str, ...], names: list[str], option: str, what: str) -> tuple[int, ...]:
    at = {name: position for position, name in enumerate(names)}
    wanted = dict.fromkeys(options.listed(list(given), names))  # named twice is named once
    if absent := [name for name in wanted if name not in at]:
        shown = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
        raise InputError(f"{option} {absent[0]!r}: there is no such {what}; there are {shown}")
    return tuple(at[name] for name in wanted)
