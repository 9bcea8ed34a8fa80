"""True positives at k in pools that a stage-1 trigger hands on, inside the windows that a menu keeps."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.data.candidates import ranked
from biselect.data.stage1 import retained
from biselect_studies import aml_fields as fields
from biselect_studies.baselines import choose
from biselect_studies.task import Cell, Values

SIZE = 500


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """TP@k by method and pool. Slices go round the windows kept; where a menu keeps none of the test there is no pool.

    On the buffer, where scorer and aggregation are chosen, the riskiest window then stands in: all of the buffer is
    past by the time of the test. In the test itself that would be a choice that looks ahead.
    """
    scene = fields.scene(cell["source"], cell["transactions"])
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
        problem = SelectionProblem(coupling=scorer.weights(mine), k=cell["k"], m=fields.M)
        for method in cell["methods"]:
            samples = choose(method, problem, seed, partial(scene.score, rows=mine))
            values.setdefault(method, []).append(int(np.isin(samples, pool.positive).sum()))
        values.setdefault("positives", []).append(int(pool.positive.size))
        values.setdefault("place", []).append(place)
    return values
