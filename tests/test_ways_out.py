"""What is too large is refused with figures that one can read, and with ways out that there are."""

import inspect
import pickle
import re
from itertools import product
from unittest.mock import Mock

import numpy as np
import pytest

import biselect
from biselect import SelectionProblem
from biselect.core import Sector
from biselect.core.sector import TooLargeError
from biselect.errors import InputError
from biselect.solvers import solver_names
from biselect_quantum.circuits import Ansatz, AnsatzSpec
from biselect_quantum.simulate import backends
from biselect_quantum.simulate import limits as state_memory
from biselect_quantum.simulate.backends import make_simulator
from biselect_quantum.simulate.limits import check_memory

HUGE = SelectionProblem(coupling=np.ones((5000, 29), dtype=np.float32), k=20, m=3)
ENDLESS = Sector(n_samples=60_000, n_features=29, k=20_000, m=3)  # more choices than a float can say


def refused(call, *arguments, **options):
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    return str(caught.value)


def given_values(message):
    """Every `parameter='value'` or `parameter=` that a message advises."""
    return dict(re.findall(r"\b([a-z_]+)=(?:'([^']*)')?", message))


def test_sizes_can_be_read():
    said = refused(Ansatz, HUGE, depth=1)
    assert "C(5000, 20)·C(29, 3) choices, about 1.3 × 10⁵⁹" in said and "far more memory than any machine has" in said
    assert "GiB" not in said and not re.search(r"\d{6}", said)
    assert "× 10¹⁶⁵⁸⁷" in refused(check_memory, ENDLESS, np.complex64, states=1)


def test_a_setting_is_advised_only_where_it_helps(monkeypatch):
    """(10, 6, 2, 2): 675 amplitudes, 10.8 kB in double precision, and 9.7 kB of tables."""
    problem, seen = SelectionProblem(coupling=np.ones((10, 6)), k=2, m=2), set()
    for backend, dtype, free in product(("plain", "compiled"), ("complex64", "complex128"), (14e3, 18e3, 22e3, 34e3)):
        monkeypatch.setattr(state_memory, "free_memory", lambda free=free: int(free))
        asked = {"depth": 1, "backend": backend, "dtype": dtype}
        try:
            Ansatz(problem, **asked)
        except TooLargeError as error:
            for name, value in given_values(str(error)).items():
                assert name in inspect.signature(Ansatz).parameters and asked[name] != value
                Ansatz(problem, **{**asked, name: value})  # and it fits
                seen.add(name)
    assert seen == {"backend", "dtype"}


def test_the_ways_out_exist(monkeypatch):
    said = refused(Ansatz, HUGE, depth=1)
    assert "simulate.wide.WideSampler" in said and "solve(problem)" in said
    from biselect_quantum.simulate.wide import WideSampler

    assert callable(WideSampler) and callable(biselect.solve)
    problem = SelectionProblem(coupling=np.ones((4999, 20)), k=2, m=2)
    said = refused(biselect.solve, problem, "qaoa")
    (solver,) = re.findall(r"solver='(\w+)'", said)
    assert solver in solver_names() and biselect.solve(problem, solver).proven_optimal


@pytest.mark.parametrize("command", ["train", "compile"])
def test_what_cannot_be_trained_for_a_device_is_refused_before_anything_is_placed(run, tmp_path, monkeypatch, command):
    pytest.importorskip("qiskit")

    placed = Mock(side_effect=AssertionError("placed"))
    for module in ("biselect_quantum.devices", "biselect_quantum.devices._from_problem"):
        monkeypatch.setattr(f"{module}.place_circuit", placed)
    for n, d in ((20, 16), (36, 28)):
        rng = np.random.default_rng(0)
        SelectionProblem(coupling=rng.random((n, d)), k=n // 2, m=d // 2).save(tmp_path / "p.npz")
        monkeypatch.setattr(state_memory, "free_memory", lambda: 2**33)
        for start in ("auto", "random") if command == "compile" else ("reach", "random"):
            done = run(command, tmp_path / "p.npz", "--target", "boston", "--start", start)
            assert done.code == 2 and "biselect_quantum.circuits.angle_selection" in done.err.replace("\n", "")
            assert command == "compile" or "--angles" in done.err
    assert not placed.called


def test_every_backend_and_dtype_that_is_advised_exists():
    from biselect_quantum.simulate import _gpu as gpu

    assert given_values(gpu.ELSEWHERE)["backend"] in backends.BACKENDS
    assert "backend" in inspect.signature(make_simulator).parameters


def test_a_circuit_too_large_for_the_sector_goes_to_the_wide_sampler(monkeypatch):
    pytest.importorskip("qiskit")
    from biselect_quantum.devices.execution.exact_shots import check_sector
    from biselect_quantum.devices.execution.samplers import PLACES, sampler_for

    monkeypatch.setattr(state_memory, "free_memory", lambda: 100)
    problem = SelectionProblem(coupling=np.ones((5, 4)), k=2, m=2)
    for start, words in (("canonical", ""), ("dicke", "compile it from a random start and ")):
        said = refused(check_sector, AnsatzSpec(problem, 1, start=start).program())
        assert f"{words}measure it with on=" in said and given_values(said)["on"] in PLACES
        assert sampler_for(given_values(said)["on"]).name == "wide"


def test_the_command_line_names_no_python(run, tmp_path):
    HUGE.save(tmp_path / "p.npz")
    said = run("train", tmp_path / "p.npz").err
    assert "far more memory" in said and "`biselect solve`" in said and "=" not in said.replace("p = ", "")


def test_patches_and_proofs_of_size_say_what_to_do():
    pytest.importorskip("qiskit")
    from biselect_quantum.devices import choose_patch, load_target
    from biselect_studies.quantum.mean_field import low_energy_overlap

    said = refused(choose_patch, load_target("iqm-54"), 40, 20)
    assert "take fewer samples or features, or a larger device" in said
    assert "about 1.3 × 10⁵⁹ choices" in refused(low_energy_overlap, HUGE, HUGE)


def test_the_error_survives_a_way_between_processes():
    error = TooLargeError("it needs 5 GiB", "take less")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == "it needs 5 GiB; take less" and again.figures == "it needs 5 GiB"


def test_every_install_that_is_named_works_from_a_clone():
    """Nothing is on an index: what is named is a folder of the repository, and an extra that it declares."""
    import tomllib
    from pathlib import Path

    root = Path(__file__).parents[1]
    folders = (".", "./quantum", "./studies")
    projects = {one: tomllib.loads((root / one / "pyproject.toml").read_text())["project"] for one in folders}
    sources = [*(root / "docs").rglob("*.md"), *root.glob("*.md")]
    sources += [path for folder in folders for path in (root / folder / "src").rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in sources}
    assert [path for path, text in texts.items() if re.search(r"pip install '?biselect", text)] == []
    named = {found for text in texts.values() for found in re.findall(r"'(\.(?:/\w+)?)\[(\w+)\]'", text)}
    named |= {(".", extra) for text in texts.values() for extra in re.findall(r'optional\(.*, "(\w+)"\)', text)}
    assert len(named) >= 4 and all(extra in projects[folder]["optional-dependencies"] for folder, extra in named)
