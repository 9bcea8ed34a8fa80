"""The compilation studies: what is compiled, by which Qiskit, and what is made of it."""

import sys

import numpy as np
import pytest

pytest.importorskip("qiskit")

from qiskit import QuantumCircuit
from qiskit.quantum_info import Statevector

from biselect.core import SelectionProblem
from biselect.errors import BiselectError
from biselect_quantum.circuits import AnsatzSpec
from biselect_studies import paper_environment
from biselect_studies.experiments import compile_case
from biselect_studies.quantum.penalty_x import PenaltyX
from biselect_studies.runner import Records
from biselect_studies.studies import compilation as tables


@pytest.fixture
def both_qiskits(monkeypatch):
    monkeypatch.setenv(paper_environment.PYTHON, sys.executable)


def problem(n=3, d=2):
    rng = np.random.default_rng(1)
    scores = {"sample_scores": rng.normal(size=n), "feature_scores": rng.normal(size=d)}
    return SelectionProblem(coupling=rng.normal(size=(n, d)), k=1, m=1, **scores)


def test_without_the_papers_qiskit_today_s_alone_is_asked_and_the_page_says_how_to_get_it():
    assert {cell["qiskit"] for cell in tables.points(False)} == {"today"}
    assert "make paper-env" in paper_environment.whose_qiskit()
    paper_environment._child.cache_clear()
    with pytest.raises(BiselectError, match="make paper-env"):
        compile_case.compile_paths({**tables.points(True)[0], "qiskit": paper_environment.VERSION}, [0])


def test_with_it_every_point_is_compiled_twice(both_qiskits):
    assert [cell["qiskit"] for cell in tables.points(True)] == ["today", "today", "2.1.2", "2.1.2"]
    assert paper_environment.column_of("depth", "2.1.2") == "depth, Qiskit 2.1.2"


def test_a_python_with_another_qiskit_is_refused(both_qiskits, capfd):
    paper_environment._child.cache_clear()
    with pytest.raises(BiselectError, match="has ended"):
        paper_environment.perform("compile_paths", tables.points(True)[0], [0])
    paper_environment._child.cache_clear()
    assert "not 2.1.2: run make paper-env" in capfd.readouterr().err


@pytest.mark.slow
def test_the_papers_qiskit_compiles_the_same_circuits(monkeypatch):
    monkeypatch.delenv(paper_environment.PYTHON)
    if paper_environment.python() is None:
        pytest.skip("make paper-env was not run")
    paper_environment._child.cache_clear()
    point = tables.points(True)[0]
    theirs, ours = (compile_case.compile_paths({**point, "qiskit": each}, [0]) for each in ("2.1.2", "today"))
    for path in compile_case.PRINTED:
        assert theirs[f"{path.name}:two_qubit_gates"] == ours[f"{path.name}:two_qubit_gates"]
    assert theirs != {name: ours[name] for name in theirs}


def test_ranges_are_those_of_one_device_and_seed():
    chosen = [{"device": "a"}, {"device": "a"}, {"device": "b"}, {"device": "b"}]
    cuts = [np.array([1.0, 10.0]), np.array([3.0, 14.0]), np.array([5.0, 20.0]), np.array([9.0, 24.0])]
    assert tables._of_one_run(chosen, cuts) == (np.median([1, 10, 5, 20]), np.median([3, 14, 9, 24]))


def test_seeds_that_differ_in_one_measure_are_not_the_same():
    records = Records()
    for cell in tables.SEEDED.cells(False):
        values = {"one:depth": np.array([5, 5, 5]), "two:depth": np.array([5, 5, 5]), "two:duration": np.ones(3)}
        if cell["width"] == 16:
            values["two:duration"] = np.array([1.0, 1.0, 2.0])
        records[tuple(sorted(cell.items()))] = values
    (found,) = tables.seeds_entries(records, False)
    assert found.ours == pytest.approx(100 * 5 / 6)


def test_penalty_x_in_gates_is_penalty_x():
    penalised = PenaltyX(problem(), 2, 0.5)
    angles = np.array([0.3, 0.8, 1.1, 0.2])
    circuit = compile_case.penalty_circuit(penalised, angles)
    expected = penalised.probabilities(angles).T.ravel()
    assert np.abs(Statevector(circuit).probabilities() - expected).sum() / 2 < 1e-9
    assert circuit.count_ops()["rzz"] == 2 * 10  # all pairs, twice
    routed = compile_case.transpiled(circuit, "iqm-54", 0)
    assert "h" not in routed.count_ops()
    bits = compile_case.shots_of(routed, 20_000, 0)
    found = np.bincount(bits @ (1 << np.arange(5)), minlength=32) / 20_000
    assert np.abs(found - expected).sum() / 2 < 0.03


def test_barriers_split_a_circuit_into_its_stages():
    program = AnsatzSpec(problem(), 2, "bilinear", "path", "dicke").program(np.ones(4))
    circuit = compile_case.staged(program)
    assert circuit.count_ops()["barrier"] == 1 + 2 * 2
    preparation, cost, mixer = compile_case.stage_depths(circuit, 2)
    assert preparation > 0 and cost > 0 and mixer == 2 * 2
    alone = QuantumCircuit(2)
    alone.h(0)
    alone.barrier()
    alone.cx(0, 1)
    alone.barrier()
    alone.x(0)
    alone.x(0)
    alone.barrier()
    assert compile_case.stage_depths(alone, 1) == (1, 1, 2)
