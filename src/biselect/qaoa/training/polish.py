"""`polish`: from given angles downhill, and nowhere else; for angles of a sibling problem or a coarser objective."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from biselect.errors import InputError
from biselect.qaoa.training.descent import Descent
from biselect.qaoa.training.search import Search

ITERATIONS = 200


def polish(search: Search, *, starts: Sequence[ArrayLike] = ()) -> Descent:
    """A descent from each start.

    Args:
        search: the means.
        starts: angles to begin with.
    """
    given = [np.asarray(start, dtype=np.float64) for start in starts]
    if not given:
        raise InputError("strategy 'polish' needs angles to begin with: starts=[...]")
    best = search.descend("polish", given, iterations=ITERATIONS)[0]
    search.reached(search.ansatz, best)
    return best
