"""The Credit Card table as the studies see it: sizes, the paper's protocol, and windows made once a process."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError, MissingDataError
from biselect.weights import Weigher
from biselect_studies.data.candidates import Candidates, TimeSplit, balanced, ranked, reservoir, split_rows, unbalanced
from biselect_studies.data.creditcard import find_credit_card, load_credit_card
from biselect_studies.data.synthetic import MARGINALS
from biselect_studies.experiments.baselines import fitted, studied_map

SIZES = {20: 3, 50: 5, 80: 8}  # N and k
D, M = 12, 4
SPLIT = (60, 20, 20)
PARTS = 25  # drawn of a reference, one for each of the paper's slices
PAPER_MAPS = {20: "conformal", 50: "ecdf-paper", 80: "conformal"}
PAPER_MARGINALS = "paper"  # a_i = max_j W_ij, b_j = Var_i |Z_ij|
Percent = tuple[int, int, int]
RECENT = 20  # percent of all rows that a recent reference takes, right before the window


def absent() -> str | None:
    """Why the Credit Card studies cannot run here, or None."""
    try:
        find_credit_card()
    except MissingDataError as error:
        return str(error)
    return None


def cell(size: int, methods: tuple[str, ...], **more: Any) -> dict[str, Any]:
    """A cell of `creditcard_slices`: the paper's protocol unless said otherwise."""
    sector = {"N": size, "D": D, "k": SIZES[size], "m": M}
    usual = {"percent": SPLIT, "window": "test", "pool": "balanced", **sector, "map": PAPER_MAPS[size]}
    return {**usual, "marginals": PAPER_MARGINALS, "methods": methods, **more}


def heading(size: int) -> str:
    """A size as the paper writes it."""
    return f"({size},{D},{SIZES[size]},{M})"


@lru_cache(maxsize=4)
def split(percent: Percent) -> TimeSplit:
    """The table's three windows."""
    return split_rows(load_credit_card().times, percent)


def window_labels(percent: Percent, window: str) -> NDArray[np.bool_]:
    """Known frauds of a window."""
    return load_credit_card().labels[split(percent).window(window)]


def reference_rows(percent: Percent, window: str, reference: str) -> slice:
    """`first`: the reference window; `recent`: the latest fifth of the table before the window that is scored."""
    if reference == "first":
        return split(percent).reference
    if reference == "recent":
        return split(percent).before(window, len(load_credit_card().times) * RECENT // 100)
    raise InputError(f"a reference is first or recent, not {reference!r}")


def weights(percent: Percent, window: str, map_name: str, reference: str) -> NDArray[np.float64]:
    """W of every row of a window, all 28 features; no row of the window is in the reference."""
    return _weighed(percent, window, map_name, reference)[0]


def problem(
    percent: Percent, window: str, map_name: str, reference: str, rows: NDArray[np.int64], *, d: int, k: int, m: int,
    marginals: str,
) -> SelectionProblem:  # fmt: skip
    """The selection problem of a pool: rows of a window, its first d features, marginals of a kind."""
    W, Z = (field[rows, :d] for field in _weighed(percent, window, map_name, reference))
    a, b = MARGINALS[marginals](W, Z)
    return SelectionProblem(coupling=W, sample_scores=a, feature_scores=b, k=k, m=m)


@lru_cache(maxsize=3)  # a process that grows by much is replaced by the pool that it works in
def _weighed(
    percent: Percent, window: str, map_name: str, reference: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """W and Z of every row of a window."""
    table = load_credit_card()
    rows = reference_rows(percent, window, reference)
    calibrator = Weigher(studied_map(map_name, table.labels[rows])).fit(table.features[rows])
    pool = table.features[split(percent).window(window)]
    return calibrator.weights(pool), calibrator.residuals(pool)


@lru_cache(maxsize=16)
def scores(percent: Percent, window: str, name: str, features: int) -> NDArray[np.float64]:
    """A detector's score of every row of a window, from the first so many features."""
    table = load_credit_card()
    X = table.features[:, :features]
    return fitted(name, X[split(percent).reference])(X[split(percent).window(window)])


@lru_cache(maxsize=4)
def trigger(percent: Percent, window: str) -> NDArray[np.float64]:
    """Stage 1 for ranked pools: the sum of the four largest robust z-scores, from the reference window alone."""
    return np.sort(weights(percent, window, "mad-z", "first"), axis=1)[:, -4:].sum(axis=1)


def draw(kind: str, percent: Percent, window: str, size: int, k: int, seed: int) -> Candidates:
    """A pool of a kind; `k` is the number of positives in balanced ones."""
    labels = window_labels(percent, window)
    kinds = {
        "balanced": lambda: balanced(labels, size, k, seed=seed),
        "unbalanced": lambda: unbalanced(labels, size, seed=seed),
        "ranked": lambda: ranked(labels, trigger(percent, window), size, seed=seed),
        "reservoir": lambda: reservoir(labels, size, seed=seed),
    }
    if kind not in kinds:
        raise InputError(f"there is no kind of pool {kind!r}; choose balanced, unbalanced, ranked or reservoir")
    return kinds[kind]()
