"""Neighbouring sectors of Credit Card pools: what label-free rules recommend, and what it would have caught."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect.core.metrics import f1_at_k
from biselect.solvers import solve
from biselect.studies import creditcard_fields as fields
from biselect.studies.budget_rules import RULES
from biselect.studies.creditcard_table import SPLIT
from biselect.studies.task import Cell, Values

KS = np.arange(1, 17)
MS = np.array([2, 3, 5, 7, 10, 14, 20, 28])
SELECTORS: dict[str, dict[str, Any]] = {"greedy": {}, "coordinate-ascent": {"starts": 8}}


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """By rule and pool: the k and m recommended and their F1; labels are looked at only after that."""
    values: Values = {"positives": []}
    field = fields.weights(SPLIT, "test", cell["map"], "first")
    for seed in seeds:
        pool = fields.draw(cell["pool"], SPLIT, "test", cell["N"], cell["k"], seed)
        W = field[pool.rows]
        scores, chosen = np.empty((KS.size, MS.size)), {}
        for row, k in enumerate(KS):
            for column, m in enumerate(MS):
                problem = SelectionProblem(coupling=W, k=int(k), m=int(m))
                answers = [solve(problem, name, seed=seed, **options) for name, options in SELECTORS.items()]
                best = min(answers, key=lambda answer: answer.energy)
                scores[row, column], chosen[row, column] = best.score, best.samples
        found = {place: f1_at_k(samples.tolist(), pool.positive.tolist()) for place, samples in chosen.items()}
        values["positives"].append(int(pool.positive.size))
        for name, rule in RULES.items():
            place = rule(scores, W, KS, MS)
            for quantity, value in (("k", int(KS[place[0]])), ("m", int(MS[place[1]])), ("f1", found[place])):
                values.setdefault(f"{name} {quantity}", []).append(value)
        values.setdefault("hindsight f1", []).append(max(found.values()))
    return values
