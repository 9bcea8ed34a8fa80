"""All samplers measure the same distribution, bit for bit in the same order, and one seed fixes their shots."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit.quantum_info import Statevector

from biselect import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits import SCHEDULES, Ansatz, AnsatzSpec
from biselect_quantum.devices import to_qiskit
from biselect_quantum.devices.execution._aer import AerSampling
from biselect_quantum.devices.execution.exact_shots import SectorSampling, WideSampling, sector_state
from biselect_quantum.devices.execution.samplers import kind_of
from biselect_quantum.simulate.layers import Register
from biselect_quantum.simulate.program import Op, Program
from biselect_quantum.simulate.states import dense_vector

SHOTS = 4000


def overlap(program):
    """|⟨sector state, Qiskit's state⟩|."""
    sides = ((program.n_samples, program.k), (program.n_features, program.m))
    full = dense_vector(sector_state(program), *(Register(n=n, ones=chosen, classes=()) for n, chosen in sides))
    return abs(np.vdot(full, Statevector(to_qiskit(program, measure=False)).data))


@given(
    seed=st.integers(0, 1 << 30), qubits=st.integers(2, 8), schedule=st.sampled_from(SCHEDULES), scale=st.floats(0, 9)
)
@settings(max_examples=30)
def test_the_sector_state_is_qiskits(small, seed, qubits, schedule, scale):
    drawn = small.case(np.random.default_rng(seed), qubits, schedule=schedule, scale=scale, special=True)
    assert overlap(drawn.program.bind(drawn.angles)) == pytest.approx(1, abs=1e-10)


@given(seed=st.integers(0, 1 << 30))
@settings(max_examples=30)
def test_gates_may_stand_in_any_order(seed):
    """Angles that differ from edge to edge, edges that meet, phases in between: a chain of layers all the same."""
    rng = np.random.default_rng(seed)
    n, d = (int(size) for size in rng.integers(1, 5, size=2))
    ops = []
    for _ in range(int(rng.integers(1, 15))):
        kind = str(rng.choice(["rz", "rzz", "xy"]))
        side = (0, n) if rng.random() < n / (n + d) else (n, n + d)
        pair = (int(rng.integers(n)), n + int(rng.integers(d)))
        if kind == "xy":
            if side[1] - side[0] < 2:
                continue
            pair = tuple(int(q) for q in side[0] + rng.choice(side[1] - side[0], 2, replace=False))
        elif rng.random() < 0.5:
            pair = pair[::-1]
        qubits = pair[:1] if kind == "rz" else pair
        ops.append(Op(kind=kind, qubits=qubits, angle=float(rng.choice([0.3, rng.normal()]))))
    k, m = int(rng.integers(1, n + 1)), int(rng.integers(1, d + 1))
    bits = None if rng.random() < 0.3 else (*rng.permutation([1] * k + [0] * (n - k)), *([1] * m + [0] * (d - m)))
    bits = None if bits is None else tuple(int(bit) for bit in bits)
    program = Program(n_samples=n, n_features=d, k=k, m=m, bits=bits, layers=(tuple(ops),))
    # what follows the last mixing is a phase that no measurement sees, but the overlap would
    last = max((place for place, op in enumerate(ops) if op.kind == "xy"), default=-1)
    seen = Program(n_samples=n, n_features=d, k=k, m=m, bits=bits, layers=(tuple(ops[: last + 1]),))
    assert overlap(seen) == pytest.approx(1, abs=1e-10)
    assert np.allclose(np.abs(sector_state(program)), np.abs(sector_state(seen)))


@pytest.mark.slow
def test_a_large_sector_goes_through_the_compiled_kernels():
    """26,460 amplitudes, against the plain simulator of an ansatz."""
    rng = np.random.default_rng(4)
    problem = SelectionProblem(coupling=rng.normal(size=(10, 9)), sample_scores=rng.normal(size=10), k=4, m=4)
    angles = rng.normal(size=4)
    program = AnsatzSpec(problem, 2, "layerwise", "ring", "dicke").program(angles)
    wanted = Ansatz(problem, 2, "layerwise", "ring", "dicke", backend="plain").state(angles)
    assert abs(np.vdot(wanted, sector_state(program))) == pytest.approx(1, abs=1e-10)


def test_phases_within_a_register_are_refused():
    ops = (Op(kind="rzz", qubits=(1, 0), angle=0.1), Op(kind="xy", qubits=(0, 1), angle=0.1))
    program = Program(n_samples=2, n_features=1, k=1, m=1, bits=(1, 0, 1), layers=(ops,))
    with pytest.raises(InputError, match="within one register"):
        sector_state(program)


def probabilities(readout, width):
    table = np.zeros(1 << width)
    table[readout.bits @ (1 << np.arange(width))] = readout.counts / readout.shots
    return table


@pytest.mark.parametrize("sampler", [SectorSampling(), WideSampling(), AerSampling()], ids=lambda one: one.name)
def test_every_sampler_measures_the_programs_distribution(stored, small, sampler):
    readout = sampler.sample(stored, SHOTS, 7)
    assert readout.shots == SHOTS
    assert sampler.kind == kind_of(sampler.name) == "exact simulation, not hardware"
    ideal = small.ideal(stored.bound)
    noise = np.sqrt(np.count_nonzero(ideal > 1e-12) / SHOTS)  # of the total variation of so many shots
    assert stored.layout.read_into == tuple(range(stored.program.qubits))
    assert small.distance(ideal, probabilities(readout, stored.program.qubits)) < noise
    again = sampler.sample(stored, SHOTS, 7)
    assert np.array_equal(again.bits, readout.bits) and np.array_equal(again.counts, readout.counts)
    assert not np.array_equal(sampler.sample(stored, SHOTS, 8).counts, readout.counts)


def test_the_stored_program_is_the_compiled_one(stored, small):
    assert small.distance(small.ideal(stored.bound), small.measured(stored)) < 1e-9


def test_the_wide_sampler_refuses_a_dicke_start(problem, stored):
    from dataclasses import replace

    native = stored.compiled._replace(angles=np.array([0.1, 0.2]))
    circuit = replace(stored, source=AnsatzSpec(problem, 1, "tied", "path", "dicke"), native=native)
    with pytest.raises(InputError, match="basis state"):
        WideSampling().sample(circuit, 5, 0)
    with pytest.raises(InputError, match="basis state"):
        WideSampling().check(circuit)
