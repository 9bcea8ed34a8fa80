"""The usable graph of a device, against plain searches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.errors import InputError
from biselect_quantum.devices.device_errors import DeviceErrors, device_errors, heron_positions, positions_of
from biselect_quantum.devices.targets import load_target


@given(st.integers(0, 1 << 30), st.integers(1, 12), st.floats(0, 1))
@settings(max_examples=60)
def test_parts_and_neighbours_are_what_a_walk_along_edges_finds(seed, qubits, density):
    rng = np.random.default_rng(seed)
    usable = rng.random(qubits) < 0.8
    pairs = [(i, j) for j in range(qubits) for i in range(j) if usable[i] and usable[j] and rng.random() < density / 2]
    rng.shuffle(pairs)
    edges = {(int(i), int(j)): float(rng.random()) for i, j in pairs}
    device = DeviceErrors(qubit_costs=np.where(usable, 0.1, np.inf), edge_costs=edges)
    reached = {q: {q} for q in np.flatnonzero(usable).tolist()}
    for _ in range(qubits):
        for i, j in edges:
            reached[i] = reached[j] = reached[i] | reached[j]
    assert device.parts() == sorted(map(list, {tuple(sorted(part)) for part in reached.values()}))
    table, _, costs = device.arrays()
    for qubit in range(qubits):
        near = sorted({i + j - qubit for i, j in edges if qubit in (i, j)})
        assert [other for other in table[qubit].tolist() if other >= 0] == near
        assert costs[qubit, : len(near)].tolist() == [edges[min(qubit, q), max(qubit, q)] for q in near]


def test_a_target_without_readout_is_refused(small):
    from qiskit.circuit.library import CZGate
    from qiskit.transpiler import Target

    target = Target(num_qubits=2)
    target.add_instruction(CZGate(), {(0, 1): None})
    with pytest.raises(InputError, match="no readout"):
        device_errors(target)
    assert device_errors(small.device("cz", [(0, 1)], 3)).parts() == [[0, 1], [2]]


def test_known_lattices_are_drawn_as_they_are_and_others_by_springs():
    assert positions_of(load_target("boston")) == heron_positions()
    square = positions_of(load_target("iqm-54"))
    assert square[0] == (0, 4) and len(set(square)) == 54
    other = positions_of(load_target("miami"))
    assert len(set(other)) == 120 and other == positions_of(load_target("miami"))
