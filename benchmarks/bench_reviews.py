"""What a few reviews find: `bs.ReviewSession` beside what a practitioner would write, one row at a time.

    python benchmarks/bench_reviews.py --credit-card creditcard.parquet --draws 20        # draws 100 to 119
    python benchmarks/bench_reviews.py --tables FOLDER --splits 3
    python benchmarks/bench_reviews.py --speed

Credit Card: frauds among the first 20 and 40 reviewed rows. Tables: 40 reviews (a fifth of a small pool), share of
attainable hits. Peers: a random forest after KNN and after Isolation Forest, Thompson sampling over five detectors'
lists and over five NMF factors of the same weights, each with the same forest, and the detectors alone.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

import biselect as bs
from benchmarks.needs import need
from benchmarks.review_cases import (
    credit_card_cases,
    detector_scores,
    forest_after,
    lists_with_forest,
    table_cases,
)
from biselect.weights import Weigher

BUDGET = 40
ASKED = {"20 reviews": 16.5, "40 reviews": 24.0, "tables": 0.57, "seconds": 3.0}


def ours(reference, pool, y, budget):
    """Answers in the order in which our session asks."""
    session = bs.ReviewSession(pool, reference)
    for _ in range(budget):
        [asked] = session.next_rows()
        session.answer({asked.row: bool(y[asked.row])})
    return np.array([answer.hit for answer in session.history])


def nmf_lists(reference, pool):
    """Five factors of the gaussian weights."""
    from sklearn.decomposition import NMF

    weights = Weigher(map="gaussian").fit(reference).weights(pool)
    factors = min(5, weights.shape[1])
    return list(NMF(factors, init="nndsvda", max_iter=200, random_state=0).fit_transform(weights).T)


def found_by_all(case, budget, seed, peers):
    """For each method the answers in order."""
    reference, pool, y = case
    rows = {"biselect": ours(reference, pool, y, budget)}
    if peers:
        scores = detector_scores(reference, pool, seed)
        for name in ("KNN", "IForest"):
            rows[f"forest after {name}"] = forest_after(scores[name], reference, pool, y, budget)
        rows["detectors + forest"] = lists_with_forest(list(scores.values()), reference, pool, y, budget)
        rows["NMF + forest"] = lists_with_forest(nmf_lists(reference, pool), reference, pool, y, budget)
        rows |= {name: y[np.argsort(-score, kind="stable")[:budget]] for name, score in scores.items()}
    return rows


def credit_card(path, draws, first, peers):
    """Means over draws, for both references."""
    figures: dict[str, dict[str, list]] = {}
    for name, draw, case in credit_card_cases(path, range(first, first + draws)):
        for method, hits in found_by_all(case, BUDGET, draw, peers).items():
            figures.setdefault(method, {}).setdefault(name, []).append((hits[:20].sum(), hits.sum()))
        print(f"{name} {draw}: {figures['biselect'][name][-1]}", flush=True)
    print(f"{'':22s}" + "".join(f"{name:>14s}" for name in ("stale", "fresh", "both")))
    for method, found in figures.items():
        both = np.mean([pair for pairs in found.values() for pair in pairs], axis=0)
        parts = [np.mean(found[name], axis=0) for name in ("stale", "fresh")]
        print(f"{method:22s}" + "".join(f"{pair[0]:7.2f}{pair[1]:7.2f}" for pair in (*parts, both)))
    ours_both = np.mean([pair for pairs in figures["biselect"].values() for pair in pairs], axis=0)
    for value, what in zip(ours_both, ("20 reviews", "40 reviews"), strict=True):
        print(f"{what}: {value:.2f}, asked {ASKED[what]}{'' if value >= ASKED[what] else ' MISSED'}")


def tables(folder, splits, peers):
    """Share of attainable hits by table, and the mean over tables."""
    figures: dict[str, dict[str, list]] = {}
    for name, split, case in table_cases(folder, range(splits)):
        budget = min(BUDGET, len(case[1]) // 5)
        attainable = min(budget, int(case[2].sum()))
        for method, hits in found_by_all(case, budget, split, peers).items():
            figures.setdefault(name, {}).setdefault(method, []).append(hits.sum() / attainable)
        print(f"{name} {split}: {figures[name]['biselect'][-1]:.2f}", flush=True)
    methods = list(next(iter(figures.values())))
    print(f"{'':18s}", *(f"{method[:12]:>12s}" for method in methods))
    for name, found in figures.items():
        print(f"{name:18s}", *(f"{np.mean(found[method]):12.2f}" for method in methods))
    means = {method: np.mean([np.mean(found[method]) for found in figures.values()]) for method in methods}
    print(f"{'mean':18s}", *(f"{means[method]:12.3f}" for method in methods))
    value = means["biselect"]
    print(f"tables: {value:.3f}, asked {ASKED['tables']}{'' if value >= ASKED['tables'] else ' MISSED'}")


def speed():
    """Next rows after a review at 100,000 × 50."""
    rng = np.random.default_rng(0)
    reference, pool = rng.standard_t(5, size=(20_000, 50)), rng.standard_t(5, size=(100_000, 50))
    pool[:300, :4] -= 6
    start = time.perf_counter()
    session = bs.ReviewSession(pool, reference)
    print(f"lists of 100,000 × 50: {time.perf_counter() - start:.1f} s")
    session.answer({0: True, 50_000: False})
    start = time.perf_counter()
    asked = session.next_rows(20)
    seconds = time.perf_counter() - start
    missed = "" if seconds <= ASKED["seconds"] else " MISSED"
    print(f"next rows from {asked[0].source}: {seconds:.2f} s, asked {ASKED['seconds']}{missed}")


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--credit-card", type=Path)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=100, help="the first draw; 0 to 5 were used to choose")
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--alone", action="store_true", help="ours alone, without the peers")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")  # of the peers
    if not args.alone and (args.credit_card or args.tables):
        need("pyod")
    if args.credit_card:
        credit_card(args.credit_card, args.draws, args.first, not args.alone)
    if args.tables:
        tables(args.tables, args.splits, not args.alone)
    if args.speed:
        speed()


if __name__ == "__main__":
    main()
