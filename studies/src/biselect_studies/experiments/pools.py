"""Pools of the Credit Card table and of AML transactions: what selectors, rules, detectors and triggers find."""

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers import solve
from biselect.weights import Weigher
from biselect.weights.paper import paper_marginals
from biselect_studies.data.candidates import Candidates, balanced, ranked
from biselect_studies.data.creditcard import load_credit_card
from biselect_studies.experiments import aml, creditcard
from biselect_studies.experiments.baselines import RANKERS, caught, choose, rank_rows, retained, studied_map
from biselect_studies.experiments.creditcard import PARTS, SIZES, SPLIT, D, M
from biselect_studies.extensions.drift import decompose
from biselect_studies.inference import f1_at_k
from biselect_studies.task import Cell, Values


def creditcard_slices(cell: Cell, seeds: Iterable[int]) -> Values:
    """F1@k by method and slice (`seed`), and which fraud each slice holds.

    A method is a solver (`exact`), a sequential rule (`feature-first:sum`), a ranking of weights (`rule:weight-sum`)
    or a detector on the first features (`detector:ecod:12`). In balanced pools `hits METHOD` says which of the k
    frauds, in the order of `frauds`, were chosen.
    """
    values: Values = {}
    size, D, k, m = cell["N"], cell["D"], cell["k"], cell["m"]
    percent, window = tuple(cell["percent"]), cell["window"]
    form = (percent, window, cell["map"], cell.get("reference", "first"))
    for seed in seeds:
        pool = creditcard.draw(cell["pool"], percent, window, size, k, seed)
        problem = creditcard.problem(*form, pool.rows, d=D, k=k, m=m, marginals=cell["marginals"])
        frauds = pool.rows[pool.positive]
        values.setdefault("fraud", []).append(int(frauds[0]) if frauds.size else -1)
        values.setdefault("prevalence", []).append(pool.positive.size / size)
        if cell["pool"] == "balanced":
            values.setdefault("frauds", []).append(frauds.tolist())
        score = partial(detected, percent=percent, window=window, rows=pool.rows)
        for method in cell["methods"]:
            chosen = choose(method, problem, seed, score)
            values.setdefault(method, []).append(f1_at_k(chosen.tolist(), pool.positive.tolist()))
            if cell["pool"] == "balanced":
                values.setdefault(f"hits {method}", []).append(np.isin(pool.positive, chosen).astype(int).tolist())
    return values


def detected(method: str, percent: creditcard.Percent, window: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Scores of a window's rows by a detector on the first features, such as `detector:ecod:12`."""
    _, name, features = method.split(":")
    return creditcard.scores(percent, window, name, int(features))[rows]


WINDOW = "test"
KS = np.arange(1, 17)
MS = np.array([2, 3, 5, 7, 10, 14, 20, 28])
SELECTORS: dict[str, dict[str, Any]] = {"greedy": {}, "coordinate-ascent": {"starts": 8}}
RULES = ("most-unusual", "densest", "sharpest-drop", "last-gain")


def creditcard_budgets(cell: Cell, seeds: Iterable[int]) -> Values:
    """By rule and pool: the k and m recommended, and F1 there of every method; labels are looked at only after that.

    Rules read the scores of two heuristics in all sectors. In the one recommended the exact optimum stands beside
    them: `proven`, `short` (by what part of it the heuristics' score falls short), and its F1; in all sectors it would
    take an hour.
    """
    values: Values = {}
    field = creditcard.weights(SPLIT, WINDOW, cell["map"], "first")
    for seed in seeds:
        pool = creditcard.draw(cell["pool"], SPLIT, WINDOW, cell["N"], cell["k"], seed)
        W = field[pool.rows]
        scores, chosen = np.empty((KS.size, MS.size)), {}
        for row, k in enumerate(KS):
            for column, m in enumerate(MS):
                problem = SelectionProblem(coupling=W, k=int(k), m=int(m))
                answers = [solve(problem, name, seed=seed, **options) for name, options in SELECTORS.items()]
                best = min(answers, key=lambda answer: answer.energy)
                scores[row, column], chosen[row, column] = best.score, best.samples
        recommended = recommended_budgets(scores, W, KS, MS)
        found = {place: _f1(samples, pool) for place, samples in chosen.items()}
        beside = {
            place: _beside(W, place, scores[place], pool, cell["methods"], seed) for place in recommended.values()
        }
        values.setdefault("positives", []).append(int(pool.positive.size))
        values.setdefault("hindsight f1", []).append(max(found.values()))
        for name, place in recommended.items():
            budgets = {"k": int(KS[place[0]]), "m": int(MS[place[1]])}
            for quantity, value in {**budgets, "f1": found[place], **beside[place]}.items():
                values.setdefault(f"{name} {quantity}", []).append(value)
    return values


def _beside(
    W: NDArray[np.float64], place: tuple[int, int], score: float, pool: Candidates, methods: Iterable[str], seed: int
) -> dict[str, Any]:
    """The exact optimum of a sector, and F1 of other methods with the same budgets."""
    problem = SelectionProblem(coupling=W, k=int(KS[place[0]]), m=int(MS[place[1]]))
    exact = solve(problem, "exact", workers=1)
    detect = partial(detected, percent=SPLIT, window=WINDOW, rows=pool.rows)
    others = {method: _f1(choose(method, problem, seed, detect), pool) for method in methods}
    short = max(0.0, exact.score - score) / max(exact.score, 1e-12)
    return {"exact": _f1(exact.samples, pool), "proven": bool(exact.proven_optimal), "short": short, **others}


def _f1(samples: NDArray[np.int64], pool: Candidates) -> float:
    return f1_at_k(samples.tolist(), pool.positive.tolist())


def recommended_budgets(
    scores: NDArray[np.float64], W: NDArray[np.float64], ks: NDArray[np.int64], ms: NDArray[np.int64]
) -> dict[str, tuple[int, int]]:
    """The place that each rule recommends, from the best score of each k (a row) and m (a column) and the weights.

    `most-unusual` is the sector whose best score lies furthest above k·m random cells of the pool, in their
    standard deviations; `densest` the one with the largest weight per cell. At the most unusual m, `sharpest-drop`
    takes the k after which the next sample adds least compared with this one, and `last-gain` the last k whose
    sample still adds more than half of what the first one added.
    """
    cells = ks[:, None] * ms[None, :]
    unusual = (scores - cells * W.mean()) / (np.sqrt(cells) * max(float(W.std()), 1e-12))
    row, column = _largest(unusual)
    gains = np.diff(scores[:, column], prepend=0.0)
    falls = np.flatnonzero(gains < gains[0] / 2)
    return {
        "most-unusual": (row, column),
        "densest": _largest(scores / cells),
        "sharpest-drop": (int(np.argmax(gains[:-1] / np.maximum(gains[1:], 1e-12))), column),
        "last-gain": (int(falls[0]) - 1 if falls.size else len(ks) - 1, column),
    }


def _largest(values: NDArray[np.float64]) -> tuple[int, int]:
    row, column = np.unravel_index(int(np.argmax(values)), values.shape)
    return int(row), int(column)


REPLICATES = 5
BLOCK_ROWS = 40_000  # rows of a block in the lag sweep
BLOCKS = 5
FIRST = {"sequential": "sum", "sequential-max": "max", "sequential-median": "median"}


def creditcard_reference(cell: Cell, seeds: Iterable[int]) -> Values:
    """F1@k of every selector and the parts of the weights' change, by size and slice; means over replicates.

    `hits SELECTOR` says how often each fraud of a slice, in the order of `frauds`, was chosen.
    With `kind` = `shrink` a part (`fraction`) of the reference window stands against all of it. Slice numbers run
    from `draw` in steps of `PARTS`, so that one cell needs `REPLICATES` fits only. With `kind` = `lag`, `block` 0 ends
    where the test window begins and each further block one window earlier; it stands against block 0.
    """
    values: Values = {}
    shrink = cell["kind"] == "shrink"
    test = load_credit_card().features[creditcard.split(SPLIT).test, :D]
    if shrink:
        rows = creditcard.split(SPLIT).reference
        clean = _fitted(cell["map"], rows.start, rows.stop)
        repeats = REPLICATES if cell["fraction"] < 1 else 1
        fits = [_part(cell["map"], rows, cell["fraction"], cell["draw"], repeat) for repeat in range(repeats)]
    else:
        clean, fits = _block(cell["map"], 0), [_block(cell["map"], cell["block"])]
    for seed in seeds:
        number = cell["draw"] + PARTS * seed if shrink else seed
        for size in cell["sizes"]:
            pool = creditcard.draw("balanced", SPLIT, "test", size, SIZES[size], number)
            scored = test[pool.rows]
            newer = clean.weights(scored)
            problems = [fit.plain_problem(scored, SIZES[size], M, marginals=paper_marginals) for fit in fits]
            found = [_measure(problem, newer, pool.positive) for problem in problems]
            for name in found[0]:
                values.setdefault(f"{size} {name}", []).append(np.mean([one[name] for one in found], axis=0).tolist())
            values.setdefault(f"{size} frauds", []).append(pool.rows[pool.positive].tolist())
    return values


def lag_days(block: int) -> float:
    """Days from the end of a block to the beginning of the test window."""
    times, end = load_credit_card().times, creditcard.split(SPLIT).test.start
    return float(times[end] - times[end - block * _block_rows() - 1]) / 86_400


def _measure(problem: SelectionProblem, clean: NDArray[np.float64], positive: NDArray[np.int64]) -> dict[str, Any]:
    W = problem.coupling
    parts = decompose(W - clean)
    chosen = {
        "joint": solve(problem, "exact", workers=1).samples,
        **{name: solve(problem, "feature-first", aggregate=aggregate).samples for name, aggregate in FIRST.items()},
        **{name: rank_rows(name, W, problem.k, M) for name in RANKERS},
    }
    return {
        **{name: f1_at_k(samples.tolist(), positive.tolist()) for name, samples in chosen.items()},
        **{f"hits {name}": np.isin(positive, samples).astype(float) for name, samples in chosen.items()},
        **{f"share {name}": share for name, share in parts.shares.items()},
        **{f"largest {name}": parts.largest[name] for name in ("row", "feature")},
        "spread": float(clean.std()),
    }


def _block_rows() -> int:
    """Rows of a block: fewer where the table is too short for all of them."""
    return min(BLOCK_ROWS, creditcard.split(SPLIT).test.start // BLOCKS)


def _block(map_name: str, block: int) -> Weigher:
    end = creditcard.split(SPLIT).test.start - block * _block_rows()
    return _fitted(map_name, end - _block_rows(), end)


@lru_cache(maxsize=4)
def _fitted(map_name: str, start: int, stop: int) -> Weigher:
    table = load_credit_card()
    return Weigher(studied_map(map_name, table.labels[start:stop])).fit(table.features[start:stop, :D])


def _part(map_name: str, rows: slice, fraction: float, draw: int, repeat: int) -> Weigher:
    total = rows.stop - rows.start
    if fraction == 1:
        return _fitted(map_name, rows.start, rows.stop)
    rng = np.random.default_rng([draw, repeat, round(1000 * fraction)])
    chosen = np.sort(rng.choice(total, size=round(fraction * total), replace=False)) + rows.start
    return Weigher(map_name).fit(load_credit_card().features[chosen, :D])


def aml_slices(cell: Cell, seeds: Iterable[int]) -> Values:
    """F1@k by method and slice under the scorer `map`; `hits METHOD` says which of the `positives` were chosen.

    `groups` are those that the positives belong to. `short METHOD`: by what part of the exact optimum the best score
    with a method's rows falls short of it.
    """
    scene = aml.scene(cell["source"], cell["transactions"])
    rows = scene.split.window(cell["window"])
    X, labels = scene.X[rows], scene.labels[rows]
    scorer = scene.scorer(cell["map"])
    values: Values = {"positives": [], "groups": []}
    for seed in seeds:
        pool = balanced(labels, cell["N"], cell["k"], seed=seed)
        mine = X[pool.rows].astype(np.float64)
        problem = SelectionProblem(coupling=scorer.weights(mine), k=cell["k"], m=cell["m"])
        positives = pool.rows[pool.positive] + rows.start
        values["positives"].append(positives.tolist())
        values["groups"].append(scene.groups[positives].tolist())
        found = {method: choose(method, problem, seed, partial(scene.score, rows=mine)) for method in cell["methods"]}
        best = _best_score(problem, found["exact"]) if "exact" in found else None
        for method, chosen in found.items():
            values.setdefault(method, []).append(f1_at_k(chosen.tolist(), pool.positive.tolist()))
            values.setdefault(f"hits {method}", []).append(np.isin(pool.positive, chosen).astype(int).tolist())
            if best is not None:
                short = max(0.0, best - _best_score(problem, chosen)) / max(best, 1e-12)
                values.setdefault(f"short {method}", []).append(short)
    return values


def _best_score(problem: SelectionProblem, samples: NDArray[np.int64]) -> float:
    """The best score with these rows: on the m columns where they have most."""
    return float(np.sort(problem.coupling[samples].sum(axis=0))[-problem.m :].sum())


SIZE = 500


def aml_menu(cell: Cell, seeds: Iterable[int]) -> Values:
    """TP@k by method and pool. Slices go round the windows kept; where a menu keeps none of the test there is no pool.

    On the buffer, where scorer and aggregation are chosen, the riskiest window then stands in: all of the buffer is
    past by the time of the test. In the test itself that would be a choice that looks ahead.
    """
    scene = aml.scene(cell["source"], cell["transactions"])
    found = scene.windows(cell["window"])
    # as many windows right before: at the beginning accounts have no past yet, and everything looks risky
    past = scene.windows("buffer" if cell["window"] == "test" else "reference")[-len(found) :]
    risks = scene.risks(found)
    kept = retained(scene.risks(past), risks, cell["menu"])
    asked = kept if kept or cell["window"] == "test" else [int(np.argmax(risks))]
    scorer = scene.scorer(cell["map"])
    values: Values = {}
    trigger: dict[int, NDArray[np.float64]] = {}
    for seed in seeds:
        values.setdefault("kept", []).append(len(kept))
        values.setdefault("windows", []).append(len(found))
        if not asked:
            continue
        place = asked[seed % len(asked)]
        X, labels = scene.X[found[place]], scene.labels[found[place]]
        if place not in trigger:
            trigger[place] = scene.trigger.scores(X)
        pool = ranked(labels, trigger[place], SIZE, seed=seed)
        mine = X[pool.rows].astype(np.float64)
        problem = SelectionProblem(coupling=scorer.weights(mine), k=cell["k"], m=aml.M)
        for method in cell["methods"]:
            samples = choose(method, problem, seed, partial(scene.score, rows=mine))
            values.setdefault(method, []).append(int(np.isin(samples, pool.positive).sum()))
        values.setdefault("positives", []).append(int(pool.positive.size))
        values.setdefault("place", []).append(place)
    return values


def aml_turn_on(cell: Cell, seeds: Iterable[int]) -> Values:
    """By test window (`seed`): its positives, and those that each trigger keeps. Nothing is drawn."""
    scene = aml.scene(cell["source"], cell["transactions"])
    found = scene.windows("test")
    values: Values = {}
    for seed in seeds:
        if seed >= len(found):
            raise InputError(
                f"{cell['source']}: the test part holds {len(found)} windows and window {seed} was asked for; it is "
                "shorter than the published file. Give it another name, or download it again"
            )
        rows = found[seed]
        labels = scene.labels[rows]
        values.setdefault("positives", []).append(int(labels.sum()))
        triggers = {"logistic": scene.trigger.scores(scene.X[rows]), "robust-z": scene.robust(rows)}
        for name, scores in triggers.items():
            for number in cell["numbers"]:
                values.setdefault(f"{name} {number}", []).append(caught(scores, labels, number))
    return values
