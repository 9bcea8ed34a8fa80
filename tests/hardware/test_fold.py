import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import QuantumCircuit
from qiskit.quantum_info import Operator

from biselect import SelectionProblem
from biselect.errors import InputError
from biselect.hardware import to_qiskit
from biselect.hardware.fold import fold_rzz
from biselect.qaoa import AnsatzSpec


def problem_of(n=4, d=3, k=2, m=1, seed=0):
    rng = np.random.default_rng(seed)
    scores = {"sample_scores": rng.normal(size=n), "feature_scores": rng.normal(size=d)}
    return SelectionProblem(coupling=rng.normal(size=(n, d)), k=k, m=m, coupling_weight=0.7, **scores)


def test_open_angles_are_not_folded():
    program = AnsatzSpec(problem_of(), 1, "tied").program()
    with pytest.raises(InputError, match="still open"):
        fold_rzz(to_qiskit(program, measure=False))


@given(
    st.one_of(
        st.floats(-20, 20),
        st.floats(-1e9, 1e9),
        st.integers(-9, 9).map(lambda quarters: quarters * np.pi / 2),
        st.sampled_from([0.0, -0.0, 1e-300, np.nextafter(np.pi / 2, 2), np.nextafter(np.pi, 4)]),
    )
)
@settings(max_examples=200, deadline=None)
def test_a_folded_angle_is_in_range_and_the_circuit_is_equal(angle):
    circuit = QuantumCircuit(2)
    circuit.h([0, 1])
    circuit.rzz(angle, 1, 0)
    circuit.sx(0)
    folded = fold_rzz(circuit)
    angles = [step.operation.params[0] for step in folded.data if step.operation.name == "rzz"]
    assert all(0 <= each <= np.pi / 2 for each in angles)
    np.testing.assert_allclose(Operator(folded).data, Operator(circuit).data, atol=1e-7 if abs(angle) > 20 else 1e-12)
