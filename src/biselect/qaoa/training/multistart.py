"""`multistart`: many short descents, then longer ones from the best of them; `polish`: from given angles alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect.qaoa.training.descent import Descent
from biselect.qaoa.training.initial_angles import ramp, random_start
from biselect.qaoa.training.search import Search

EVALUATIONS = 1000  # where the user sets no budget
SCREEN, POLISH = 12, 25  # iterations
SCREENING = 0.65  # share of the budget
ALONE = 200  # iterations of `polish`
GAIN = 1e-9  # of the objective's unit: a polish that gives less ends the search


def multistart(search: Search, *, starts: Sequence[NDArray[np.float64]] = ()) -> Descent:
    """Screens of 12 iterations for 65 % of the budget, then polishes of 25 iterations, the best screen first.

    Starts are those given, an annealing ramp of either sign, and then random angles on a scale drawn from
    {0.5, 1, π/2, π}. What is left when no polish improves any more stays unspent.

    Args:
        search: the means.
        starts: angles to begin with.
    """
    if search.evaluations is None and search.seconds is None:
        search.evaluations = EVALUATIONS
    screened = search.descend("screen", _starts(search, starts), iterations=SCREEN, share=SCREENING)
    best = screened[0]
    polished = search.descend("polish", _angles(screened), iterations=POLISH, must=False)
    best = min([best, *polished], key=lambda descent: descent.value)
    for again in count():
        further = search.descend(f"further {again}", [best.angles], iterations=POLISH, must=False)
        if not further or not further[0].value < best.value - GAIN * search.objective.unit:
            break
        best = further[0]
    search.reached(search.ansatz, best)
    return best


def _starts(search: Search, given: Sequence[NDArray[np.float64]]) -> Iterator[NDArray[np.float64]]:
    yield from given
    for sign in (-1, 1):
        yield ramp(search.ansatz, 1.0, sign)
    for number in count():
        yield random_start(search.ansatz, search.objective, [search.seed, number])


def _angles(descents: list[Descent]) -> Iterator[NDArray[np.float64]]:
    yield from (descent.angles for descent in descents)


def polish(search: Search, *, starts: Sequence[NDArray[np.float64]] = ()) -> Descent:
    """A descent from each start and nowhere else; for angles of a sibling problem or a coarser objective.

    Args:
        search: the means.
        starts: angles to begin with.
    """
    if not starts:
        raise InputError("strategy 'polish' needs angles to begin with: starts=[...]")
    best = search.descend("polish", starts, iterations=ALONE)[0]
    search.reached(search.ansatz, best)
    return best
