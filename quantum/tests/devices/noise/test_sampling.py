"""Noise models against a density matrix written out step by step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit.quantum_info import SuperOp, average_gate_fidelity
from qiskit_aer.noise import depolarizing_error, pauli_error, thermal_relaxation_error

from biselect.errors import InputError
from biselect_quantum.devices import compile_circuit
from biselect_quantum.devices.noise import filled_in, noisy_shots
from biselect_quantum.devices.noise.device_noise import cut_noise
from biselect_quantum.devices.noise.noisy_circuit import LABEL, pauli_labels, pauli_probabilities
from biselect_quantum.devices.noise.sampling import noisy_table
from biselect_quantum.devices.targets import from_snapshot, snapshot

MICRO = 1e-6
SINGLE = 1e-5


def test_the_model_is_cut_to_the_circuits_qubits(small):
    case, _ = small.drawn()
    edges = [(i + 2, j + 2) for i, j in case.edges] + [(0, 1), (1, 2)]
    target = small.noisy_device(edges, 8)
    noisy = cut_noise(compile_circuit(case.program, target, range(2, 8), angles=case.angles))
    assert sorted(noisy.physical) == [2, 3, 4, 5, 6, 7]
    for step in noisy.steps:
        if step.channel is not None:
            recorded = target[step.name][tuple(noisy.physical[qubit] for qubit in step.qubits)].error
            assert 1 - average_gate_fidelity(SuperOp(step.channel)) == pytest.approx(recorded, rel=1e-6)
    for bit, qubit in enumerate(noisy.reads):
        assert noisy.confusion[bit, 0, 1] == pytest.approx(target["measure"][(noisy.physical[qubit],)].error)


def test_without_errors_nothing_changes(small):
    case = small.case(np.random.default_rng(1), 6, split=3, depth=2)
    target = small.noisy_device(case.edges, 6, gates=0.0, readout=0.0, t1=None)
    made = small.compiled(case, target)
    noisy = cut_noise(made, target)
    assert not noisy.sites
    assert small.distance(small.step_by_step(noisy), small.ideal(made.bound)) < SINGLE
    shots = noisy_shots(made, 200)
    assert shots.flawless == 1
    assert shots.shots.exact_budget_mass == 1


def test_what_is_not_recorded_is_filled_in_only_by_a_rule_and_said(small):
    case, target = small.drawn()
    made, content = small.compiled(case, target), snapshot(target)
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
    assert noisy.label == f"{LABEL}; {said}" and said in noisy_shots(made, 3, target=whole).label
    assert filled_in(target, "worst").description == target.description  # nothing was missing


def test_waiting_needs_times(small):
    case, target = small.drawn()
    content = snapshot(target)
    del content["hash"]
    content["t2"] = [None, *content["t2"][1:]]
    short, made = from_snapshot(content), small.compiled(case, target)
    cut_noise(made, short)
    with pytest.raises(InputError, match=r"T2 of a waiting qubit \(1×\)"):
        cut_noise(made, short, idle=True)
    assert "t2" in cut_noise(made, filled_in(short, "worst"), idle=True).label


def test_gates_without_time_need_no_error(small):
    case, target = small.drawn()
    content = snapshot(target)
    del content["hash"]
    content["gates"]["rz"]["error"] = [None] * case.qubits
    assert cut_noise(small.compiled(case, target), from_snapshot(content)).label == LABEL


@pytest.mark.parametrize(
    "by, why",
    [("best", "not by 'best'"), ({"ecr": 0.1}, "has no ecr"), ({"cz": 2.0}, "neither"), ({"t1": None}, "finite")],
)
def test_fillings_that_make_no_sense_are_refused(small, by, why):
    with pytest.raises(InputError, match=why):
        filled_in(small.device("fractional", [(0, 1)], 2), by)


@given(weights=st.lists(st.floats(0, 1), min_size=16, max_size=16).filter(lambda w: sum(w) > 0.1))
@settings(max_examples=25)
def test_a_pauli_channel_is_its_own_twirl(weights):
    chances = np.array(weights) / sum(weights)
    channel = pauli_error([(label, chance) for label, chance in zip(pauli_labels(2), chances, strict=True)])
    assert np.allclose(pauli_probabilities(channel), chances, atol=1e-9)


def test_twirling_keeps_the_fidelity():
    relaxation = thermal_relaxation_error(50.0, 70.0, 3.0)
    channel = relaxation.expand(relaxation).compose(depolarizing_error(0.01, 2))
    chances = pauli_probabilities(channel)
    assert chances.sum() == pytest.approx(1)
    # F = (d·p_I + 1)/(d + 1)
    assert (4 * chances[0] + 1) / 5 == pytest.approx(average_gate_fidelity(SuperOp(channel)))


def test_trajectories_follow_the_twirled_density_matrix(small):
    case, target = small.drawn(seed=6, qubits=5, split=3)
    noisy = cut_noise(small.compiled(case, target))
    expected = small.misread(small.step_by_step(small.twirled(noisy)), noisy.confusion)
    shots = 4000
    table, flawless = noisy_table(noisy, shots, seed=1)
    found = np.bincount(table.astype(np.int64) @ (1 << np.arange(5)), minlength=32) / shots
    assert np.abs(found - expected).max() < 5 * np.sqrt(expected.max() / shots)
    assert 0.1 < flawless < 0.9
    assert np.array_equal(noisy_table(noisy, 50, seed=2)[0], noisy_table(noisy, 50, seed=2)[0])


def test_everything_says_what_it_is(small):
    case, target = small.drawn()
    made = small.compiled(case, target)
    for result in (cut_noise(made, target), noisy_shots(made, 3)):
        assert LABEL in result.label
    assert LABEL == "noise model, not hardware"


def test_what_cannot_be_simulated_is_refused(small):
    case, target = small.drawn()
    made = small.compiled(case, target, "complete-fractional")
    with pytest.raises(InputError, match="shots"):
        noisy_shots(made, 0)
    with pytest.raises(InputError, match="joins the register"):
        cut_noise(made, target, variables=range(case.problem.n_samples))
    with pytest.raises(InputError, match="compile"):
        cut_noise(made, small.device("prx", case.edges, case.qubits))
    blank = small.device("fractional", case.edges, case.qubits)
    with pytest.raises(InputError, match=r"error of measure \(6×\).*filled_in"):
        noisy_shots(made, 10, target=blank)
