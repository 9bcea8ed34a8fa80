"""`ladder` and `continuation`: each rung starts from the angles of those below it.

A rung is a depth and a schedule. Its starts are the angles of the schedules that it contains, at the same depth, and
those of its own schedule one depth lower, stretched over the layers or extended by one that does nothing. Contained
angles and extended ones give the same state, so a rung is never worse than the rungs they come from: where a budget
ends before such a start is followed, its angles are kept as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biselect.core.checks import whole
from biselect.errors import InputError
from biselect.qaoa.schedule import SCHEDULES
from biselect.qaoa.training.descent import Descent
from biselect.qaoa.training.initial_angles import extended, nearest, ramp, random_start, stretched
from biselect.qaoa.training.search import Search

if TYPE_CHECKING:
    from biselect.qaoa.ansatz import Ansatz

Vector = NDArray[np.float64]
Rung = tuple[int, str]
ITERATIONS = 200  # a descent has converged long before
COLD = 8  # starts of a rung with nothing below it
CONTAINED = {
    "tied": (),
    "layerwise": ("tied",),
    "bilinear": ("tied",),
    "fixed-transport": ("tied", "bilinear"),
    "fully-grouped": ("layerwise", "fixed-transport"),
}


def ladder(
    search: Search, *, through: Sequence[str] = (), first: int = 1, fresh: int = 0, starts: Sequence[Vector] = ()
) -> Descent:
    """Every depth up to the wanted one, each from the one before.

    Args:
        search: the means.
        through: smaller schedules to train at every depth too, so that the wanted one is never worse than they are.
        first: the depth to begin with.
        fresh: random starts beside, on every rung.
        starts: angles to begin with at the last depth.
    """
    if not 1 <= whole("first", first) <= search.ansatz.schedule.depth:
        raise InputError(f"first must be 1 to the depth {search.ansatz.schedule.depth}, got {first}")
    own = _own_name(search.ansatz)
    if wrong := [name for name in through if name not in _below(search.ansatz, own)]:
        raise InputError(f"schedule {own!r} does not contain {wrong[0]!r}; it contains: {_below(search.ansatz, own)}")
    chain = [name for name in SCHEDULES if name in through] + [own]
    depths = range(first, search.ansatz.schedule.depth + 1)
    return _up_the_rungs(search, [(depth, name) for depth in depths for name in chain], fresh, starts)


def continuation(search: Search, *, fresh: int = 0, starts: Sequence[Vector] = ()) -> Descent:
    """Every schedule that the wanted one contains, at its depth: tied, layerwise, bilinear, and so on.

    Args:
        search: the means.
        fresh: random starts beside, on every rung.
        starts: angles to begin with on the last rung.
    """
    own = _own_name(search.ansatz)
    chain = [*_below(search.ansatz, own), own]
    return _up_the_rungs(search, [(search.ansatz.schedule.depth, name) for name in chain], fresh, starts)


def _own_name(ansatz: Ansatz) -> str:
    if ansatz.schedule.name not in SCHEDULES:
        raise InputError(f"this strategy needs one of the schedules {', '.join(SCHEDULES)}, not one of your own")
    return ansatz.schedule.name


def _below(ansatz: Ansatz, own: str) -> list[str]:
    """The schedules that one contains, smallest first; bilinear exists for the standard groups only."""
    reach, wanted = {own}, [own]
    while wanted:
        inner = [name for name in CONTAINED[wanted.pop()] if name != "bilinear" or ansatz.spec.has_own_cost]
        wanted += [name for name in inner if name not in reach]
        reach |= set(inner)
    return [name for name in SCHEDULES if name in reach - {own}]


def _up_the_rungs(search: Search, rungs: list[Rung], fresh: int, given: Sequence[Vector]) -> Descent:
    whole("fresh", fresh, least=0)
    weights = np.cumsum([depth * search.ansatz.at_depth(depth, name).size for depth, name in rungs])
    found: dict[Rung, Descent] = {}
    for position, (depth, name) in enumerate(rungs):
        ansatz = search.ansatz.at_depth(depth, name)
        inherited = _inherited(search, ansatz, found)
        starts = [descent.angles for descent in inherited]
        if position == len(rungs) - 1:
            starts = [*given, *starts]
        count = fresh if starts else COLD - 2 + fresh
        if not starts:
            starts = [ramp(ansatz, 1.0, sign) for sign in (-1, 1)]
        starts += [random_start(ansatz, search.objective, [search.seed, position, number]) for number in range(count)]
        share = float(weights[position] / weights[-1])
        best = search.descend(f"{name} {depth}", starts, iterations=ITERATIONS, ansatz=ansatz, share=share)[0]
        best = min([best, *inherited], key=lambda descent: descent.value)
        found[depth, name] = best
        search.reached(ansatz, best)
    return best


def _inherited(search: Search, ansatz: Ansatz, found: dict[Rung, Descent]) -> list[Descent]:
    """Angles of the rungs below, with their value where the state is the same."""
    schedule = ansatz.schedule
    starts = []
    for name in CONTAINED[schedule.name]:
        if (schedule.depth, name) in found:
            inner, below = search.ansatz.at_depth(schedule.depth, name).schedule, found[schedule.depth, name]
            starts.append(_known(inner.embed(below.angles, into=schedule), below.value))
    if (schedule.depth - 1, schedule.name) in found:
        shorter = search.ansatz.at_depth(schedule.depth - 1, schedule.name).schedule
        below = found[schedule.depth - 1, schedule.name]
        in_layers = shorter.expand(below.angles)
        starts.append(_known(nearest(schedule, stretched(in_layers, schedule.depth)), np.inf))
        idle = extended(in_layers, schedule.depth)
        angles = nearest(schedule, idle)
        if np.allclose(schedule.expand(angles), idle, rtol=0, atol=1e-12):  # not where layers share an angle
            starts.append(_known(angles, below.value))
    return starts


def _known(angles: Vector, value: float) -> Descent:
    """Angles whose value no evaluation is needed for; infinite where it is not known."""
    return Descent(angles=angles, value=value, evaluations=0, trace=())
