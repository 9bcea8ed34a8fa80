"""The 200-seed noise sweep on the synthetic benchmark that three tables of the paper read from."""

from __future__ import annotations

from typing import Any

from biselect_studies.runner import Records
from biselect_studies.task import Task, tasks_for

NOISE = (0.0, 0.2, 0.4, 0.5, 0.6)
SIZE = {"N": 20, "D": 10, "k": 3, "m": 5}
METHODS = {
    "feature-first": "Feature-first sequential",
    "swap-sa": "Swap-SA",
    "greedy": "Greedy+LS",
    "coordinate-ascent": "Coord.-ascent",
    "tabu": "Tabu",
    "kawasaki": "Ring-local Kawasaki",
    "exact": "Exact opt",
}
JOINT = "coordinate-ascent"
"""Best of the paper's practical joint methods in every column (Swap-SA ties with it)."""

BLOCK = 50


def seeds(quick: bool) -> int:
    """Seeds per noise fraction; the paper has 200."""
    return BLOCK if quick else 200


def tasks(quick: bool) -> list[Task]:
    """All methods on the same instances; the three tables share this work."""
    return [task for noise in NOISE for task in tasks_for("benchmark", _cell(noise), seeds(quick), block=BLOCK)]


def values(records: Records, noise: float, method: str) -> Any:
    """Combined F1 of a method at a noise fraction, seed by seed."""
    return records[tuple(sorted(_cell(noise).items()))][method]


def percent(noise: float) -> str:
    """A noise fraction as the tables write it.

    >>> percent(0.2)
    '20%'
    """
    return f"{100 * noise:.0f}%"


def _cell(noise: float) -> dict[str, Any]:
    return {**SIZE, "noise": noise, "methods": tuple(METHODS)}
