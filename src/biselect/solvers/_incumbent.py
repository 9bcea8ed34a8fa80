"""The best choice so far, held against others in exact arithmetic; and the grid, on which no bound is rounded.

The grid has whole numbers in place of weights. All weights, marginals and prices are rounded up to multiples of one
power of two, small enough that sums over a whole choice stay below 2⁵³ of them. Such sums are exact in float64 in any
order: what is computed on the grid is an upper bound on the true score by construction, and exceeds it by `loss` units
at most. Tables of whole numbers lie on the grid already and lose nothing.

Numbers so low that no choice with one of them reaches a known score (cells of -1e14 that say "never together") are
raised to where that is only just so. Left as they are, they would make the unit too coarse for everything else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core.exact_sums import SCORE_BITS, at_most
from biselect.solvers._reduction import ReducedProblem, ranks_of
from biselect.solvers.response import SideProblem, best_response

BITS = 51  # what a unit's sums may need, of the 53 that float64 has
SMALLEST = -1074  # every float64 number is a multiple of two to this power
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, kw_only=True, eq=False)
class Grid:
    """The unit for one task and one known score.

    Attributes:
        exponent: a unit is 2^exponent.
        lowest: numbers below this are raised to it.
        loss: how many units a choice on the grid can score above its true score, if it holds no raised number and not
            all numbers lie on the grid.
    """

    exponent: int
    lowest: float
    loss: int

    def up(self, values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Numbers as whole units, rounded up, the lowest ones raised."""
        numbers = values.astype(np.float64)
        raised = np.maximum(numbers, self.lowest)
        whole = np.ceil(np.ldexp(raised, -self.exponent))
        return np.where(raised > 0, np.maximum(whole, 1.0), whole)  # positive ones must not vanish

    def weights(self, task: SideProblem, rows: NDArray[np.int64] | slice) -> NDArray[np.float64]:
        """λW of these rows, one contiguous row per line; one unit more where λ rounds the products."""
        lines = self.up(task.scale * task.lines[:, rows].astype(np.float64))
        return lines if _is_power_of_two(task.scale) else lines + 1

    def floor(self, units: int) -> float:
        """The largest whole number of units that is not above an exact score."""
        return float(units >> (SCORE_BITS + self.exponent))

    def score(self, whole: float) -> int:
        """That many units as an exact score."""
        return int(whole) << (SCORE_BITS + self.exponent)

    def holds(self, task: SideProblem, lines: NDArray[np.float64], rows: NDArray[np.int64] | slice) -> bool:
        """Whether no number of these rows had to be rounded; `lines` are their weights on the grid."""

        def same(cells: NDArray[Any], rounded: NDArray[np.float64]) -> bool:
            return bool((np.ldexp(rounded, self.exponent) == np.maximum(cells, self.lowest)).all())

        marginals = all(same(cells, self.up(cells)) for cells in (task.base[rows], task.line_scores))
        cells = task.scale * task.lines[:, rows].astype(np.float64)
        return marginals and _is_power_of_two(task.scale) and same(cells, lines)


def lowest_useful(task: SideProblem, floor: float) -> float:
    """A number so low that no choice with a lower one scores `floor`, however good all the others are."""
    counts = (task.keep * task.choose, task.keep, task.choose)
    with np.errstate(over="ignore"):
        most = sum(count * max(0.0, top) for count, top in zip(counts, task.highest, strict=True))
        return max(floor - most - 0.01 * (abs(floor) + most) - 5e-324, -float(np.finfo(np.float64).max))


def clamp_penalties(task: SideProblem, floor: float) -> SideProblem:
    """The task with its useless numbers raised, the same to anyone who looks for a score of at least `floor`.

    Sums with -1e14 in them lose what all other numbers say. Weights are copied only where there is such a number.
    """
    lowest = lowest_useful(task, floor)
    if min(task.lowest) >= lowest:
        return task
    wall = task.lines.dtype.type(lowest / task.scale if task.scale else lowest)
    return replace(
        task,
        lines=np.maximum(task.lines, wall) if task.lowest[0] < lowest else task.lines,
        base=np.maximum(task.base, lowest),
        line_scores=np.maximum(task.line_scores, lowest),
    )


def grid_for(task: SideProblem, score: int, prices: NDArray[np.float64] | None = None) -> Grid:
    """The grid for looking for choices that score at least `score` (exact, in units of 2⁻²¹⁴⁸) at these prices."""
    k, m = task.keep, task.choose
    floor = at_most(score)
    highest, lowest = task.highest, task.lowest
    least_useful = lowest_useful(task, floor)
    sizes = [max(abs(top), abs(max(low, least_useful))) for top, low in zip(highest, lowest, strict=True)]
    largest = max([*sizes, abs(floor) / (k * m), 0.0 if prices is None else 2 * float(np.abs(prices).max())])
    needed = (4 * k * m * m + 4 * k + 4 * m).bit_length()  # averages multiply a line by m once more
    exponent = max(SMALLEST, math.frexp(largest)[1] + needed - BITS)
    loss = k * m * (1 if _is_power_of_two(task.scale) else 2) + 2 * k + 2 * m
    return Grid(exponent=exponent, lowest=least_useful, loss=loss)


def _is_power_of_two(scale: float) -> bool:
    """Whether products with this number are exact; below 1 they could vanish."""
    return 1.0 <= scale <= 2.0**500 and math.frexp(scale)[0] == 0.5


@dataclass(eq=False)
class Incumbent:
    """Lines and items of the best choice so far.

    Attributes:
        task: what is solved.
        reduced: knows the exact score of a choice, forced ones included.
        subset: its lines.
        items: its items of the other side.
        units: its exact score in units of 2⁻²¹⁴⁸.
        floor: the largest float64 number that is not above the score.
    """

    task: SideProblem
    reduced: ReducedProblem
    subset: NDArray[np.int64]
    items: NDArray[np.int64]

    def __post_init__(self) -> None:
        self._hold(self.subset, self.items, self._units(self.subset, self.items))

    def offer(self, subset: NDArray[np.int64], *, or_equal: bool = False) -> bool:
        """Take these lines and their best response if they score higher, or as high where that is enough."""
        items = exact_response(self.task, self.reduced, subset)
        units = self._units(subset, items)
        if units < self.units or (units == self.units and not or_equal):
            return False
        self._hold(subset, items, units)
        return True

    def _units(self, subset: NDArray[np.int64], items: NDArray[np.int64]) -> int:
        return self.reduced.exact_score(*self.task.order(subset, items))

    def _hold(self, subset: NDArray[np.int64], items: NDArray[np.int64], units: int) -> None:
        self.subset, self.items, self.units, self.floor = subset, items, units, at_most(units)


def exact_response(task: SideProblem, reduced: ReducedProblem, subset: NDArray[np.int64]) -> NDArray[np.int64]:
    """Best items of the other side, given these lines, with no sum rounded; ties go to the lowest index.

    Items whose rounded value is far from that of the weakest chosen one are settled; the others are summed exactly.
    """
    values = task.values(subset)

    def rounding(sizes: NDArray[np.float64] | float) -> NDArray[np.float64]:
        return (task.choose + 4) * (EPS * np.asarray(sizes) + 5e-324)

    def error(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        sizes = np.abs(task.base[rows])
        for line in subset:
            sizes += np.abs(task.scale * task.lines[line, rows].astype(np.float64))
        return rounding(sizes)

    items = best_response(values, task.keep, task.base_limits)
    lowest = float((values[items] - error(items)).min())
    most = 2 * float(rounding(task.largest_base + task.choose * task.largest))  # rows further away cannot be chosen
    close = np.flatnonzero(values >= lowest - most)
    close = close[values[close] + error(close) >= lowest]
    if close.size == task.keep:
        return close
    ranks = ranks_of(reduced.exact_sums(task.lines_are, close, subset))
    return close[best_response(ranks, task.keep, task.base_limits.keep(close))]
