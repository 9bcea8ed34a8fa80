import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import QuantumCircuit
from qiskit.quantum_info import Statevector

from biselect.hardware.dicke import prepare_dicke


@given(st.integers(1, 6), st.data())
@settings(max_examples=30, deadline=None)
def test_a_dicke_state_is_uniform_over_its_subsets(n, data):
    ones = data.draw(st.integers(0, n))
    circuit = QuantumCircuit(n)
    prepare_dicke(circuit, range(n), ones)
    state = Statevector(circuit).data
    weight = np.array([position.bit_count() == ones for position in range(1 << n)])
    np.testing.assert_allclose(state, weight / np.sqrt(weight.sum()), atol=1e-12)


def test_a_dicke_state_takes_a_number_of_gates_linear_in_n_times_k():
    circuit = QuantumCircuit(20)
    prepare_dicke(circuit, range(20), 15)
    assert circuit.count_ops()["cx"] <= 6 * 20 * 5  # the fewer zeros are prepared
