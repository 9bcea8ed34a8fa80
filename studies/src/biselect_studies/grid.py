"""The cells of a grid: every combination of parameters, and what was found in all of them together."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect_studies.runner import Records
from biselect_studies.task import Cell


def crossed(**axes: Iterable[Any]) -> list[dict[str, Any]]:
    """A cell for every combination of the axes' values, the last axis fastest; `size` stands for N, D, k and m."""
    cells = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    return [{**dict(zip("NDkm", cell.pop("size", ()), strict=False)), **cell} for cell in cells]


def pooled(records: Records, cells: Iterable[Cell], name: str, **only: Any) -> NDArray[Any]:
    """A quantity, cell after cell and seed after seed; `only` picks cells by their parameters."""
    return np.concatenate([records.of(cell)[name] for cell in cells if only.items() <= cell.items()])
