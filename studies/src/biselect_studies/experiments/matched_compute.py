"""Every solver under the same wall-clock cap, held against the exact optimum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from biselect.data.synthetic import benchmark
from biselect.solvers import solve
from biselect_studies.experiments.benchmark import combined_f1
from biselect_studies.task import Cell, Values

ENDLESS = 10**9
OPTIONS: dict[str, dict[str, Any]] = {
    "feature-first": {"aggregate": "best"},
    "coordinate-ascent": {"starts": 512},
    "tabu": {"steps": ENDLESS},
    "kawasaki": {"steps": ENDLESS, "temperature": 6.0},
    "swap-sa": {"restarts": 128, "steps": 20_000, "workers": 1},
}
"""More work than a cap allows, so that the clock stops it. Coordinate ascent climbs all its starts side by side, which
the clock cannot cut short; it has as many as fit into the smaller cap."""

HIT = 1e-9  # relative gap that counts as none


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """F1, gap to the optimum, whether it was hit, and milliseconds; compiled code is warm before the clock starts."""
    values: Values = {"f1": [], "gap": [], "hit": [], "ms": []}
    method, options = cell["method"], OPTIONS.get(cell["method"], {})
    limit = cell["cap_ms"] / 1000
    for position, seed in enumerate(seeds):
        planted = benchmark(cell["N"], cell["D"], cell["k"], cell["noise"], seed=seed)
        problem = planted.problem(cell["k"], cell["m"])
        optimum = solve(problem, "exact", workers=1)
        if position == 0:
            solve(problem, method, seed=seed, time_limit=limit, **options)
        found = solve(problem, method, seed=seed, time_limit=limit, **options)
        gap = max(0.0, found.energy - optimum.energy)
        values["f1"].append(combined_f1(found.samples, found.features, planted))
        values["gap"].append(gap)
        values["hit"].append(int(gap <= HIT * abs(optimum.energy)))
        values["ms"].append(1000 * found.seconds)
    return values
