"""Ion traps by name: their figures, their targets, patches of all pairs, and times of gates in turn."""

import json
from math import pi

import numpy as np
import pytest
from qiskit import QuantumCircuit

from biselect import Group, Rules, SelectionProblem
from biselect.cli.options import DEVICES, REGISTER_NAMES
from biselect.errors import InputError
from biselect.hardware import compile_problem
from biselect.hardware.compiled_circuit import count_resources
from biselect.hardware.noise import cut_noise
from biselect.hardware.patches import REGISTERS, choose_patch
from biselect.hardware.placement import place
from biselect.hardware.published import _tables, ion_traps, named_devices, published, source
from biselect.hardware.targets import from_snapshot, load_target, snapshot
from biselect.hardware.timing import seconds_in_turn
from biselect.qaoa.mixers import MIXERS


def test_the_command_line_knows_every_named_target():
    assert DEVICES == tuple(named_devices()) and REGISTER_NAMES == REGISTERS


@pytest.mark.parametrize("name", list(ion_traps()))
def test_every_figure_has_a_source_and_stands_in_the_target(name):
    trap, target = ion_traps()[name], load_target(name)
    assert all(source(key) for _, key in trap.figures.values())
    assert target.num_qubits == trap.qubits and len(target[trap.pair]) == trap.qubits * (trap.qubits - 1)
    assert target[trap.pair][3, 1].error == trap.pair_error() and target["rz"][(2,)].error == 0
    assert target["measure"][(0,)].error == trap.readout_error
    assert target[trap.pulses[0]][(0,)].duration == trap.figure("pulse_seconds")
    taken = snapshot(target)
    assert snapshot(from_snapshot(json.loads(json.dumps(taken)))) == taken
    assert snapshot(load_target(target, fractional=False)) == taken  # there is no CZ to do with instead


def test_no_source_is_without_a_figure():
    used = {key for trap in ion_traps().values() for _, key in trap.figures.values()}
    used |= {entry["source"] for entry in named_devices().values() if "source" in entry}
    assert used == set(_tables()["sources"])


def test_small_angles_err_less_where_the_law_is_published():
    trap = published("quantinuum-h2")
    law = [trap.pair_error(angle) - trap.pair_error(0.0) for angle in (0.1, -0.2, 0.4)]
    assert np.allclose(law, 1.05e-3 * 1.518 / pi * np.array([0.1, 0.2, 0.4]))
    assert trap.pair_error() == pytest.approx(1.05e-3 + 2.4 * 2.03e-4, rel=1e-6)  # the law is 1 at the full gate
    assert published("quantinuum-helios").pair_error(0.1) == 7.9e-4
    assert published("boston") is None and published(load_target("ionq-forte")) is ion_traps()["ionq-forte"]


def test_an_ion_trap_needs_no_search_and_keeps_every_coupling():
    problem = SelectionProblem(coupling=np.random.default_rng(0).normal(size=(30, 20)), k=3, m=2)
    target = load_target("quantinuum-helios")
    for registers, mixer in (("auto", "ring"), ("rings", "ring"), ("paths", "path"), ("complete", "complete")):
        patch = choose_patch(target, 30, 20, registers=registers)
        placement = place(problem, patch)
        assert len(patch.cross_edges) == 600 and placement.proven_optimal
        assert placement.mass == pytest.approx(np.abs(problem.coupling).sum())
        edges = {tuple(sorted(edge)) for group in MIXERS[mixer](30) for edge in group}
        assert set(patch.sample_edges) == edges
    with pytest.raises(InputError, match="needs 99 qubits"):
        choose_patch(target, 50, 49)


def test_noisy_qubits_are_left_out():
    content = snapshot(load_target("ionq-aria"))
    del content["hash"]
    content["gates"]["measure"]["error"][4] = 0.05
    for place_, pair in enumerate(content["gates"]["rxx"]["qubits"]):
        if 7 in pair:
            content["gates"]["rxx"]["error"][place_] = 0.02
    patch = choose_patch(from_snapshot(content), 12, 11)
    assert set(range(25)) - set(patch.layout) == {4, 7}


def test_rules_keep_their_groups_on_an_ion_trap():
    rules = Rules(forced_in=[1], groups=[Group(members=(0, 2, 3), exactly=1)])  # and one of 4, 5 and 6
    problem = SelectionProblem(coupling=np.random.default_rng(1).normal(size=(7, 4)), k=3, m=2, sample_rules=rules)
    made = compile_problem(problem, "quantinuum-h1", depth=1, compare=False)
    assert set(made.patch.sample_edges) == {(0, 2), (2, 3), (0, 3), (4, 5), (5, 6), (4, 6)}
    assert made.manifest()["retained_share"] == 1.0


def test_gates_take_turns_where_the_device_runs_few_at_once():
    target = load_target("ionq-aria")
    circuit = QuantumCircuit(25, 4)
    for qubit in range(4):
        circuit.sx(qubit)
        circuit.rz(0.1, qubit)
    circuit.rxx(0.1, 0, 1)
    circuit.rxx(0.1, 2, 3)
    circuit.measure(range(4), range(4))
    pulse, pair, readout = 135e-6, 600e-6, 300e-6
    resources = count_resources(circuit, target)
    assert resources.gate_duration == pytest.approx(4 * pulse + 2 * pair)
    assert resources.duration == pytest.approx(4 * pulse + 2 * pair + readout)
    assert seconds_in_turn(circuit, target, at_once=2) == pytest.approx(2 * pulse + pair + readout)
    assert count_resources(QuantumCircuit(20), load_target("quantinuum-h1")).duration == 0
    circuit = QuantumCircuit(20)
    circuit.r(0.1, 0.2, 0)
    assert count_resources(circuit, load_target("quantinuum-h1")).duration is None


def test_noise_follows_the_angle_and_waiting_the_turns():
    problem = SelectionProblem(coupling=np.random.default_rng(3).normal(size=(3, 3)), k=1, m=1)
    made = compile_problem(problem, "quantinuum-h1", [0.2, 0.3, 0.4, 0.5], depth=2, compare=False)
    trap = ion_traps()["quantinuum-h1"]
    steps = [step for step in cut_noise(made.compiled, made.target).plain.steps if step.name == "rzz"]
    assert all(sum(step.chances) == pytest.approx(1.0) for step in steps)
    errs = [sum(step.chances[1:]) for step in steps]
    wanted = [1.25 * trap.pair_error(step.angles[0]) for step in steps]  # a Pauli error from an average infidelity
    assert errs == pytest.approx(wanted, rel=1e-6) and len(steps) > 5
    slow = compile_problem(problem, "ionq-aria", [0.2, 0.3, 0.4, 0.5], depth=2, compare=False)
    waiting = cut_noise(slow.compiled, slow.target, idle=True).plain
    assert sum(step.name == "id" for step in waiting.steps) > 10
