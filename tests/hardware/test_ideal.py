import numpy as np
import pytest

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.hardware import compile_circuit, compile_problem, layout_of, to_qiskit
from biselect.hardware.decode import decode_bits
from biselect.hardware.ideal import ideal_probabilities, ideal_shots
from biselect.qaoa import Ansatz


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(1)
    problem = SelectionProblem(coupling=rng.exponential(size=(4, 3)), sample_scores=rng.normal(size=4), k=2, m=1)
    return compile_problem(problem, "boston", [0.7, -1.3, 0.4, 0.6], depth=2, surrogate="mean-field", compare=False)


def test_native_logical_and_sector_distributions_agree(made):
    program = made.compiled.program
    native = ideal_probabilities(made.compiled.circuit)
    assert np.abs(native - ideal_probabilities(to_qiskit(program))).sum() / 2 < 1e-9
    start = tuple(np.flatnonzero(part).tolist() for part in (program.bits[:4], program.bits[4:]))
    ansatz = Ansatz(made.surrogate, 2, "bilinear", program.mixer, start)
    expected = np.abs(ansatz.dense_state(list(made.angles.values()))) ** 2
    assert np.abs(native - expected).sum() / 2 < 1e-9


@pytest.mark.parametrize("angles", [[0, 0, 0], [-7, 300.5, -0.2], [1e6, -1e6, 1e5], [np.pi, 2 * np.pi, np.pi / 2]])
@pytest.mark.parametrize("size", [(1, 1, 1, 1), (2, 1, 1, 1), (3, 2, 3, 1), (4, 3, 1, 2)])
def test_any_angles_and_the_smallest_sizes(angles, size):
    n, d, k, m = size
    rng = np.random.default_rng(n)
    problem = SelectionProblem(coupling=rng.normal(size=(n, d)), sample_scores=rng.normal(size=n), k=k, m=m)
    for registers in ("trees", "paths"):
        made = compile_problem(problem, "iqm-54", angles, depth=1, registers=registers, compare=False)
        native, logical = map(ideal_probabilities, (made.compiled.circuit, to_qiskit(made.compiled.program)))
        assert np.abs(native - logical).sum() / 2 < 1e-9
        shots = decode_bits(ideal_shots(made.compiled, 50), problem, *layout_of(made.manifest(), problem))
        assert shots.exact_budget_mass(problem) == 1


def test_shots_follow_the_distribution(made):
    shots = ideal_shots(made.compiled, 20_000, seed=3)
    found = np.bincount(shots @ (1 << np.arange(7)), minlength=128) / 20_000
    assert np.abs(found - ideal_probabilities(made.compiled.circuit)).sum() / 2 < 0.02
    assert np.array_equal(shots, ideal_shots(made.compiled, 20_000, seed=3))


def test_wide_circuits_are_refused(made):
    problem = SelectionProblem(coupling=np.ones((15, 10)), k=2, m=2)
    wide = compile_problem(problem, "boston", [0.1, 0.2, 0.3], depth=1, compare=False)
    with pytest.raises(InputError, match="24 at most"):
        ideal_probabilities(wide.compiled.circuit)


def test_a_reloaded_target_compiles_to_the_same_circuit(made):
    from biselect.hardware.targets import from_snapshot, snapshot

    again = from_snapshot(snapshot(made.target))
    assert compile_circuit(made.compiled.program, again, made.patch.layout).circuit == made.compiled.circuit
