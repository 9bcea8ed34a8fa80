"""How a Dask or a Ray cluster is reached."""

from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from importlib import import_module
from pydoc import locate  # part of Python, so that a worker without biselect can answer
from typing import Any

from biselect._version import __version__
from biselect.core.files import temporary_folder
from biselect.errors import InputError, MissingDependencyError

VERSION = "biselect._version.__version__"
PATIENCE = 10.0  # seconds to wait for a cluster to answer, and for its first worker


@contextmanager
def dask_client(on: str) -> Iterator[Any]:
    """A client of the Dask cluster whose scheduler listens at `dask://HOST:PORT`."""
    address, distributed = on.removeprefix("dask://"), cluster_package("distributed")
    try:
        client = distributed.Client(f"tcp://{address}", set_as_default=False, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise InputError(f"the Dask cluster at {address} has no workers; start some") from None
        _check_versions(client.run(locate, VERSION))
        yield client


@contextmanager
def ray_runtime(on: str) -> Iterator[Any]:
    """The Ray runtime that runs here already, else one that ends with this: `ray` or `ray://HOST:PORT`."""
    ray = cluster_package("ray")
    if ray.is_initialized():
        _check_versions(_versions_of_nodes(ray))
        yield ray
        return
    with temporary_folder() as empty:
        try:
            with chdir(empty):  # Ray's workers import from where it is started, first of all
                ray.init(address=None if on == "ray" else on, log_to_driver=False, include_dashboard=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise InputError(f"no Ray runtime answers at {on}: {error}") from error
        try:
            _check_versions(_versions_of_nodes(ray))
            yield ray
        finally:
            ray.shutdown()


def _versions_of_nodes(ray: Any) -> dict[str, str | None]:
    """What one worker of each node has."""
    strategies = cluster_package("ray.util.scheduling_strategies")
    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    ask = ray.remote(locate)
    asked = [
        ask.options(scheduling_strategy=strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=True)).remote(
            VERSION
        )
        for node in nodes
    ]
    return dict(zip([node["NodeManagerAddress"] for node in nodes], ray.get(asked), strict=True))


def _check_versions(found: Mapping[str, str | None]) -> None:
    """Refuse workers that would compute something else; one without biselect would die of its first task."""
    for worker, version in found.items():
        if version != __version__:
            has = "no biselect" if version is None else f"biselect {version}"
            raise InputError(f"the worker at {worker} has {has}; install {__version__} on all machines of the cluster")


def cluster_package(name: str) -> Any:
    """A package of the extra `cluster`."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(f"this needs {name}: pip install 'biselect[cluster]'") from error
