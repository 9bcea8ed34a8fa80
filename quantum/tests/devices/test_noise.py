"""Noise models against a density matrix written out step by step, and mitigation that cannot flatter."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit.quantum_info import DensityMatrix, SuperOp, average_gate_fidelity
from qiskit_aer.noise import depolarizing_error, pauli_error, thermal_relaxation_error

from biselect.errors import InputError
from biselect_quantum.devices import PATHS, compile_circuit
from biselect_quantum.devices.decode import Shots
from biselect_quantum.devices.noise import LABEL, NoisyShots, cut_noise, filled_in, mitigate, noisy_shots
from biselect_quantum.devices.noise.courses import pauli_labels, twirled
from biselect_quantum.devices.noise.trajectories import noisy_table, without_inflation
from biselect_quantum.devices.targets import from_snapshot, snapshot
from biselect_quantum.simulate.program import RZZ
from biselect_studies.quantum.registers import distribution, read_out, register_mass

MICRO = 1e-6
SINGLE = 1e-5


def noisy_device(small, edges, qubits, *, gates=0.02, readout=0.03, t1=20 * MICRO, seed=0):
    """A small device whose gates, readout and qubits all err, each a little differently."""
    content = snapshot(small.device("fractional", edges, qubits))
    rng = np.random.default_rng(seed)
    for name, gate in content["gates"].items():
        size = readout if name == "measure" else 0.0 if name == "rz" else gates
        gate["error"] = (size * rng.uniform(0.5, 1.5, len(gate["error"]))).tolist()
    content["t1"] = None if t1 is None else (t1 * rng.uniform(0.5, 1.5, qubits)).tolist()
    content["t1"] = content["t1"] or [None] * qubits
    content["t2"] = [None if time is None else 1.4 * time for time in content["t1"]]  # beyond T1: no mere mixture
    del content["hash"]
    return from_snapshot(content)


def drawn(small, seed=0, qubits=6, split=3, **more):
    case = small.case(np.random.default_rng(seed), qubits, split=split, depth=2, **more)
    return case, noisy_device(small, case.edges, qubits)


def compiled(case, target, path="y-frame"):
    return compile_circuit(case.program, target, case.layout, PATHS[path], angles=case.angles)


def step_by_step(noisy):
    """Probabilities of all classical bits before readout: every gate, then its error, on one density matrix."""
    state = DensityMatrix.from_int(0, 2**noisy.circuit.num_qubits)
    for step in noisy.circuit.data:
        if step.operation.name == "measure":
            continue
        place = [noisy.circuit.find_bit(qubit).index for qubit in step.qubits]
        state = state.evolve(SuperOp(step.operation), place)
        if (step.operation.name, tuple(place)) in noisy.errors:
            state = state.evolve(SuperOp(noisy.errors[step.operation.name, tuple(place)]), place)
    return state.probabilities([noisy.reads[bit] for bit in range(noisy.circuit.num_clbits)])


def misread(probabilities, confusion):
    """Probabilities of what is read, by the whole matrix."""
    matrix = np.ones((1, 1))
    for bit in confusion:
        matrix = np.kron(bit, matrix)
    return probabilities @ matrix


def mass(probabilities, problem):
    n = problem.n_samples
    inside = [
        (state & ((1 << n) - 1)).bit_count() == problem.k and (state >> n).bit_count() == problem.m
        for state in range(probabilities.size)
    ]
    return float(probabilities[inside].sum())


def without_cross_gates(case):
    layers = tuple(tuple(op for op in layer if op.kind != RZZ) for layer in case.program.layers)
    return replace(case.program, layers=layers)


def test_the_model_is_cut_to_the_circuits_qubits(small):
    case, _ = drawn(small)
    edges = [(i + 2, j + 2) for i, j in case.edges] + [(0, 1), (1, 2)]
    target = noisy_device(small, edges, 8)
    noisy = cut_noise(compile_circuit(case.program, target, range(2, 8), angles=case.angles), target)
    assert sorted(noisy.physical) == [2, 3, 4, 5, 6, 7]
    for (name, place), error in noisy.errors.items():
        recorded = target[name][tuple(noisy.physical[qubit] for qubit in place)].error
        assert 1 - average_gate_fidelity(SuperOp(error)) == pytest.approx(recorded, rel=1e-6)
    for bit, qubit in noisy.reads.items():
        assert noisy.confusion[bit, 0, 1] == pytest.approx(target["measure"][(noisy.physical[qubit],)].error)


@pytest.mark.parametrize("path", ["y-frame", "complete-fractional", "opt3-cz"])
def test_density_matrices_agree_with_the_step_by_step_one(small, path):
    case, target = drawn(small, seed=3)
    noisy = cut_noise(compiled(case, target, path), target)
    assert small.distance(distribution(noisy, range(case.qubits)), step_by_step(noisy)) < SINGLE


def test_without_errors_nothing_changes(small):
    case = small.case(np.random.default_rng(1), 6, split=3, depth=2)
    target = noisy_device(small, case.edges, 6, gates=0.0, readout=0.0, t1=None)
    made = compiled(case, target)
    noisy = cut_noise(made, target)
    assert not noisy.errors
    assert small.distance(distribution(noisy, range(6)), small.ideal(made.program)) < SINGLE
    assert register_mass(case.program, target, case.layout, angles=case.angles).mass == pytest.approx(1, abs=SINGLE)
    shots = noisy_shots(made, target, case.problem, 200)
    assert shots.flawless == 1
    assert shots.shots.exact_budget_mass(case.problem) == 1


@pytest.mark.parametrize("path", ["y-frame", "complete-fractional"])
@pytest.mark.parametrize("readout", [True, False])
def test_register_mass_is_that_of_the_joint_density_matrix(small, path, readout):
    case, target = drawn(small, seed=4, qubits=7)
    plan = replace(PATHS[path], coloured=False)
    made = compile_circuit(without_cross_gates(case), target, case.layout, plan, angles=case.angles)
    noisy = cut_noise(made, target)
    expected = step_by_step(noisy)
    if readout:
        expected = misread(expected, noisy.confusion)
    found = register_mass(case.program, target, case.layout, plan, angles=case.angles, readout=readout)
    assert found.mass == pytest.approx(mass(expected, case.problem), abs=SINGLE)
    assert 0 < found.mass < 1


def test_readout_is_a_product_of_confusions():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(16))
    confusion = np.array([[[1 - p, p], [q, 1 - q]] for p, q in rng.uniform(0, 0.4, (4, 2))])
    assert np.allclose(read_out(probabilities, confusion), misread(probabilities, confusion))


def test_what_is_not_recorded_is_filled_in_only_by_a_rule_and_said(small):
    case, target = drawn(small)
    made, content = compiled(case, target), snapshot(target)
    del content["hash"]
    lost = content["gates"]["rx"]["error"]
    worst, kept = max(lost[1:]), lost[2]
    content["gates"]["rx"]["error"] = [None, *lost[1:]]
    content["gates"]["cz"]["error"] = [None] * len(content["gates"]["cz"]["error"])
    holed = from_snapshot(content)
    with pytest.raises(InputError, match=r"error of cz \(3×\), error of rx \(1×\)"):
        cut_noise(made, holed)
    half = filled_in(holed, "worst")  # nothing is known of cz
    with pytest.raises(InputError, match="error of cz") as refusal:
        cut_noise(made, half)
    assert "error of rx (" not in str(refusal.value)
    whole = filled_in(half, {"cz": 0.01})
    noisy = cut_noise(made, whole)
    assert (whole["rx"][0,].error, whole["rx"][2,].error) == (worst, kept)
    assert {entry.error for entry in whole["cz"].values()} == {0.01}
    said = f"filled in: error of rx {worst:.3g} at 1 of 6; filled in: error of cz 0.01"
    assert noisy.label == f"{LABEL}; {said}" and said in noisy_shots(made, whole, case.problem, 3).label
    assert filled_in(target, "worst").description == target.description  # nothing was missing


def test_waiting_needs_times(small):
    case, target = drawn(small)
    content = snapshot(target)
    del content["hash"]
    content["t2"] = [None, *content["t2"][1:]]
    short, made = from_snapshot(content), compiled(case, target)
    cut_noise(made, short)
    with pytest.raises(InputError, match=r"T2 of a waiting qubit \(1×\)"):
        cut_noise(made, short, idle=True)
    assert "t2" in cut_noise(made, filled_in(short, "worst"), idle=True).label


def test_gates_without_time_need_no_error(small):
    case, target = drawn(small)
    content = snapshot(target)
    del content["hash"]
    content["gates"]["rz"]["error"] = [None] * case.qubits
    assert cut_noise(compiled(case, target), from_snapshot(content)).label == LABEL


@pytest.mark.parametrize(
    "by, why",
    [("best", "not by 'best'"), ({"ecr": 0.1}, "has no ecr"), ({"cz": 2.0}, "neither"), ({"t1": None}, "finite")],
)
def test_fillings_that_make_no_sense_are_refused(small, by, why):
    with pytest.raises(InputError, match=why):
        filled_in(small.device("fractional", [(0, 1)], 2), by)


def test_waiting_costs_mass_only_where_qubits_relax(small):
    case, target = drawn(small, seed=5)
    busy = register_mass(case.program, target, case.layout, angles=case.angles)
    waiting = register_mass(case.program, target, case.layout, angles=case.angles, idle=True)
    assert waiting.mass < busy.mass
    lasting = noisy_device(small, case.edges, case.qubits, t1=1e6)
    there = register_mass(case.program, lasting, case.layout, angles=case.angles, idle=True)
    assert there.mass == pytest.approx(
        register_mass(case.program, lasting, case.layout, angles=case.angles).mass, abs=SINGLE
    )


@given(weights=st.lists(st.floats(0, 1), min_size=16, max_size=16).filter(lambda w: sum(w) > 0.1))
@settings(max_examples=25)
def test_a_pauli_channel_is_its_own_twirl(weights):
    chances = np.array(weights) / sum(weights)
    channel = pauli_error([(label, chance) for label, chance in zip(pauli_labels(2), chances, strict=True)])
    assert np.allclose(twirled(channel), chances, atol=1e-9)


def test_twirling_keeps_the_fidelity():
    relaxation = thermal_relaxation_error(50.0, 70.0, 3.0)
    channel = relaxation.expand(relaxation).compose(depolarizing_error(0.01, 2))
    chances = twirled(channel)
    assert chances.sum() == pytest.approx(1)
    # F = (d·p_I + 1)/(d + 1)
    assert (4 * chances[0] + 1) / 5 == pytest.approx(average_gate_fidelity(SuperOp(channel)))


def test_trajectories_follow_the_twirled_density_matrix(small):
    case, target = drawn(small, seed=6, qubits=5, split=3)
    noisy = cut_noise(compiled(case, target), target)
    channels = {
        place: pauli_error(list(zip(pauli_labels(len(place[1])), twirled(error), strict=True)))
        for place, error in noisy.errors.items()
    }
    expected = misread(step_by_step(replace(noisy, errors=channels)), noisy.confusion)
    shots = 4000
    table, flawless = noisy_table(noisy, shots, seed=1)
    found = np.bincount(table.astype(np.int64) @ (1 << np.arange(5)), minlength=32) / shots
    assert np.abs(found - expected).max() < 5 * np.sqrt(expected.max() / shots)
    assert 0.1 < flawless < 0.9
    assert np.array_equal(noisy_table(noisy, 50, seed=2)[0], noisy_table(noisy, 50, seed=2)[0])


def test_everything_says_what_it_is(small):
    case, target = drawn(small)
    made = compiled(case, target)
    for result in (
        cut_noise(made, target),
        noisy_shots(made, target, case.problem, 3),
        register_mass(case.program, target, case.layout, angles=case.angles),
    ):
        assert LABEL in result.label
    assert LABEL == "noise model, not hardware"


@given(data=st.data(), size=st.integers(1, 12))
@settings(max_examples=100)
def test_mitigation_never_flatters(data, size):
    weights = data.draw(st.lists(st.floats(-0.5, 1.0), min_size=size, max_size=size).filter(lambda w: sum(w) > 0.1))
    inside = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    quasi = np.array(weights) / sum(weights)
    if quasi[inside].sum() <= 0 and np.maximum(quasi[~inside], 0).sum() <= 0:
        return  # nothing is left
    found = without_inflation(quasi, inside)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    assert found[inside].sum() <= max(0.0, quasi[inside].sum()) + 1e-9
    assert not found[quasi <= 0].any()


def test_mitigation_undoes_misreading_and_invents_nothing(small):
    case = small.case(np.random.default_rng(7), 6, split=3, depth=2)
    target = noisy_device(small, case.edges, 6, gates=0.0, t1=None, readout=0.05)
    noisy = noisy_shots(compiled(case, target), target, case.problem, 4000)
    inside = noisy.shots.inside(case.problem)
    assert noisy.shots.exact_budget_mass(case.problem) < 0.85
    assert 0.97 < mitigate(noisy, case.problem)[inside].sum() <= 1
    clean = Shots(bits=noisy.shots.bits[inside], counts=noisy.shots.counts[inside])
    assert mitigate(replace(noisy, shots=clean), case.problem).sum() == pytest.approx(1)


def test_mitigation_knows_which_variable_is_misread(small):
    case = small.case(np.random.default_rng(8), 6, split=3, depth=2)
    bits = np.eye(6, dtype=np.uint8)
    shots = Shots(bits=bits, counts=np.array([100] * 6))
    confusion = np.tile(np.eye(2), (6, 1, 1))
    noisy = NoisyShots(shots=shots, confusion=confusion, flawless=1.0, seconds=0.0)
    assert np.allclose(mitigate(noisy, case.problem), 1 / 6)


def test_what_cannot_be_simulated_is_refused(small):
    case, target = drawn(small)
    made = compiled(case, target, "complete-fractional")
    with pytest.raises(InputError, match="shots"):
        noisy_shots(made, target, case.problem, 0)
    with pytest.raises(InputError, match="joins the register"):
        cut_noise(made, target, bits=range(case.problem.n_samples))
    with pytest.raises(InputError, match="compile"):
        cut_noise(made, small.device("prx", case.edges, case.qubits))
    blank = small.device("fractional", case.edges, case.qubits)
    with pytest.raises(InputError, match=r"error of measure \(6×\).*filled_in"):
        noisy_shots(made, blank, case.problem, 10)
    wide = small.case(np.random.default_rng(0), 16, split=14, depth=1)
    with pytest.raises(InputError, match="too wide"):
        register_mass(wide.program, small.device("fractional", wide.edges, 16), wide.layout, angles=wide.angles)
