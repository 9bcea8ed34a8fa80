"""How many rows stand out at a stated expected share of false ones, by rows of the reference that were held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.errors import InputError
from biselect.tables import rows_of
from biselect.weights import Weigher
from biselect.weights.maps import GaussianMap

LEVEL = 0.1
HELD_OUT = 0.5  # share of the reference that scores are ranked among

Scores = Callable[[Any], NDArray[np.float64]]


@dataclass(frozen=True, kw_only=True, eq=False)
class FalseShare:
    """Rows that hold at an expected false share.

    Attributes:
        level: the expected share of ordinary rows among those that hold is at most this.
        p_values: one a pool row; super-uniform for a row that is exchangeable with the reference.
        holds: which rows of the pool hold.
    """

    level: float
    p_values: NDArray[np.float64]
    holds: NDArray[np.bool_]


def conformal_p_values(held_out: ArrayLike, scores: ArrayLike) -> NDArray[np.float64]:
    """P = (1 + number of held-out scores at least as high) / (held-out rows + 1); a tie counts against the row."""
    before = np.sort(np.asarray(held_out, dtype=np.float64))
    at_least = before.size - np.searchsorted(before, np.asarray(scores, dtype=np.float64), side="left")
    return np.asarray((1 + at_least) / (before.size + 1))


def benjamini_hochberg(p_values: ArrayLike, level: float = LEVEL) -> NDArray[np.bool_]:
    """Which p-values are rejected so that the expected share of false rejections is at most `level`."""
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(np.asarray(p_values), method="bh") <= level)


def sum_of_weights(reference: Any) -> Scores:
    """All gaussian weights of a row added up: a score that no look at the pool went into."""
    calibrator = Weigher(GaussianMap, cap=1e6).fit(reference)
    return lambda rows: calibrator.weights(rows).sum(axis=1)


def refuse_level(level: float) -> None:
    """An error for an expected share that is none."""
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level}")


def false_share(
    reference: Any,
    pool: Any,
    *,
    level: float = LEVEL,
    scorer: Callable[[Any], Scores] = sum_of_weights,
    seed: int = 0,
) -> FalseShare:
    """Rank the pool's rows among reference rows that the score was not fitted on.

    The statement holds where ordinary pool rows are exchangeable with the reference. It does not hold after drift,
    with anomalies in the reference it only gets weaker, and it is about all rows that hold, not about some of them
    picked by looking. The scorer must not look at the pool as a whole.

    Args:
        reference: a table that `Weigher.fit` takes.
        pool: the same columns.
        level: expected share of ordinary rows among those that hold.
        scorer: fits on a table and gives a function that scores the rows of another, higher for more unusual.
        seed: draws which half of the reference is held out.
    """
    refuse_level(level)
    if len(reference) < 4:
        raise InputError("the reference has fewer than 4 rows: too few to hold some out")
    order = np.random.default_rng(seed).permutation(len(reference))
    cut = int(len(order) * HELD_OUT)
    score = scorer(rows_of(reference, order[cut:]))
    p_values = conformal_p_values(score(rows_of(reference, order[:cut])), score(pool))
    return FalseShare(level=level, p_values=p_values, holds=benjamini_hochberg(p_values, level))
