"""Rules beside the budgets: what must be chosen, what must not, and how many of a group at most."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import checks
from biselect.errors import InfeasibleError, InputError


@dataclass(frozen=True, kw_only=True, init=False)
class Group:
    """At most `at_most` of `members`; with `at_most=1` they exclude each other."""

    members: tuple[int, ...]
    at_most: int

    def __init__(self, *, members: Iterable[int], at_most: int = 1) -> None:
        if isinstance(at_most, bool) or not isinstance(at_most, int | np.integer) or at_most < 0:
            raise InputError(f"at_most must be a whole number, 0 or more, got {at_most!r}")
        object.__setattr__(self, "members", _items("members of a group", members))
        object.__setattr__(self, "at_most", int(at_most))


def _items(what: str, given: Any) -> tuple[int, ...]:
    """Ascending positions; only whole numbers are taken for such."""
    try:
        if isinstance(given, str | bytes) or any(isinstance(item, bool | np.bool_) for item in given):
            raise TypeError
        return tuple(sorted(index(item) for item in given))
    except TypeError:
        raise InputError(f"{what} must be a list of positions, got {given!r}") from None


def _group(value: Group | Mapping[str, Any]) -> Group:
    if isinstance(value, Mapping):
        if "members" not in value or set(value) - {"members", "at_most"}:
            raise InputError(f"a group must hold members and at_most, got {dict(value)!r}")
        return Group(**value)
    return value


@dataclass(frozen=True, kw_only=True, init=False)
class Rules:
    """What one side obeys beside its budget.

    Groups must not share members: then taking the best item that still has room is exact on that side.

    Attributes:
        forced_in: positions that must be chosen.
        forced_out: positions that must not be.
        groups: disjoint groups, each with its own limit; `groups_by` makes them from labels.

    >>> Rules(forced_in=[4], groups=[Group(members=(0, 1))]).allow([0, 4])
    True
    >>> Rules(groups=[{"members": [0, 1], "at_most": 1}]).allow([0, 1])
    False
    """

    forced_in: tuple[int, ...]
    forced_out: tuple[int, ...]
    groups: tuple[Group, ...]

    def __init__(
        self,
        *,
        forced_in: Iterable[int] = (),
        forced_out: Iterable[int] = (),
        groups: Iterable[Group | Mapping[str, Any]] = (),
    ) -> None:
        if isinstance(groups, str) or not isinstance(groups, Iterable):
            raise InputError(f"groups must be a list of groups, got {groups!r}")
        object.__setattr__(self, "forced_in", _items("forced_in", forced_in))
        object.__setattr__(self, "forced_out", _items("forced_out", forced_out))
        object.__setattr__(self, "groups", tuple(_group(group) for group in groups))

    def __bool__(self) -> bool:
        return bool(self.forced_in or self.forced_out or self.groups)

    def allow(self, chosen: Iterable[int]) -> bool:
        """Whether a choice obeys these rules; budgets are not looked at."""
        items = set(chosen)
        return (
            items.issuperset(self.forced_in)
            and items.isdisjoint(self.forced_out)
            and all(len(items.intersection(group.members)) <= group.at_most for group in self.groups)
        )

    def group_of(self, length: int) -> NDArray[np.int64]:
        """For each item the number of its group, -1 for an item in none."""
        numbers = np.full(length, -1, dtype=np.int64)
        for number, group in enumerate(self.groups):
            numbers[list(group.members)] = number
        return numbers

    @property
    def limits(self) -> NDArray[np.int64]:
        """The limit of each group."""
        return np.array([group.at_most for group in self.groups], dtype=np.int64)

    def check(self, length: int, budget: int, what: str) -> None:
        """Refuse positions out of range and shared members; say so if no choice of `budget` items obeys."""
        checks.positions(f"forced-in {what}", self.forced_in, length)
        checks.positions(f"forced-out {what}", self.forced_out, length)
        everyone = [item for group in self.groups for item in group.members]
        if shared := [item for item, times in Counter(everyone).items() if times > 1]:
            shown = ", ".join(map(str, sorted(shared)[:10])) + (" …" if len(shared) > 10 else "")
            raise InputError(
                f"groups of {what} must not share members, but these stand in several: {shown}. "
                "Keep each in the tightest of its groups, or write one group over all of them with the smaller limit"
            )
        checks.positions(f"members of groups of {what}", everyone, length)
        if both := sorted(set(self.forced_in) & set(self.forced_out)):
            raise InfeasibleError(f"{what} {both} are forced in and forced out; decide for one")
        if len(self.forced_in) > budget:
            raise InfeasibleError(f"{len(self.forced_in)} {what} are forced in, but the budget is {budget}; raise it")
        for group in self.groups:
            if len(set(group.members) & set(self.forced_in)) > group.at_most:
                raise InfeasibleError(
                    f"more than {group.at_most} of the group {list(group.members)} of {what} are forced in"
                )
        room = self.room(length)
        if room < budget:
            raise InfeasibleError(f"the rules leave room for {room} {what}, but {budget} must be chosen; relax them")

    def room(self, length: int) -> int:
        """How many of `length` items can be chosen at most."""
        grouped = {item for group in self.groups for item in group.members}
        out = set(self.forced_out)
        return (
            length
            - len(grouped | out)
            + sum(min(group.at_most, len(set(group.members) - out)) for group in self.groups)
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "forced_in": list(self.forced_in),
            "forced_out": list(self.forced_out),
            "groups": [{"members": list(group.members), "at_most": group.at_most} for group in self.groups],
        }


NO_RULES = Rules()


def groups_by(labels: Iterable[Any], at_most: int) -> tuple[Group, ...]:
    """At most `at_most` items with the same label; None and NaN are no label. Groups that cannot overflow are left out.

    >>> groups_by(["ann", "bob", "ann", None], at_most=1)
    (Group(members=(0, 2), at_most=1),)
    """
    limit = Group(members=(), at_most=at_most).at_most
    members: dict[Any, list[int]] = {}
    for item, label in enumerate(labels):
        if label is not None and label == label:  # NaN, the missing label of a frame, equals nothing
            members.setdefault(label, []).append(item)
    return tuple(Group(members=items, at_most=limit) for items in members.values() if len(items) > limit)


def rules_from(value: Rules | Mapping[str, Any] | None, field: str) -> Rules:
    """Rules as such, in JSON form, or none."""
    if value is None:
        return NO_RULES
    if isinstance(value, Rules):
        return value
    if not isinstance(value, Mapping) or set(value) - set(Rules.__dataclass_fields__):
        raise InputError(f"{field} must hold forced_in, forced_out and groups, got {value!r}")
    return Rules(**value)
