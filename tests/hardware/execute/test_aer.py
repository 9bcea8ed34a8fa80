"""The compiled gates on Aer, and recorded devices with their errors."""

import numpy as np
import pytest

from biselect.hardware import compile_circuit
from biselect.hardware.circuits import cut
from biselect.hardware.execute.aer import AerSampling
from biselect.hardware.execute.samplers import foreign_device, sampler_for


def test_a_routed_circuit_is_read_through_its_layout(small):
    """Aer measures physical wires; decoding through the classical bits gives the budgets back."""
    from biselect.hardware.paths import OPT3_CZ

    drawn = small.case(np.random.default_rng(3), 6, split=3, budgets=(1, 1), extra=3)
    target = small.device("cz", [(q, q + 1) for q in range(5)], 6)
    made = compile_circuit(drawn.program, target, None, OPT3_CZ, angles=drawn.angles)
    readout = AerSampling().sample(made, 500, 0)
    assert made.resources.swaps > 0
    assert readout.decoded(drawn.problem, made.clbits).exact_budget_mass(drawn.problem) == 1


def test_cutting_keeps_gates_and_classical_bits(stored):
    circuit = stored.compiled.circuit
    small = cut(circuit)
    assert small.num_qubits == stored.compiled.program.qubits < circuit.num_qubits
    assert small.count_ops() == circuit.count_ops() and small.depth() == circuit.depth()


@pytest.mark.slow
@pytest.mark.parametrize("on", ["local:FakeBoston", "noisy:FakeBoston"])
def test_noise_lowers_the_mass_and_keeps_the_order_of_bits(problem, on):
    from biselect.hardware.bundle import compile_problem

    made = compile_problem(problem, "boston", [0.4, 0.3], depth=1, schedule="tied", compare=False)
    sampler = sampler_for(on)
    sampler.check(made.compiled)
    assert foreign_device(on, made.compiled.target) is None
    readout = sampler.sample(made.compiled, 300, 3)
    mass = readout.decoded(problem, made.compiled.clbits, made.placement).exact_budget_mass(problem)
    assert problem.sector.chance < 0.7 < mass < 1
    assert np.array_equal(sampler.sample(made.compiled, 300, 3).counts, readout.counts)
