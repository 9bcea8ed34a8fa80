"""F1@k of selectors, rules and detectors on balanced slices of AML transactions, under one stage-2 scorer."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from biselect.core import SelectionProblem
from biselect.core.metrics import f1_at_k
from biselect.data.candidates import balanced
from biselect.studies import aml_fields as fields
from biselect.studies.aml_methods import choose
from biselect.studies.task import Cell, Values


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """F1@k by method and slice under the scorer `map`; `hits METHOD` says which of the `positives` were chosen."""
    scene = fields.scene(cell["source"], cell["transactions"])
    rows = scene.split.window(cell["window"])
    X, labels = scene.X[rows], scene.labels[rows]
    scorer = scene.scorer(cell["map"])
    values: Values = {"positives": []}
    for seed in seeds:
        pool = balanced(labels, cell["N"], cell["k"], seed=seed)
        mine = X[pool.rows].astype(np.float64)
        problem = SelectionProblem(coupling=scorer.weights(mine), k=cell["k"], m=cell["m"])
        values["positives"].append((pool.rows[pool.positive] + rows.start).tolist())
        for method in cell["methods"]:
            chosen = choose(method, problem, mine, scene, seed)
            values.setdefault(method, []).append(f1_at_k(chosen.tolist(), pool.positive.tolist()))
            values.setdefault(f"hits {method}", []).append(np.isin(pool.positive, chosen).astype(int).tolist())
    return values
