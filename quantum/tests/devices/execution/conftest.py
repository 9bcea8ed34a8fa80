"""A compiled circuit on a small device, and a service that behaves as badly as real ones do."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

pytest.importorskip("qiskit_ibm_runtime")

from biselect import SelectionProblem
from biselect_quantum.devices._from_problem import compile_problem
from biselect_quantum.devices.circuit_files import load_circuit, write_circuit
from biselect_quantum.devices.execution.exact_shots import SectorSampling
from biselect_quantum.devices.execution.run import freeze, plan
from biselect_quantum.devices.execution.runner import execute
from biselect_quantum.devices.execution.store import RESULTS

GRID = [(3 * r + c, 3 * r + c + 1) for r in range(4) for c in range(2)] + [(q, q + 3) for q in range(9)]


@pytest.fixture(scope="session")
def problem():
    rng = np.random.default_rng(5)
    scores = {"sample_scores": rng.random(5), "feature_scores": rng.random(4)}
    return SelectionProblem(coupling=rng.random((5, 4)), k=2, m=2, **scores)


@pytest.fixture(scope="session")
def circuit_folder(problem, small, tmp_path_factory):
    """What `biselect compile --out` leaves behind."""
    target = small.device("fractional", GRID, 12)
    made = compile_problem(problem, target, [0.4, 0.3, 0.5, 0.6], depth=2, compare=False, seed=3)
    folder = tmp_path_factory.mktemp("compiled")
    write_circuit(folder, made)
    return folder


@pytest.fixture(scope="session")
def stored(circuit_folder):
    return load_circuit(circuit_folder)


@pytest.fixture
def fixed(stored, circuit_folder):
    """Fix a run in a folder."""

    def fix(folder, on="sector", shots=40, repeats=3, seed=1, threshold=None, **options):
        asked = plan(stored, on, shots=shots, repeats=repeats, seed=seed, threshold=threshold, **options)
        return freeze(stored, circuit_folder, folder, asked)

    return fix


@pytest.fixture(scope="session")
def whole(stored, circuit_folder, tmp_path_factory):
    """An uninterrupted run of three repeats."""
    asked = plan(stored, "sector", shots=40, repeats=3, seed=1)
    run = freeze(stored, circuit_folder, tmp_path_factory.mktemp("whole"), asked)
    execute(run, SectorSampling())
    return run


@pytest.fixture(scope="session")
def records():
    """Read a run's records with plain SQLite."""

    def read(folder, table="measurements"):
        with closing(sqlite3.connect(folder / RESULTS)) as database:
            return [json.loads(text) for (text,) in database.execute(f"SELECT record FROM {table} ORDER BY number")]

    return read


@pytest.fixture
def service(ibm, monkeypatch):
    """Services on a device like that of `circuit_folder`: the fates of their submissions, circuits of one job."""

    def make(fates=(), most=1):
        monkeypatch.setattr("biselect_quantum.devices.execution.remote.MOST_CIRCUITS", most)
        return ibm.make(ibm.module.grid(4, 3), fates)

    return make


@pytest.fixture
def secret(ibm):
    return ibm.module.TOKEN


@pytest.fixture
def secret_address(ibm):
    return ibm.module.ADDRESS
