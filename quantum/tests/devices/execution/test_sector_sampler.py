"""SectorSampler behaves as Qiskit's own samplers do, on the circuits that it knows, and refuses all others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister
from qiskit.circuit import Parameter
from qiskit.primitives import BaseSamplerV2, StatevectorSampler

from biselect.errors import InputError
from biselect_quantum.circuits import AnsatzSpec
from biselect_quantum.devices import build_circuit, to_qiskit
from biselect_quantum.devices.execution import SectorSampler
from biselect_quantum.devices.execution.sector_sampler import program_of


def shares(bits):
    counts = bits.get_counts()
    return {key: count / bits.num_shots for key, count in counts.items()}


def total_variation(one, other):
    return 0.5 * sum(abs(one.get(key, 0) - other.get(key, 0)) for key in {*one, *other})


@given(seed=st.integers(0, 1 << 30), qubits=st.integers(2, 7))
@settings(max_examples=20)
def test_a_circuit_is_recognised_as_the_program_it_came_from(small, seed, qubits):
    drawn = small.case(np.random.default_rng(seed), qubits)
    program = drawn.program.bind(drawn.angles)
    found, reads = program_of(to_qiskit(program))
    assert (found.bits, found.k, found.m) == (program.bits, program.k, program.m)
    assert reads == {bit: bit for bit in range(program.qubits)}
    assert [(op.kind, op.qubits) for op in found.ops] == [(op.kind, op.qubits) for op in program.ops]
    assert np.allclose([op.angle for op in found.ops], [op.angle for op in program.ops])


@pytest.mark.parametrize(("k", "m"), [(1, 1), (2, 3), (3, 1), (4, 2), (4, 3)])
def test_dicke_starts_are_recognised(k, m):
    from biselect import SelectionProblem

    problem = SelectionProblem(coupling=np.ones((4, 3)), k=k, m=m)
    circuit = build_circuit(AnsatzSpec(problem, 1, "tied", "ring", "dicke"), [0.2, 0.3])
    program, _ = program_of(circuit)
    assert (program.k, program.m) == (k, m)
    assert (program.bits is None) == ((k, m) != (4, 3))  # with all chosen there is nothing to spread


def test_shots_are_those_of_qiskits_statevector_sampler():
    """Two classical registers, permuted measurements, a sweep over parameters: the same layout of results."""
    angle = Parameter("t")
    samples, features = QuantumRegister(3, "s"), QuantumRegister(2, "f")
    first, second = ClassicalRegister(2, "one"), ClassicalRegister(3, "two")
    circuit = QuantumCircuit(samples, features, first, second)
    circuit.x([0, 3])
    circuit.append(_xy(angle), [0, 1])
    circuit.rz(0.4, 1)
    circuit.barrier()
    circuit.rzz(0.7, 1, 3)
    circuit.append(_xy(angle), [1, 2])
    circuit.append(_xy(2 * angle), [3, 4])
    circuit.measure([4, 0, 2], [1, 0, 3])
    values = np.array([[0.3, 0.9], [1.4, 2.0], [0.0, 3.0]])
    ours = SectorSampler(seed=1).run([(circuit, values)], shots=4000).result()[0]
    theirs = StatevectorSampler(seed=2).run([(circuit, values)], shots=4000).result()[0]
    assert ours.data.shape == theirs.data.shape == (3, 2)
    for name in ("one", "two"):
        for place in np.ndindex(3, 2):
            mine, qiskits = getattr(ours.data, name)[place], getattr(theirs.data, name)[place]
            assert (mine.num_bits, mine.num_shots) == (qiskits.num_bits, qiskits.num_shots)
            assert total_variation(shares(mine), shares(qiskits)) < 0.05
    assert ours.metadata["shots"] == 4000


def test_conventions_of_v2_primitives(problem):
    circuit = build_circuit(AnsatzSpec(problem, 1, "tied", "path", "canonical"), [0.3, 0.5])
    sampler = SectorSampler(seed=4, default_shots=17)
    assert isinstance(sampler, BaseSamplerV2)
    results = sampler.run([circuit, (circuit, None, 5)]).result()
    assert [result.data.c.num_shots for result in results] == [17, 5]
    again = SectorSampler(seed=4).run([circuit, (circuit, None, 5)], shots=17).result()
    assert all((a.data.c.array == b.data.c.array).all() for a, b in zip(results, again, strict=True))


def test_wide_and_sector_methods_agree(problem):
    circuit = build_circuit(AnsatzSpec(problem, 2, "tied", "path", "canonical"), [0.3, 0.5])
    found = [
        shares(SectorSampler(method=method, seed=0).run([circuit], shots=8000).result()[0].data.c)
        for method in ("sector", "wide")
    ]
    assert total_variation(*found) < 0.06


def _xy(theta):
    from qiskit.circuit.library import XXPlusYYGate

    return XXPlusYYGate(theta, 0.0)


def _registers():
    circuit = QuantumCircuit(QuantumRegister(2), QuantumRegister(2), ClassicalRegister(4))
    circuit.x([0, 2])
    return circuit


def _append(*steps):
    circuit = _registers()
    for step in steps:
        step(circuit)
    circuit.measure(range(4), range(4))
    return circuit


@pytest.mark.parametrize(
    ("circuit", "why"),
    [
        (_append(lambda c: c.h(0)), "gate 3 .h on 0."),
        (_append(lambda c: c.rz(0.1, 0), lambda c: c.x(0)), "x on 0"),
        (_append(lambda c: c.append(_xy(0.2), [1, 2])), "would break both budgets"),
        (_append(lambda c: c.rzz(0.2, 0, 1), lambda c: c.append(_xy(0.2), [0, 1])), "within one register"),
        (_append(lambda c: c.measure(0, 0), lambda c: c.rz(0.1, 0)), "follows the measurement"),
        (
            _append(lambda c: c.measure(0, 0), lambda c: c.measure(2, 0), lambda c: c.append(_xy(0.3), [0, 1])),
            "xx_plus_yy on 0, 1. follows the measurement",
        ),
        (_append(lambda c: c.rz(float("nan"), 0)), "angles must be finite"),
        (_append(lambda c: c.append(_xy(float("inf")), [0, 1])), "angles must be finite"),
        (_append(lambda c: c.x(0)), "k = 0"),
        (QuantumCircuit(4, 4), "two quantum registers"),
        (QuantumCircuit(QuantumRegister(1), QuantumRegister(1)), "measures nothing"),
    ],
)
def test_other_circuits_are_refused_clearly(circuit, why):
    with pytest.raises(InputError, match=why):
        SectorSampler().run([circuit], shots=5).result()


@pytest.mark.parametrize("method", ["sector", "wide"])
def test_methods_take_the_same_circuits(method):
    circuit = _append(lambda c: c.append(_xy(0.2), [0, 1]), lambda c: c.rzz(0.2, 0, 1))
    with pytest.raises(InputError, match=r"gate 4 \(rzz on 0, 1\) lies within one register"):
        SectorSampler(method=method).run([circuit], shots=5).result()


def test_measurements_at_the_end_may_share_a_qubit_or_a_classical_bit():
    """As for Qiskit's sampler: a qubit is read the same twice, and the last to write a bit has it."""
    circuit = _registers()
    circuit.append(_xy(0.9), [0, 1])
    circuit.measure([0, 0, 2, 1, 3], [0, 1, 2, 2, 3])
    ours, theirs = (
        shares(sampler.run([circuit], shots=4000).result()[0].data[circuit.cregs[0].name])
        for sampler in (SectorSampler(seed=0), StatevectorSampler(seed=0))
    )
    assert set(ours) == set(theirs) == {"0011", "0100"}
    assert total_variation(ours, theirs) < 0.05


def test_a_twisted_xy_gate_is_refused():
    from qiskit.circuit.library import XXPlusYYGate

    with pytest.raises(InputError, match="second angle must be 0"):
        program_of(_append(lambda c: c.append(XXPlusYYGate(0.3, 0.5), [0, 1])))


def test_one_register_needs_its_division():
    circuit = QuantumCircuit(4, 4)
    circuit.x([0, 3])
    circuit.append(_xy(0.6), [0, 1])
    circuit.measure(range(4), range(4))
    found = SectorSampler(n_samples=2, seed=0).run([circuit], shots=50).result()[0].data.c.get_counts()
    assert set(found) <= {"1001", "1010"}
    with pytest.raises(InputError, match="n_samples"):
        SectorSampler(n_samples=4).run([circuit], shots=5).result()
