"""Neighbouring sectors of Credit Card pools: what label-free rules recommend, and what it would have caught."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.metrics import f1_at_k
from biselect.data.candidates import Candidates
from biselect.solvers import solve
from biselect_studies import creditcard_fields as fields
from biselect_studies.baselines import choose
from biselect_studies.budget_rules import Neighbours
from biselect_studies.creditcard_table import SPLIT
from biselect_studies.experiments.creditcard_slices import detected
from biselect_studies.task import Cell, Values

WINDOW = "test"
KS = np.arange(1, 17)
MS = np.array([2, 3, 5, 7, 10, 14, 20, 28])
SELECTORS: dict[str, dict[str, Any]] = {"greedy": {}, "coordinate-ascent": {"starts": 8}}


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """By rule and pool: the k and m recommended, and F1 there of every method; labels are looked at only after that.

    Rules read the scores of two heuristics in all sectors. In the one recommended the exact optimum stands beside
    them: `proven`, `short` (by what part of it the heuristics' score falls short), and its F1; in all sectors it would
    take an hour.
    """
    values: Values = {}
    field = fields.weights(SPLIT, WINDOW, cell["map"], "first")
    for seed in seeds:
        pool = fields.draw(cell["pool"], SPLIT, WINDOW, cell["N"], cell["k"], seed)
        W = field[pool.rows]
        scores, chosen = np.empty((KS.size, MS.size)), {}
        for row, k in enumerate(KS):
            for column, m in enumerate(MS):
                problem = SelectionProblem(coupling=W, k=int(k), m=int(m))
                answers = [solve(problem, name, seed=seed, **options) for name, options in SELECTORS.items()]
                best = min(answers, key=lambda answer: answer.energy)
                scores[row, column], chosen[row, column] = best.score, best.samples
        recommended = Neighbours(scores=scores, W=W, ks=KS, ms=MS).recommended()
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
