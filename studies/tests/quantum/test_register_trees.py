"""Registers as trees of tensors against the state vector of the same circuit, cross gates left out, errors put in."""

import numpy as np
import pytest
from qiskit.circuit.library import get_standard_gate_name_mapping
from qiskit.quantum_info import Pauli, Statevector

from biselect.errors import InputError
from biselect_quantum.devices.noise import cut_noise, noisy_shots
from biselect_quantum.devices.noise.noisy_circuit import draw_trajectories, pauli_labels
from biselect_quantum.devices.noise.sampling import _shared
from biselect_studies.quantum import register_trees
from biselect_studies.quantum.register_trees import register_shots

SHOTS = 8000
LIBRARY = get_standard_gate_name_mapping()


def probabilities(noisy, tree, trajectory):
    """What a register's bits are under one trajectory of errors: a state vector, step by step."""
    own = [noisy.reads[bit] for bit in tree.bits]
    state = Statevector.from_int(0, 2**noisy.width)
    for number, step in enumerate(noisy.steps):
        place = list(step.qubits)
        if set(place) <= set(own) or not set(place) & set(own):
            state = state.evolve(LIBRARY[step.name].base_class(*step.angles), place)
        for wrong, pauli in trajectory:
            if wrong == number:
                state = state.evolve(Pauli(pauli_labels(len(place))[pauli]), place)
    return state.probabilities(own)


@pytest.mark.parametrize("path", ["y-frame", "complete-fractional", "opt3-cz"])
@pytest.mark.parametrize("widest", [32, 2])
def test_a_tree_gives_the_bits_of_the_state_vector(small, path, widest, monkeypatch):
    monkeypatch.setattr(register_trees, "WIDEST", widest)
    case, target = small.drawn(seed=3, qubits=8, split=5)
    made = small.compiled(case, target, path)
    noisy = cut_noise(made, target)
    rng = np.random.default_rng(0)
    trajectories = sorted(draw_trajectories(noisy, 300, rng), key=len)
    for trajectory in (trajectories[0], trajectories[-1]):
        for tree in register_trees.register_trees(noisy, 5):
            expected = probabilities(noisy, tree, trajectory)
            bits = tree.draw([trajectory], np.array([SHOTS]), rng)
            found = np.bincount(bits @ (1 << np.arange(bits.shape[1])), minlength=expected.size) / SHOTS
            noise = np.sqrt(expected * (1 - expected) / SHOTS)
            assert np.abs(found - expected).max() < 5 * noise.max() + 1e-4


def test_shots_of_registers_lose_as_much_to_errors_as_those_of_the_whole(small):
    case, target = small.drawn(seed=4, qubits=7)
    made = small.compiled(case, target)
    ours = register_shots(made, 1500, seed=1)
    whole = noisy_shots(made, 1500, most_trajectories=60, seed=1)
    assert ours.flawless == whole.flawless
    masses = [each.shots.exact_budget_mass for each in (ours, whole)]
    assert masses[0] == pytest.approx(masses[1], abs=0.06)
    assert "cross gates left out" in ours.label
    again = register_shots(made, 1500, seed=1).shots
    assert np.array_equal(again.bits, ours.shots.bits) and np.array_equal(again.counts, ours.shots.counts)
    flawless = register_shots(made, 500, errors=False)
    assert flawless.flawless == flawless.shots.exact_budget_mass == 1


def test_a_register_with_a_loop_is_refused(small):
    case, target = small.drawn(seed=5, qubits=6, split=5, extra=12)
    with pytest.raises(InputError, match="close a loop; use noisy_shots"):
        register_shots(small.compiled(case, target, "opt3-cz"), 10)


def test_few_trajectories_stand_in_for_many_and_no_shot_is_lost():
    trajectories = {(): 50, ((0, 1),): 30, ((0, 2),): 2, ((1, 3), (2, 1)): 18}
    found = _shared(trajectories, 2, np.random.default_rng(0))
    assert sum(found.values()) == 100 and found[()] == 50
    assert set(found) <= set(trajectories) and len(found) <= 3
    assert _shared(trajectories, 50, np.random.default_rng(0)) == trajectories
    often = sum(_shared(trajectories, 1, np.random.default_rng(seed)).get(((0, 1),), 0) > 0 for seed in range(200))
    assert 90 < often < 150  # three of five shots with errors have that trajectory
