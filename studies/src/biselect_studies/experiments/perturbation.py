"""Joint and sequential selection on weights that calibration got wrong by up to η."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from biselect.calibrate.validity import perturb
from biselect.core.metrics import f1_at_k
from biselect.data.synthetic import Planted, benchmark
from biselect.solvers import solve
from biselect_studies.experiments.benchmark import best_sequential
from biselect_studies.task import Cell, Values

DRAWS = 20  # perturbations of each instance
CAP = 10.0  # w_max


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """Means over draws, seed by seed: combined F1, feature F1 and exact recovery of both selectors, share clipped.

    The sequential rule is `sum`, or with `rule` = `best-clean` the aggregate with the highest planted F1 on the clean
    weights; it is held while the weights are perturbed.
    """
    values: Values = {"clipped": []}
    k, m = cell["k"], cell["m"]
    for seed in seeds:
        planted = benchmark(cell["N"], cell["D"], k, cell["noise"], seed=seed, scale=cell["scale"])
        rule = best_sequential(planted.problem(k, m), planted)[1] if cell["rule"] == "best-clean" else "sum"
        drawn: dict[str, list[float]] = {}
        rng = np.random.default_rng([seed, 1])  # the draws of an instance do not depend on its own seed's stream
        for _ in range(DRAWS):
            weights = perturb(planted.weights, cell["mode"], cell["eta"], cap=CAP, seed=rng)
            drawn.setdefault("clipped", []).append(float(((weights <= 0) | (weights >= CAP)).mean()))
            problem = replace(planted, weights=weights).problem(k, m)
            joint = solve(problem, "exact", workers=1)
            sequential = solve(problem, "feature-first", aggregate=rule)
            for name, found in (("joint", joint), ("sequential", sequential)):
                for metric, value in _scores(found, planted).items():
                    drawn.setdefault(f"{name} {metric}", []).append(value)
        for name, found_values in drawn.items():
            values.setdefault(name, []).append(float(np.mean(found_values)))
    return values


def _scores(found: Any, planted: Planted) -> dict[str, float]:
    samples, features = f1_at_k(found.samples, planted.samples), f1_at_k(found.features, planted.features)
    return {"combined": (samples + features) / 2, "feature": features, "exact": float(samples == features == 1)}
