"""F1@k of selectors, rules and detectors on time-split slices of the Credit Card table."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.metrics import f1_at_k
from biselect_studies import creditcard_fields as fields
from biselect_studies.baselines import choose
from biselect_studies.task import Cell, Values


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """F1@k by method and slice (`seed`), and which fraud each slice holds.

    A method is a solver (`exact`), a sequential rule (`feature-first:sum`), a ranking of weights (`rule:weight-sum`)
    or a detector on the first features (`detector:ecod:12`). In balanced pools `hits METHOD` says which of the k
    frauds, in the order of `frauds`, were chosen.
    """
    values: Values = {}
    size, D, k, m = cell["N"], cell["D"], cell["k"], cell["m"]
    percent, window = tuple(cell["percent"]), cell["window"]
    field = fields.weights(percent, window, cell["map"], cell.get("reference", "first"))
    for seed in seeds:
        pool = fields.draw(cell["pool"], percent, window, size, k, seed)
        problem = SelectionProblem(coupling=field[pool.rows, :D], k=k, m=m)
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


def detected(method: str, percent: fields.Percent, window: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Scores of a window's rows by a detector on the first features, such as `detector:ecod:12`."""
    _, name, features = method.split(":")
    return fields.scores(percent, window, name, int(features))[rows]
