"""What reviews find: `bs.ReviewSession`, as the workbench uses it, beside what a practitioner would write.

    python -m benchmarks.bench_reviews --tables FOLDER                    # one split; --splits 3 for more
    python -m benchmarks.bench_reviews --tables FOLDER --alone            # without the peers, in minutes
    python -m benchmarks.bench_reviews --credit-card creditcard.parquet --draws 6
    python -m benchmarks.bench_reviews --speed

Tables: share of attainable hits after 20 and 40 reviews, with a contaminated reference, a clean one, and the table as
its own reference; with five positives in the pool; one answer in ten wrong; and answers by 20 as in a spreadsheet.
Credit Card: frauds among 20 and 40 reviewed rows. Stop advice: how often the interval of the next 20 rows holds what
came, on the second half of the tables by name; its numbers were chosen on the first. Peers: tree AAD (Das et al. 2017),
a forest after KNN and after Isolation Forest, logistic regression and gradient boosting after KNN, and plain rankings.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

import biselect as bs
from benchmarks.needs import need
from benchmarks.review_cases import (
    alone_cases,
    boosting,
    credit_card_cases,
    detector_scores,
    forest,
    learner_after,
    logistic,
    table_cases,
    tree_aad,
)
from biselect.options import Kinds

BUDGETS = (20, 40)
WRONG = 0.1  # share of answers
FIVE = 5
ASKED = {  # share of attainable hits after 20 and 40
    "contaminated": (0.61, 0.62),
    "clean": (0.76, 0.73),
    "own reference": (0.65, 0.66),
    "five, contaminated": (0.42, 0.51),
    "five, clean": (0.56, 0.66),
    "one in ten wrong": (0.57, 0.59),
    "clean, by 20": (0.68, 0.70),
}


def ours(case, budget, *, step=1, wrong=0.0, seed=0):
    """Which rows are hits, in the order in which the session asks; and what it said about the next 20 on the way."""
    reference, pool, y = case
    session = bs.ReviewSession(pool, None if reference is pool else reference, kinds=Kinds(kinds=1))
    said = np.where(np.random.default_rng(seed).random(len(y)) < wrong, ~y, y)
    rows, ahead = [], {}
    while len(rows) < budget:
        queued = [session.next_row()] if step == 1 else session.next_rows(min(step, budget - len(rows)))
        session.answer({one.row: bool(said[one.row]) for one in queued})
        rows += [one.row for one in queued]
        if len(rows) % 20 == 0 and len(rows) + 20 <= budget:
            ahead[len(rows)] = session.ahead(20)
    return y[rows], [(one, int(y[rows[at : at + 20]].sum())) for at, one in ahead.items()]


def peers(case, budget, seed):
    """For each peer which of its rows are hits, in order."""
    reference, pool, y = case
    scores = detector_scores(reference, pool, seed)
    rows = {"tree AAD": tree_aad(reference, pool, y, budget, seed)}
    for name in ("KNN", "IForest"):
        rows[f"forest after {name}"] = learner_after(forest, scores[name], reference, pool, y, budget)
    rows["logistic regression"] = learner_after(logistic, scores["KNN"], reference, pool, y, budget)
    rows["gradient boosting"] = learner_after(boosting, scores["KNN"], reference, pool, y, budget)
    return rows | {name: y[np.argsort(-score, kind="stable")[:budget]] for name, score in scores.items()}


def with_five(case, seed):
    """The same case with five positives left in the pool."""
    reference, pool, y = case
    gone = np.random.default_rng(seed).permutation(np.flatnonzero(y))[FIVE:]
    kept = np.setdiff1d(np.arange(len(y)), gone)
    return reference, pool[kept], y[kept]


def settings(folder, splits):
    """Each line of the table: its cases, and how they are answered."""
    dirty, clean = table_cases(folder, splits), table_cases(folder, splits, clean=True)
    yield "contaminated", dirty, {}
    yield "clean", clean, {}
    yield "own reference", alone_cases(folder, splits), {}
    for name, cases in (
        ("contaminated", table_cases(folder, splits)),
        ("clean", table_cases(folder, splits, clean=True)),
    ):
        five = ((table, split, with_five(case, split)) for table, split, case in cases if case[2].sum() >= FIVE)
        yield f"five, {name}", five, {}
    yield "one in ten wrong", table_cases(folder, splits), {"wrong": WRONG}
    yield "clean, by 20", table_cases(folder, splits, clean=True), {"step": 20}


def shares(hits, y):
    """Share of attainable hits after each budget."""
    return [hits[:budget].sum() / max(1, min(budget, int(y.sum()))) for budget in BUDGETS]


def tables(folder, splits, alone, only):
    """Print the table, and how well the stop advice was calibrated."""
    names = sorted(path.stem for path in folder.glob("*.npz"))
    later = {*names[len(names) // 2 :]}
    covered = []
    for setting, cases, how in settings(folder, splits):
        if only and setting not in only:
            continue
        found: dict[str, dict[str, list]] = {}
        for name, split, case in cases:
            budget = min(2 * BUDGETS[1] - 20, len(case[1]) // 4)
            hits, ahead = ours(case, budget, seed=split, **how)
            found.setdefault("biselect", {}).setdefault(name, []).append(shares(hits, case[2]))
            if name in later:
                covered += [(one.low <= came <= one.high, one.high - one.low) for one, came in ahead]
            if not alone and not how:
                for method, rows in peers(case, min(budget, BUDGETS[1]), split).items():
                    found.setdefault(method, {}).setdefault(name, []).append(shares(rows, case[2]))
        for method, by_table in found.items():
            means = np.mean([np.mean(one, axis=0) for one in by_table.values()], axis=0)
            line = f"{setting:20s}{method:22s}" + "".join(f"{mean:7.3f}" for mean in means)
            if method == "biselect":
                asked = ASKED[setting]
                missed = any(mean < least for mean, least in zip(means, asked, strict=True))
                line += f"   asked {asked[0]:.2f}, {asked[1]:.2f}{' MISSED' if missed else ''}"
            print(line, flush=True)
    if covered:
        share, width = np.mean(covered, axis=0)
        print(
            f"stop advice: {share:.3f} of {len(covered)} intervals hold what came, {width:.1f} wide; asked 0.85 to 0.95"
        )


def credit_card(path, draws, first, alone):
    """Frauds among the first 20 and 40 rows."""
    found: dict[tuple[str, str], list] = {}
    for name, draw, case in credit_card_cases(path, range(first, first + draws)):
        for method, step in (("biselect", 1), ("biselect by 20", 20)):
            hits, _ = ours(case, BUDGETS[1], step=step)
            found.setdefault((method, name), []).append([hits[:budget].sum() for budget in BUDGETS])
        if not alone:
            for method, hits in peers(case, BUDGETS[1], draw).items():
                found.setdefault((method, name), []).append([hits[:budget].sum() for budget in BUDGETS])
    for (method, name), counts in found.items():
        print(f"{name:8s}{method:22s}" + "".join(f"{mean:7.2f}" for mean in np.mean(counts, axis=0)))
    print("asked: 18.5, 22.5 one at a time, stale and fresh; 12, 21 by 20")


def speed():
    """First row and next rows of 100,000 × 50."""
    rng = np.random.default_rng(0)
    reference, pool = rng.standard_t(5, size=(20_000, 50)), rng.standard_t(5, size=(100_000, 50))
    pool[:300, :4] -= 6
    start = time.perf_counter()
    session = bs.ReviewSession(pool, reference)
    queued = session.next_row()
    print(f"first row of 100,000 × 50: {time.perf_counter() - start:.1f} s, asked 8")
    took = []
    for _ in range(40):
        start = time.perf_counter()
        session.answer(queued, queued.row < 300)
        queued = session.next_row()
        took.append(time.perf_counter() - start)
    print(f"from an answer to the next row: {np.median(took):.3f} s, at most {max(took):.3f}; asked 0.3 in the browser")


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--first-split", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=ASKED, help="some lines of the table")
    parser.add_argument("--credit-card", type=Path)
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--first", type=int, default=100, help="the first draw")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")  # of the peers
    if not args.alone and (args.credit_card or args.tables):
        need("pyod")
    if args.tables:
        splits = range(args.first_split, args.first_split + args.splits)
        tables(args.tables, splits, args.alone, args.only)
    if args.credit_card:
        credit_card(args.credit_card, args.draws, args.first, args.alone)
    if args.speed:
        speed()


if __name__ == "__main__":
    main()
