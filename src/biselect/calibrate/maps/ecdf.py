"""`ecdf`: two-sided tail of the smoothed empirical distribution (Eq. tail-calibration)."""

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.calibrate.column import Column
from biselect.calibrate.maps.base import Reference, TailMap
from biselect.calibrate.steps import Steps, apply_steps


class EcdfMap(TailMap):
    """-log 2·min(F̂, 1 - F̂), F̂ read off the ranks of the reference."""

    takes_ranks: ClassVar[bool] = True

    def fit(self, reference: Reference) -> None:
        """Tabulate the score of every rank."""
        self.steps = [tail_steps(column) for column in reference.calibration]

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of each residual's rank."""
        return apply_steps(self.steps, Z)


def smoothed_cdf(ranks: ArrayLike, n: int) -> NDArray[np.float64]:
    """F̂ = clip((R + ½)/(n + 1), 1/(n + 1), n/(n + 1)): never 0, never 1."""
    return np.clip((np.asarray(ranks) + 0.5) / (n + 1), 1 / (n + 1), n / (n + 1))


def tail_steps(column: Column) -> Steps:
    """-log 2·min(F̂, 1 - F̂) as a function of the residual.

    By the paper's rank alone the most common value of a tied feature would be among the most extreme: of a flag that
    is set in half of the reference, every set one. A value that stands t > 1 times in the reference therefore counts
    t - 1 of these in its upper tail as well. Where nothing is tied the score is the paper's.
    """
    n, values = column.size, column.values
    ranks = np.concatenate([[0], column.counts])
    levels = _score(ranks, n - ranks, n)
    last_equal = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    first_equal = np.append(0, last_equal[:-1] + 1)
    tied = last_equal > first_equal
    if column.rank_error == 0:  # in a sketch a heavy knot stands for many values, elsewhere for one value many times
        tied |= ranks[last_equal + 1] - ranks[first_equal] > 1
    last, first = last_equal[tied], first_equal[tied]
    others = ranks[last + 1] - ranks[first] - 1
    beyond = levels[last + 1]
    levels[last + 1] = _score(ranks[last + 1], n - ranks[last + 1] + others, n)
    # a knot right above a tied value ends its own level
    return Steps(
        values=np.insert(values, last + 1, np.nextafter(values[last], np.inf)),
        levels=np.insert(levels, last + 2, beyond),
        inclusive=True,
    )


def _score(lower: NDArray[np.int64], upper: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """-log 2·min of both tails, each from its own rank, so that both ends have the very same largest weight."""
    return -np.log(2 * np.minimum(smoothed_cdf(lower, n), smoothed_cdf(upper, n)))
