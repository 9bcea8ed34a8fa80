"""Plain anomaly detectors as row scorers, to be held beside joint selection on the same pools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError, MissingDependencyError

Scorer = Callable[[NDArray[np.float64]], NDArray[np.float64]]
LABELS = {"isolation-forest": "Isolation Forest", "ecod": "ECOD", "copod": "COPOD", "lof": "LOF"}
DETECTORS = tuple(LABELS)
TREES = 100
NEIGHBOURS = 20
NEIGHBOUR_ROWS = 10_000  # of the reference, for LOF alone: its search for neighbours is what takes time


def detector_scores(
    name: str, reference: NDArray[np.float64], rows: NDArray[np.float64], *, seed: int = 0
) -> NDArray[np.float64]:
    """How unusual each row is to a detector fit on the reference; larger is more unusual."""
    return fitted(name, reference, seed=seed)(rows)


def fitted(name: str, reference: NDArray[np.float64], *, seed: int = 0) -> Scorer:
    """A detector fit on the reference, as a function that scores rows.

    ECOD and COPOD are PyOD's own: they rank the rows among the reference and one another, so their scores depend on
    the batch. The others score a row by the reference alone.
    """
    if name == "isolation-forest":
        from sklearn.ensemble import IsolationForest

        forest = IsolationForest(n_estimators=TREES, random_state=seed).fit(reference)
        return lambda rows: -forest.score_samples(rows)
    if name == "lof":
        from sklearn.neighbors import LocalOutlierFactor

        chosen = np.random.default_rng(seed).permutation(len(reference))[:NEIGHBOUR_ROWS]
        factor = LocalOutlierFactor(n_neighbors=NEIGHBOURS, novelty=True).fit(reference[chosen])
        return lambda rows: -factor.score_samples(rows)
    if name in ("ecod", "copod"):
        model = _pyod(name).fit(reference)
        return lambda rows: np.asarray(model.decision_function(rows))
    raise InputError(f"there is no detector {name!r}; choose one of: {', '.join(DETECTORS)}")


def _pyod(name: str) -> Any:
    try:
        from pyod.models.copod import COPOD
        from pyod.models.ecod import ECOD
    except ImportError as error:
        raise MissingDependencyError(f"{name} comes from PyOD: pip install 'biselect[baselines]'") from error
    return {"ecod": ECOD, "copod": COPOD}[name]()
