from contextlib import contextmanager

import numpy as np
import pytest

ROWS = 15_000


def stand_in_table():
    """A small table in the Credit Card schema: two days, 0.8 % frauds that stand out in a few features, some drift."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    labels = rng.random(ROWS) < 0.008
    X = rng.standard_t(5, size=(ROWS, 28)) * np.linspace(2, 0.4, 28)
    X[ROWS // 2 :, 0] += 0.5
    for row in np.flatnonzero(labels):
        hot = rng.choice(14, size=5, replace=False)
        X[row, hot] += rng.choice([-1, 1], size=5) * 6
    named = {f"V{j + 1}": X[:, j] for j in range(28)}
    times = np.linspace(0, 172_000, ROWS)
    return pa.table({"Time": times, **named, "Amount": rng.random(ROWS), "Class": labels.astype(np.uint8)})


def forget():
    """Drop what the studies keep of a table for as long as a process lives."""
    from biselect_studies.experiments import aml, creditcard, pools

    for kept in (
        *(getattr(creditcard, name) for name in ("split", "_weighed", "scores", "trigger")),
        pools._fitted,
        aml._scorer,
        aml._detector,
    ):
        kept.cache_clear()


@pytest.fixture(scope="session")
def stand_in_folder(tmp_path_factory):
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("stand-in")
    pq.write_table(stand_in_table(), folder / "creditcard.parquet")
    return folder


@contextmanager
def standing_in(folder):
    """Studies of public tables read a small stand-in, and few generated transactions."""
    from biselect_studies.data import creditcard
    from biselect_studies.experiments import aml

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BISELECT_DATA", str(folder))
        patch.setattr(creditcard, "CHECKSUMS", {"creditcard.parquet": None})
        patch.setattr(aml, "QUICK", 200_000)
        forget()
        yield folder
        forget()


@pytest.fixture
def stand_in(stand_in_folder):
    """The stand-in, and nothing kept of it from other tests."""
    with standing_in(stand_in_folder) as folder:
        yield folder


@pytest.fixture(scope="class")
def shared_stand_in(stand_in_folder):
    """The stand-in for all tests of a class: what is fit to it once serves them all."""
    with standing_in(stand_in_folder) as folder:
        yield folder


@pytest.fixture(autouse=True)
def without_the_papers_python(monkeypatch, tmp_path):
    """Whether or not somebody ran make paper-env here, tests do without."""
    monkeypatch.setenv("BISELECT_PAPER_PYTHON", str(tmp_path / "none"))


@pytest.fixture
def few_resamples(monkeypatch):
    """Intervals and p-values from a tenth of the resamples."""
    from biselect_studies import inference

    monkeypatch.setattr(inference, "RESAMPLES", 1999)


@pytest.fixture
def short_searches(monkeypatch):
    """Angles and patches after a few steps: enough to see that a study runs, far too few for its numbers."""
    from biselect_quantum.circuits import angle_selection
    from biselect_quantum.circuits.training import _paper_protocols, strategies
    from biselect_quantum.devices import patches
    from biselect_studies.experiments import compile_case, heron

    few = {
        strategies: {"EVALUATIONS": 30},
        _paper_protocols: {"RUN": 3, "BET": 2, "CALLS": 6},
        angle_selection: {"CANDIDATES": 2, "SHOTS": 32, "CONFIRMATION": 64, "POOL_SEEDS": 1},
        patches: {"STEPS": 500},
    }
    for module, counts in few.items():
        for name, count in counts.items():
            monkeypatch.setattr(module, name, count)
    kept = (heron.trained, heron.selection, heron.case, heron._patch)
    kept += (compile_case.patch, heron._named_patch)
    for found in kept:
        found.cache_clear()
    yield
    for found in kept:
        found.cache_clear()


@pytest.fixture
def no_gate_errs(monkeypatch):
    """Noise models whose gates never err, so that all shots share one simulation; readout errs as ever."""
    from biselect_quantum.devices.noise import sampling as trajectories
    from biselect_studies.quantum import register_trees

    for module in (register_trees, trajectories):
        monkeypatch.setattr(module, "draw_trajectories", lambda circuit, shots, rng: {(): shots})
