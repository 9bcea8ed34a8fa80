"""The quieter entangling gate on every edge, RZZ angles within their interval, and the same circuit all the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import QuantumCircuit
from qiskit.quantum_info import Operator
from qiskit_ibm_runtime.utils.utils import is_isa_circuit

from biselect import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits import AnsatzSpec
from biselect_quantum.devices import PATHS, YFramePath, compile_circuit, to_qiskit
from biselect_quantum.devices._native_gates import fold_rzz
from biselect_quantum.devices.targets import from_snapshot, snapshot


def calibrated(small, drawn, rng, missing=()):
    """A device on which sometimes CZ and sometimes RZZ errs less."""
    content = snapshot(small.device("fractional", drawn.edges, drawn.qubits))
    for name in ("cz", "rzz"):
        by_edge = {tuple(sorted(pair)): float(rng.uniform(1e-3, 5e-3)) for pair in content["gates"][name]["qubits"]}
        content["gates"][name]["error"] = [
            None if name in missing else by_edge[tuple(sorted(pair))] for pair in content["gates"][name]["qubits"]
        ]
    del content["hash"]
    return from_snapshot(content)


def entanglers(compiled):
    """Name, angle and edge of every two-qubit gate."""
    for step in compiled.gates.data:
        if len(step.qubits) == 2:
            edge = tuple(compiled.gates.find_bit(qubit).index for qubit in step.qubits)
            yield step.operation.name, (step.operation.params or [np.pi / 2])[0], edge


@given(seed=st.integers(0, 1 << 30), qubits=st.integers(3, 8), scale=st.sampled_from([1e-6, 0.3, 2.0, 100.0]))
@settings(max_examples=40)
def test_the_distribution_is_the_programs_and_every_cz_the_quieter_gate(small, seed, qubits, scale):
    rng = np.random.default_rng(seed)
    drawn = small.case(rng, qubits, scale=scale, extra=1, special=True)
    target = calibrated(small, drawn, rng)
    made = compile_circuit(drawn.program, target, drawn.layout, PATHS["y-frame-quiet"], angles=drawn.angles)
    plain = compile_circuit(drawn.program, target, drawn.layout, PATHS["y-frame"], angles=drawn.angles)
    assert small.distance(small.ideal(made.bound), small.measured(made)) < 1e-9
    assert is_isa_circuit(made.gates, target) == ""
    assert made.resources.two_qubit_gates == plain.resources.two_qubit_gates
    for name, angle, edge in entanglers(made):
        better = target["cz"][edge].error <= target["rzz"][edge].error
        assert name == "rzz" if not better else name == "cz" or angle <= np.pi / 2
    czs = [edge for name, _, edge in entanglers(plain) if name == "cz"]
    kept = [edge for name, _, edge in entanglers(made) if name == "cz"]
    assert kept == [edge for edge in czs if target["cz"][edge].error <= target["rzz"][edge].error]


@given(seed=st.integers(0, 1 << 30))
@settings(max_examples=15)
def test_without_propagation_the_unitary_is_the_programs(small, seed):
    rng = np.random.default_rng(seed)
    drawn = small.case(rng, int(rng.integers(3, 6)))
    target = calibrated(small, drawn, rng)
    path = YFramePath(propagate=False, quiet=True)
    made = compile_circuit(drawn.program, target, drawn.layout, path, angles=drawn.angles)
    placed = QuantumCircuit(drawn.qubits)
    placed.append(to_qiskit(made.bound, measure=False).to_gate(), drawn.layout)
    ours = Operator(made.gates.remove_final_measurements(inplace=False)).data
    assert abs(np.vdot(Operator(placed).data, ours)) / len(ours) == pytest.approx(1, abs=1e-9)
    assert path.name == "y-frame-coloured-unitary-quiet"


@pytest.mark.parametrize("missing", [("rzz",), ("cz",), ("cz", "rzz")])
def test_what_was_not_recorded_is_no_reason_to_change(small, missing):
    rng = np.random.default_rng(5)
    drawn = small.case(rng, 6)
    target = calibrated(small, drawn, rng, missing)
    made, plain = (
        compile_circuit(drawn.program, target, drawn.layout, PATHS[name], angles=drawn.angles)
        for name in ("y-frame-quiet", "y-frame")
    )
    assert list(entanglers(made)) == list(entanglers(plain))


@pytest.mark.parametrize("kind", ["cz", "prx"])
def test_a_device_without_rzz_keeps_its_cz(small, kind):
    drawn = small.case(np.random.default_rng(2), 6)
    target = small.device(kind, drawn.edges, drawn.qubits)
    made, plain = (
        compile_circuit(drawn.program, target, drawn.layout, PATHS[name], angles=drawn.angles)
        for name in ("y-frame-quiet", "y-frame")
    )
    assert made.gates == plain.gates


def problem_of(n=4, d=3, k=2, m=1, seed=0):
    rng = np.random.default_rng(seed)
    scores = {"sample_scores": rng.normal(size=n), "feature_scores": rng.normal(size=d)}
    return SelectionProblem(coupling=rng.normal(size=(n, d)), k=k, m=m, coupling_weight=0.7, **scores)


def test_open_angles_are_not_folded():
    program = AnsatzSpec(problem_of(), 1, "tied").program()
    with pytest.raises(InputError, match="still open"):
        fold_rzz(to_qiskit(program, measure=False))


@given(
    st.one_of(
        st.floats(-20, 20),
        st.floats(-1e9, 1e9),
        st.integers(-9, 9).map(lambda quarters: quarters * np.pi / 2),
        st.sampled_from([0.0, -0.0, 1e-300, np.nextafter(np.pi / 2, 2), np.nextafter(np.pi, 4)]),
    )
)
@settings(max_examples=200)
def test_a_folded_angle_is_in_range_and_the_circuit_is_equal(angle):
    circuit = QuantumCircuit(2)
    circuit.h([0, 1])
    circuit.rzz(angle, 1, 0)
    circuit.sx(0)
    folded = fold_rzz(circuit)
    angles = [step.operation.params[0] for step in folded.data if step.operation.name == "rzz"]
    assert all(0 <= each <= np.pi / 2 for each in angles)
    np.testing.assert_allclose(Operator(folded).data, Operator(circuit).data, atol=1e-7 if abs(angle) > 20 else 1e-12)
