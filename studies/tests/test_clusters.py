"""The same tasks on a real local cluster of Dask: the same bytes as at home."""

from pathlib import Path

import pytest

from biselect_studies.runner import run
from biselect_studies.task import tasks_for

CELL = {"N": 10, "D": 6, "k": 2, "m": 2, "noise": 0.5, "methods": ("feature-first", "swap-sa", "exact")}
TASKS = tasks_for("benchmark", CELL, 24, block=2)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.json")}


@pytest.fixture
def at_home(tmp_path):
    run(TASKS, tmp_path / "home", on="alone")
    return contents(tmp_path / "home")


def test_a_dask_cluster_of_two_workers_gives_the_same_bytes(tmp_path, at_home):
    distributed = pytest.importorskip("distributed", reason="needs the cluster extra")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        run(TASKS, tmp_path / "dask", on=cluster.scheduler_address.replace("tcp://", "dask://"))
    assert contents(tmp_path / "dask") == at_home
