"""Strategies: where a training begins its descents, and in which order it spends its budget on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biselect.core.checks import check_integer
from biselect.errors import InputError
from biselect_quantum.circuits.schedule import SCHEDULES
from biselect_quantum.circuits.training._paper_protocols import depth_frontier, threshold
from biselect_quantum.circuits.training._search import Search
from biselect_quantum.circuits.training.first_angles import extended, nearest, ramp, random_start, stretched, widths
from biselect_quantum.circuits.training.records import Descent

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz

Vector = NDArray[np.float64]
Rung = tuple[int, str]

EVALUATIONS = 1000  # of `multistart` where the user sets no budget, and of one descent at most
ENOUGH = 4  # rounds in which nothing showed a way down
TOGETHER, WORTHWHILE = 8, 64  # starts that share what is left of a budget at most, and evaluations of each at least

COLD = 8  # starts of a rung with nothing below it
CONTAINED = {
    "tied": (),
    "layerwise": ("tied",),
    "bilinear": ("tied",),
    "fixed-transport": ("tied", "bilinear"),
    "fully-grouped": ("layerwise", "fixed-transport"),
}


def multistart(search: Search, *, starts: Sequence[Vector] = ()) -> Descent:
    """Descents from the starts given, an annealing ramp of either sign, then random angles, until the budget is spent.

    Each goes down by SciPy's L-BFGS-B on our gradient to its end. Random angles are drawn on a scale of 0.5, 1, π/2 or
    π, in units of what they drive.
    """
    if search.evaluations is None and search.seconds is None:
        search.evaluations = EVALUATIONS
    fresh, best = _endless_starts(search, starts), list[Descent]()
    for number in count():
        together = islice(fresh, int(np.clip(search.room() // WORTHWHILE, 1, TOGETHER)))
        best += search.descend(f"round {number}", list(together), cap=EVALUATIONS, must=not number)[:1]
        if not search.left() or (search.flat and number >= ENOUGH):
            break
    return search.reached(search.ansatz, _best(best))


def _endless_starts(search: Search, first: Sequence[Vector]) -> Iterator[Vector]:
    yield from first
    wide = widths(search.ansatz, search.objective)
    for number in count():
        if number < 2:
            yield ramp(search.ansatz, 1.0, 2 * number - 1)
        yield random_start(wide, np.random.default_rng([search.seed, number]))


def _best(descents: Iterable[Descent]) -> Descent:
    return min(descents, key=lambda descent: descent.value)


def polish(search: Search, *, starts: Sequence[Vector] = ()) -> Descent:
    """A descent from each start and nowhere else; for angles of a sibling problem or a coarser objective."""
    if not starts:
        raise InputError("strategy 'polish' needs angles to begin with: start_from=[...]")
    return search.reached(search.ansatz, search.descend("polish", starts, cap=EVALUATIONS)[0])


# Ladder and continuation: a rung is a depth and a schedule. Its starts are the angles of the schedules that it
# contains, at the same depth, and those of its own schedule one depth lower, stretched over the layers or extended by
# one that does nothing. Contained angles and extended ones give the same state, so a rung is never worse than the rungs
# they come from: where a budget ends before such a start is followed, its angles are kept as they are.


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
    if not 1 <= check_integer("first", first) <= search.ansatz.schedule.depth:
        raise InputError(f"first must be 1 to the depth {search.ansatz.schedule.depth}, got {first}")
    own, below = search.ansatz.schedule.name, _below(search.ansatz)
    if wrong := [name for name in through if name not in below]:
        raise InputError(f"schedule {own!r} does not contain {wrong[0]!r}; it contains: {below}")
    chain = [name for name in SCHEDULES if name in through] + [own]
    depths = range(first, search.ansatz.schedule.depth + 1)
    return _up_the_rungs(search, [(depth, name) for depth in depths for name in chain], fresh, starts)


def continuation(search: Search, *, fresh: int = 0, starts: Sequence[Vector] = ()) -> Descent:
    """Every schedule that the wanted one contains, at its depth: tied, layerwise, bilinear; options as for `ladder`."""
    schedule = search.ansatz.schedule
    chain = [*_below(search.ansatz), schedule.name]
    return _up_the_rungs(search, [(schedule.depth, name) for name in chain], fresh, starts)


def _below(ansatz: Ansatz) -> list[str]:
    """The schedules that its own contains, smallest first; bilinear exists for the standard groups only."""
    own = ansatz.schedule.name
    if own not in SCHEDULES:
        raise InputError(f"this strategy needs one of the schedules {', '.join(SCHEDULES)}, not one of your own")
    reach, waiting = {own}, [own]
    while waiting:
        inner = [name for name in CONTAINED[waiting.pop()] if name != "bilinear" or ansatz.spec.has_own_cost]
        waiting += [name for name in inner if name not in reach]
        reach |= set(inner)
    return [name for name in SCHEDULES if name in reach - {own}]


def _up_the_rungs(search: Search, rungs: list[Rung], fresh: int, first: Sequence[Vector]) -> Descent:
    check_integer("fresh", fresh, least=0)
    weights = np.cumsum([depth * search.ansatz.at_depth(depth, name).size for depth, name in rungs])
    best_of: dict[Rung, Descent] = {}
    for position, (depth, name) in enumerate(rungs):
        ansatz = search.ansatz.at_depth(depth, name)
        inherited = _inherited(search, ansatz, best_of)
        starts = [descent.angles for descent in inherited]
        if position == len(rungs) - 1:
            starts = [*first, *starts]
        random = fresh if starts else COLD - 2 + fresh
        if not starts:
            starts = [ramp(ansatz, 1.0, sign) for sign in (-1, 1)]
        wide = widths(ansatz, search.objective)
        seeds = [[search.seed, position, number] for number in range(random)]
        starts += [random_start(wide, np.random.default_rng(seed)) for seed in seeds]
        share = float(weights[position] / weights[-1])
        followed = search.descend(f"{name} {depth}", starts, cap=EVALUATIONS, ansatz=ansatz, share=share)
        best_of[depth, name] = best = search.reached(ansatz, _best([followed[0], *inherited]))
    return best


def _inherited(search: Search, ansatz: Ansatz, best_of: dict[Rung, Descent]) -> list[Descent]:
    """Angles of the rungs below, with their value where the state is the same."""
    schedule = ansatz.schedule
    starts = []
    for name in CONTAINED[schedule.name]:
        if below := best_of.get((schedule.depth, name)):
            inner = search.ansatz.at_depth(schedule.depth, name).schedule
            starts.append(_known(inner.embed(below.angles, into=schedule), below.value))
    if below := best_of.get((schedule.depth - 1, schedule.name)):
        in_layers = search.ansatz.at_depth(schedule.depth - 1, schedule.name).schedule.expand(below.angles)
        starts.append(_known(nearest(schedule, stretched(in_layers, schedule.depth)), np.inf))
        idle = extended(in_layers, schedule.depth)
        angles = nearest(schedule, idle)
        if np.allclose(schedule.expand(angles), idle, rtol=0, atol=1e-12):  # not where layers share an angle
            starts.append(_known(angles, below.value))
    return starts


def _known(angles: Vector, value: float) -> Descent:
    """Angles whose value no evaluation is needed for; infinite where it is not known."""
    return Descent(angles=angles, value=value, evaluations=0, trace=())


STRATEGIES: dict[str, Callable[..., Descent]] = {
    "multistart": multistart,
    "ladder": ladder,
    "continuation": continuation,
    "depth-frontier": depth_frontier,
    "threshold": threshold,
    "polish": polish,
}
