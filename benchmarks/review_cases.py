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


def logistic(reference, pool, rows, answers):
    """Logistic regression on the answers so far, with 200 reference rows as weak misses."""
    from sklearn.linear_model import LogisticRegression

    X, labels, weights, scaled = _training(reference, pool, rows, answers)
    model = LogisticRegression(class_weight="balanced", max_iter=500).fit(X, labels, sample_weight=weights)
    return model.predict_proba(scaled)[:, 1]


def boosting(reference, pool, rows, answers):
    """Gradient boosting on the same."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, labels, weights, scaled = _training(reference, pool, rows, answers)
    model = HistGradientBoostingClassifier(max_iter=50, min_samples_leaf=2, class_weight="balanced", random_state=0)
    return model.fit(X, labels, sample_weight=weights).predict_proba(scaled)[:, 1]


def _training(reference, pool, rows, answers):
    center, scale = reference.mean(axis=0), reference.std(axis=0)
    before, scaled = ((table - center) / np.where(scale > 0, scale, 1.0) for table in (reference, pool))
    size = min(200, len(reference))
    usual = before[np.random.default_rng(0).choice(len(before), size, replace=False)]
    weights = np.r_[np.ones(len(rows)), np.full(size, 0.2)]
    return np.vstack([scaled[rows], usual]), np.r_[answers, np.zeros(size)], weights, scaled


def learner_after(learner, base, reference, pool, y, budget, step=5):
    """What a practitioner writes: a detector's first rows, then a learner on the answers, five rows at a time."""
    scores, rows = base, []
    small = 0.05 * (base - base.min()) / (np.ptp(base) or 1)
    while len(rows) < budget:
        left = np.setdiff1d(np.arange(len(pool)), rows)
        rows += left[np.argsort(-scores[left], kind="stable")][:step].tolist()
        if 0 < y[rows].sum() < len(rows):
            scores = learner(reference, pool, rows, y[rows]) + small
    return y[rows[:budget]]


def tree_aad(reference, pool, y, budget, seed=0, quantile=0.97, pull=0.5, steps=10, rate=0.3):
    """Active anomaly discovery on the leaves of an isolation forest (Das et al. 2017), one row at a time.

    Hits should score above the quantile of all rows, misses below it; weights of leaves are pulled to where they began.
    """
    Z = _leaves(reference, pool, seed)
    prior = np.full(Z.shape[1], 1 / np.sqrt(Z.shape[1]))
    weights, rows = prior.copy(), []
    while len(rows) < budget:
        scores = Z @ weights
        scores[rows] = -np.inf
        rows.append(int(np.argmax(scores)))
        hits, A, bar = y[rows], Z[rows], np.quantile(Z @ weights, quantile)
        for _ in range(steps):
            scores = A @ weights
            wrong = np.where(hits, scores < bar, scores > bar)
            share = np.where(hits, -1 / max(hits.sum(), 1), 1 / max((~hits).sum(), 1))
            weights = weights - rate * (A.T @ (wrong * share) + pull * (weights - prior))
            weights /= np.linalg.norm(weights)
    return y[rows]


def _leaves(reference, pool, seed, trees=100):
    """Rows × leaves, minus each leaf's expected depth, rows of length 1."""
    from scipy.sparse import csr_matrix
    from sklearn.ensemble import IsolationForest

    model = IsolationForest(n_estimators=trees, random_state=seed).fit(reference)
    columns, values, offset = [], [], 0
    for estimator in model.estimators_:
        tree = estimator.tree_
        depth = np.zeros(tree.node_count)
        for node in range(tree.node_count):
            for child in (tree.children_left[node], tree.children_right[node]):
                if child >= 0:
                    depth[child] = depth[node] + 1
        size = np.maximum(tree.n_node_samples, 1)
        rest = np.where(size > 1, 2 * (np.log(np.maximum(size - 1, 1)) + 0.5772) - 2 * (size - 1) / size, 0)
        leaf = tree.apply(pool.astype(np.float32))
        columns.append(leaf + offset)
        values.append(-(depth + rest)[leaf])
        offset += tree.node_count
    C, V = np.array(columns).T, np.array(values).T
    V = V - V.min() + 0.1
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    return csr_matrix((V.ravel(), C.ravel(), np.arange(0, C.size + 1, C.shape[1])), shape=(len(pool), offset))
