"""Which calibration map drifts least on the Credit Card table? Reference size and reference age, from the library.

    BISELECT_DATA=folder/of/creditcard.parquet python examples/credit_card_drift.py --pools 25

Pools hold k frauds and N - k normal rows from the last fifth of the table; references end before it. Only the
reference and the map change; pools, budgets and solver stay. Labels draw the pools and score the answers (F1@k).
"""

import argparse
import os
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from biselect import solve
from biselect.weights import Weigher
from biselect_studies.extensions.drift import Drift, Question, label_free_maps, measure, shrink_sweep
from biselect_studies.inference import f1_at_k

SIZES = ((20, 3), (50, 5), (80, 8))  # N and k; m = 4 of 12 features
FEATURES = [f"V{j}" for j in range(1, 13)]
TEST_FROM, WINDOW = 227_845, 40_000


def pools(table, number: int) -> list[tuple[Question, list[int]]]:
    """Seeded pools of each size, with the positions of their frauds."""
    rng = np.random.default_rng(0)
    labels = table["Class"].to_numpy()[TEST_FROM:]
    made = []
    for size, k in SIZES:
        for _ in range(number):
            frauds = rng.choice(np.flatnonzero(labels == 1), k, replace=False)
            normals = rng.choice(np.flatnonzero(labels == 0), size - k, replace=False)
            rows = rng.permutation(np.concatenate([frauds, normals]))
            pool = table.select(FEATURES).take(TEST_FROM + rows)
            select = partial(solve, solver="coordinate-ascent")
            question = Question(pool=pool, k=k, m=4, select=select, marginals="none")
            made.append((question, np.flatnonzero(labels[rows] == 1).tolist()))
    return made


def line(name: str, drifts: list[Drift], frauds: list[list[int]]) -> str:
    """One row of a table: means over pools."""
    shares = np.mean([list(drift.parts.shares.values()) for drift in drifts], axis=0)
    f1 = np.mean([f1_at_k(drift.older.samples.tolist(), found) for drift, found in zip(drifts, frauds, strict=True)])
    return (
        f"{name:<12}{np.mean([drift.feature_drift for drift in drifts]):8.3f}"
        f"{np.mean([drift.relative for drift in drifts]):10.3f}   "
        + " ".join(f"{share:.2f}" for share in shares)
        + f"{f1:9.3f}{np.mean([drift.changes_selection for drift in drifts]):9.2f}"
    )


def main() -> None:
    """Print both analyses."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pools", type=int, default=25, help="of each size")
    number = parser.parse_args().pools
    table = pq.read_table(Path(os.environ["BISELECT_DATA"]) / "creditcard.parquet")
    before = table.select(FEATURES).slice(0, TEST_FROM)
    asked = pools(table, number)
    frauds = [found for _, found in asked]
    print("map          feature  in spreads  global/row/feature/residual  F1@k  changed")

    print(f"\nReference age: the oldest {WINDOW:,} rows against the newest {WINDOW:,} before the test rows")
    oldest, newest = before.slice(0, WINDOW), before.slice(TEST_FROM - WINDOW)
    relative = {}
    for name in label_free_maps():
        old, new = Weigher(name).fit(oldest), Weigher(name).fit(newest)
        drifts = [measure(old, new, question) for question, _ in asked]
        relative[name] = float(np.mean([drift.relative for drift in drifts]))
        print(line(name, drifts, frauds))
    print(f"drifts least in spreads of its weights: {min(relative, key=relative.__getitem__)}")

    print("\nReference size: random parts of the reference against all of it, conformal map")
    found = defaultdict(list)
    for question, positives in asked[:: max(1, number // 2)]:
        for fraction, (drift,) in shrink_sweep(before, question, maps=["conformal"], repeats=2):
            found[fraction].append((drift, positives))
    for fraction, pairs in found.items():
        print(line(f"{100 * fraction:g} %", [drift for drift, _ in pairs], [positives for _, positives in pairs]))


if __name__ == "__main__":
    main()
