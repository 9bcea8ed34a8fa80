"""What is too large is refused with figures that one can read, and with ways out that there are."""

import inspect
import pickle
import re
import tracemalloc
from functools import partial
from itertools import product
from unittest.mock import Mock

import numpy as np
import pytest

import biselect
from biselect import SelectionProblem
from biselect.core import Sector
from biselect.core.sector import TooLargeError
from biselect.errors import InputError
from biselect.qaoa import Ansatz, AnsatzSpec, WarmStart
from biselect.qaoa.starts import basis_state
from biselect.simulate import backends, memory
from biselect.simulate.backends import make_simulator
from biselect.simulate.layers import energy_table
from biselect.simulate.memory import check_memory

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
        monkeypatch.setattr(memory, "free_memory", lambda free=free: int(free))
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
    from biselect.simulate.wide import WideSampler

    assert callable(WideSampler) and callable(biselect.solve)
    problem = SelectionProblem(coupling=np.ones((4999, 20)), k=2, m=2)
    said = refused(biselect.solve, problem, "qaoa")
    (solver,) = re.findall(r"solver='(\w+)'", said)
    assert solver in biselect.solver_names() and biselect.solve(problem, solver).proven_optimal


STARTS = {
    "dicke": lambda problem: "dicke",
    "random": lambda problem: "random",
    "choice": lambda problem: (list(range(7)), list(range(5))),
    "warm": lambda problem: WarmStart(samples=np.full(14, 0.3), features=np.full(10, 0.6)),
}
BUILT = {
    **{
        f"{start}, {mixer}, {backend}": partial(
            lambda problem, start, how: Ansatz(problem, 1, start=STARTS[start](problem), **how),
            start=start,
            how={"mixer": mixer, "backend": backend},
        )
        for start, mixer, backend in product(STARTS, ("ring", "grover"), ("auto", "plain", "compiled", "continuous"))
        if not (mixer == "grover" and start in ("random", "choice"))
    },
    "energies": energy_table,
    "basis state": lambda problem: basis_state(problem, STARTS["choice"](problem)),
    "warm state": lambda problem: STARTS["warm"](problem).state(problem),
}
RUN = {
    "state": lambda ansatz, angles: ansatz.state(angles),
    "probabilities": lambda ansatz, angles: ansatz.probabilities(angles),
    "energies": lambda ansatz, angles: ansatz.energies,
    "gradient": lambda ansatz, angles: ansatz.value_and_gradient(angles),
    "cvar": lambda ansatz, angles: ansatz.cvar(angles),
    "sample": lambda ansatz, angles: ansatz.sample(angles, 10),
}
MIDDLE = SelectionProblem(coupling=np.ones((14, 10)), k=7, m=5)  # 864,864 choices: 6.9 MB in single precision


def refused_without_a_state(call):
    """TooLargeError, and before it nothing as large as a state is allocated."""
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError, match="864,864"):
            call()
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", BUILT)
def test_memory_is_asked_for_before_a_state_is_made(monkeypatch, name):
    monkeypatch.setattr(memory, "free_memory", lambda: 2**20)
    refused_without_a_state(partial(BUILT[name], MIDDLE))


@pytest.mark.parametrize("name", RUN)
def test_memory_is_asked_for_before_a_run_makes_another_state(monkeypatch, name):
    ansatz = Ansatz(MIDDLE, 1, schedule="tied", mixer="path", backend="compiled")
    monkeypatch.setattr(memory, "free_memory", lambda: 2**20)
    refused_without_a_state(partial(RUN[name], ansatz, np.zeros(2)))


def test_a_warm_start_is_checked_without_its_state(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1)
    warm = STARTS["warm"](MIDDLE)
    assert AnsatzSpec(MIDDLE, 1, start=warm).start is warm
    with pytest.raises(InputError, match="a chance for each of 15 samples"):
        AnsatzSpec(SelectionProblem(coupling=np.ones((15, 10)), k=7, m=5), 1, start=warm)


@pytest.mark.parametrize("command", ["train", "compile"])
def test_what_cannot_be_trained_for_a_device_is_refused_before_anything_is_placed(run, tmp_path, monkeypatch, command):
    pytest.importorskip("qiskit")
    placed = Mock(side_effect=AssertionError("placed"))
    for module in ("biselect.hardware", "biselect.hardware.bundle"):
        monkeypatch.setattr(f"{module}.place_circuit", placed)
    for n, d in ((20, 16), (36, 28)):
        rng = np.random.default_rng(0)
        SelectionProblem(coupling=rng.random((n, d)), k=n // 2, m=d // 2).save(tmp_path / "p.npz")
        monkeypatch.setattr(memory, "free_memory", lambda: 2**33)
        for start in ("auto", "random") if command == "compile" else ("reach", "random"):
            done = run(command, tmp_path / "p.npz", "--target", "boston", "--start", start)
            assert done.code == 2 and "biselect.qaoa.angle_selection" in done.err.replace("\n", "")
            assert command == "compile" or "--angles" in done.err
    assert not placed.called


def test_every_backend_and_dtype_that_is_advised_exists():
    from biselect.simulate import gpu

    assert given_values(gpu.ELSEWHERE)["backend"] in backends.BACKENDS
    assert "backend" in inspect.signature(make_simulator).parameters


def test_a_circuit_too_large_for_the_sector_goes_to_the_wide_sampler(monkeypatch):
    pytest.importorskip("qiskit")
    from biselect.hardware.execute.exact_shots import check_sector
    from biselect.hardware.execute.samplers import PLACES, sampler_for

    monkeypatch.setattr(memory, "free_memory", lambda: 100)
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
    from biselect.hardware import choose_patch, load_target
    from biselect.hardware.surrogates import low_energy_overlap

    said = refused(choose_patch, load_target("iqm-54"), 40, 20)
    assert "take fewer samples or features, or a larger device" in said
    assert "about 1.3 × 10⁵⁹ choices" in refused(low_energy_overlap, HUGE, HUGE)


def test_the_error_survives_a_way_between_processes():
    error = TooLargeError("it needs 5 GiB", "take less")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == "it needs 5 GiB; take less" and again.figures == "it needs 5 GiB"


def test_every_extra_that_is_named_exists():
    import tomllib
    from pathlib import Path

    root = Path(__file__).parents[1]
    extras = {
        name: {*tomllib.loads((root / place / "pyproject.toml").read_text())["project"]["optional-dependencies"]}
        for name, place in (("biselect", "."), ("biselect-studies", "studies"))
    }
    sources = [*(root / "src").rglob("*.py"), *(root / "studies" / "src").rglob("*.py"), root / "README.md"]
    named = {found for path in sources for found in re.findall(r"(biselect(?:-studies)?)\[(\w+)\]", path.read_text())}
    assert len(named) >= 4 and all(extra in extras[package] for package, extra in named)
