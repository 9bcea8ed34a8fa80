"""F1@k of selectors, rules and detectors on balanced slices of AML transactions, under one stage-2 scorer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.metrics import f1_at_k
from biselect.data.candidates import balanced
from biselect_studies import aml_fields as fields
from biselect_studies.baselines import choose
from biselect_studies.task import Cell, Values


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """F1@k by method and slice under the scorer `map`; `hits METHOD` says which of the `positives` were chosen.

    `groups` are those that the positives belong to. `short METHOD`: by what part of the exact optimum the best score
    with a method's rows falls short of it.
    """
    scene = fields.scene(cell["source"], cell["transactions"])
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
        best = _score(problem, found["exact"]) if "exact" in found else None
        for method, chosen in found.items():
            values.setdefault(method, []).append(f1_at_k(chosen.tolist(), pool.positive.tolist()))
            values.setdefault(f"hits {method}", []).append(np.isin(pool.positive, chosen).astype(int).tolist())
            if best is not None:
                short = max(0.0, best - _score(problem, chosen)) / max(best, 1e-12)
                values.setdefault(f"short {method}", []).append(short)
    return values


def _score(problem: SelectionProblem, samples: NDArray[np.int64]) -> float:
    """The best score with these rows: on the m columns where they have most."""
    return float(np.sort(problem.coupling[samples].sum(axis=0))[-problem.m :].sum())
