"""`polish`: from given angles downhill, and nowhere else; for angles of a sibling problem or a coarser objective."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect.qaoa.training.descent import Descent
from biselect.qaoa.training.search import Search

ITERATIONS = 200


def polish(search: Search, *, starts: Sequence[NDArray[np.float64]] = ()) -> Descent:
    """A descent from each start.

    Args:
        search: the means.
        starts: angles to begin with.
    """
    if not starts:
        raise InputError("strategy 'polish' needs angles to begin with: starts=[...]")
    best = search.descend("polish", starts, iterations=ITERATIONS)[0]
    search.reached(search.ansatz, best)
    return best
