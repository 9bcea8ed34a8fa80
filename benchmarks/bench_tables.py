"""What one answer finds, and which part of the score finds it: labelled tables and Credit Card pools, beside detectors.

    python -m benchmarks.bench_tables --splits 6             # reference with at most 5 % anomalies
    python -m benchmarks.bench_tables --splits 6 --clean     # reference without any
    python -m benchmarks.bench_tables --splits 6 --alone     # one table and nothing else
    python -m benchmarks.bench_tables --credit-card creditcard.parquet --draws 6 --first 100

Tables (.npz with X and y): 2,000 reference and 1,000 pool rows, k = 20 (a fifth of a small pool), m as the product
takes it; figures are the share of attainable hits. Credit Card: frauds among k = 25 rows with the fresh and the stale
reference, distinct frauds in five kinds of 12, and frauds of 12 in the purest of the first three kinds. No method sees
a label. Every detector stands at each of its settings, a neighbour's distance at 1, 5, 20 and 80. Each run replaces its
own part of benchmarks/results/tables.json.
"""

import argparse
import json
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.neighbors import NearestNeighbors

import biselect as bs
from benchmarks.needs import need
from benchmarks.review_cases import alone_cases, credit_card_cases, detector_scores, table_cases
from biselect.reviews import find_kinds
from biselect.tables import as_matrix, varying
from biselect.weights import Weigher
from biselect.weights.alignment import move_back
from biselect.weights.directed import usual_columns
from biselect.weights.scoring import Scoring

ROOT = Path(__file__).parent
RESULTS = ROOT / "results" / "tables.json"
TABLES = ROOT.parent.parent / "shared" / "tables"
K, K_CREDIT_CARD, K_KINDS, KINDS, PURE = 20, 25, 12, 5, 3
TIME_LIMIT = 20.0  # seconds a pool; the best block found by then counts
MOST_COLUMNS = 400  # wider tables are left out: they would take hours
NEIGHBOURS = (1, 5, 20, 80)


def scored(case, k, m=None):
    """Pool and reference of a case on one scale."""
    reference, pool, _ = case
    own = reference is pool
    before, now, _ = varying(as_matrix(reference), as_matrix(pool))
    weigher = Weigher().fit(before)
    cells = weigher.cells(
        now if own else move_back(before, now, "recentre")[0], places=weigher.own_places if own else None
    )
    return Scoring.of(weigher, cells, k, usual_columns(len(before.names)) if m is None else min(m, len(before.names)))


def only(problem, directions, keep):
    """The problem in which columns may be chosen in some of their directions alone."""
    never = [j for j, direction in enumerate(problem.directions) if (direction in directions) != keep]
    return replace(problem, feature_rules=replace(problem.feature_rules, forced_out=tuple(never)))


def forms(case, k):
    """The rows that each form of the score chooses, and whether the default's answer is proven."""
    scoring = scored(case, k)
    problem = scoring.problem()
    block = replace(problem, sample_scores=np.zeros(problem.n_samples))
    problems = {
        "one score": problem,
        "block alone": block,
        "one end only": only(problem, {"either"}, keep=False),
        "either end only": only(problem, {"low", "high"}, keep=False),
        "one score, m = 5": scored(case, k, 5).problem(),
    }
    answers = {name: bs.solve(one, time_limit=TIME_LIMIT) for name, one in problems.items()}
    rows = {name: answer.samples for name, answer in answers.items()}
    rows["row as a whole alone"] = np.argsort(-scoring.pool_parts, kind="stable")[:k]
    return rows, answers["one score"].proven_optimal


def neighbour_scores(reference, pool):
    """Distances to neighbours in the reference, in standard deviations; a row of the reference is not its own."""
    center, scale = reference.mean(axis=0), reference.std(axis=0)
    before, now = ((table - center) / np.where(scale > 0, scale, 1.0) for table in (reference, pool))
    own = int(reference is pool)
    most = min(max(NEIGHBOURS) + own, len(before))
    distances = NearestNeighbors(n_neighbors=most).fit(before).kneighbors(now)[0]
    return {f"neighbour {number}": distances[:, min(number + own, most) - 1] for number in NEIGHBOURS}


def hits(name, seed, case, k, unit):
    """Of one case each method's share of what can be found, and whether the default's answer is proven."""
    warnings.filterwarnings("ignore")  # of the peers
    reference, pool, y = case
    rows, is_proven = forms(case, k)
    scores = detector_scores(reference, pool, seed) | neighbour_scores(reference, pool)
    rows |= {method: np.argsort(-score, kind="stable")[:k] for method, score in scores.items()}
    return name, seed, {method: float(y[chosen].sum() / unit) for method, chosen in rows.items()}, is_proven


def means(cases, best_possible, jobs):
    """For each table or reference and each method its mean over splits or draws, and how many answers are proven."""
    shares: dict[str, dict[str, list[float]]] = {}
    proven = []
    narrow = (one for one in cases if one[2][0].shape[1] <= MOST_COLUMNS)
    calls = (delayed(hits)(name, seed, case, *best_possible(case)) for name, seed, case in narrow)
    for name, seed, found, is_proven in Parallel(n_jobs=jobs, return_as="generator")(calls):
        proven.append(is_proven)
        for method, share in found.items():
            shares.setdefault(name, {}).setdefault(method, []).append(share)
        print(name, seed, {method: round(share, 2) for method, share in found.items()}, flush=True)
    table = {name: {method: float(np.mean(values)) for method, values in own.items()} for name, own in shares.items()}
    return table, {"answers": len(proven), "proven": sum(proven)}


def on_tables(cases, splits, protocol, jobs):
    """Mean over tables of the share of attainable hits, its standard error, and mean rank among the methods."""

    def best_possible(case):
        k = max(1, min(K, len(case[1]) // 5))
        return k, min(k, int(case[2].sum()))

    table, proven = means(cases, best_possible, jobs)
    methods = list(next(iter(table.values())))
    figures = np.array([list(own.values()) for own in table.values()])
    ranks, errors = rankdata(-figures, axis=1).mean(axis=0), figures.std(axis=0, ddof=1) / len(figures) ** 0.5
    print(f"\n{len(table)} tables, splits 0 to {splits - 1}, {protocol}")
    for place in np.argsort(-figures.mean(axis=0)):
        mean = figures[:, place].mean()
        print(f"{methods[place]:22s} mean {mean:.3f} ± {errors[place]:.3f}  mean rank {ranks[place]:.2f}")
    overall = {m: {"mean": f.mean(), "mean rank": r} for m, f, r in zip(methods, figures.T, ranks, strict=True)}
    return {"splits": splits, **proven, "methods": overall, "tables": table}


def kinds_of(case):
    """Distinct frauds in five kinds, and frauds in the purest of the first three."""
    first = bs.solve(scored(case, K_KINDS).problem(), time_limit=TIME_LIMIT)
    kinds = find_kinds(first, kinds=KINDS, time_limit=TIME_LIMIT)
    frauds = [int(case[2][kind.selection.samples].sum()) for kind in kinds]
    return {"distinct frauds in five kinds": sum(frauds), "purest of three kinds": max(frauds[:PURE])}


def on_credit_card(path, draws, first, jobs):
    """Mean number of frauds by reference, and what kinds hold."""
    drawn = range(first, first + draws)
    frauds, proven = means(credit_card_cases(path, drawn), lambda case: (K_CREDIT_CARD, 1), jobs)
    print(f"\nfrauds of {K_CREDIT_CARD}, mean over {draws} draws from {first}")
    for method in frauds["fresh"]:
        print(f"{method:22s} fresh {frauds['fresh'][method]:5.2f}  stale {frauds['stale'][method]:5.2f}")
    kinds: dict[str, dict[str, list[int]]] = {}
    for name, _, case in credit_card_cases(path, drawn):
        for what, number in kinds_of(case).items():
            kinds.setdefault(what, {}).setdefault(name, []).append(number)
    for what, numbers in kinds.items():
        print(what, {name: (round(float(np.mean(own)), 2), own) for name, own in numbers.items()})
    return {"first draw": first, "draws": draws, **proven, "frauds": frauds, "kinds": kinds}


def main() -> None:
    """Measure what was asked for, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, default=TABLES, help="folder of .npz files (default: %(default)s)")
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--clean", action="store_true", help="no anomalies in the reference")
    parser.add_argument("--alone", action="store_true", help="each table is its own reference")
    parser.add_argument("--credit-card", type=Path, help="measure on pools of this table instead")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=100, help="the first draw; 0 to 5 were used to choose")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures go (default: %(default)s)")
    args = parser.parse_args()
    need("pyod")
    if args.credit_card:
        part, figures = "credit card", on_credit_card(args.credit_card, args.draws, args.first, args.jobs)
    elif any(args.tables.glob("*.npz")):
        part = "alone" if args.alone else "clean" if args.clean else "contaminated"
        splits = range(args.splits)
        cases = alone_cases(args.tables, splits) if args.alone else table_cases(args.tables, splits, clean=args.clean)
        figures = on_tables(cases, args.splits, part, args.jobs)
    else:
        sys.exit(
            f"There are no .npz files in {args.tables}. Name a folder of labelled tables with --tables, each file with "
            "an array X (rows × columns) and an array y (1 for an anomaly), such as those of ADBench."
        )
    before = json.loads(args.results.read_text()) if args.results.exists() else {}
    args.results.write_text(json.dumps({**before, part: figures}, indent=1) + "\n")


if __name__ == "__main__":
    main()
