"""What the default answer finds on labelled tables and in Credit Card pools, beside five plain detectors.

    python -m benchmarks.bench_tables --splits 6                       # reference with at most 5 % anomalies
    python -m benchmarks.bench_tables --splits 6 --clean               # reference without any
    python -m benchmarks.bench_tables --credit-card creditcard.parquet --draws 6 --first 0

Tables (.npz with X and y): 2,000 reference rows, 1,000 pool rows, k = 20 (a fifth of a small pool), m = 5; the share of
attainable hits. Credit Card: frauds among k = 25 rows, m = 5, with the fresh and the stale reference. No method sees a
label, and ours is one block: `solve(Calibrator().fit(reference).problem(pool, k, m))`. Each run replaces its own part
of benchmarks/results/tables.json.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

import biselect as bs
from benchmarks.needs import need
from benchmarks.review_cases import credit_card_cases, detector_scores, table_cases

ROOT = Path(__file__).parent
RESULTS = ROOT / "results" / "tables.json"
TABLES = ROOT.parent.parent / "shared" / "tables"
K, M, K_CREDIT_CARD = 20, 5, 25
TIME_LIMIT = 20.0  # seconds a pool; the best block found by then counts


def hits(case, k, seed):
    """Anomalies among the k rows of every method, and whether ours is proven."""
    reference, pool, y = case
    problem = bs.Calibrator().fit(reference).problem(pool, k=k, m=min(M, pool.shape[1]))
    best = bs.solve(problem, time_limit=TIME_LIMIT)
    ranked = {name: np.argsort(-score, kind="stable")[:k] for name, score in detector_scores(*case[:2], seed).items()}
    found = {name: int(y[rows].sum()) for name, rows in {"biselect": best.samples, **ranked}.items()}
    return found, best.proven_optimal


def means(cases, best_possible):
    """For each table or reference and each method its mean over splits or draws, and how many answers are proven."""
    shares: dict[str, dict[str, list[float]]] = {}
    proven = []
    for name, seed, case in cases:
        k, unit = best_possible(case)
        found, is_proven = hits(case, k, seed)
        proven.append(is_proven)
        for method, number in found.items():
            shares.setdefault(name, {}).setdefault(method, []).append(number / unit)
        print(name, seed, {method: round(number / unit, 2) for method, number in found.items()}, flush=True)
    table = {name: {method: float(np.mean(f)) for method, f in found.items()} for name, found in shares.items()}
    return table, {"answers": len(proven), "proven": sum(proven)}


def on_tables(folder, splits, clean):
    """Mean over tables of the share of attainable hits, and mean rank among the methods."""

    def best_possible(case):
        k = min(K, len(case[1]) // 5)
        return k, min(k, int(case[2].sum()))

    table, proven = means(table_cases(folder, range(splits), clean=clean), best_possible)
    methods = list(next(iter(table.values())))
    figures = np.array([list(found.values()) for found in table.values()])
    ranks = rankdata(-figures, axis=1).mean(axis=0)
    print(f"\n{len(table)} tables, splits 0 to {splits - 1}, {'clean' if clean else 'contaminated'} reference")
    for place in np.argsort(ranks):
        print(f"{methods[place]:10s} mean {figures[:, place].mean():.3f}  mean rank {ranks[place]:.2f}")
    overall = {m: {"mean": f.mean(), "mean rank": r} for m, f, r in zip(methods, figures.T, ranks, strict=True)}
    return {"splits": splits, **proven, "methods": overall, "tables": table}


def on_credit_card(path, draws, first):
    """Mean number of frauds by reference."""
    cases = credit_card_cases(path, range(first, first + draws))
    frauds, proven = means(cases, lambda case: (K_CREDIT_CARD, 1))
    print(f"\nfrauds of {K_CREDIT_CARD}, mean over {draws} draws from {first}")
    for method in frauds["fresh"]:
        print(f"{method:10s} fresh {frauds['fresh'][method]:5.2f}  stale {frauds['stale'][method]:5.2f}")
    return {"first draw": first, "draws": draws, **proven, "frauds": frauds}


def main() -> None:
    """Measure what was asked for, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, default=TABLES, help="folder of .npz files (default: %(default)s)")
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--clean", action="store_true", help="no anomalies in the reference")
    parser.add_argument("--credit-card", type=Path, help="measure on pools of this table instead")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=100, help="the first draw; 0 to 5 were used to choose")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures go (default: %(default)s)")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")  # of the peers
    need("pyod")
    if args.credit_card:
        part, found = "credit card", on_credit_card(args.credit_card, args.draws, args.first)
    elif any(args.tables.glob("*.npz")):
        part = "clean" if args.clean else "contaminated"
        found = on_tables(args.tables, args.splits, args.clean)
    else:
        sys.exit(
            f"There are no .npz files in {args.tables}. Name a folder of labelled tables with --tables, each file with "
            "an array X (rows × columns) and an array y (1 for an anomaly), such as those of ADBench."
        )
    kept = json.loads(args.results.read_text()) if args.results.exists() else {}
    args.results.write_text(json.dumps({**kept, part: found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
