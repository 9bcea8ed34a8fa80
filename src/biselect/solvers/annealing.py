"""One-sided annealing: walk over the lines alone; the other side always answers with its best response.

A proposal swaps one line. The τ-bound kτ + Σ max(v - τ, 0) on its best response, at the τ of the present state,
turns most proposals down in one pass; only those that survive are selected exactly.
The walk is compiled; its slow twin, in the tests, sorts every proposal in full.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.threads import ThreadPool
from biselect.errors import InputError
from biselect.solvers._incumbent import clamp_penalties
from biselect.solvers.kernels import copy_into, has_room_beside, limited_top_sum, next_below, next_unit, top_sum
from biselect.solvers.local_search import coordinate_ascent
from biselect.solvers.registry import Answer, Run, keeps_limits
from biselect.solvers.response import SideProblem, best_response, cheaper_side, fitting

HOT, COLD = 1.0, 0.2  # first and last temperature, in spreads of what a swap changes
SLICE_CELLS, FEWEST = 2_000_000, 20  # cells and at least so many steps between two looks at the clock
MOST_NOTED = 1024  # improvements noted in one slice


@keeps_limits("all")
def annealing(
    problem: SelectionProblem,
    run: Run,
    *,
    restarts: int = 16,
    steps: int | None = None,
    workers: int | None = None,
) -> Answer:
    """The best state of `restarts` walks from random lines.

    Args:
        problem: what to solve.
        run: seed, deadline, progress.
        restarts: independent walks.
        steps: proposals in each; None for 40 for every possible swap.
        workers: threads at most; None for one per core. The answer does not depend on it.
    """
    if restarts < 1 or (steps is not None and steps < 1):
        raise InputError(f"restarts and steps must be at least 1, got {restarts} and {steps}")
    task = cheaper_side(problem)
    if min(task.lowest) < -task.keep * task.choose * max(*task.highest, 0.0):  # there may be penalties
        quick = coordinate_ascent(problem, replace(run, progress=None, trajectory=None), starts=8)
        task = clamp_penalties(task, problem.score(quick.samples, quick.features))
    steps = steps or default_steps(task)
    subset, finished = anneal_lines(task, run, restarts=restarts, steps=steps, workers=workers)
    samples, features = task.order(subset, task.respond(subset))
    info = {"walked": task.lines_are, "restarts": finished, "steps": finished * steps}
    return Answer(samples=samples, features=features, info=info)


def default_steps(task: SideProblem) -> int:
    """40 proposals for every possible swap."""
    return max(1, 40 * task.choose * (task.lines.shape[0] - task.choose))


def anneal_lines(
    task: SideProblem, run: Run, *, restarts: int, steps: int, workers: int | None
) -> tuple[NDArray[np.int64], int]:
    """The best lines of several walks, and how many walks there was time for; on a tie the earlier walk wins."""
    seeds = run.rng().integers(0, 2**63, size=restarts).tolist()
    unit = task.scale * spread(task.lines) * np.sqrt(task.keep) or 1.0
    temperatures = unit * HOT * (COLD / HOT) ** (np.arange(steps) / steps)

    walks = restarted(run, seeds, partial(_walk, task, run, temperatures), steps=steps, workers=workers)
    best = max(walks, key=lambda walk: walk.score)
    return np.sort(best.state), len(walks)


@dataclass(frozen=True, kw_only=True, eq=False)
class Walk:
    """The best state of one restart, its score, and its improvements as (step, score)."""

    state: Any
    score: float
    improved: list[tuple[int, float]]
    accepted: int = 0


def restarted(
    run: Run, seeds: Sequence[int], walk: Callable[[int], Walk], *, steps: int, workers: int | None
) -> list[Walk]:
    """A walk of so many steps from each seed, the first in any case, the others while there is time."""

    def in_time(index: int) -> Walk | None:
        return None if index and run.expired() else walk(seeds[index])

    walks: list[Walk] = []
    best = -np.inf
    with ThreadPool(workers) as pool:
        for result in pool.map(in_time, range(len(seeds))):
            if result is None:  # no time is left, for the later ones neither
                break
            for step, score in result.improved:
                run.improved(len(walks) * steps + step, -score)
            walks.append(result)
            best = max(best, result.score)
            run.report(len(walks) / len(seeds), -best)
    return walks


def _walk(task: SideProblem, run: Run, temperatures: NDArray[np.float64], seed: int) -> Walk:
    order = _random_order(task, np.random.default_rng(seed))
    state = np.array([seed], dtype=np.uint64)
    best, best_lines = -np.inf, order[: task.choose].copy()
    noted = np.empty((MOST_NOTED, 2))
    improved: list[tuple[int, float]] = []
    part = max(FEWEST, SLICE_CELLS // task.base.size)
    for begin in range(0, temperatures.size, part):
        best, count = anneal(
            task.lines,
            task.scale,
            task.line_scores,
            task.base,
            task.keep,
            task.choose,
            task.line_limits.of,
            task.line_limits.room,
            task.base_limits.of[:, 0],
            task.base_limits.room,
            order,
            temperatures[begin : begin + part],
            state,
            best,
            best_lines,
            noted,
        )
        improved += [(begin + int(step), float(score)) for step, score in noted[:count]]
        if run.expired():
            break
    return Walk(state=best_lines, score=best, improved=improved)


def _random_order(task: SideProblem, rng: np.random.Generator) -> NDArray[np.int64]:
    """All lines in random order, a choice inside the limits first."""
    order = rng.permutation(task.lines.shape[0])
    if not task.line_limits:
        return order
    first = fitting(order, task.choose, task.line_limits)
    if first.size < task.choose:  # such an order has no room for so many
        first = best_response(-np.argsort(order).astype(np.float64), task.choose, task.line_limits)
    return np.concatenate([first, order[~np.isin(order, first)]])


def spread(weights: NDArray[np.floating[Any]]) -> float:
    """Standard deviation of the weights, from at most 64 × 4096 of them; those far below the others count as near.

    They are divided by the largest first, so that no square overflows or vanishes.
    """
    sample = weights[:: max(1, weights.shape[0] // 64), :: max(1, weights.shape[1] // 4096)].astype(np.float64)
    middle, highest = float(np.median(sample)), float(sample.max())
    sample = np.maximum(sample, middle - (highest - middle) if highest > middle else middle)
    size = float(np.abs(sample).max())
    return size * float((sample / size).std()) if size else 0.0


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _reach(values: Any, incoming: Any, outgoing: Any, scale: float, tau: float) -> float:
    """Σ max(value after the swap - τ, 0): with kτ added it bounds the sum of the k largest."""
    total = 0.0
    for i in range(values.size):
        x = values[i] + scale * (np.float64(incoming[i]) - np.float64(outgoing[i])) - tau
        total += x if x > 0.0 else 0.0
    return total


@njit(cache=True, nogil=True)
def _response(values: Any, keep: int, group: Any, room: Any, floor: float, scratch: Any) -> Any:
    """Sum of the best response and the smallest value in it; `floor` is a guess of what lies below it."""
    if room.size:
        total, smallest, _ = limited_top_sum(values, values.size, keep, group, room)
        return total, smallest
    count = 0
    for x in values:
        scratch[count] = x  # no branch: a value that is not kept is overwritten by the next
        count += 1 if x > floor else 0
    if count < keep:
        copy_into(scratch, values, values.size)
        count = values.size
    return top_sum(scratch, count, keep)


@njit(cache=True, nogil=True)
def anneal(
    lines: Any,
    scale: float,
    line_scores: Any,
    base: Any,
    keep: int,
    choose: int,
    line_limits: Any,
    line_room: Any,
    base_group: Any,
    base_room: Any,
    order: Any,
    temperatures: Any,
    state: Any,
    best: float,
    best_lines: Any,
    improved: Any,
) -> Any:
    """Walk over subsets order[:choose], one temperature a step; the state stays in `order`.

    Returns the best score and how many improvements (step, score) were written to `improved`.
    """
    n = lines.shape[0]
    values = np.empty(base.size)
    trial = np.empty(base.size)
    scratch = np.empty(base.size + 1)
    noted = 0
    fresh = True
    extra, score, tau, floor = 0.0, 0.0, 0.0, -np.inf
    for step in range(temperatures.size):
        if fresh:  # sum from scratch after every accepted swap: nothing drifts
            copy_into(values, base, base.size)
            extra = 0.0
            for q in range(choose):
                line = lines[order[q]]
                extra += line_scores[order[q]]
                for i in range(values.size):
                    values[i] += scale * line[i]
            score, tau = _response(values, keep, base_group, base_room, floor, scratch)
            floor = 2 * tau - score / keep  # as far below the smallest of them as their mean is above it
            score += extra
            fresh = False
            if score > best:
                best = score
                copy_into(best_lines, order, choose)
                if noted < improved.shape[0]:
                    improved[noted, 0] = step
                    improved[noted, 1] = score
                    noted += 1
        if choose == n:
            break
        leaving = next_below(state, choose)
        entering = choose + next_below(state, n - choose)
        x, y = order[leaving], order[entering]
        needed = score + temperatures[step] * np.log(next_unit(state))
        if not has_room_beside(y, order, choose, leaving, line_limits, line_room):
            continue
        new_extra = extra + line_scores[y] - line_scores[x]
        if _reach(values, lines[y], lines[x], scale, tau) + keep * tau + new_extra <= needed:
            continue
        for i in range(trial.size):
            trial[i] = values[i] + scale * (np.float64(lines[y, i]) - np.float64(lines[x, i]))
        new_score, _ = _response(trial, keep, base_group, base_room, floor, scratch)
        if new_score + new_extra > needed:
            order[leaving], order[entering] = y, x
            fresh = True
    return best, noted
