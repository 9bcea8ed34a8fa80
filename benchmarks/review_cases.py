"""Pools with known answers, from the Credit Card table and from labelled tables; and what a practitioner would run.

Choices were made on Credit Card draws 0 to 5 and on splits 0 and 1 of every second table (in alphabetical order, from
the first); the other draws, splits and tables confirm them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

REFERENCE_ROWS, POOL_ROWS, EXTRA_FRAUDS = 8_000, 5_000, 25
REFERENCES = {"stale": (0.0, 0.6), "fresh": (0.6, 0.8)}  # shares of the table in time; pools come from the last fifth
SPLIT_REFERENCE, SPLIT_POOL, MOST_ANOMALIES = 2_000, 1_000, 0.05
Case = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]


def credit_card_cases(path: Path, draws: range) -> Iterator[tuple[str, int, Case]]:
    """For each reference and draw: 8,000 reference rows, 5,000 later rows plus 25 frauds, and which are frauds."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    columns = [name for name in table.column_names if name.startswith("V") or name == "Amount"]
    X = np.column_stack([table[name].to_numpy() for name in columns])
    y = table["Class"].to_numpy().astype(bool)
    n = len(X)
    late = np.arange(int(0.8 * n), n)
    for draw in draws:
        rng = np.random.default_rng(draw)
        pool = rng.choice(late, POOL_ROWS, replace=False)
        pool = np.unique(np.concatenate([pool, rng.choice(late[y[late]], EXTRA_FRAUDS, replace=False)]))
        for name, (start, end) in REFERENCES.items():
            rows = np.arange(int(start * n), int(end * n))
            reference = X[np.random.default_rng(0).choice(rows, REFERENCE_ROWS, replace=False)]
            yield name, draw, (reference, X[pool], y[pool])


def table_cases(folder: Path, splits: range, *, clean: bool = False) -> Iterator[tuple[str, int, Case]]:
    """For each table (.npz with X and y) and split: reference and pool, both with at most 5 % anomalies.

    A clean reference has none. Pools without an anomaly are left out.
    """
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as stored:
            X, y = stored["X"].astype(float), stored["y"].astype(bool)
        for split in splits:
            rng = np.random.default_rng(split)
            good, bad = rng.permutation(np.flatnonzero(~y)), rng.permutation(np.flatnonzero(y))
            size = min(SPLIT_REFERENCE + SPLIT_POOL, good.size)
            bad = bad[: max(2, round(size * MOST_ANOMALIES / (1 - MOST_ANOMALIES)))]
            rows = rng.permutation(np.concatenate([good[:size], bad]))
            cut = len(rows) * SPLIT_REFERENCE // (SPLIT_REFERENCE + SPLIT_POOL)
            reference, pool = rows[:cut], rows[cut:]
            if clean:
                reference = reference[~y[reference]]
            if y[pool].any():
                yield path.stem, split, (X[reference], X[pool], y[pool])


def alone_cases(folder: Path, splits: range) -> Iterator[tuple[str, int, Case]]:
    """For each table and split: up to 3,000 normal rows and 5 % anomalies, a pool that is its own reference."""
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as stored:
            X, y = stored["X"].astype(float), stored["y"].astype(bool)
        for split in splits:
            rng = np.random.default_rng(split)
            good, bad = rng.permutation(np.flatnonzero(~y)), rng.permutation(np.flatnonzero(y))
            size = min(SPLIT_REFERENCE + SPLIT_POOL, good.size)
            bad = bad[: max(2, round(size * MOST_ANOMALIES / (1 - MOST_ANOMALIES)))]
            rows = rng.permutation(np.concatenate([good[:size], bad]))
            pool = X[rows]
            yield path.stem, split, (pool, pool, y[rows])


def detector_scores(reference: NDArray[np.float64], pool: NDArray[np.float64], seed: int) -> dict[str, NDArray]:
    """Five plain detectors on standardised columns; those that are constant in the reference say nothing to them."""
    from pyod.models.copod import COPOD
    from pyod.models.ecod import ECOD
    from pyod.models.hbos import HBOS
    from pyod.models.knn import KNN
    from sklearn.ensemble import IsolationForest

    center, scale = reference.mean(axis=0), reference.std(axis=0)
    varies = scale > 0
    r, p = (((table - center) / np.where(varies, scale, 1.0))[:, varies] for table in (reference, pool))
    found = {}
    for name, model in (("ECOD", ECOD()), ("COPOD", COPOD()), ("HBOS", HBOS()), ("KNN", KNN())):
        found[name] = np.nan_to_num(model.fit(r).decision_function(p))
    found["IForest"] = -IsolationForest(random_state=seed).fit(r).score_samples(p)
    return found


def forest(reference, pool, rows, answers):
    """A random forest on the answers so far, with 200 reference rows as weak misses."""
    from sklearn.ensemble import RandomForestClassifier

    size = min(200, len(reference))
    usual = reference[np.random.default_rng(0).choice(len(reference), size, replace=False)]
    model = RandomForestClassifier(150, random_state=0, class_weight="balanced")
    weights = np.r_[np.ones(len(rows)), np.full(size, 0.2)]
    model.fit(np.vstack([pool[rows], usual]), np.r_[answers, np.zeros(size)], sample_weight=weights)
    return model.predict_proba(pool)[:, 1]


def forest_after(base, reference, pool, y, budget, step=5):
    """What a practitioner writes: a detector's first rows, then a forest on the answers, five rows at a time."""
    scores, rows = base, []
    small = 0.05 * (base - base.min()) / (np.ptp(base) or 1)
    while len(rows) < budget:
        left = np.setdiff1d(np.arange(len(pool)), rows)
        rows += left[np.argsort(-scores[left], kind="stable")][:step].tolist()
        if 0 < y[rows].sum() < len(rows):
            scores = forest(reference, pool, rows, y[rows]) + small
    return y[rows[:budget]]


def lists_with_forest(lists, reference, pool, y, budget, high=30):
    """Thompson sampling over lists; a forest joins as one more list once both answers were given."""
    rng = np.random.default_rng(0)
    orders = [np.argsort(-scores, kind="stable") for scores in lists]
    hits, misses = np.zeros(len(lists) + 1), np.zeros(len(lists) + 1)
    rows, learned, fitted = [], None, -5
    for turn in range(budget):
        if rows and 0 < y[rows].sum() < len(rows) and turn - fitted >= 5:
            learned = np.argsort(-forest(reference, pool, rows, y[rows]), kind="stable")
            fitted = turn
        arms = [*orders, *([] if learned is None else [learned])]
        prior = np.array([0.5] * len(orders) + [1.5])[: len(arms)]
        arm = int(np.argmax(rng.beta(prior + hits[: len(arms)], 1.5 + misses[: len(arms)])))
        row = next(int(i) for i in arms[arm] if i not in rows)
        rows.append(row)
        for position, order in enumerate(arms):
            if position == arm or row in order[:high]:
                hits[position] += y[row]
                misses[position] += not y[row]
    return y[rows]
