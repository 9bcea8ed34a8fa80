"""What all tests share: the command line, a small table, and places that a machine may or may not have."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from biselect.options import running

with suppress(ImportError):  # the GPU tests run where there is no Hypothesis
    from hypothesis import settings

    # a loaded machine is no failure, and the same tree gives the same verdict
    settings.register_profile("biselect", deadline=None, derandomize=True)
    settings.load_profile("biselect")


ROOT = Path(__file__).parent
TREE = pytest.StashKey[set[str]]()


def untracked_files() -> set[str]:
    """Files in the tree that git neither tracks nor ignores; none where there is no git."""
    command = ["git", "ls-files", "--others", "--exclude-standard"]
    with suppress(OSError):
        return {*subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()}
    return set()


def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput"):  # once, whoever runs the tests
        session.config.stash[TREE] = untracked_files()


def pytest_sessionfinish(session):
    """Fail a run that leaves files in the tree: every command of README and docs runs in these tests."""
    left = untracked_files() - session.config.stash[TREE] if TREE in session.config.stash else set()
    if left:
        print("\nThe tests left files in the tree:", *sorted(left), sep="\n  ")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@dataclass
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys, monkeypatch, tmp_path_factory):
    """Run the command line as a user without defaults of their own does; gives exit code, stdout and stderr."""
    from biselect.cli import main

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))

    def run_command(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["biselect", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run_command


@pytest.fixture
def diagnostics_may_fail():
    """For a test in which what stands beside an answer fails on purpose, and is left out."""


@pytest.fixture(autouse=True)
def every_diagnostic_succeeds(request, monkeypatch):
    """A diagnostic that fails costs a user one line, but us the test: its error is raised."""
    if "diagnostics_may_fail" in request.fixturenames:
        return
    with suppress(ImportError):  # the GPU tests run where there is less
        from biselect.reviews.caveats import Caveats

        def raise_it(self, what: str, error: Exception) -> None:
            raise error

        monkeypatch.setattr(Caveats, "leave_out", raise_it)


@pytest.fixture
def tables(tmp_path):
    """A reference of 60 normal rows and a pool of 12, in which rows r3 and r7 stand out in columns x and z."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    names = ["x", "y", "z", "u"]
    reference = {name: rng.normal(size=60) for name in names}
    pool = {"id": [f"r{i}" for i in range(12)], **{name: rng.normal(size=12) for name in names}}
    for row in (3, 7):
        pool["x"][row] = 6.0
        pool["z"][row] = -7.0
    pool["fraud"] = [int(row in (3, 8)) for row in range(12)]
    pq.write_table(pa.table(reference), tmp_path / "reference.parquet")
    pq.write_table(pa.table(pool), tmp_path / "pool.parquet")
    return tmp_path


@pytest.fixture(scope="session")
def assert_sound_weights():
    """What weights of one column by any map must be: bounded, row by row independent, growing outwards."""

    def check(weigher, pool, cap, *, one_valley=True):
        pool = np.sort(np.concatenate([pool, [-1e300, 1e300]]))[:, None]
        weights = weigher.weights(pool)[:, 0]
        assert np.isfinite(weights).all() and weights.min() >= 0 and weights.max() <= cap
        np.testing.assert_array_equal(weigher.weights(pool[3:4])[:, 0], weights[3:4])
        np.testing.assert_array_equal(weigher.weights(pool[::-1])[::-1, 0], weights)
        if one_valley:
            steps, lowest, tolerance = np.diff(weights), int(np.argmin(weights)), 1e-12 * (1 + cap)
            assert (steps[:lowest] <= tolerance).all() and (steps[lowest:] >= -tolerance).all(), "falls, then rises"
            assert weights.max() <= weigher.facts.largest_weight + tolerance

    return check


@pytest.fixture
def problem_file(tmp_path):
    """A problem of 5 samples and 4 features with their marginals, small enough for every device."""
    from biselect import SelectionProblem

    weights = np.minimum(np.random.default_rng(3).exponential(size=(5, 4)), 4)
    scores = {"sample_scores": weights.mean(axis=1), "feature_scores": weights.mean(axis=0)}
    SelectionProblem(coupling=weights, k=2, m=2, **scores).save(tmp_path / "p.npz")
    return tmp_path / "p.npz"


@pytest.fixture(scope="module")
def cluster():
    """Where a real local cluster of two workers is reached."""
    distributed = pytest.importorskip("distributed", reason="needs the cluster extra")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local:
        yield local.scheduler_address.replace("tcp://", "dask://")


@pytest.fixture
def credit_card():
    """The folder with the full Credit Card table."""
    folder = os.environ.get("BISELECT_DATA", "")
    if not (Path(folder) / "creditcard.parquet").exists():
        pytest.skip("needs the full Credit Card table: set BISELECT_DATA to the folder of creditcard.parquet")
    return Path(folder)


@pytest.fixture(scope="session")
def chromium():
    """Path of a Chromium that can render pages."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("needs Chromium on the PATH to render pages")
    return found


def loaded(name):
    """A module beside the tests of circuits, which tests of studies use too."""
    spec = spec_from_file_location(name, ROOT / "quantum" / "tests" / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ibm(monkeypatch):
    """IBM's service without a network; see `answering_ibm`. Gives its module and a maker of services."""
    pytest.importorskip("qiskit_ibm_runtime")
    module = loaded("answering_ibm")
    return SimpleNamespace(module=module, make=partial(module.AnsweringIbm, monkeypatch))


@pytest.fixture(scope="session")
def small():
    """Devices of a few qubits, programs that fit them, and exact output distributions."""
    pytest.importorskip("qiskit")
    return loaded("small_devices")


@pytest.fixture
def calibrated():
    """A selection from a calibrated pool, with a hostile name in it, and its report."""
    import pandas as pd

    import biselect as bs

    rng = np.random.default_rng(0)
    reference, pool = (pd.DataFrame(rng.normal(size=(rows, 5)), columns=list("abcde")) for rows in (200, 30))
    pool.loc[4, ["b", "c"]], pool.loc[9, "c"] = 30.0, 9.0
    pool.index = ['"><script>alert(1)</script>\n=1+1' if i == 4 else f"row {i}" for i in range(30)]
    pool["label"] = np.isin(np.arange(30), [4, 11])
    with running("biselect <p>"):
        review = bs.review(bs.table(pool, label="label"), reference, k=2, m=2, title="Test")
    return review.selection, review.summary


@pytest.fixture
def looks_ahead():
    """Which features of the first rows change when only later rows do: they look ahead."""

    def find(features, table, altered, rows):
        before, after = features(table), features(altered)
        return [
            name
            for name, column in before.items()
            if not np.array_equal(column[:rows], after[name][:rows], equal_nan=np.issubdtype(column.dtype, np.floating))
        ]

    return find
