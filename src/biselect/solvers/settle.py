"""The best choice so far, held against others in exact arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biselect.core.exact_arithmetic import at_most
from biselect.solvers.forced import Reduced
from biselect.solvers.one_sided import OneSided
from biselect.solvers.response import best_response

EPS = float(np.finfo(np.float64).eps)


@dataclass(eq=False)
class Incumbent:
    """Lines and items of the best choice so far.

    Attributes:
        task: what is solved.
        reduced: knows the exact score of a choice, forced ones included.
        subset: its lines.
        chosen: its items of the other side.
        units: its exact score in units of 2⁻²¹⁴⁸.
        floor: the largest float64 number that is not above the score.
    """

    task: OneSided
    reduced: Reduced
    subset: NDArray[np.int64]
    chosen: NDArray[np.int64]

    def __post_init__(self) -> None:
        self._hold(self.subset, self.chosen, self._units(self.subset, self.chosen))

    def offer(self, subset: NDArray[np.int64], *, or_equal: bool = False) -> bool:
        """Take these lines and their best response if they score higher, or as high where that is enough."""
        chosen = exact_response(self.task, self.reduced, subset)
        units = self._units(subset, chosen)
        if units < self.units or (units == self.units and not or_equal):
            return False
        self._hold(subset, chosen, units)
        return True

    def _units(self, subset: NDArray[np.int64], chosen: NDArray[np.int64]) -> int:
        return self.reduced.exact_score(*self.task.order(subset, chosen))

    def _hold(self, subset: NDArray[np.int64], chosen: NDArray[np.int64], units: int) -> None:
        self.subset, self.chosen, self.units, self.floor = subset, chosen, units, at_most(units)


def exact_response(task: OneSided, reduced: Reduced, subset: NDArray[np.int64]) -> NDArray[np.int64]:
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

    chosen = best_response(values, task.keep, task.base_limits)
    lowest = float((values[chosen] - error(chosen)).min())
    most = 2 * float(rounding(task.largest_base + task.choose * task.largest))  # rows further away cannot be chosen
    close = np.flatnonzero(values >= lowest - most)
    close = close[values[close] + error(close) >= lowest]
    if close.size == task.keep:
        return close
    ranks = reduced.exact_ranks(task.lines_are, close, subset)
    return close[best_response(ranks, task.keep, task.base_limits.keep(close))]
