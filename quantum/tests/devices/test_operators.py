"""Pauli operators against energies and circuits, on every basis state; circuits with free angles as files."""

import io
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import qpy
from qiskit.quantum_info import Operator, Statevector

from biselect import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits import AnsatzSpec, split_terms
from biselect_quantum.devices import (
    build_circuit,
    compile_circuit,
    compile_open,
    pauli_operators,
    qasm3_text,
    qpy_bytes,
)
from biselect_quantum.devices.paths import COMPLETE_CZ, COMPLETE_FRACTIONAL, Y_FRAME
from biselect_quantum.devices.qiskit_circuits import foreign_gate, ideal_probabilities
from biselect_quantum.devices.targets import load_target
from biselect_quantum.simulate.program import XY


def random_problem(rng, n, d):
    scores = {"sample_scores": rng.normal(size=n), "feature_scores": rng.normal(size=d)}
    return SelectionProblem(coupling=rng.random((n, d)), k=1, m=1, coupling_weight=rng.random() + 0.5, **scores)


def all_bits(qubits):
    """Every basis state, row number Σ 2^q bit_q."""
    return np.array([bits[::-1] for bits in product((0, 1), repeat=qubits)])


@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 1 << 30))
@settings(max_examples=15)
def test_the_energy_is_that_of_every_basis_state(n, d, seed):
    """Inside the budgets and out, by the formula of the paper."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, n, d)
    found = pauli_operators(AnsatzSpec(problem, 1, mixer="path"))
    s, f = (bits := all_bits(n + d))[:, :n], bits[:, n:]
    weights = problem.coupling_weight * problem.coupling
    wanted = -s @ problem.sample_scores - f @ problem.feature_scores - np.einsum("xi,ij,xj->x", s, weights, f)
    diagonal = np.diag(found.energy.to_matrix())
    assert np.allclose(diagonal, wanted, atol=1e-12)
    assert np.allclose(sum(np.diag(group.to_matrix()) for group in found.groups.values()), wanted, atol=1e-12)


def test_a_layer_turns_by_its_groups_and_mixes_by_its_edges():
    """exp(-i Σ γ_g H_g) for groups of any kind, up to one global phase; then exp(-iβ(XX + YY)/2) for each edge."""
    rng = np.random.default_rng(4)
    problem = random_problem(rng, 3, 2)
    spec = AnsatzSpec(
        problem, 1, "fully-grouped", "path", "dicke", groups=split_terms(problem, rng.integers(3, size=11))
    )
    found, angles = pauli_operators(spec), rng.normal(size=spec.size)
    gammas, beta = angles[:-1], angles[-1]
    program = spec.program(angles)
    prepared = Statevector(build_circuit(AnsatzSpec(problem, 1, "tied", "path", "dicke"), [0.0, 0.0], measure=False))
    turned = sum(g * np.diag(group.to_matrix()) for g, group in zip(gammas, found.groups.values(), strict=True))
    state = np.exp(-1j * turned) * prepared.data
    for op in program.ops:
        if op.kind == XY:
            (i, j), edge = op.qubits, np.zeros((4, 4), dtype=complex)
            edge[0, 0] = edge[3, 3] = 1
            edge[1, 1] = edge[2, 2] = np.cos(beta)
            edge[1, 2] = edge[2, 1] = -1j * np.sin(beta)
            state = Statevector(state).evolve(Operator(edge), [i, j]).data
    made = Statevector(build_circuit(spec, angles, measure=False)).data
    assert abs(np.vdot(state, made)) == pytest.approx(1, abs=1e-12)
    ends = [(edge, name) for name, classes in zip(found.mixers, spec.mixer, strict=True) for g in classes for edge in g]
    assert sum(len(mixer) for mixer in found.mixers.values()) == 2 * len(ends)
    hop = found.mixers["samples"].to_matrix()
    assert hop[0b00001, 0b00010] == 1 and hop[0b00011, 0b00011] == 0


def test_free_angles_stay_parameters_in_files(small):
    problem = random_problem(np.random.default_rng(1), 3, 2)
    spec = AnsatzSpec(problem, 2, "bilinear", "path", "canonical")
    logical = build_circuit(spec)
    device = small.device("cz", [(q, q + 1) for q in range(5)], 6)
    compiled = compile_open(spec.program(), device)
    for circuit in (logical, compiled):
        (again,) = qpy.load(io.BytesIO(qpy_bytes(circuit)))
        assert {parameter.name for parameter in again.parameters} <= set(spec.schedule.angle_names)
        assert again.parameters and qasm3_text(circuit).count("input float[64]") == len(again.parameters)
    values = dict(zip(spec.schedule.angle_names, np.random.default_rng(2).normal(size=spec.size), strict=True))
    bound = compiled.assign_parameters({p: values[p.name] for p in compiled.parameters})
    assert foreign_gate(bound, device) is None
    wanted = compile_circuit(spec.program(), device, None, COMPLETE_CZ, angles=values).gates
    assert np.abs(ideal_probabilities(bound) - ideal_probabilities(wanted)).max() < 1e-9


def test_paths_that_need_the_angles_are_refused():
    program = AnsatzSpec(random_problem(np.random.default_rng(1), 3, 2), 1, "tied", "path", "canonical").program()
    with pytest.raises(InputError, match="takes bound angles"):
        compile_open(program, "iqm-54", path=Y_FRAME)
    with pytest.raises(InputError, match="takes some angles only"):
        compile_open(program, load_target("boston"), path=COMPLETE_FRACTIONAL)
