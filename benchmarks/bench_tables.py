"""What the default answer finds on labelled tables and in Credit Card pools, beside five plain detectors.

    python -m benchmarks.bench_tables --splits 6                       # reference with at most 5 % anomalies
    python -m benchmarks.bench_tables --splits 6 --clean               # reference without any
    python -m benchmarks.bench_tables --credit-card creditcard.parquet --draws 6 --first 0
    python -m benchmarks.bench_tables --tried --splits 3               # other forms too; with --clean, --credit-card
    python -m benchmarks.bench_tables --slices                         # balanced slices of the paper's studies

Tables (.npz with X and y): 2,000 reference rows, 1,000 pool rows, k = 20 (a fifth of a small pool), m = 5; the share of
attainable hits. Credit Card: frauds among k = 25 rows, m = 5, with the fresh and the stale reference. No method sees a
label, and ours is one block: `solve(Weigher().fit(reference).problem(pool, k, m))`. `--tried` solves by coordinate
ascent. Each run replaces its own part of benchmarks/results/tables.json.
"""

import argparse
import json
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.neighbors import NearestNeighbors

import biselect as bs
from benchmarks.needs import need
from benchmarks.review_cases import credit_card_cases, detector_scores, table_cases
from biselect.reviews.outside_scores import log_ranks
from biselect.weights import Weigher

ROOT = Path(__file__).parent
RESULTS = ROOT / "results" / "tables.json"
TABLES = ROOT.parent.parent / "shared" / "tables"
K, M, K_CREDIT_CARD = 20, 5, 25
SLICES, SLICE_FEATURES = 200, 28
TIME_LIMIT = 20.0  # seconds a pool; the best block found by then counts


def hits(case, k, seed, tried):
    """Anomalies among the k rows of every method, and whether ours is proven."""
    reference, pool, y = case
    problem = Weigher().fit(reference).problem(pool, k=k, m=min(M, pool.shape[1]))
    best = bs.solve(problem, time_limit=TIME_LIMIT)
    scores = detector_scores(reference, pool, seed)
    chosen = {"biselect": best.samples}
    if tried:
        chosen |= other_forms(reference, pool, problem, scores)
        scores |= neighbour_scores(reference, pool)
    chosen |= {name: np.argsort(-score, kind="stable")[:k] for name, score in scores.items()}
    return {name: int(y[rows].sum()) for name, rows in chosen.items()}, best.proven_optimal


def other_forms(reference, pool, default, scores):
    """The rows that other weights and other evidence about rows choose, at the budgets of the default's problem."""
    k, m = default.k, default.m
    fitted = {name: Weigher(name).fit(reference) for name in ("ecdf", "gaussian", "gaussian-robust", "reach")}
    blocks = {name: fit.problem(pool, k=k, m=m, marginals="none") for name, fit in fitted.items()}
    problems = {f"block, {name}": block for name, block in blocks.items()}
    sums = blocks["gaussian"].coupling.sum(axis=1)
    detected = np.mean([log_ranks(score) for score in (scores["KNN"], scores["IForest"], sums)], axis=0)
    for factor in (1, 3):
        problems[f"ecdf, detectors ×{factor}"] = replace(blocks["ecdf"], sample_scores=factor * m * detected)
    for name, near_weight in (("nearest", 1.0), ("far", 0.0)):
        apart = m * fitted["reach"].isolation(pool, near_weight)
        problems[f"reach, {name} neighbour"] = replace(blocks["reach"], sample_scores=apart)
    problems["default, rows ×1.5"] = replace(default, sample_scores=1.5 * default.sample_scores)
    return {name: bs.solve(problem, "coordinate-ascent").samples for name, problem in problems.items()}


def neighbour_scores(reference, pool):
    """The distance to one neighbour in the reference, in standard deviations."""
    center, scale = reference.mean(axis=0), reference.std(axis=0)
    before, now = ((table - center) / np.where(scale > 0, scale, 1.0) for table in (reference, pool))
    distances = NearestNeighbors(n_neighbors=min(80, len(before))).fit(before).kneighbors(now)[0]
    return {f"neighbour {number}": distances[:, min(number, len(before)) - 1] for number in (1, 5, 20, 80)}


def means(cases, best_possible, tried):
    """For each table or reference and each method its mean over splits or draws, and how many answers are proven."""
    shares: dict[str, dict[str, list[float]]] = {}
    proven = []
    for name, seed, case in cases:
        k, unit = best_possible(case)
        found, is_proven = hits(case, k, seed, tried)
        proven.append(is_proven)
        for method, number in found.items():
            shares.setdefault(name, {}).setdefault(method, []).append(number / unit)
        print(name, seed, {method: round(number / unit, 2) for method, number in found.items()}, flush=True)
    table = {name: {method: float(np.mean(f)) for method, f in found.items()} for name, found in shares.items()}
    return table, {"answers": len(proven), "proven": sum(proven)}


def on_tables(folder, splits, clean, tried):
    """Mean over tables of the share of attainable hits, and mean rank among the methods."""

    def best_possible(case):
        k = min(K, len(case[1]) // 5)
        return k, min(k, int(case[2].sum()))

    table, proven = means(table_cases(folder, range(splits), clean=clean), best_possible, tried)
    methods = list(next(iter(table.values())))
    figures = np.array([list(found.values()) for found in table.values()])
    ranks = rankdata(-figures, axis=1).mean(axis=0)
    print(f"\n{len(table)} tables, splits 0 to {splits - 1}, {'clean' if clean else 'contaminated'} reference")
    for place in np.argsort(ranks):
        print(f"{methods[place]:22s} mean {figures[:, place].mean():.3f}  mean rank {ranks[place]:.2f}")
    overall = {m: {"mean": f.mean(), "mean rank": r} for m, f, r in zip(methods, figures.T, ranks, strict=True)}
    return {"splits": splits, **proven, "methods": overall, "tables": table}


def on_credit_card(path, draws, first, tried):
    """Mean number of frauds by reference."""
    cases = credit_card_cases(path, range(first, first + draws))
    frauds, proven = means(cases, lambda case: (K_CREDIT_CARD, 1), tried)
    print(f"\nfrauds of {K_CREDIT_CARD}, mean over {draws} draws from {first}")
    for method in frauds["fresh"]:
        print(f"{method:22s} fresh {frauds['fresh'][method]:5.2f}  stale {frauds['stale'][method]:5.2f}")
    return {"first draw": first, "draws": draws, **proven, "frauds": frauds}


def on_slices():
    """F1@k of the default and of two plain blocks on the balanced Credit Card slices of the studies."""
    from biselect_studies.data.creditcard import load_credit_card
    from biselect_studies.experiments import creditcard as fields
    from biselect_studies.inference import f1_at_k

    features = load_credit_card().features[:, :SLICE_FEATURES]
    windows = fields.split(fields.SPLIT)
    before, now = features[windows.window("reference")], features[windows.window("test")]
    forms = {
        "default": ("reach", "isolation"),
        "reach block": ("reach", "none"),
        "conformal block": ("conformal", "none"),
    }
    fitted = {form: Weigher(name).fit(before) for form, (name, _) in forms.items()}
    found: dict[str, dict[str, float]] = {form: {} for form in forms}
    for size, k in fields.SIZES.items():
        pools = [fields.draw("balanced", fields.SPLIT, "test", size, k, seed) for seed in range(SLICES)]
        for form, (_, marginals) in forms.items():
            scores = []
            for pool in pools:
                problem = fitted[form].problem(now[pool.rows], k=k, m=fields.M, marginals=marginals)
                scores.append(f1_at_k(bs.solve(problem).samples.tolist(), pool.positive.tolist()))
            found[form][f"N = {size}"] = float(np.mean(scores))
            print(f"N = {size}, {form}: {found[form][f'N = {size}']:.3f}", flush=True)
    return {"slices": SLICES, "F1@k": found}


def main() -> None:
    """Measure what was asked for, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, default=TABLES, help="folder of .npz files (default: %(default)s)")
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--clean", action="store_true", help="no anomalies in the reference")
    parser.add_argument("--credit-card", type=Path, help="measure on pools of this table instead")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=100, help="the first draw; 0 to 5 were used to choose")
    parser.add_argument("--tried", action="store_true", help="other forms of weights and row evidence beside it")
    parser.add_argument("--slices", action="store_true", help="measure on balanced slices; needs BISELECT_DATA")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures go (default: %(default)s)")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")  # of the peers
    need("pyod")
    if args.slices:
        part, found = "slices", on_slices()
    elif args.credit_card:
        part, found = "credit card", on_credit_card(args.credit_card, args.draws, args.first, args.tried)
    elif any(args.tables.glob("*.npz")):
        part = "clean" if args.clean else "contaminated"
        found = on_tables(args.tables, args.splits, args.clean, args.tried)
    else:
        sys.exit(
            f"There are no .npz files in {args.tables}. Name a folder of labelled tables with --tables, each file with "
            "an array X (rows × columns) and an array y (1 for an anomaly), such as those of ADBench."
        )
    kept = json.loads(args.results.read_text()) if args.results.exists() else {}
    part = f"{part}, tried" if args.tried else part
    args.results.write_text(json.dumps({**kept, part: found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
