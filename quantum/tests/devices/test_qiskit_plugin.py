"""The Y-frame behind Qiskit's own `transpile`: the same unitary, or the same measurements, on any device and angle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import Parameter
from qiskit.circuit.library import XXPlusYYGate
from qiskit.quantum_info import Operator, Statevector

import biselect_quantum as bq
from biselect.errors import InputError
from biselect_quantum.devices.qiskit_plugin import NotForTheFrameError, to_y_frame
from biselect_quantum.devices.resources import count_resources

SPECIAL = [number * np.pi / 4 for number in range(-8, 9)] + [1e-13, 1e-9, 1e-5, 1e-3, 40 * np.pi, 1e3]
ANGLES = st.one_of(st.sampled_from(SPECIAL), st.floats(-10, 10))
LINE = [(0, 1), (1, 2), (2, 3), (3, 4)]
KINDS = ("fractional", "cz", "prx")
NAMES = {"init_method": "y-frame", "translation_method": "y-frame", "optimization_method": "y-frame"}


@st.composite
def circuits(draw, measured, qubits=4, edges=((0, 1), (1, 2), (2, 3), (0, 2))):
    """X gates, then RZ, RZZ and XX+YY in any order on a line, or with a cycle of odd length."""
    circuit = QuantumCircuit(qubits, qubits if measured else 0)
    for qubit in range(qubits):
        if draw(st.booleans()):
            circuit.x(qubit)
    pairs = edges[: draw(st.sampled_from([3, 4]))]
    for _ in range(draw(st.integers(0, 12))):
        kind, angle = draw(st.sampled_from(["rz", "rzz", "xy", "xy", "halves"])), draw(ANGLES)
        a, b = draw(st.permutations(draw(st.sampled_from(pairs))))
        if kind == "rz":
            circuit.rz(angle, a)
        elif kind == "rzz":
            circuit.rzz(angle, a, b)
        elif kind == "xy":
            circuit.append(XXPlusYYGate(angle, draw(st.sampled_from([0.0, 2 * np.pi]))), [a, b])
        else:
            circuit.rxx(angle, a, b)
            circuit.ryy(angle, b, a)
    if measured:
        circuit.measure(range(qubits), draw(st.permutations(range(qubits))))
    return circuit


CYCLE = [(0, 1), (1, 2), (2, 3), (0, 2)]


def read_out(circuit):
    """The distribution of the classical bits, by the gates' own definitions."""
    bits = {
        circuit.find_bit(s.qubits[0]).index: circuit.find_bit(s.clbits[0]).index
        for s in circuit.data
        if s.name == "measure"
    }
    chances = Statevector(circuit.remove_final_measurements(inplace=False)).probabilities()
    totals = np.zeros(2**circuit.num_clbits)
    for state, chance in enumerate(chances):
        totals[sum(((state >> qubit) & 1) << bit for qubit, bit in bits.items())] += chance
    return totals


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_without_measurements_the_unitary_is_kept(small, kind, data):
    circuit = data.draw(circuits(measured=False))
    written = to_y_frame(circuit, small.device(kind, CYCLE, 4))
    assert abs(np.trace(Operator(circuit).adjoint().data @ Operator(written).data)) / 16 > 1 - 1e-9
    assert Operator(circuit).equiv(Operator(written), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_with_measurements_what_is_read_is_kept(small, kind, data):
    circuit = data.draw(circuits(measured=True))
    written = to_y_frame(circuit, small.device(kind, CYCLE, 4))
    np.testing.assert_allclose(read_out(written), read_out(circuit), atol=1e-9)


@pytest.mark.parametrize("kind", [*KINDS, "cx", "ecr", "rzz"])
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_the_pass_manager_gives_what_the_device_takes(small, kind, data):
    circuit, target = data.draw(circuits(measured=True)), small.device(kind, CYCLE, 4)
    manager = bq.y_frame_pass_manager(target, seed=1)
    written = manager.run(circuit)
    assert all(
        target.instruction_supported(s.name, tuple(written.find_bit(q).index for q in s.qubits)) for s in written.data
    )
    np.testing.assert_allclose(
        read_out(written), read_out(circuit), atol=1e-4 if kind in ("cx", "ecr", "rzz") else 2e-5
    )


def chain(depth=2):
    """The start, phases and mixers of a hand-written circuit of two registers on a line."""
    circuit = QuantumCircuit(5, 5)
    circuit.x([0, 3])
    for layer in range(depth):
        for qubit in range(5):
            circuit.rz(0.3 + qubit + layer, qubit)
        circuit.rzz(0.7, 2, 3)
        for a, b in ((0, 1), (3, 4), (1, 2)):
            circuit.append(XXPlusYYGate(0.9 + layer), [a, b])
    circuit.measure(range(5), range(5))
    return circuit


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_no_worse_than_level_3(small, kind):
    target = small.device(kind, LINE, 5)
    ours = transpile(chain(), target=target, optimization_level=3, seed_transpiler=0, **NAMES)
    theirs = transpile(chain(), target=target, optimization_level=3, seed_transpiler=0)
    mine, other = count_resources(ours, target), count_resources(theirs, target)
    assert mine.two_qubit_gates <= other.two_qubit_gates and mine.duration <= other.duration
    np.testing.assert_allclose(read_out(ours), read_out(theirs), atol=1e-4)


def test_gates_within_gates_are_opened(small):
    wrapped = QuantumCircuit(5, 5)
    wrapped.append(chain().remove_final_measurements(inplace=False).to_gate(), range(5))
    wrapped.measure(range(5), range(5))
    manager = bq.y_frame_pass_manager(small.device("fractional", LINE, 5), seed=0)
    np.testing.assert_allclose(read_out(manager.run(wrapped)), read_out(chain()), atol=1e-9)
    assert manager.property_set["y_frame"] == "the Y-frame"


def with_gate(name):
    circuit = QuantumCircuit(2, 2)
    circuit.x(0)
    {
        "cx": lambda: circuit.cx(0, 1),
        "h": lambda: circuit.h(0),
        "late x": lambda: (circuit.rz(1, 0), circuit.x(0)),
        "free angle": lambda: circuit.rz(Parameter("a"), 0),
        "tilted xy": lambda: circuit.append(XXPlusYYGate(0.4, 0.5), [0, 1]),
        "half": lambda: circuit.rxx(0.4, 0, 1),
        "unequal halves": lambda: (circuit.rxx(0.4, 0, 1), circuit.ryy(0.5, 0, 1)),
        "between halves": lambda: (circuit.rxx(0.4, 0, 1), circuit.rz(1, 0), circuit.ryy(0.4, 0, 1)),
        "measured early": lambda: (circuit.measure(0, 0), circuit.rz(1, 0)),
        "if": lambda: circuit.if_test((circuit.clbits[0], 1), QuantumCircuit(1), [0], []),
        "reset": lambda: circuit.reset(0),
    }[name]()
    return circuit


@pytest.mark.parametrize(
    "name",
    "cx,h,late x,free angle,tilted xy,half,unequal halves,between halves,measured early,if,reset".split(","),
)
def test_what_it_does_not_take_is_left_to_qiskit_with_a_word(small, name, caplog):
    circuit, target = with_gate(name), small.device("fractional", [(0, 1)], 2)
    with pytest.raises(NotForTheFrameError):
        to_y_frame(circuit, target)
    if name not in ("if", "reset"):  # the device has neither
        with caplog.at_level("INFO", "biselect.quantum"):
            bq.y_frame_pass_manager(target, seed=0).run(circuit)
        assert "Qiskit's level 3" in caplog.text


def test_pairs_that_the_device_does_not_join_are_left_to_qiskit(small):
    circuit = QuantumCircuit(3)
    circuit.append(XXPlusYYGate(0.4), [0, 2])
    with pytest.raises(NotForTheFrameError, match="no cz"):
        to_y_frame(circuit, small.device("cz", [(0, 1), (1, 2)], 3))


def test_something_else_is_no_device():
    with pytest.raises(InputError, match="needs a backend"):
        bq.y_frame_pass_manager("boston")
