"""The 26 matched width-depth points on two devices, and cuts of one path against another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect_studies.results import Entry
from biselect_studies.runner import Records
from biselect_studies.task import Task, tasks_for

DEVICES = ("boston", "pittsburgh")
WIDTHS = tuple(range(16, 65, 4))
DEPTHS = (2, 3)
SEEDS = 3


def cells(registers: str, quick: bool) -> list[dict[str, Any]]:
    """Every point; a single, smaller one in the quick form."""
    devices = DEVICES[:1] if quick else DEVICES
    return [
        {"device": device, "registers": registers, "width": width, "depth": depth}
        for device in devices
        for width in widths(quick)
        for depth in depths(quick)
    ]


def widths(quick: bool) -> tuple[int, ...]:
    """Decision qubits."""
    return (8,) if quick else WIDTHS


def depths(quick: bool) -> tuple[int, ...]:
    """Depths p."""
    return DEPTHS[:1] if quick else DEPTHS


def seeds(quick: bool) -> int:
    """Recorded orders and starts at each point."""
    return 1 if quick else SEEDS


def tasks(registers: str, quick: bool) -> list[Task]:
    """One task for each point and seed."""
    return [
        task for cell in cells(registers, quick) for task in tasks_for("compile_paths", cell, seeds(quick), block=1)
    ]


def values(records: Records, registers: str, quick: bool, path: str, measure: str, **only: Any) -> NDArray[np.float64]:
    """A measure of a path, (points, seeds); `only` picks points by device, width or depth."""
    wanted = [cell for cell in cells(registers, quick) if only.items() <= cell.items()]
    return np.array([records[tuple(sorted(cell.items()))][f"{path}:{measure}"] for cell in wanted], dtype=np.float64)


def cut(records: Records, registers: str, quick: bool, path: str, against: str, measure: str) -> NDArray[np.float64]:
    """Reduction in per cent at every point and seed, flat."""
    ours = values(records, registers, quick, path, measure)
    theirs = values(records, registers, quick, against, measure)
    return (100 * (1 - ours / theirs)).ravel()


def ranged(row: str, column: str, found: Sequence[float] | NDArray[np.float64], paper: float | None) -> Entry:
    """Median with the observed range, as the paper gives it; a printed median inside our range is within noise."""
    low, middle, high = (float(np.quantile(found, q)) for q in (0, 0.5, 1))
    verdict = "-" if paper is None else "within noise" if low <= paper <= high else "differs"
    if paper is not None and round(middle, 1) == paper:
        verdict = "equal"
    return Entry(row=row, column=column, ours=middle, low=low, high=high, paper=paper, verdict=verdict)
