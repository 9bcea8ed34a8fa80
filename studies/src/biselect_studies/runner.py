"""Run tasks that are not done yet, here or on a cluster; keep each result as one file, whole or not at all."""

import json
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core.files import check_folder, finish_interrupted, write_file
from biselect.core.untrusted import check_seal, read_json, refused_as, seal
from biselect.errors import AlteredWarning, BiselectError, InputError
from biselect.large.engines import dask_client
from biselect_studies.task import Cell, Task, Values

Progress = Callable[[int, int], None]
"""Called with the number of finished tasks and of all."""

CELLS = "cells"  # in an output folder, where results of tasks are kept


class Records(dict[tuple[tuple[str, Any], ...], dict[str, NDArray[Any]]]):
    """For each cell every quantity, in the order of the seeds."""

    def of(self, cell: Cell) -> dict[str, NDArray[Any]]:
        """What was found in a cell."""
        return self[tuple(sorted(cell.items()))]

    def pooled(self, cells: Iterable[Cell], name: str, **only: Any) -> NDArray[Any]:
        """A quantity, cell after cell and seed after seed; `only` picks cells by their parameters."""
        return np.concatenate([self.of(cell)[name] for cell in cells if only.items() <= cell.items()])


def run(
    tasks: Sequence[Task],
    folder: Path,
    *,
    on: str = "local",
    progress: Progress | None = None,
    leaving: tuple[type[BiselectError], ...] = (),
) -> dict[str, list[float]]:
    """Do all tasks whose results are not in the folder yet; gives the processor time of each, by experiment.

    A run may be killed at any point: what is finished stays, what is not is done again by the next run. Results do
    not depend on where the work is done. They are kept under a digest of the code that makes them: after a change of
    any module that an experiment can load its work is done again.

    Args:
        tasks: what has to be there in the end; equal tasks are done once.
        folder: where results are kept.
        on: `local` (a process per core), `alone` (one task at a time), or `dask://HOST:PORT`.
        progress: called after every finished task.
        leaving: errors whose tasks stay undone; any other ends the run.
    """
    unique = list(dict.fromkeys(tasks))
    check_folder(folder)
    for experiment in {task.experiment for task in unique}:
        finish_interrupted(folder / experiment)
    pending = pending_of(unique, folder)
    done = len(unique) - len(pending)
    if progress is not None:
        progress(done, len(unique))
    spent: dict[str, list[float]] = {}
    for task, values, seconds in perform_all(pending, on):
        if isinstance(values, leaving):
            continue
        if isinstance(values, BiselectError):
            raise values
        keep(task, values, folder)
        spent.setdefault(task.experiment, []).append(seconds)
        done += 1
        if progress is not None:
            progress(done, len(unique))
    return spent


def collect(tasks: Iterable[Task], folder: Path) -> Records:
    """Results of finished tasks, blocks of seeds joined; every task counts once."""
    blocks: dict[Any, list[tuple[int, Values]]] = {}
    for task in dict.fromkeys(tasks):
        try:
            values = _read(task, folder)
        except InputError:
            values = None
        if values is None:
            raise BiselectError(f"{folder}: a cell of {task.experiment} is not finished; run the study first")
        blocks.setdefault(task.cell, []).append((task.first, values))
    joined = Records()
    for cell, found in blocks.items():
        parts = [values for _, values in sorted(found, key=lambda block: block[0])]
        with refused_as(f"{folder}: cells of one study do not fit together; remove them and run it again"):
            joined[cell] = {name: np.concatenate([np.asarray(part[name]) for part in parts]) for name in parts[0]}
    return joined


def pending_of(tasks: Iterable[Task], folder: Path) -> list[Task]:
    """Tasks without a result that can be used; it is said where there was one."""
    missing, refused = [], []
    for task in tasks:
        try:
            if _read(task, folder) is None:
                missing.append(task)
        except InputError as error:
            missing.append(task)
            refused.append(error)
    if refused:
        more = f" and {len(refused) - 1} more" if len(refused) > 1 else ""
        warnings.warn(f"{refused[0]}{more}; computed again", AlteredWarning, stacklevel=3)
    return missing


def _path(task: Task, folder: Path) -> Path:
    return folder / task.experiment / f"{task.key}.json"


def _read(task: Task, folder: Path) -> Values | None:
    """The kept result, None where there is none; one that is not as it was written is refused."""
    path = _path(task, folder)
    if not path.exists():
        return None
    content = read_json(path)
    with refused_as(f"{path}: is no cell of a study"):
        check_seal(content, path)
        values: Values = content["values"]
        for name, found in values.items():
            if np.asarray(found).ndim == 0:
                raise ValueError(f"{name} is no list")
        if content["task"] != json.loads(json.dumps(task.describe())):
            raise InputError(f"{path}: is the cell of another task")
    return values


def keep(task: Task, values: Values, folder: Path) -> None:
    """Write a result under the key of its task."""
    path = _path(task, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        content = seal({"task": task.describe(), "values": values})
    except ValueError as error:
        raise BiselectError(f"a cell of {task.experiment} holds other than finite numbers: {error}") from error
    write_file(path, json.dumps(content, separators=(",", ":")))


def perform_all(tasks: Sequence[Task], on: str) -> Iterator[tuple[Task, Values | BiselectError, float]]:
    """Every task with its values and the processor time it took, as they come; they travel back to be kept.

    An error of ours takes the place of the values, so that it is not the end of the others.
    """
    if on not in ("local", "alone") and not on.startswith("dask://"):
        raise InputError(f"cannot run on {on!r}; use local, alone or dask://HOST:PORT")
    if not tasks:
        return
    if on == "alone":  # one task at a time, for those that look at the clock
        yield from map(_perform, tasks)
        return
    import joblib

    with _workers(on) as workers:
        with joblib.Parallel(n_jobs=workers, batch_size=1, return_as="generator_unordered") as parallel:
            with _deaf_children():
                results = parallel(joblib.delayed(_perform)(task) for task in tasks)
            yield from results


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes that start meanwhile never hear Ctrl-C, which is for this one; it ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from joblib.externals.loky.backend import resource_tracker

    resource_tracker.ensure_running()  # joblib's own helper, whose start would give the others their ears back
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)


def _perform(task: Task) -> tuple[Task, Values | BiselectError, float]:
    begin = time.process_time()
    try:
        values: Values | BiselectError = task.perform()
    except BiselectError as error:
        values = error
    return task, values, time.process_time() - begin


@contextmanager
def _workers(on: str) -> Iterator[int]:
    """Make a backend joblib's own for a while; gives the number of its workers."""
    import joblib

    if on == "local":
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            yield joblib.cpu_count()
    else:
        with dask_client(on) as client, joblib.parallel_config(backend="dask", client=client):
            yield sum(client.nthreads().values())
