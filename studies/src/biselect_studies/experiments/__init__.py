"""What is done in one cell of a study: a function of the experiment's name takes cell and seeds, and gives lists."""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from biselect_studies.task import Cell, Values


def by_seed(measure: Callable[[Cell, int], Mapping[str, Any]]) -> Callable[[Cell, Iterable[int]], Values]:
    """An experiment that measures every seed by itself."""

    @wraps(measure)
    def work(cell: Cell, seeds: Iterable[int]) -> Values:
        found = [measure(cell, seed) for seed in seeds]
        return {name: [values[name] for values in found] for name in found[0]}

    return work
