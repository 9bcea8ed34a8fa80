"""Run tasks that are not done yet; keep each result as one file that appears whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core.files import check_folder, write_file
from biselect.errors import BiselectError
from biselect_studies.backends import perform_all
from biselect_studies.task import Cell, Task, Values

Progress = Callable[[int, int], None]
"""Called with the number of finished tasks and of all."""


class Records(dict[tuple[tuple[str, Any], ...], dict[str, NDArray[Any]]]):
    """For each cell every quantity, in the order of the seeds."""

    def of(self, cell: Cell) -> dict[str, NDArray[Any]]:
        """What was found in a cell."""
        return self[tuple(sorted(cell.items()))]


def run(tasks: Sequence[Task], folder: Path, *, on: str = "local", progress: Progress | None = None) -> None:
    """Do all tasks whose results are not in the folder yet.

    A run may be killed at any point: what is finished stays, what is not is done again by the next run. Results do
    not depend on where the work is done. They are kept under a digest of the code that makes them: after a change of
    any module that an experiment can load its work is done again.

    Args:
        tasks: what has to be there in the end; equal tasks are done once.
        folder: where results are kept.
        on: `local` (a process per core), `alone` (one task at a time), `dask://HOST:PORT`, `ray` or `ray://HOST:PORT`.
        progress: called after every finished task.
    """
    unique = list(dict.fromkeys(tasks))
    check_folder(folder)
    pending = [task for task in unique if _read(task, folder) is None]
    done = len(unique) - len(pending)
    if progress is not None:
        progress(done, len(unique))
    for task, values in perform_all(pending, on):
        _write(task, values, folder)
        done += 1
        if progress is not None:
            progress(done, len(unique))


def collect(tasks: Iterable[Task], folder: Path) -> Records:
    """Results of finished tasks, blocks of seeds joined; every task counts once."""
    blocks: dict[Any, list[tuple[int, Values]]] = {}
    for task in dict.fromkeys(tasks):
        values = _read(task, folder)
        if values is None:
            raise BiselectError(f"{folder}: a cell of {task.experiment} is not finished; run the study first")
        blocks.setdefault(task.cell, []).append((task.first, values))
    joined = Records()
    for cell, found in blocks.items():
        parts = [values for _, values in sorted(found, key=lambda block: block[0])]
        joined[cell] = {name: np.concatenate([np.asarray(part[name]) for part in parts]) for name in parts[0]}
    return joined


def _path(task: Task, folder: Path) -> Path:
    return folder / task.experiment / f"{task.key}.json"


def _read(task: Task, folder: Path) -> Values | None:
    """The kept result, or None where there is none (a file of another task or version is none)."""
    try:
        content = json.loads(_path(task, folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict) or content.get("task") != json.loads(json.dumps(task.describe())):
        return None
    values: Values = content["values"]
    return values


def _write(task: Task, values: Values, folder: Path) -> None:
    path = _path(task, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps({"task": task.describe(), "values": values}, separators=(",", ":"))
    write_file(path, content)
