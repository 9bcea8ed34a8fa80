"""The compiled gates on Aer, and recorded devices with their errors."""

import json

import numpy as np
import pytest

from biselect.core.files import write_file
from biselect.errors import InputError
from biselect_quantum.devices import compile_circuit
from biselect_quantum.devices.execution._aer import AerSampling, NoisySampling
from biselect_quantum.devices.execution.run import plan
from biselect_quantum.devices.execution.samplers import NOISE_MODEL, foreign_device, sampler_for
from biselect_quantum.devices.noise import filled_in
from biselect_quantum.devices.noise.noisy_circuit import pauli_probabilities
from biselect_quantum.devices.paths import OPT3_CZ
from biselect_quantum.devices.qiskit_circuits import cut
from biselect_quantum.devices.targets import load_target, snapshot


def test_a_routed_circuit_is_read_through_its_layout(small):
    """Aer measures physical wires; decoding through the classical bits gives the budgets back."""
    drawn = small.case(np.random.default_rng(3), 6, split=3, budgets=(1, 1), extra=3)
    target = small.device("cz", [(q, q + 1) for q in range(5)], 6)
    made = compile_circuit(drawn.spec, target, None, OPT3_CZ, angles=drawn.angles)
    readout = AerSampling().sample(made, 500, 0)
    assert made.resources.swaps > 0
    assert made.decode(readout).exact_budget_mass == 1


def test_cutting_keeps_gates_and_classical_bits(stored):
    circuit = stored.gates
    small = cut(circuit)
    assert small.num_qubits == stored.bound.qubits < circuit.num_qubits
    assert small.count_ops() == circuit.count_ops() and small.depth() == circuit.depth()


def test_errors_that_nobody_recorded_are_not_taken_for_none(small):
    drawn = small.case(np.random.default_rng(3), 6, split=3)
    target = load_target("iqm-54")
    made = compile_circuit(drawn.program, target, None, OPT3_CZ, angles=drawn.angles)
    with pytest.raises(InputError, match=r"error of cz.*error of measure.*error of r"):
        sampler_for("noisy:iqm-54").check(made)


def test_repeats_share_one_noise_model(small, monkeypatch):
    drawn = small.case(np.random.default_rng(3), 5, split=3, depth=1)
    target = filled_in(
        small.device("fractional", drawn.edges, 5),
        {"rx": 1e-2, "sx": 1e-2, "x": 1e-2, "cz": 1e-2, "rzz": 1e-2, "measure": 1e-2},
    )
    made = compile_circuit(drawn.program, target, drawn.layout, angles=drawn.angles)
    monkeypatch.setattr("biselect_quantum.devices.execution._aer.load_target", lambda device: target)
    times = []
    monkeypatch.setattr(
        "biselect_quantum.devices.noise.device_noise.pauli_probabilities",
        lambda channel: times.append(1) or pauli_probabilities(channel),
    )
    sampler = NoisySampling("small")
    sampler.check(made)
    sampler.sample(made, 5, 0)
    once = len(times)
    sampler.sample(made, 5, 1)
    assert once == len(times) > 0
    assert "filled in: error of cz 0.01" in sampler.remark


def test_a_snapshot_file_is_named_with_its_hash_and_no_other_is_taken_for_it(
    stored, circuit_folder, tmp_path, monkeypatch
):
    blank = load_target(circuit_folder / "target.json")
    rates = dict.fromkeys(("rx", "sx", "x", "rzz", "measure", "cz"), 5e-3)
    content = snapshot(filled_in(blank, rates))
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / "mine.json", json.dumps(content))
    asked = plan(stored, "noisy:mine.json", shots=20, repeats=1, seed=0)
    assert asked["on"] == f"noisy:mine.json@{content['hash'][:12]}" and asked["kind"] == NOISE_MODEL
    sampler = sampler_for(asked["on"])
    assert sampler.name == sampler_for("noisy:mine.json").name == asked["on"]
    assert foreign_device("noisy:FakeBoston.json@0123456789ab", "boston") is None
    sampler.check(stored)
    sampler.sample(stored, 5, 0)
    assert f"snapshot file mine.json@{content['hash'][:12]}" in sampler.remark and "error of cz 0.005" in sampler.remark
    write_file(tmp_path / "mine.json", json.dumps(snapshot(filled_in(blank, {**rates, "cz": 6e-3}))))
    with pytest.raises(InputError, match=r"mine\.json: its hash begins with .*another file"):
        sampler_for(asked["on"])


@pytest.mark.slow
def test_noise_lowers_the_mass_and_keeps_the_order_of_bits(problem):
    from biselect_quantum.devices._from_problem import compile_problem

    made = compile_problem(problem, "boston", [0.4, 0.3], depth=1, schedule="tied", compare=False)
    sampler = sampler_for("noisy:FakeBoston")
    sampler.check(made)
    assert foreign_device("noisy:FakeBoston", made.target.description) is None
    readout = sampler.sample(made, 300, 3)
    mass = made.decode(readout).exact_budget_mass
    assert problem.sector.chance < 0.7 < mass < 1
    assert np.array_equal(sampler.sample(made, 300, 3).counts, readout.counts)
