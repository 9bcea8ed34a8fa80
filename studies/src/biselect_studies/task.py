"""Task: one cell of a study on one block of seeds, and the name under which its result is kept."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from typing import Any

from threadpoolctl import threadpool_limits

from biselect import __version__
from biselect_studies.sources import digest

EXPERIMENTS = "biselect_studies.experiments"
HOMES = {
    "benchmark": ("benchmark", "matched_compute", "perturbation", "mechanism", "recovery"),
    "compile_case": (
        *("circuit", "compile_paths", "transpiler_seeds", "compile_dense", "routing", "layer_gates", "staged_depth"),
    ),
    "heron": ("coupling", "heron_replay", "heron_wide"),
    "open_settings": ("walk_settings", "marginal_settings", "cap_settings", "pool_settings"),
    "planted": ("depth_ladder", "parameterizations", "grouping_control", "threshold_panel", "penalty_baseline"),
    "pools": (
        *("creditcard_slices", "creditcard_budgets", "creditcard_reference"),
        *("aml_slices", "aml_menu", "aml_turn_on"),
    ),
}
"""Experiments of each module in `biselect_studies.experiments`."""

Cell = Mapping[str, Any]
Values = dict[str, list[Any]]
"""One list per quantity, one entry per seed."""


def experiment_module(experiment: str) -> str:
    """The module that holds an experiment's function."""
    return next(f"{EXPERIMENTS}.{module}" for module, names in HOMES.items() if experiment in names)


@dataclass(frozen=True, kw_only=True)
class Task:
    """A piece of work that is done once and kept.

    Attributes:
        experiment: function of a cell and its seeds, in `biselect_studies.experiments`, that does it.
        cell: parameters, as sorted pairs; `tasks_for` makes them.
        first: first seed.
        stop: one past the last seed.
    """

    experiment: str
    cell: tuple[tuple[str, Any], ...]
    first: int
    stop: int

    @property
    def module(self) -> str:
        """Where its experiment is."""
        return experiment_module(self.experiment)

    @property
    def key(self) -> str:
        """Equal for equal work by equal code, in any process: what the result's file is called."""
        made_from = [__version__, digest(self.module)]
        return hashlib.sha256(json.dumps([*made_from, *self.describe().values()]).encode()).hexdigest()[:24]

    def describe(self) -> dict[str, Any]:
        """The task as plain data."""
        return {"experiment": self.experiment, "cell": dict(self.cell), "seeds": [self.first, self.stop]}

    def perform(self) -> Values:
        """Do the work, here and now; sums of matrices are taken in one thread, so that they are equal anywhere."""
        work = getattr(import_module(self.module), self.experiment)
        with threadpool_limits(limits=1, user_api="blas"):
            values: Values = work(dict(self.cell), range(self.first, self.stop))
        return values


def tasks_for(experiment: str, cell: Cell, seeds: int, *, block: int) -> list[Task]:
    """Tasks for seeds 0 to `seeds` - 1 of a cell, `block` at a time."""
    pairs = tuple(sorted(cell.items()))
    return [
        Task(experiment=experiment, cell=pairs, first=first, stop=min(first + block, seeds))
        for first in range(0, seeds, block)
    ]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The cells of one experiment, and how many seeds each of them gets: the parameters of a study.

    Attributes:
        experiment: as `Task` has it.
        cells: of the quick (True) or full form.
        quick: seeds of each cell in the quick form.
        full: seeds of each cell in the full form, or what tells it where it depends on the data at hand.
        block: seeds of one task.
    """

    experiment: str
    cells: Callable[[bool], Iterable[Cell]]
    quick: int
    full: int | Callable[[], int]
    block: int

    def seeds(self, quick: bool) -> int:
        """Seeds of each cell."""
        if quick:
            return self.quick
        return self.full() if callable(self.full) else self.full

    def tasks(self, quick: bool) -> list[Task]:
        """The work of the quick (True) or full form."""
        return [
            task
            for cell in self.cells(quick)
            for task in tasks_for(self.experiment, cell, self.seeds(quick), block=self.block)
        ]


def crossed(**axes: Iterable[Any]) -> list[dict[str, Any]]:
    """A cell for every combination of the axes' values, the last axis fastest; `size` stands for N, D, k and m."""
    cells = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    return [{**dict(zip("NDkm", cell.pop("size", ()), strict=False)), **cell} for cell in cells]
