"""F1@k of selectors, rules and detectors on balanced slices of AML transactions, under a supervised scorer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect.core.metrics import f1_at_k
from biselect.data.candidates import balanced
from biselect.solvers import solve
from biselect.solvers.response import top
from biselect.studies import aml_fields as fields
from biselect.studies.experiments.benchmark import OPTIONS
from biselect.studies.rankers import RULES
from biselect.studies.task import Cell, Values


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """F1@k by method and slice; `trigger` ranks by the stage-1 score, `budgeted` by its form with m features."""
    scene = fields.scene(cell["source"], cell["transactions"])
    rows = scene.split.window(cell["window"])
    X, labels = scene.X[rows], scene.labels[rows]
    values: Values = {"positives": []}
    for seed in seeds:
        pool = balanced(labels, cell["N"], cell["k"], seed=seed)
        mine = X[pool.rows].astype(np.float64)
        problem = SelectionProblem(coupling=scene.supervised.weights(mine), k=cell["k"], m=cell["m"])
        values["positives"].append((pool.rows[pool.positive] + rows.start).tolist())
        for method in cell["methods"]:
            kind, _, rest = method.partition(":")
            if kind == "rule":
                chosen = RULES[rest](problem.coupling, problem.k, problem.m)
            elif kind == "detector":
                chosen = top(scene.detector(rest, cell["window"])(mine), problem.k)
            elif kind == "trigger":
                chosen = top(scene.trigger.scores(mine), problem.k)
            elif kind == "budgeted":
                chosen = top(scene.budgeted.scores(mine), problem.k)
            else:
                options: dict[str, Any] = {"aggregate": rest} if rest else dict(OPTIONS.get(kind, {}))
                chosen = solve(problem, kind, seed=seed, **options).samples
            values.setdefault(method, []).append(f1_at_k(chosen.tolist(), pool.positive.tolist()))
            values.setdefault(f"hits {method}", []).append(np.isin(pool.positive, chosen).astype(int).tolist())
    return values
