"""How true the finding is: planted rows counted, intervals that hold the truth, and claims where there is nothing.

    python -m benchmarks.bench_finding [--seeds 20]                      # five shapes of columns, made here
    python -m benchmarks.bench_finding --tables FOLDER [--splits 6]      # labelled tables
    python -m benchmarks.bench_finding --credit-card creditcard.parquet  # false share in Credit Card pools

Made: 19 of 900 pool rows are unusual in three columns, and 0 to 18 of 1,800 reference rows are like them. The truth is
what was chosen of the 19, less what the reference's rate would give. Nothing: pools drawn from the same law.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

import biselect as bs
from benchmarks.review_cases import credit_card_cases, table_cases
from biselect.options import Kinds, Search
from biselect.reviews.finding import holding_rows

POOL, REFERENCE, PLANTED, ALIKE = 900, 1800, 19, (0, 2, 6, 12, 18)
MIX = np.random.default_rng(1).normal(size=(3, 12))
OPTIONS = {"kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0)), "progress": False}


def normal(rng, rows, bad):
    """Twelve normal columns; bad rows lie 3.5 off in three of them."""
    X = rng.normal(size=(rows, 12))
    X[:bad, [2, 5, 7]] += 3.5
    return pd.DataFrame(X).add_prefix("x")


def heavy(rng, rows, bad):
    """Ten columns of Student's t with four degrees of freedom."""
    X = rng.standard_t(4, size=(rows, 10))
    X[:bad, [0, 4, 8]] -= 5
    return pd.DataFrame(X).add_prefix("x")


def skewed(rng, rows, bad):
    """Eight log-normal columns."""
    X = np.exp(rng.normal(size=(rows, 8)))
    X[:bad, [1, 3, 6]] = np.exp(2.2 + 0.3 * rng.normal(size=(bad, 3)))
    return pd.DataFrame(X).add_prefix("x")


def correlated(rng, rows, bad):
    """Twelve columns of three factors."""
    X = rng.normal(size=(rows, 3)) @ MIX + 0.5 * rng.normal(size=(rows, 12))
    X[:bad, [0, 6, 9]] += 2.5 * X.std(axis=0)[[0, 6, 9]]
    return pd.DataFrame(X).add_prefix("x")


def orders(rng, rows, bad):
    """Orders: a category, counts, prices, gaps."""
    table = pd.DataFrame(
        {
            "payment": rng.choice(["card", "paypal", "invoice", "voucher"], rows, p=[0.5, 0.3, 0.18, 0.02]),
            "discount": rng.choice([0.0, 0.0, 5.0, 10.0, 15.0, 20.0], rows),
            "items": rng.poisson(4, rows) + 1.0,
            "basket": rng.lognormal(4, 0.6, rows).round(2),
            "days": rng.exponential(300, rows).round(),
            "weight": rng.gamma(3, 1.5, rows).round(1),
        }
    )
    table.loc[: bad - 1, "payment"] = "voucher"
    table.loc[: bad - 1, "discount"] = rng.integers(70, 81, bad).astype(float)
    table.loc[: bad - 1, "items"] = rng.integers(20, 40, bad).astype(float)
    table.loc[rng.random(rows) < 0.05, "days"] = np.nan
    return table


SHAPES = {"normal": normal, "heavy tails": heavy, "skewed": skewed, "correlated": correlated, "orders": orders}


def planted(seeds):
    """For each shape and number of rows alike: cases, numbers within 25 %, intervals that hold the truth."""
    right, held, counted = [], [], 0
    for name, make in SHAPES.items():
        for alike in ALIKE:
            cases, near, inside = Counter(), [], []
            for seed in range(seeds):
                rng = np.random.default_rng([seed, alike])
                review = bs.review(make(rng, POOL, PLANTED), make(rng, REFERENCE, alike), k=20, **OPTIONS)
                finding, rate = review.finding, POOL / REFERENCE
                truth = int((review.selection.samples < PLANTED).sum()) - alike * rate
                cases[finding.case] += 1
                near.append(abs(finding.rows - truth) <= 0.25 * truth)
                if finding.interval is not None:
                    inside.append(finding.interval[0] <= truth <= finding.interval[1])
            right += near
            held += inside
            counted += seeds
            print(f"{name:12s} {alike:2d} alike: {dict(cases)}, number within 25 %: {np.mean(near):.2f}, ", end="")
            print(f"interval holds: {np.mean(inside) if inside else float('nan'):.2f}", flush=True)
    print(f"number within 25 %: {np.mean(right):.3f} of {counted}; interval holds the truth: {np.mean(held):.3f}")


def nothing(seeds):
    """Cases of pools in which nothing was planted."""
    every = Counter()
    for name, make in SHAPES.items():
        cases = Counter()
        for seed in range(5 * seeds):
            rng = np.random.default_rng([seed, 99])
            review = bs.review(make(rng, POOL, 0), make(rng, REFERENCE, 0), k=20, **OPTIONS)
            cases[review.finding.case] += 1
        every += cases
        print(f"{name:12s} nothing planted: {dict(cases)}", flush=True)
    print(f"nothing planted, all shapes: { ({case: round(n / every.total(), 3) for case, n in every.items()}) }")


def on_tables(folder, splits):
    """Cases by how many of the 20 rows are anomalies; and pools drawn from the reference's own normal rows."""
    for clean in (False, True):
        cases: dict[str, Counter] = {}
        for _, seed, (reference, pool, y) in table_cases(folder, range(splits), clean=clean):
            review = bs.review(pool, reference, k=max(1, min(20, len(pool) // 5)), **OPTIONS)
            true = int(y[review.selection.samples].sum())
            band = "15 or more true" if true >= 15 else "5 to 14 true" if true >= 5 else "fewer"
            cases.setdefault(band, Counter())[review.finding.case] += 1
            if clean and seed < 3:
                rows = np.random.default_rng(seed).permutation(len(reference))
                half = len(rows) // 3
                drawn = bs.review(reference[rows[:half]], reference[rows[half:]], **OPTIONS)
                cases.setdefault("drawn from the reference", Counter())[drawn.finding.case] += 1
        for band, counts in cases.items():
            print(f"{'clean' if clean else 'contaminated'} reference, {band}: {dict(counts)}", flush=True)


def on_credit_card(path, draws):
    """Rows that are said to hold one by one, and what share of them is false."""
    for name, draw, (reference, pool, y) in credit_card_cases(path, range(draws)):
        review = bs.review(pool, reference, k=25, **OPTIONS)
        line = review.summary["false_share"]
        rows = 0 if line is None else line["pool"]
        holds = holding_rows(review.finding, review.tables, review.selection.features)
        false = 0.0 if holds is None else (holds & ~y).sum() / max(1, holds.sum())
        print(f"{name} {draw}: {rows} rows hold, false share {false:.2f}; {int(y.sum())} frauds", flush=True)


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--credit-card", type=Path)
    parser.add_argument("--draws", type=int, default=5)
    args = parser.parse_args()
    if args.tables:
        on_tables(args.tables, args.splits)
    elif args.credit_card:
        on_credit_card(args.credit_card, args.draws)
    else:
        planted(args.seeds)
        nothing(args.seeds)


if __name__ == "__main__":
    main()
