"""What is known about a row beside its cells: the block's own part, somebody's score, or a fitted detector."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError


def outside_scores(source: Any, pool: NDArray[np.float64]) -> NDArray[np.float64]:
    """One number a row, higher for more unusual.

    Args:
        source: an array with one score a row; or a fitted scikit-learn or PyOD detector. PyOD's `decision_function`
            grows with strangeness; scikit-learn's `score_samples` falls, so its sign is turned.
        pool: rows × columns that the detector was fitted for.
    """
    if isinstance(source, type) or (hasattr(source, "fit") and not _is_fitted(source)):
        raise InputError("row_evidence must be a fitted detector: call its fit first; or one number a row")
    if hasattr(source, "decision_scores_"):  # PyOD
        scores = source.decision_function(pool)
    elif hasattr(source, "fit"):
        falls = source.score_samples if hasattr(source, "score_samples") else source.decision_function
        scores = -np.asarray(falls(pool))
    else:
        scores = source
    try:
        numbers = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"row_evidence must hold numbers ({error})") from error
    if numbers.shape != (len(pool),):
        raise InputError(f"row_evidence must be one number a pool row ({len(pool)}), got shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        raise InputError("row_evidence holds missing or infinite numbers; every row needs a score")
    return numbers


def _is_fitted(detector: Any) -> bool:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if hasattr(detector, "decision_scores_"):
        return True
    try:
        check_is_fitted(detector)
    except (NotFittedError, TypeError):
        return False
    return True


def row_scores(scores: NDArray[np.float64], m: int) -> NDArray[np.float64]:
    """a_i of these scores: m · -log(rank / (rows + 1)), so that a row's own score weighs like one row of a block.

    Ranks, since a detector's units mean nothing beside weights.
    """
    return m * log_ranks(scores)


def log_ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """-log(rank / (rows + 1)), highest for the highest score: lists of any unit can be added up."""
    ranks = np.empty(scores.size)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, scores.size + 1)
    return np.asarray(-np.log(ranks / (scores.size + 1)))
