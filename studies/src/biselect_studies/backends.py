"""Where tasks are done: processes of this machine, a Dask cluster or a Ray cluster, all through joblib."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from biselect.errors import InputError, MissingDependencyError
from biselect_studies.task import Task, Values

ROUND = 4  # tasks per worker that Ray is given at a time: it hands results back only when all of them are done

PATIENCE = 10.0  # seconds to wait for a cluster to answer


def perform_all(tasks: Sequence[Task], on: str) -> Iterator[tuple[Task, Values]]:
    """Every task with its values, as they come; they travel back, so that the caller alone keeps them."""
    if on not in ("local", "alone", "ray") and not on.startswith(("dask://", "ray://")):
        raise InputError(f"cannot run on {on!r}; use local, alone, dask://HOST:PORT, ray or ray://HOST:PORT")
    if not tasks:
        return
    if on == "alone":  # one task at a time, for those that look at the clock
        yield from map(_perform, tasks)
        return
    import joblib

    with _workers(on) as workers:
        streams = not on.startswith("ray")
        size = len(tasks) if streams else ROUND * workers
        return_as = "generator_unordered" if streams else "list"
        with joblib.Parallel(n_jobs=workers, batch_size=1, return_as=return_as) as parallel:
            for begin in range(0, len(tasks), size):
                yield from parallel(joblib.delayed(_perform)(task) for task in tasks[begin : begin + size])


def _perform(task: Task) -> tuple[Task, Values]:
    return task, task.perform()


@contextmanager
def _workers(on: str) -> Iterator[int]:
    """Make a backend joblib's own for a while; gives the number of its workers."""
    import joblib

    if on == "local":
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            yield joblib.cpu_count()
    elif on.startswith("dask://"):
        address = on.removeprefix("dask://")
        distributed = _cluster_package("distributed")
        try:
            client = distributed.Client(f"tcp://{address}", set_as_default=False, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise InputError(f"no Dask scheduler answers at {address}: {error}") from error
        with client, joblib.parallel_config(backend="dask", client=client):
            yield sum(client.nthreads().values())
    else:
        with _ray(on) as ray, joblib.parallel_config(backend="ray"):
            yield int(ray.cluster_resources()["CPU"])


@contextmanager
def _ray(on: str) -> Iterator[Any]:
    """A Ray runtime: the one that runs here already, or one that ends with this."""
    ray = _cluster_package("ray")
    _cluster_package("ray.util.joblib").register_ray()
    if ray.is_initialized():
        yield ray
        return
    try:
        ray.init(address=None if on == "ray" else on, log_to_driver=False, include_dashboard=False)
    except (ConnectionError, RuntimeError) as error:
        raise InputError(f"no Ray runtime answers at {on}: {error}") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _cluster_package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(f"this needs {name}: pip install 'biselect-studies[cluster]'") from error
