"""Rules beside the budgets: what must be chosen, what must not, and how many of a group, at most or exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import comb, prod
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.core import checks
from biselect.errors import InfeasibleError, InputError

MOST_CASES = 1 << 22  # ways to use overlapping limits up that are told apart at once


@dataclass(frozen=True, kw_only=True, init=False, repr=False)
class Group:
    """At most `at_most` of `members`, or exactly `exactly` of them; with `at_most=1` they exclude each other.

    Attributes:
        members: positions, ascending.
        at_most: how many of them may be chosen.
        exact: whether so many must be.

    >>> Group(members=(2, 0), exactly=1)
    Group(members=(0, 2), exactly=1)
    """

    members: tuple[int, ...]
    at_most: int
    exact: bool = False

    def __init__(self, *, members: Iterable[int], at_most: int | None = None, exactly: int | None = None) -> None:
        if at_most is not None and exactly is not None:
            raise InputError("a group holds at_most or exactly, not both")
        name, limit = ("at_most", 1 if at_most is None else at_most) if exactly is None else ("exactly", exactly)
        if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 0:
            raise InputError(f"{name} must be a whole number, 0 or more, got {limit!r}")
        object.__setattr__(self, "members", _items("members of a group", members))
        object.__setattr__(self, "at_most", int(limit))
        object.__setattr__(self, "exact", exactly is not None)

    def __repr__(self) -> str:
        return f"Group(members={self.members}, {'exactly' if self.exact else 'at_most'}={self.at_most})"

    def over(self, members: Iterable[int]) -> Group:
        """The same limit over other members."""
        return Group(members=members, **{"exactly" if self.exact else "at_most": self.at_most})

    def allows(self, number: int) -> bool:
        """Whether so many of its members may be chosen."""
        return number == self.at_most if self.exact else number <= self.at_most

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"members": list(self.members), "exactly" if self.exact else "at_most": self.at_most}


class Blocks(NamedTuple):
    """One side's choices as a product: some items always, and so many of each block, which share no item.

    Attributes:
        always: items of every choice, ascending.
        parts: (members, how many of them) of each block; 0 < how many < members.
    """

    always: tuple[int, ...]
    parts: tuple[tuple[tuple[int, ...], int], ...]

    @property
    def moving(self) -> tuple[int, ...]:
        """The items that stand in some choices and not in others, ascending."""
        return tuple(sorted(item for members, _ in self.parts for item in members))

    def rules(self, length: int) -> Rules:
        """Rules of `length` items that leave just these choices."""
        out = set(range(length)) - set(self.always) - set(self.moving)
        groups = [Group(members=members, at_most=ones) for members, ones in self.parts]
        return Rules(forced_in=self.always, forced_out=out, groups=groups if len(groups) > 1 else ())

    def chances(self, length: int) -> NDArray[np.float64]:
        """How often each of `length` items stands in a choice drawn uniformly."""
        chances = np.zeros(length)
        chances[list(self.always)] = 1
        for members, ones in self.parts:
            chances[list(members)] = ones / len(members)
        return chances


def _items(what: str, value: Any) -> tuple[int, ...]:
    """Ascending positions; only whole numbers are taken for such."""
    try:
        if isinstance(value, str | bytes) or any(isinstance(item, bool | np.bool_) for item in value):
            raise TypeError
        return tuple(sorted(index(item) for item in value))
    except TypeError:
        raise InputError(f"{what} must be a list of positions, got {value!r}") from None


def _groups(what: str, values: Any) -> tuple[Group, ...]:
    """Groups as such or in JSON form."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{what} must be a list of groups, got {values!r}")
    return tuple(_group(value) if isinstance(value, Mapping) else value for value in values)


def _group(value: Mapping[str, Any]) -> Group:
    if "members" not in value or set(value) - {"members", "at_most", "exactly"}:
        raise InputError(f"a group must hold members and at_most or exactly, got {dict(value)!r}")
    return Group(**value)


@dataclass(frozen=True, kw_only=True, init=False)
class Rules:
    """What one side obeys beside its budget.

    Groups must not share members: then taking the best item that still has room is exact on that side. Limits that
    share members go into `overlapping`; only the features may have them.

    Attributes:
        forced_in: positions that must be chosen.
        forced_out: positions that must not be.
        groups: disjoint groups, each with its own limit; `groups_by` makes them from labels.
        overlapping: further groups with `at_most`, which may share members with each other and with `groups`.

    >>> Rules(forced_in=[4], groups=[Group(members=(0, 1))]).allow([0, 4])
    True
    >>> Rules(groups=[{"members": [0, 1], "at_most": 1}]).allow([0, 1])
    False
    >>> Rules(overlapping=[Group(members=(0, 1)), Group(members=(1, 2, 3), at_most=2)]).allow([0, 2, 3])
    True
    """

    forced_in: tuple[int, ...]
    forced_out: tuple[int, ...]
    groups: tuple[Group, ...]
    overlapping: tuple[Group, ...]

    def __init__(
        self,
        *,
        forced_in: Iterable[int] = (),
        forced_out: Iterable[int] = (),
        groups: Iterable[Group | Mapping[str, Any]] = (),
        overlapping: Iterable[Group | Mapping[str, Any]] = (),
    ) -> None:
        object.__setattr__(self, "forced_in", _items("forced_in", forced_in))
        object.__setattr__(self, "forced_out", _items("forced_out", forced_out))
        object.__setattr__(self, "groups", _groups("groups", groups))
        object.__setattr__(self, "overlapping", _groups("overlapping", overlapping))
        if any(limit.exact for limit in self.overlapping):
            raise InputError("overlapping limits say at_most; a group with `exactly` belongs into groups")

    def __bool__(self) -> bool:
        return bool(self.forced_in or self.forced_out or self.has_limits)

    @property
    def has_limits(self) -> bool:
        """Whether anything but forced choices is asked."""
        return bool(self.groups or self.overlapping)

    def allow(self, choice: Iterable[int]) -> bool:
        """Whether a choice obeys these rules; budgets are not looked at."""
        items = set(choice)
        return (
            items.issuperset(self.forced_in)
            and items.isdisjoint(self.forced_out)
            and all(group.allows(len(items.intersection(group.members))) for group in self.groups + self.overlapping)
        )

    def allow_bits(self, bits: NDArray[Any]) -> NDArray[np.bool_]:
        """The same for rows of zeros and ones over all items."""
        allowed: NDArray[np.bool_] = np.all(bits[:, list(self.forced_in)], axis=1)
        allowed = allowed & ~np.any(bits[:, list(self.forced_out)], axis=1)
        for group in self.groups + self.overlapping:
            number = bits[:, list(group.members)].sum(axis=1, dtype=np.int64)
            allowed &= (number == group.at_most) if group.exact else (number <= group.at_most)
        return allowed

    def memberships(self, length: int) -> NDArray[np.int64]:
        """Numbers of the limits that each item counts towards, as positions in `limits`.

        Returns:
            Integers of shape (length, 1 + how many overlapping limits an item has at most); the first column holds
            the item's group; -1 if there is none.
        """
        stands_in = Counter(item for limit in self.overlapping for item in limit.members)
        numbers = np.full((length, 1 + max(stands_in.values(), default=0)), -1, dtype=np.int64)
        for number, group in enumerate(self.groups):
            numbers[list(group.members), 0] = number
        width = np.ones(length, dtype=np.int64)
        for number, limit in enumerate(self.overlapping, len(self.groups)):
            members = list(limit.members)
            numbers[members, width[members]] = number
            width[members] += 1
        return numbers

    @property
    def limits(self) -> NDArray[np.int64]:
        """How many of each group, and then of each overlapping limit, may be chosen."""
        return np.array([group.at_most for group in self.groups + self.overlapping], dtype=np.int64)

    def checked(self, length: int, budget: int, what: str) -> Rules:
        """These rules as limits alone (see `settled`); refuses what is out of range or leaves no choice."""
        self._check(length, budget, what)
        rules = self.settled(length, budget, what)
        if rules is not self:
            rules._check(length, budget, what)
        return rules

    def _check(self, length: int, budget: int, what: str) -> None:
        """Refuse positions out of range and shared members; say so if no choice of `budget` items obeys."""
        checks.check_positions(f"forced-in {what}", self.forced_in, length)
        checks.check_positions(f"forced-out {what}", self.forced_out, length)
        everyone = [item for group in self.groups for item in group.members]
        if shared := [item for item, times in Counter(everyone).items() if times > 1]:
            first = ", ".join(map(str, sorted(shared)[:10])) + (" …" if len(shared) > 10 else "")
            raise InputError(
                f"groups of {what} must not share members, but these stand in several: {first}. Keep each in "
                "the tightest of its groups, or write one group over all of them with the smaller limit; of features, "
                "write limits that share members as `overlapping`"
            )
        if self.overlapping and what != "features":
            raise InputError(f"{what} cannot have overlapping limits, only features can; write disjoint groups")
        for group in self.groups + self.overlapping:
            checks.check_positions(f"members of groups of {what}", group.members, length)
        if both := sorted(set(self.forced_in) & set(self.forced_out)):
            raise InfeasibleError(f"{what} {both} are forced in and forced out; decide for one")
        if len(self.forced_in) > budget:
            raise InfeasibleError(f"{len(self.forced_in)} {what} are forced in, but the budget is {budget}; raise it")
        for group in self.groups + self.overlapping:
            if len(set(group.members) & set(self.forced_in)) > group.at_most:
                raise InfeasibleError(
                    f"more than {group.at_most} of the group {list(group.members)} of {what} are forced in"
                )
        if self.overlapping and self._is_easy(length, budget):
            return
        room = self.room(length)
        if room < budget:
            raise InfeasibleError(f"the rules leave room for {room} {what}, but {budget} must be chosen; relax them")

    def _is_easy(self, length: int, budget: int) -> bool:
        """Whether a choice obeys that takes whatever still has room, items in few limits first."""
        memberships, room = self.memberships(length), self.limits
        order = np.argsort((memberships >= 0).sum(axis=1), kind="stable").tolist()
        items = list(self.forced_in)
        for numbers in memberships[items]:
            room[numbers[numbers >= 0]] -= 1
        for item in order:
            numbers = memberships[item][memberships[item] >= 0]
            if len(items) < budget and item not in self.forced_in + self.forced_out and (room[numbers] > 0).all():
                room[numbers] -= 1
                items.append(item)
        return len(items) >= budget

    def room(self, length: int) -> int:
        """How many of `length` items can be chosen at most."""
        shared, ways = self._shared(length, bool)
        out = set(self.forced_out) | shared
        groups = [set(group.members) - shared for group in self.groups]
        within = sum(min(group.at_most, len(members - out)) for group, members in zip(self.groups, groups, strict=True))
        return length - len(out.union(*groups)) + within + len(ways) - 1

    def count(self, length: int, budget: int) -> int:
        """How many choices of `budget` of `length` items obey.

        >>> Rules(groups=[Group(members=(0, 1))]).count(4, 2)
        5
        >>> Rules(overlapping=[Group(members=(0, 1)), Group(members=(1, 2))]).count(4, 2)
        4
        """
        shared, ways = self._shared(budget, int)  # ways of choosing 0, 1, … items so far
        always = set(self.forced_in) - shared
        free = set(range(length)) - shared - always - set(self.forced_out)
        for group in self.groups:
            members, forced = len(free.intersection(group.members)), len(always.intersection(group.members))
            if shared.isdisjoint(group.members):
                numbers = [comb(members, number) * group.allows(number + forced) for number in range(members + 1)]
                ways = _product(ways, numbers, budget)
                free.difference_update(group.members)
        missing = budget - len(always)
        return sum(way * comb(len(free), missing - number) for number, way in enumerate(ways) if number <= missing)

    def _shared(self, most: int, number: type[bool] | type[int]) -> tuple[set[int], list[int]]:
        """Items whose choice depends on overlapping limits, and how many ways there are to choose 0, 1, … of them.

        Those are the members of overlapping limits, and all of the groups that these stand in.

        Args:
            most: larger choices do not matter.
            number: with `bool` the ways are not counted: they are 0 where there is none; the last is never 0.
        """
        limits = [set(limit.members) for limit in self.overlapping]
        members = set().union(*limits)
        parts = [(set(group.members), group) for group in self.groups if not members.isdisjoint(group.members)]
        grouped = set().union(*(part for part, _ in parts))
        parts += [({item}, Group(members=(item,))) for item in sorted(members - grouped)]
        shared, forced, out = members | grouped, set(self.forced_in), set(self.forced_out)
        sizes = [min(most, sum(min(len(part - out), group.at_most) for part, group in parts))]
        sizes += [min(most, limit.at_most, len(limit.members)) for limit in self.overlapping]
        if prod(size + 1 for size in sizes) > MOST_CASES:
            raise InputError(f"{len(limits)} overlapping limits can be used up in too many ways to go through them")
        small = comb(len(shared), min(sizes[0], len(shared) // 2)) < 2**62
        table = np.zeros([size + 1 for size in sizes], dtype=bool if number is bool else np.int64 if small else object)
        table.flat[0] = 1
        for part, group in parts:
            by_number = {0: table}  # of this group's items
            patterns = Counter((item in forced, *(item in limit for limit in limits)) for item in part - out)
            for (is_forced, *stands_in), size in patterns.items():
                longer: dict[int, NDArray[Any]] = {}
                for before, cases in by_number.items():
                    for more in range(size if is_forced else 0, min(size, group.at_most - before) + 1):
                        ways = number(comb(size, more)) * _shifted(
                            cases, [more, *(more * inside for inside in stands_in)]
                        )
                        longer[before + more] = longer[before + more] + ways if before + more in longer else ways
                by_number = longer
            table = sum((cases for taken, cases in by_number.items() if group.allows(taken)), np.zeros_like(table))
        ways_of = table.reshape(len(table), -1).sum(axis=1).tolist()
        return shared, ways_of[: 1 + max((count for count, ways in enumerate(ways_of) if ways), default=0)]

    def settled(self, length: int, budget: int, what: str) -> Rules:
        """The same rules for this budget with limits alone: exactly t is at most t, and at most the others of the rest.

        Then no choice of `budget` items can have fewer of any group.

        >>> Rules(groups=[Group(members=(0, 1, 2), exactly=1)]).settled(5, 2, "samples").groups
        (Group(members=(0, 1, 2), at_most=1), Group(members=(3, 4), at_most=1))
        """
        exact = [group for group in self.groups if group.exact]
        if not exact:
            return self
        groups = [Group(members=group.members, at_most=group.at_most) for group in self.groups]
        for group in exact:
            if group.at_most > len(set(group.members) - set(self.forced_out)):
                raise InfeasibleError(
                    f"the group {list(group.members)} of {what} has fewer than {group.at_most} to choose"
                )
        rest = budget - sum(group.at_most for group in exact)
        if rest < 0:
            raise InfeasibleError(f"the groups of {what} hold exactly {budget - rest}, but the budget is {budget}")
        in_groups = {item for group in exact for item in group.members}
        others = [item for item in range(length) if item not in in_groups]
        if len(exact) == len(self.groups):
            return Rules(
                forced_in=self.forced_in,
                forced_out=self.forced_out,
                groups=[*groups, Group(members=others, at_most=rest)] if rest < len(others) else groups,
                overlapping=self.overlapping,
            )
        same = replace(self, groups=tuple(groups))
        if same.room(length) > budget:
            raise InputError(
                f"{what}: beside groups with `exactly`, those with `at_most` must leave room for just {rest} others, "
                "so that all add up to the budget; write them with `exactly` too"
            )
        return same

    def blocks(self, length: int, budget: int, what: str) -> Blocks:
        """The choices of `budget` items as a product of blocks, where the rules make them one.

        They do where every limit is reached by every choice, so that "at most" means "exactly".

        >>> Rules(forced_in=[0]).blocks(4, 2, "samples")
        Blocks(always=(0,), parts=(((1, 2, 3), 1),))
        """
        if self.overlapping:
            raise InputError(f"a circuit keeps no overlapping limits of {what}; solver 'exact' does")
        always, out = set(self.forced_in), set(self.forced_out)
        missing = budget - len(always)
        free = set(range(length)) - always - out
        rooms: list[tuple[list[int], int]] = []
        for group in self.groups:
            members = [item for item in group.members if item in free]
            room = group.at_most - len(always.intersection(group.members))
            if room < min(len(members), missing):
                free.difference_update(members)
                if room:
                    rooms.append((members, room))
        elsewhere = missing - sum(room for _, room in rooms)
        if rooms and elsewhere != len(free):
            raise InputError(_loose(what, budget, self.room(length) - budget))
        parts = [*rooms, (sorted(free), elsewhere)]
        for members, ones in parts:
            if ones == len(members):
                always.update(members)
        mixed = sorted((tuple(members), ones) for members, ones in parts if 0 < ones < len(members))
        return Blocks(always=tuple(sorted(always)), parts=tuple(mixed))

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        form: dict[str, Any] = {"forced_in": list(self.forced_in), "forced_out": list(self.forced_out)}
        form["groups"] = [group.to_dict() for group in self.groups]
        if self.overlapping:
            form["overlapping"] = [limit.to_dict() for limit in self.overlapping]
        return form


def _shifted(table: NDArray[Any], steps: list[int]) -> NDArray[Any]:
    """The table moved up by so many places along each axis; what leaves it is dropped."""
    moved = np.zeros_like(table)
    target = tuple(slice(step, None) for step in steps)
    moved[target] = table[tuple(slice(0, max(0, size - step)) for size, step in zip(table.shape, steps, strict=True))]
    return moved


def _product(first: list[int], second: list[int], most: int) -> list[int]:
    """Two polynomials multiplied, up to x^most."""
    product = [0] * (min(most, len(first) + len(second) - 2) + 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second[: len(product) - i]):
            product[i + j] += a * b
    return product


def _loose(what: str, budget: int, spare: int) -> str:
    return (
        f"a circuit keeps limits per group only where every choice reaches them, by a mixer inside each group; the "
        f"groups of {what} say at most, and would hold {budget + spare} where the budget is {budget}. Say exactly how "
        'many of each: Group(members=…, exactly=t), in JSON {"members": […], "exactly": t} (all others become a group '
        f"by themselves); or take a budget of {budget + spare}; or solver 'exact', which keeps limits of any kind"
    )


NO_RULES = Rules()


def groups_by(labels: Iterable[Any], at_most: int | None = None, *, exactly: int | None = None) -> tuple[Group, ...]:
    """At most, or exactly, so many items with the same label; None and NaN are no label.

    Groups that cannot overflow an `at_most` are left out.

    >>> groups_by(["ann", "bob", "ann", None], at_most=1)
    (Group(members=(0, 2), at_most=1),)
    >>> [group.members for group in groups_by(["ann", "bob", "ann", None], exactly=1)]
    [(0, 2), (1,)]
    """
    if (at_most is None) == (exactly is None):
        raise InputError("groups_by takes at_most= or exactly=")
    limit = Group(members=(), at_most=at_most, exactly=exactly)
    members: dict[Any, list[int]] = {}
    for item, label in enumerate(labels):
        if label is not None and label == label:  # NaN, the missing label of a frame, equals nothing
            members.setdefault(label, []).append(item)
    return tuple(limit.over(items) for items in members.values() if limit.exact or len(items) > limit.at_most)


def rules_from(value: Rules | Mapping[str, Any] | None, field: str) -> Rules:
    """Rules as such, in JSON form, or none."""
    if value is None:
        return NO_RULES
    if isinstance(value, Rules):
        return value
    if not isinstance(value, Mapping) or set(value) - set(Rules.__dataclass_fields__):
        raise InputError(f"{field} must hold forced_in, forced_out, groups and overlapping, got {value!r}")
    return Rules(**value)
