"""Register masses against a density matrix written out step by step."""

from dataclasses import replace

import numpy as np
import pytest

from biselect.errors import InputError
from biselect_quantum.devices import PATHS, compile_circuit
from biselect_quantum.devices.noise import cut_noise
from biselect_quantum.devices.noise.noisy_circuit import LABEL
from biselect_quantum.simulate.program import RZZ
from biselect_studies.quantum.registers import distribution, read_out, register_mass

SINGLE = 1e-5


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


@pytest.mark.parametrize("path", ["y-frame", "complete-fractional", "opt3-cz"])
def test_density_matrices_agree_with_the_step_by_step_one(small, path):
    case, target = small.drawn(seed=3)
    noisy = cut_noise(small.compiled(case, target, path), target)
    assert small.distance(distribution(noisy), small.step_by_step(noisy)) < SINGLE


@pytest.mark.parametrize("path", ["y-frame", "complete-fractional"])
@pytest.mark.parametrize("readout", [True, False])
def test_register_mass_is_that_of_the_joint_density_matrix(small, path, readout):
    case, target = small.drawn(seed=4, qubits=7)
    plan = replace(PATHS[path], coloured=False)
    made = compile_circuit(without_cross_gates(case), target, case.layout, plan, angles=case.angles)
    noisy = cut_noise(made, target)
    expected = small.step_by_step(noisy)
    if readout:
        expected = small.misread(expected, noisy.confusion)
    found = register_mass(case.program, target, case.layout, plan, angles=case.angles, readout=readout)
    assert found.mass == pytest.approx(mass(expected, case.problem), abs=SINGLE)
    assert 0 < found.mass < 1


def test_readout_is_a_product_of_confusions(small):
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(16))
    confusion = np.array([[[1 - p, p], [q, 1 - q]] for p, q in rng.uniform(0, 0.4, (4, 2))])
    assert np.allclose(read_out(probabilities, confusion), small.misread(probabilities, confusion))


def test_without_errors_the_mass_is_one_and_the_label_says_what_it_is(small):
    case = small.case(np.random.default_rng(1), 6, split=3, depth=2)
    target = small.noisy_device(case.edges, 6, gates=0.0, readout=0.0, t1=None)
    noisy = cut_noise(small.compiled(case, target), target)
    assert small.distance(distribution(noisy), small.ideal(small.compiled(case, target).bound)) < SINGLE
    found = register_mass(case.program, target, case.layout, angles=case.angles)
    assert found.mass == pytest.approx(1, abs=SINGLE) and LABEL in found.label


def test_waiting_costs_mass_only_where_qubits_relax(small):
    case, target = small.drawn(seed=5)
    busy = register_mass(case.program, target, case.layout, angles=case.angles)
    waiting = register_mass(case.program, target, case.layout, angles=case.angles, idle=True)
    assert waiting.mass < busy.mass
    lasting = small.noisy_device(case.edges, case.qubits, t1=1e6)
    there = register_mass(case.program, lasting, case.layout, angles=case.angles, idle=True)
    assert there.mass == pytest.approx(
        register_mass(case.program, lasting, case.layout, angles=case.angles).mass, abs=SINGLE
    )


def test_registers_that_are_too_wide_are_refused(small):
    wide = small.case(np.random.default_rng(0), 16, split=14, depth=1)
    with pytest.raises(InputError, match="too wide"):
        register_mass(wide.program, small.device("fractional", wide.edges, 16), wide.layout, angles=wide.angles)
