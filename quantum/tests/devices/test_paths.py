"""Every path keeps the program: its output distribution, or its unitary where nothing depends on the start."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import QuantumCircuit
from qiskit.primitives.containers.sampler_pub import SamplerPub
from qiskit.quantum_info import Operator
from qiskit_ibm_runtime.utils import validate_rzz_pubs
from qiskit_ibm_runtime.utils.utils import is_isa_circuit

from biselect import SelectionProblem
from biselect_quantum.circuits import SCHEDULES, AnsatzSpec
from biselect_quantum.devices import PATHS, YFramePath, compile_circuit, to_qiskit
from biselect_quantum.devices.paths import STRONGEST_QISKIT, factorial
from biselect_quantum.devices.targets import load_target
from biselect_quantum.simulate.program import Op, Program

KINDS = ("fractional", "cz", "prx")
SCALES = (0.0, 1e-6, 0.3, 2.0, 100.0, 1e7)
Y_FRAMES = tuple(YFramePath(coloured=c, propagate=p) for c in (True, False) for p in (True, False))
EXACT = 1e-9
LEVEL_3 = 1e-4  # Qiskit's two-qubit blocks are made anew to a fidelity of 1 - 1e-9 each


def check(small, drawn, kind, path):
    """The compiled circuit gives the program's distribution, and the device takes it."""
    target = small.device(kind, drawn.edges, drawn.qubits)
    made = compile_circuit(drawn.program, target, drawn.layout, path, angles=drawn.angles)
    allowed = EXACT if isinstance(path, YFramePath) else LEVEL_3
    assert small.distance(small.ideal(made.bound), small.measured(made)) < allowed
    used = load_target(target, fractional=getattr(path, "fractional", True))
    assert is_isa_circuit(made.gates, used) == ""
    validate_rzz_pubs([SamplerPub.coerce((made.gates,))])
    return made


@given(
    seed=st.integers(0, 1 << 30),
    qubits=st.integers(3, 9),
    extra=st.integers(0, 2),
    scale=st.sampled_from(SCALES),
    schedule=st.sampled_from(SCHEDULES),
    kind=st.sampled_from(KINDS),
    path=st.sampled_from(Y_FRAMES),
)
@settings(max_examples=60)
def test_the_y_frame_gives_the_programs_distribution(small, seed, qubits, extra, scale, schedule, kind, path):
    rng = np.random.default_rng(seed)
    drawn = small.case(rng, qubits, scale=scale, schedule=schedule, extra=extra, special=True)
    made = check(small, drawn, kind, path)
    assert made.resources.swaps == 0


@given(
    seed=st.integers(0, 1 << 30), scale=st.sampled_from(SCALES), path=st.sampled_from((*factorial(), STRONGEST_QISKIT))
)
@settings(max_examples=25)
def test_every_qiskit_path_gives_the_programs_distribution(small, seed, scale, path):
    drawn = small.case(np.random.default_rng(seed), 6, scale=min(scale, 100.0) if path.late else scale, special=True)
    check(small, drawn, "fractional", path)


def dense_case(trial, start):
    """Every coupling of 2 + 4 variables, some of them tiny, on a device that joins every pair."""
    rng = np.random.default_rng([5, trial])
    scores = {"sample_scores": rng.normal(size=2), "feature_scores": rng.normal(size=4)}
    problem = SelectionProblem(coupling=rng.normal(size=(2, 4)), k=1, m=1, **scores)
    angles = rng.normal(size=8)
    angles[2] *= 10.0**-trial
    program = AnsatzSpec(problem, 2, "fully-grouped", "path", start, seed=rng).program()
    everyone = [(i, j) for i in range(6) for j in range(i)]
    return SimpleNamespace(program=program, angles=angles, edges=everyone, layout=list(range(6)), qubits=6)


@pytest.mark.parametrize("trial", range(6))
def test_dense_costs_dicke_starts_and_tiny_angles(small, trial):
    for path in (PATHS["opt3-cz"], PATHS["complete-cz"], PATHS["strongest-qiskit"]):
        check(small, dense_case(trial, "dicke"), "fractional", path)
    for path in (*Y_FRAMES, PATHS["opt3-cz"]):
        check(small, dense_case(trial, "random"), "fractional", path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(150))
def test_hundreds_of_patches_schedules_and_starts(small, seed):
    rng = np.random.default_rng([17, seed])
    options = {"extra": seed % 3, "schedule": SCHEDULES[seed % 5], "scale": SCALES[seed % len(SCALES)], "special": True}
    drawn = small.case(rng, int(rng.integers(4, 13)), **options)
    for kind in KINDS:
        for path in Y_FRAMES:
            check(small, drawn, kind, path)
    drawn.angles = np.clip(drawn.angles, -1e3, 1e3)  # Qiskit's sums of open angles lose the digits of huge ones
    for path in (*factorial(), STRONGEST_QISKIT):
        check(small, drawn, "fractional", path)


@given(seed=st.integers(0, 1 << 30), scale=st.sampled_from(SCALES[:-1]), kind=st.sampled_from(KINDS))
@settings(max_examples=20)
def test_without_propagation_the_unitary_is_the_programs(small, seed, scale, kind):
    rng = np.random.default_rng(seed)
    drawn = small.case(rng, int(rng.integers(3, 7)), scale=scale, extra=int(rng.integers(3)), special=True)
    target = small.device(kind, drawn.edges, drawn.qubits)
    made = compile_circuit(drawn.program, target, drawn.layout, YFramePath(propagate=False), angles=drawn.angles)
    circuit = made.gates.remove_final_measurements(inplace=False)
    placed = QuantumCircuit(drawn.qubits)
    placed.append(to_qiskit(made.bound, measure=False).to_gate(), drawn.layout)
    ours, theirs = Operator(circuit).data, Operator(placed).data
    overlap = np.vdot(theirs, ours) / len(ours)
    assert abs(overlap) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [3, 5])
def test_odd_rings_and_complete_mixers_cost_a_change_of_side_and_stay_exact(small, kind, size):
    rng = np.random.default_rng(size)
    drawn = small.case(rng, size + 2, split=size, budgets=(2, 1))
    everyone = [(i, j) for i in range(size + 2) for j in range(i)]
    for mixer in ("ring", "complete"):
        drawn.program = AnsatzSpec(drawn.problem, 2, "fully-grouped", mixer, "random", seed=rng).program()
        drawn.edges, drawn.angles = everyone, rng.normal(size=8)
        for path in Y_FRAMES:
            check(small, drawn, kind, path)


@pytest.mark.parametrize("beta", [0.0, np.pi, -np.pi, np.pi / 2, 2 * np.pi])
def test_mixing_by_special_angles(small, beta):
    drawn = small.case(np.random.default_rng(3), 7, depth=2, schedule="tied")
    drawn.angles = [0.7, beta]
    for path in Y_FRAMES:
        made = check(small, drawn, "fractional", path)
    if abs(np.sin(beta)) < 1e-9:
        moved = check(small, drawn, "fractional", YFramePath()).gates
        assert set(moved.count_ops()) <= {"x", "measure"}  # nothing moves, so the start is what is measured
    assert made.path is Y_FRAMES[-1]


def test_routed_circuits_come_back_in_the_logical_order(small):
    """A dense cost on a line: SWAPs move qubits about, and classical bit q is still logical qubit q."""
    rng = np.random.default_rng(8)
    drawn = small.case(rng, 7, split=4, budgets=(2, 1))
    dense = drawn.problem.__class__(coupling=rng.normal(size=(4, 3)), k=2, m=1)
    line = [(q, q + 1) for q in range(6)]
    target = small.device("fractional", line, 7)
    program = AnsatzSpec(dense, 1, "fully-grouped", "ring", "dicke").program([0.3, 0.2, 0.8, 0.6])
    for name in ("opt3-cz", "opt3-fractional"):
        made = compile_circuit(program, target, None, PATHS[name], seed=1)
        assert small.distance(small.ideal(made.bound), small.measured(made)) < EXACT
        assert made.resources.swaps > 0 and made.layout.begins_on != made.layout.measured_on


@given(seed=st.integers(0, 1 << 30), kind=st.sampled_from(KINDS), propagate=st.booleans())
@settings(max_examples=60)
def test_any_sequence_of_operations_is_kept(small, seed, kind, propagate):
    """Programs that no ansatz makes: mixing and phases in any order, qubits whose last operation is a phase."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    ops = []
    for op in rng.choice(["rz", "rzz", "xy", "xy"], size=int(rng.integers(1, 30))).tolist():
        reach = n - (op == "xy" and n > 2)  # the last qubit is the only feature
        qubits = tuple(rng.choice(reach, 1 if op == "rz" else 2, replace=False).tolist())
        if op == "xy" and n == 2:
            continue
        ops.append(Op(kind=op, qubits=qubits, angle=float(rng.choice([np.pi, -np.pi / 2, *rng.normal(size=6)]))))
    bits = tuple(rng.integers(0, 2, size=n).tolist())
    program = Program(n_samples=n - 1, n_features=1, k=sum(bits[:-1]), m=bits[-1], bits=bits, layers=(tuple(ops),))
    edges = [(i, j) for i in range(n) for j in range(i)]
    drawn = SimpleNamespace(program=program, angles=None, edges=edges, layout=rng.permutation(n).tolist(), qubits=n)
    check(small, drawn, kind, YFramePath(coloured=False, propagate=propagate))
