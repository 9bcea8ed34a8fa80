"""The two sweeps over references of the Credit Card table that two figures of the paper read from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate import map_names
from biselect_studies.baselines import RANKERS
from biselect_studies.creditcard_table import PAPER_MAPS, PARTS, SIZES
from biselect_studies.runner import Records
from biselect_studies.slices import SLICES
from biselect_studies.task import Grid, Task

FRACTIONS = (1.0, 0.5, 0.25, 0.1, 0.05)
BLOCKS = (0, 1, 2, 3, 4)
MAPS = tuple(map_names())
QUICK = 5
PLAIN = {
    "sequential-max": "feature-first by max",
    "sequential-median": "feature-first by median",
    **RANKERS,
}
"""Selectors without a search over both sides, beside feature-first by the sum."""


def slices(quick: bool) -> int:
    """Slices at each point."""
    return QUICK if quick else SLICES


def draws(quick: bool) -> range:
    """Parts drawn of each reference; the slices are dealt out to them."""
    return range(QUICK if quick else PARTS)


def tasks(quick: bool, maps: tuple[str, ...]) -> list[Task]:
    """Every fraction of the reference in the paper's maps, then every block in these."""

    def smaller(quick: bool) -> list[dict[str, Any]]:
        named = dict.fromkeys(PAPER_MAPS.values())
        return [_shrink(name, part, draw) for name in named for part in FRACTIONS for draw in draws(quick)]

    def older(quick: bool) -> list[dict[str, Any]]:
        return [_lag(name, block) for name in maps for block in BLOCKS]

    grids = [
        Grid(experiment="creditcard_reference", cells=cells, quick=few, full=many, block=SLICES)
        for cells, few, many in ((smaller, 1, SLICES // PARTS), (older, QUICK, SLICES))
    ]
    return [task for grid in grids for task in grid.tasks(quick)]


def shrunk(records: Records, size: int, fraction: float, quick: bool) -> dict[str, NDArray[Any]]:
    """Values of a size at a fraction, in the order of the slices."""
    parts = [_of_size(records, size, _shrink(PAPER_MAPS[size], fraction, draw)) for draw in draws(quick)]
    joined = {name: np.stack([part[name] for part in parts], axis=1) for name in parts[0]}
    return {name: found.reshape(-1, *found.shape[2:]) for name, found in joined.items()}


def lagged(records: Records, size: int, block: int, map_name: str | None = None) -> dict[str, NDArray[Any]]:
    """Values of a size at a block, under the paper's map unless said otherwise."""
    return _of_size(records, size, _lag(map_name or PAPER_MAPS[size], block))


def _of_size(records: Records, size: int, cell: dict[str, Any]) -> dict[str, NDArray[Any]]:
    stem = f"{size} "
    return {name.removeprefix(stem): found for name, found in records.of(cell).items() if name.startswith(stem)}


def _shrink(map_name: str, fraction: float, draw: int) -> dict[str, Any]:
    sizes = tuple(size for size, name in PAPER_MAPS.items() if name == map_name)
    return {"kind": "shrink", "map": map_name, "fraction": fraction, "draw": draw, "sizes": sizes}


def _lag(map_name: str, block: int) -> dict[str, Any]:
    return {"kind": "lag", "map": map_name, "block": block, "sizes": tuple(SIZES)}
