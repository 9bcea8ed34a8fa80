import numpy as np

from biselect.core import ising
from biselect_quantum import conventions


def test_a_chosen_item_has_spin_minus_one():
    np.testing.assert_array_equal(ising.spins([0, 1]), [1, -1])


def test_samples_come_first():
    assert conventions.feature_qubit(1, n_samples=4) == 5


def test_gate_angles_implement_the_stated_exponentials():
    """Against matrix exponentials of the Paulis themselves."""
    x = np.array([[0, 1], [1, 0]], dtype=complex)
    y = np.array([[0, -1j], [1j, 0]])
    z = np.diag([1.0, -1.0])
    gamma, h, beta = 0.7, -1.3, 0.4

    def exponential(hermitian):
        values, vectors = np.linalg.eigh(hermitian)
        return vectors @ np.diag(np.exp(-1j * values)) @ vectors.conj().T

    def rotation(angle, pauli):  # R_P(θ) = exp(-iθP/2)
        return exponential(angle / 2 * pauli)

    np.testing.assert_allclose(rotation(conventions.rz_angle(gamma, h), z), exponential(gamma * h * z), atol=1e-12)
    zz = np.kron(z, z)
    np.testing.assert_allclose(rotation(conventions.rzz_angle(gamma, h), zz), exponential(gamma * h * zz), atol=1e-12)
    theta = conventions.xx_plus_yy_angle(beta)
    hop = (np.kron(x, x) + np.kron(y, y)) / 2
    qiskit_gate = np.eye(4, dtype=complex)  # XXPlusYY(θ, 0), from its documentation
    qiskit_gate[1:3, 1:3] = [[np.cos(theta / 2), -1j * np.sin(theta / 2)], [-1j * np.sin(theta / 2), np.cos(theta / 2)]]
    np.testing.assert_allclose(qiskit_gate, exponential(beta * hop), atol=1e-12)
