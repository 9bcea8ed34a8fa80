"""Strategies: where a training begins its descents, and in which order it spends its budget on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import count, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.core.checks import check_integer
from biselect.errors import InputError
from biselect_quantum.circuits.schedule import SCHEDULES
from biselect_quantum.circuits.training._descent import DescentMonitor, lbfgs, powell, random_local
from biselect_quantum.circuits.training._search import Search
from biselect_quantum.circuits.training.first_angles import (
    extended,
    layer_midpoints,
    layer_table,
    learnt_angles,
    nearest,
    ramp,
    random_start,
    redraw_some,
    stretched,
    widths,
)
from biselect_quantum.circuits.training.records import Descent
from biselect_quantum.simulate.limits import OutOfTimeError

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz

Vector = NDArray[np.float64]
Rung = tuple[int, str]

EVALUATIONS = 1000  # of `multistart` where the user sets no budget
SCREENS, GPU_SCREENS = 128, 2048  # starts that are screened together at most
SCREEN, HALVINGS = 26, (4, 8, 16)  # evaluations of a start at most; after so many only the better half goes on
HOP, HOP_HALVINGS = 16, (4,)  # the same for hops
ROUNDS, FEWER = 4, 4  # rounds of hops after a screen, and how many times fewer they are than its starts
CYCLE = 16  # evaluations for each start of a screen that it takes with its hops, about
SCOUTS, GPU_SCOUTS = 16, 512  # descents that time is measured on, where only time is limited
SEARCHING = 0.9  # share of the budget; the rest polishes
ELITE = 8  # descents that hops begin from and that are polished
FEWEST = 64  # evaluations below which a search in single precision leaves too few to end in double precision
ALIKE = 1e-4  # of the objective's unit: values closer than this are one descent found twice
CONVERGED = 260  # evaluations: a descent has converged long before

COLD = 8  # starts of a rung with nothing below it
CONTAINED = {
    "tied": (),
    "layerwise": ("tied",),
    "bilinear": ("tied",),
    "fixed-transport": ("tied", "bilinear"),
    "fully-grouped": ("layerwise", "fixed-transport"),
}

REACH, RANDOM = 1.0, 3  # `depth-frontier`: the box, random starts a depth
BET, RUN, KEPT = 15, 500, 2  # iterations, iterations, starts that run on
BET_CALLS, RUN_CALLS = 22, 652  # evaluations at most, line searches included

CALLS, TOLERANCE, LOCAL_STEP = 96, 1e-3, 0.25  # `threshold`
BOX = (0.0, np.pi)
RANDOM_ANGLES = 2


def multistart(search: Search, *, starts: Sequence[Vector] = (), learnt: bool = True) -> Descent:
    """Screens, each followed by hops from the best, in turn; then a polish. All go down in lock-step.

    Starts are those given, an annealing ramp of either sign, and then in turn those learnt on other instances, unless
    `learnt` is False, and random angles on a scale drawn from {0.5, 1, π/2, π}. Only the better half of a screen goes
    on after 4, 8 and 16 evaluations. A hop draws some angles of one of the best descents anew and goes down from there.
    Both run in single precision where the simulator has it; a tenth of the budget polishes the best in the precision
    of the ansatz.
    """
    if search.evaluations is None and search.seconds is None:
        search.evaluations = EVALUATIONS
    how: dict[str, Any] = {"coarse": search.evaluations is None or search.evaluations >= FEWEST, "share": SEARCHING}
    fresh, best = _endless_starts(search, starts, learnt), list[Descent]()
    if search.evaluations is None:
        scouts = GPU_SCOUTS if search.ansatz.backend == "gpu" else SCOUTS  # a GPU takes as long for few as for many
        best = search.descend("scout", list(islice(fresh, max(scouts, len(starts)))), rounds=HALVINGS[0], **how)
    rows, wide = _screened_together(search), widths(search.ansatz, search.objective)
    for cycle in count():
        screens = list(islice(fresh, rows if best else max(rows, len(starts))))
        plan: dict[str, Any] = {"rounds": SCREEN, "halvings": HALVINGS, "must": not best}
        best = _elite(search, [*best, *search.descend(f"screen {cycle}", screens, **plan, **how)])
        for number in range(ROUNDS):
            rng = np.random.default_rng([search.seed, cycle, number])
            hops = [redraw_some(wide, _drawn(best, rng), rng) for _ in range(max(1, rows // FEWER))]
            plan = {"rounds": HOP, "halvings": HOP_HALVINGS, "must": False}
            best = _elite(search, [*best, *search.descend(f"hop {cycle}.{number}", hops, **plan, **how)])
        if not search.left(SEARCHING) or search.flat:
            break
    polished: list[Descent] = []
    with suppress(OutOfTimeError):  # what was found before is not lost
        polished = search.descend("polish", [descent.angles for descent in best], rounds=CONVERGED, must=how["coarse"])
    return search.reached(search.ansatz, _best(polished if how["coarse"] and polished else [*polished, *best]))


def _screened_together(search: Search) -> int:
    """How many starts are screened at a time: as many as a batch likes, or fewer, so that hops fit into the budget."""
    expected: float | None = search.evaluations
    if expected is None:
        assert search.seconds is not None
        expected = search.spent / search.elapsed * search.seconds
    return int(np.clip(expected / CYCLE, 1, GPU_SCREENS if search.ansatz.backend == "gpu" else SCREENS))


def _elite(search: Search, descents: Sequence[Descent]) -> list[Descent]:
    """The best descents, each once."""
    elite: list[Descent] = []
    for descent in sorted(descents, key=lambda descent: descent.value):
        if not elite or descent.value > elite[-1].value + ALIKE * search.objective.unit:
            elite.append(descent)
    return elite[:ELITE]


def _drawn(best: Sequence[Descent], rng: np.random.Generator) -> Vector:
    """Angles of one of the best, each half as likely as the one before."""
    return best[min(int(rng.geometric(0.5)) - 1, len(best) - 1)].angles


def _endless_starts(search: Search, first: Sequence[Vector], learnt: bool) -> Iterator[Vector]:
    yield from first
    for sign in (-1, 1):
        yield ramp(search.ansatz, 1.0, sign)
    wide = widths(search.ansatz, search.objective)
    learnt_starts = iter(learnt_angles(search.ansatz, search.objective) if learnt else [])
    for number in count():
        yield from islice(learnt_starts, 1)
        yield random_start(wide, np.random.default_rng([search.seed, number]))


def _best(descents: Iterable[Descent]) -> Descent:
    return min(descents, key=lambda descent: descent.value)


def polish(search: Search, *, starts: Sequence[Vector] = ()) -> Descent:
    """A descent from each start and nowhere else; for angles of a sibling problem or a coarser objective."""
    if not starts:
        raise InputError("strategy 'polish' needs angles to begin with: start_from=[...]")
    return search.reached(search.ansatz, search.descend("polish", starts, rounds=CONVERGED)[0])


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
        followed = search.descend(f"{name} {depth}", starts, rounds=CONVERGED, ansatz=ansatz, share=share)
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


def depth_frontier(search: Search) -> Descent:
    """The paper's protocol for expected energies by depth (Section S5.1): depth by depth up to the wanted one.

    L-BFGS-B in the box [-1, 1], five deterministic and three random starts a depth, a depth ladder, bet-and-run. The
    paper does not say which five starts nor how the bet is run. Here they are the angles of the depth before, stretched
    and extended (two small constants at the first depth), two ramps of either sign, and a constant; every start goes 15
    iterations, then the best two go to convergence.
    """
    depth = search.ansatz.schedule.depth
    weights = np.cumsum([rung**2 for rung in range(1, depth + 1)])
    before: Vector | None = None
    for rung in range(1, depth + 1):
        ansatz = search.ansatz.at_depth(rung)
        half, whole_rung = (float((weights[rung - 1] - part * rung**2) / weights[-1]) for part in (0.5, 0.0))
        rng = np.random.default_rng([search.seed, rung])
        starts = _deterministic(ansatz, before)
        starts += [rng.uniform(-REACH, REACH, size=ansatz.size) for _ in range(RANDOM)]
        bets = search.each(
            f"bet {rung}", starts, partial(_in_box, search, BET), cap=BET_CALLS, ansatz=ansatz, share=half
        )
        best_bets = [bet.angles for bet in bets[:KEPT]]
        how: dict[str, Any] = {"cap": RUN_CALLS, "ansatz": ansatz, "share": whole_rung, "must": False}
        runs = search.each(f"run {rung}", best_bets, partial(_in_box, search, RUN), **how)
        best = search.reached(ansatz, _best([*runs, bets[0]]))
        before = ansatz.schedule.expand(best.angles)
    return best


def _in_box(search: Search, iterations: int, on: Ansatz, start: Vector, _: int, watch: DescentMonitor) -> Descent:
    def slope(angles: Vector) -> tuple[float, Vector]:
        values, slopes = search.objective.values_and_gradients(on, angles[None])
        return float(values[0]), slopes[0]

    return lbfgs(slope, start, (-REACH, REACH), iterations=iterations, watch=watch)


def _deterministic(ansatz: Ansatz, before: Vector | None) -> list[Vector]:
    schedule, steps = ansatz.schedule, layer_midpoints(ansatz.schedule.depth)
    if before is None:
        tables = [layer_table(schedule, 0.1, -0.1), layer_table(schedule, 0.1, 0.1)]
    else:
        tables = [stretched(before, schedule.depth), extended(before, schedule.depth)]
    tables += [layer_table(schedule, 0.5 * steps, sign * 0.5 * (1 - steps)) for sign in (-1, 1)]
    tables += [layer_table(schedule, 0.3, -0.3)]
    return [np.clip(nearest(schedule, table), -REACH, REACH) for table in tables]


def threshold(search: Search) -> Descent:
    """The paper's best-known-threshold protocol (Section S5.1), without gradients; the best angles seen are kept.

    Each untrained start is evaluated, then searched from by random local steps and by Powell's method, 96 calls each,
    within [0, π]. The paper does not list its starts; here they are all angles at π/4, all at π/8, a rising ramp of
    phases with falling mixing, the same with mixing mirrored at π/2, and two random ones. It does not give the local
    step either.
    """
    seed, value = search.seed, search.objective.value

    def local(on: Ansatz, start: Vector, number: int, watch: DescentMonitor) -> Descent:
        return random_local(partial(value, on), start, BOX, step=LOCAL_STEP, seed=[seed, 1, number], watch=watch)

    def directions(on: Ansatz, start: Vector, number: int, watch: DescentMonitor) -> Descent:
        return powell(partial(value, on), start, BOX, tolerance=TOLERANCE, watch=watch)

    starts = _in_the_box(search.ansatz, seed)
    descents = search.each("local", starts, local, cap=1 + CALLS, share=0.5)  # the untrained start, then the calls
    descents += search.each("powell", starts, directions, cap=CALLS, must=False)
    return search.reached(search.ansatz, _best(descents))


def _in_the_box(ansatz: Ansatz, seed: int) -> list[Vector]:
    schedule, steps = ansatz.schedule, layer_midpoints(ansatz.schedule.depth)
    mixing = 0.2 + 1.2 * (1 - steps)
    tables = [layer_table(schedule, 0.2 + 0.8 * steps, last) for last in (mixing, np.pi - mixing)]
    rng = np.random.default_rng([seed, 0])
    return [
        np.full(ansatz.size, np.pi / 4),
        np.full(ansatz.size, np.pi / 8),
        *(np.clip(nearest(schedule, table), *BOX) for table in tables),
        *(rng.uniform(*BOX, size=ansatz.size) for _ in range(RANDOM_ANGLES)),
    ]


STRATEGIES: dict[str, Callable[..., Descent]] = {
    "multistart": multistart,
    "ladder": ladder,
    "continuation": continuation,
    "depth-frontier": depth_frontier,
    "threshold": threshold,
    "polish": polish,
}
