"""A grid: the cells of one experiment, and what was found in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect_studies.runner import Records
from biselect_studies.task import Cell, Task, tasks_for


@dataclass(frozen=True)
class Grid:
    """The table of parameters of a study.

    Attributes:
        experiment: what is done in every cell.
        cells: the parameters.
        seeds: how many each cell has.
        block: seeds that make one task.
    """

    experiment: str
    cells: Sequence[Cell]
    seeds: int
    block: int = 1

    @property
    def tasks(self) -> list[Task]:
        """The work of all cells."""
        return [task for cell in self.cells for task in tasks_for(self.experiment, cell, self.seeds, block=self.block)]

    def values(self, records: Records, name: str, **only: Any) -> NDArray[Any]:
        """A quantity, cell after cell and seed after seed; `only` picks cells by their parameters."""
        wanted = [cell for cell in self.cells if only.items() <= cell.items()]
        return np.concatenate([of_cell(records, cell)[name] for cell in wanted])


def crossed(**axes: Iterable[Any]) -> list[dict[str, Any]]:
    """A cell for every combination of the axes' values, the last axis fastest; `size` stands for N, D, k and m."""
    cells = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    return [{**dict(zip("NDkm", cell.pop("size", ()), strict=False)), **cell} for cell in cells]


def of_cell(records: Records, cell: Cell) -> dict[str, NDArray[Any]]:
    """What was found in a cell."""
    return records[tuple(sorted(cell.items()))]
