"""AML transactions by slice, pool and window: what selectors, rules, detectors and stage-1 triggers find."""

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_studies import aml_fields as fields
from biselect_studies.baselines import choose
from biselect_studies.data.candidates import balanced, ranked
from biselect_studies.inference import f1_at_k
from biselect_studies.task import Cell, Values
from biselect_studies.triggers import caught, retained


def aml_slices(cell: Cell, seeds: Iterable[int]) -> Values:
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


def aml_turn_on(cell: Cell, seeds: Iterable[int]) -> Values:
    """By test window (`seed`): its positives, and those that each trigger keeps. Nothing is drawn."""
    scene = fields.scene(cell["source"], cell["transactions"])
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
