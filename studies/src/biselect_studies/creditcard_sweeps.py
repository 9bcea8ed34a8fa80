"""The two sweeps over references of the Credit Card table that two figures of the paper read from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate import map_names
from biselect_studies.creditcard_table import PAPER_MAPS, PAPER_SLICES, SIZES, SLICES
from biselect_studies.rankers import LABELS
from biselect_studies.runner import Records
from biselect_studies.task import Task, tasks_for

FRACTIONS = (1.0, 0.5, 0.25, 0.1, 0.05)
BLOCKS = (0, 1, 2, 3, 4)
MAPS = tuple(map_names())
EXPERIMENT = "creditcard_reference"
PLAIN = {
    "sequential-max": "feature-first by max",
    "sequential-median": "feature-first by median",
    **LABELS,
}
"""Selectors without a search over both sides, beside feature-first by the sum."""


def draws(quick: bool) -> int:
    """Parts drawn of each reference: one for each of the paper's slices, fewer in the quick form."""
    return 5 if quick else PAPER_SLICES


def slices(quick: bool) -> int:
    """Slices at each point."""
    return draws(quick) if quick else SLICES


def shrink_tasks(quick: bool) -> list[Task]:
    """Every fraction of the reference, in the paper's maps."""
    return [
        task
        for map_name in dict.fromkeys(PAPER_MAPS.values())
        for fraction in FRACTIONS
        for draw in range(draws(quick))
        for task in tasks_for(
            EXPERIMENT, _shrink(map_name, fraction, draw), slices(quick) // draws(quick), block=SLICES
        )
    ]


def lag_tasks(quick: bool, maps: tuple[str, ...]) -> list[Task]:
    """Every block of these maps."""
    return [
        task
        for map_name in maps
        for block in BLOCKS
        for task in tasks_for(EXPERIMENT, _lag(map_name, block), slices(quick), block=SLICES)
    ]


def shrunk(records: Records, size: int, fraction: float, quick: bool) -> dict[str, NDArray[Any]]:
    """Values of a size at a fraction, in the order of the slices."""
    parts = [records[tuple(sorted(_shrink(PAPER_MAPS[size], fraction, d).items()))] for d in range(draws(quick))]
    names = [name for name in parts[0] if name.startswith(f"{size} ")]
    joined = {n: np.stack([part[n] for part in parts], axis=1) for n in names}
    return {n.removeprefix(f"{size} "): found.reshape(-1, *found.shape[2:]) for n, found in joined.items()}


def lagged(records: Records, size: int, block: int, map_name: str | None = None) -> dict[str, NDArray[Any]]:
    """Values of a size at a block, under the paper's map unless said otherwise."""
    values = records[tuple(sorted(_lag(map_name or PAPER_MAPS[size], block).items()))]
    return {n.removeprefix(f"{size} "): found for n, found in values.items() if n.startswith(f"{size} ")}


def _shrink(map_name: str, fraction: float, draw: int) -> dict[str, Any]:
    sizes = tuple(size for size, name in PAPER_MAPS.items() if name == map_name)
    return {"kind": "shrink", "map": map_name, "fraction": fraction, "draw": draw, "sizes": sizes}


def _lag(map_name: str, block: int) -> dict[str, Any]:
    return {"kind": "lag", "map": map_name, "block": block, "sizes": tuple(SIZES)}
