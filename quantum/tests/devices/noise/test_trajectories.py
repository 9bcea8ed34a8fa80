"""State vectors of trajectories against Qiskit's, gate by gate, and chances against density matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import QuantumCircuit
from qiskit.circuit.library import get_standard_gate_name_mapping
from qiskit.quantum_info import Statevector

from biselect.errors import InputError
from biselect_quantum.devices.noise import cut_noise, noisy_probabilities
from biselect_quantum.devices.noise import sampling as trajectories
from biselect_quantum.devices.noise._vectors import FRAMES, ONE_QUBIT, StagedCircuit
from biselect_quantum.devices.noise.noisy_circuit import (
    NoisyCircuit,
    Step,
    draw_faulty_trajectories,
    draw_trajectories,
    pauli_labels,
)

GATES = [*ONE_QUBIT, *FRAMES, "cz", "cp", "cx", "swap"]
SINGLE = 1e-5
LIBRARY = get_standard_gate_name_mapping()


def random_steps(rng, qubits, count):
    """Any gate that is known, anywhere, at any angle."""
    for _ in range(count):
        gate = LIBRARY[GATES[rng.integers(len(GATES))]]
        if gate.num_qubits <= qubits:
            angles = tuple(rng.normal(scale=2, size=len(gate.params)).tolist())
            yield Step(gate.name, tuple(rng.permutation(qubits)[: gate.num_qubits].tolist()), angles, (1.0,))


def with_paulis(steps, qubits, trajectory):
    """Qiskit's circuit of the steps, with what goes wrong written in."""
    circuit, wrong = QuantumCircuit(qubits), dict(trajectory)
    for number, step in enumerate(steps):
        circuit.append(type(LIBRARY[step.name])(*step.angles), step.qubits)
        letters = pauli_labels(len(step.qubits))[wrong.get(number, 0)]
        for qubit, letter in zip(step.qubits, reversed(letters), strict=True):
            if letter != "I":
                getattr(circuit, letter.lower())(qubit)
    return circuit


@given(seed=st.integers(0, 10_000), qubits=st.integers(1, 5), count=st.integers(1, 40))
@settings(max_examples=30)
def test_any_gates_with_any_errors_give_qiskits_state(seed, qubits, count):
    rng = np.random.default_rng(seed)
    steps = tuple(random_steps(rng, qubits, count))
    trajectories = [()]
    for share in (0.05, 0.5):
        wrong = [number for number in range(len(steps)) if rng.random() < share]
        trajectories.append(tuple((number, int(rng.integers(1, 4 ** len(steps[number].qubits)))) for number in wrong))
    reads = tuple(rng.permutation(qubits).tolist())
    circuit = NoisyCircuit(steps=steps, reads=reads, confusion=np.tile(np.eye(2), (qubits, 1, 1)))
    for trajectory, found in StagedCircuit(circuit).probabilities(trajectories):
        expected = Statevector(with_paulis(steps, qubits, trajectory)).probabilities(list(reads))
        assert np.abs(found - expected).max() < SINGLE


@pytest.mark.parametrize(
    "real, close",
    [
        (np.float32, SINGLE),
        pytest.param(np.float64, 1e-12, marks=pytest.mark.slow),  # each precision is compiled
    ],
)
def test_states_wider_than_a_block_are_right(real, close):
    """Fourteen qubits: some are turned over the whole state, others in blocks."""
    rng = np.random.default_rng(5)
    steps = tuple(random_steps(rng, 14, 150))
    trajectory = ((3, 2), (70, 1), (149, 3))
    circuit = NoisyCircuit(steps=steps, reads=tuple(range(14)), confusion=np.tile(np.eye(2), (14, 1, 1)))
    (_, found), _ = StagedCircuit(circuit, real).probabilities([trajectory, ()])
    assert 0.5 * np.abs(found - Statevector(with_paulis(steps, 14, trajectory)).probabilities()).sum() < close


def test_qubits_that_nobody_reads_are_summed_over():
    steps = (Step("h", (0,)), Step("cx", (0, 1)), Step("ry", (2,), (0.7,)))
    circuit = NoisyCircuit(steps=steps, reads=(2, 0), confusion=np.tile(np.eye(2), (2, 1, 1)))
    ((_, found),) = StagedCircuit(circuit).probabilities([()])
    one = np.sin(0.35) ** 2
    assert np.allclose(found, [(1 - one) / 2, one / 2, (1 - one) / 2, one / 2])


def twirled_distribution(small, noisy):
    """What is read of all bits, by the density matrix of the twirled channels, waiting included."""
    return small.misread(small.step_by_step(small.twirled(noisy)), noisy.confusion)


@pytest.mark.parametrize("path, idle", [("y-frame", False), ("opt3-cz", True)])
def test_chances_are_those_of_the_twirled_density_matrix(small, path, idle):
    case, target = small.drawn(seed=6, qubits=6, split=3)
    made = small.compiled(case, target, path)
    noisy = cut_noise(made, target, idle=idle)
    expected = twirled_distribution(small, noisy)
    n = case.problem.n_samples
    choice = case.program.choice
    state = sum(1 << qubit for qubit in [*choice[0], *(n + feature for feature in choice[1])])
    inside = [
        (x & (2**n - 1)).bit_count() == case.problem.k and (x >> n).bit_count() == case.problem.m for x in range(64)
    ]
    found = noisy_probabilities(made, [choice], trajectories=500, idle=idle, threads=2)
    assert 0 < found.mass_error < 0.03 and 0 < found.hit_error < 0.03
    assert abs(found.mass - expected[inside].sum()) < 4 * found.mass_error
    assert abs(found.hit - expected[state]) < 4 * found.hit_error
    assert found.ideal_hit == pytest.approx(small.ideal(made.bound)[state], abs=1e-5)


def test_shots_of_product_states_and_of_vectors_agree(small, monkeypatch):
    case, target = small.drawn(seed=6, qubits=5, split=3)
    noisy = cut_noise(small.compiled(case, target), target, idle=True)
    expected, shots = twirled_distribution(small, noisy), 3000
    for vectors in (True, False):
        monkeypatch.setattr(trajectories, "runs_faster_as_vectors", lambda circuit, chosen=vectors: chosen)
        table, flawless = trajectories.noisy_table(noisy, shots, seed=1, most=None if vectors else 300)
        found = np.bincount(table.astype(np.int64) @ (1 << np.arange(5)), minlength=32) / shots
        assert small.distance(found, expected) < (0.05 if vectors else 0.08)
        assert flawless == pytest.approx(noisy.flawless, abs=0.05)


def test_the_estimates_choose_by_how_the_qubits_are_joined():
    def chain(width, layers, joined):
        steps = [Step("rx", (q,), (0.3,)) for _ in range(layers) for q in range(width)]
        pairs = joined(width)
        steps += [Step("rzz", pair, (0.4,)) for _ in range(layers) for pair in pairs]
        return NoisyCircuit(steps=tuple(steps), reads=tuple(range(width)), confusion=np.tile(np.eye(2), (width, 1, 1)))

    line = lambda width: [(q, q + 1) for q in range(width - 1)]  # noqa: E731
    everything = lambda width: [(a, b) for a in range(width) for b in range(a + 1, width)]  # noqa: E731
    assert trajectories.runs_faster_as_vectors(chain(8, 2, line))
    assert trajectories.runs_faster_as_vectors(chain(20, 3, everything))
    assert not trajectories.runs_faster_as_vectors(chain(22, 2, line))
    assert not trajectories.runs_faster_as_vectors(chain(30, 2, everything))


@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_courses_come_as_often_as_they_should(seed):
    chances = np.random.default_rng(seed).dirichlet([20, 1, 1, 1], size=4)
    steps = tuple(Step("x", (0,), (), tuple(row)) for row in chances.tolist())
    circuit = NoisyCircuit(steps=steps, reads=(0,), confusion=np.eye(2)[None])
    shots = 4000
    free = draw_trajectories(circuit, shots, np.random.default_rng(seed))
    wrong = draw_faulty_trajectories(circuit, shots, np.random.default_rng(seed))
    assert sum(free.values()) == sum(wrong.values()) == shots and () not in wrong
    assert abs(free.get((), 0) / shots - circuit.flawless) < 5 / np.sqrt(shots)
    for trajectory in set(free) - {()} | set(wrong):
        chance = np.prod([chances[number, dict(trajectory).get(number, 0)] for number in range(4)])
        for found, expected in ((free, chance), (wrong, chance / (1 - circuit.flawless))):
            assert abs(found.get(trajectory, 0) / shots - expected) < 6 * np.sqrt(expected / shots) + 2 / shots


def test_unknown_gates_and_wide_states_are_refused():
    empty = {"confusion": np.eye(2)[None], "reads": (0,)}
    with pytest.raises(InputError, match="do not know the gate ecr"):
        StagedCircuit(NoisyCircuit(steps=(Step("ecr", (0, 1)),), **empty))
    with pytest.raises(InputError, match=r"step 0, x, do not add up to 1"):
        NoisyCircuit(steps=(Step("x", (0,), (), (0.5, 0.1, 0.1, 0.1)),), **empty)
    with pytest.raises(InputError, match="too many for a state vector"):
        StagedCircuit(NoisyCircuit(steps=tuple(Step("x", (q,)) for q in range(25)), **empty))
