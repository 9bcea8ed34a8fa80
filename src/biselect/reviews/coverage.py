"""What share of what is unusual about the chosen rows the chosen columns show, and what the next column would add."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection


def row_shares(selection: Selection) -> NDArray[np.float64]:
    """For each chosen row the share of its weights, all columns together, that lies in the chosen ones."""
    weights = np.maximum(selection.problem.coupling[selection.samples].astype(np.float64), 0)
    whole = weights.sum(axis=1)
    return np.divide(weights[:, selection.features].sum(axis=1), whole, out=np.zeros(len(whole)), where=whole > 0)


def coverage(selection: Selection) -> dict[str, Any] | None:
    """The same over all chosen rows, and the column left out that would show most of the rest.

    None where the chosen rows hold no weight at all.
    """
    problem = selection.problem
    columns = np.maximum(problem.coupling[selection.samples].astype(np.float64), 0).sum(axis=0)
    whole = columns.sum()
    if whole == 0:
        return None
    left = np.setdiff1d(np.arange(columns.size), [*selection.features, *problem.feature_rules.forced_out])
    best = left[np.argmax(columns[left])] if left.size else None
    return {
        "share": float(columns[selection.features].sum() / whole),
        "next": None
        if best is None
        else {"name": problem.feature_name(int(best)), "share": float(columns[best] / whole)},
    }
