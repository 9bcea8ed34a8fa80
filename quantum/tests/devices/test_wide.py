"""Compiled circuits far beyond a state vector, by matrix product states, against the sector simulator."""

import numpy as np
import pytest

from biselect_quantum.circuits import Ansatz
from biselect_quantum.devices import PATHS, compile_circuit

aer = pytest.importorskip("qiskit_aer")


def probabilities(compiled, bits):
    """Of many bitstrings, (strings, qubits). The state is contracted here: Aer's own amplitudes of a matrix product
    state are those of other strings once it has moved qubits about."""
    circuit = compiled.gates.remove_final_measurements(inplace=False)
    circuit.save_matrix_product_state()
    simulator = aer.AerSimulator(method="matrix_product_state", matrix_product_state_truncation_threshold=1e-18)
    gammas, weights = simulator.run(circuit).result().data()["matrix_product_state"]
    rows = np.ones((len(bits), 1, 1), dtype=complex)
    for q, pair in enumerate(gammas):
        rows = rows @ np.asarray(pair)[bits[:, q]]
        if q < len(weights):
            rows = rows * weights[q]
    return np.abs(rows[:, 0, 0]) ** 2


@pytest.mark.parametrize(
    ("qubits", "samples", "budgets", "path"),
    [
        (24, 15, (1, 1), "y-frame"),
        (36, 22, (1, 1), "y-frame"),
        (36, 22, (1, 1), "complete-fractional"),
        pytest.param(36, 22, (2, 1), "y-frame", marks=pytest.mark.slow),
        pytest.param(36, 22, (2, 2), "y-frame", marks=pytest.mark.slow),
        pytest.param(36, 22, (2, 1), "strongest-qiskit", marks=pytest.mark.slow),
    ],
)
def test_wide_circuits_give_the_sectors_probabilities(small, qubits, samples, budgets, path):
    drawn = small.case(np.random.default_rng(qubits), qubits, split=samples, budgets=budgets, depth=2, scale=1.0)
    target = small.device("fractional", drawn.edges, qubits)
    made = compile_circuit(drawn.program, target, drawn.layout, PATHS[path], angles=drawn.angles)
    bits = np.array(made.program.bits)
    start = (np.flatnonzero(bits[:samples]), np.flatnonzero(bits[samples:]))
    ansatz = Ansatz(drawn.problem, 2, "fully-grouped", made.program.mixer, start)
    expected = ansatz.probabilities(drawn.angles)
    strings = np.zeros((*expected.shape, qubits), dtype=np.int64)
    for side, first, axis in ((ansatz.samples, 0, 0), (ansatz.features, samples, 1)):
        for number, subset in enumerate(side.subsets):
            strings[(slice(None),) * axis + (number,)][..., first + subset] = 1
    found = probabilities(made, strings.reshape(-1, qubits))
    np.testing.assert_allclose(found, expected.ravel(), atol=1e-10)
    assert 0.5 * np.abs(found - expected.ravel()).sum() < 1e-9 and found.sum() == pytest.approx(1, abs=1e-9)
