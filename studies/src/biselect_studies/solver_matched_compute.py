"""Table solver_matched_compute: solvers under equal wall-clock caps at 50 % noise."""

from itertools import product
from typing import Any

import numpy as np

from biselect_studies.figures import Figure, look, panels, whiskers
from biselect_studies.results import Entry, Findings, entry, share
from biselect_studies.runner import Records
from biselect_studies.study import described
from biselect_studies.synthetic_table import METHODS, SIZE
from biselect_studies.task import Grid

CAPS = (10, 100)  # milliseconds
RANKED = ("feature-first", "greedy", "coordinate-ascent", "tabu", "kawasaki", "swap-sa")
TIME = "median ms"

GRID = Grid(  # all instances in one task, so that warm code is measured
    experiment="matched_compute",
    cells=lambda quick: [_cell(cap, method) for cap in CAPS for method in RANKED],
    quick=10,
    full=50,
    block=50,
)


def summarise(records: Records, quick: bool) -> Findings:
    """F1, hits, gap and time of every method at both caps."""
    found: list[Entry] = []
    for cap, method in product(CAPS, RANKED):
        values = records.of(_cell(cap, method))
        row = _row(cap, method)
        found += [
            entry(row, "combined F1", values["f1"]),
            share(row, "optimum hit", values["hit"], of=1),
            entry(row, "mean gap", values["gap"]),
        ]
        low, middle, high = np.quantile(values["ms"], [0.25, 0.5, 0.75])
        found.append(Entry(row, TIME, middle, low, high))
    return Findings(
        seeds=GRID.seeds(quick),
        cells=tuple(found),
        brackets="95 % bootstrap interval, of times quartiles",
        notes=(
            "Times are of this machine, with quartiles instead of an interval, and not compared. What a walk finds "
            "before the clock strikes depends on the machine: unlike all other studies this one is not the same "
            "twice.",
            "Sequential keeps the best of three aggregates by the objective, as the paper says, not by planted F1.",
            "Coordinate ascent ends when its starts are used up, greedy when no swap helps: neither needs the cap.",
        ),
    )


def draw(found: Findings) -> Figure:
    """Combined F1 of each method, both caps, and the paper's."""
    figure, axes = panels(1, 2, width=3.4, height=2.6, sharey=True)
    for panel, cap in zip(axes[0], CAPS, strict=True):
        points = [found.find(_row(cap, method), "combined F1") for method in RANKED]
        y = range(len(RANKED))
        whiskers(panel, y, points, upright=False, label="ours", **look(0))
        panel.plot([e.paper for e in points], y, "x", color="black", label="paper", zorder=5)
        panel.set_yticks(y, [METHODS[method] for method in RANKED])
        panel.set(title=f"cap {cap} ms", xlabel="mean combined F1")
    axes[0, 0].invert_yaxis()
    axes[0, 0].legend(loc="lower left")
    return figure


def _cell(cap: int, method: str) -> dict[str, Any]:
    return {**SIZE, "noise": 0.5, "method": method, "cap_ms": cap}


def _row(cap: int, method: str) -> str:
    return f"{cap} ms, {METHODS[method]}"


STUDY = described("solver-matched-compute", tasks=GRID.tasks, summarise=summarise, draw=draw, timed=True)
