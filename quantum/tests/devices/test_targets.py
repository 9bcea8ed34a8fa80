import json
from math import inf, pi
from types import SimpleNamespace

import pytest
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import Parameter
from qiskit.circuit.library import CZGate, IGate, Measure, RXGate, RZZGate, SXGate
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.quantum_info import Operator
from qiskit.transpiler import InstructionProperties, QubitProperties, Target

from biselect.core.untrusted import content_hash
from biselect.errors import InputError
from biselect_quantum.devices.targets import (
    HERON_R3,
    IQM_54,
    from_snapshot,
    load_target,
    snapshot,
    square_edges,
    square_positions,
)
from biselect_quantum.options import DEVICES


def test_the_command_line_knows_every_named_target():
    assert (*HERON_R3, IQM_54) == DEVICES


@pytest.mark.parametrize("name", ["boston", "FakePittsburgh", "fake_aachen", "iqm-54"])
def test_a_snapshot_survives_json_and_gives_an_equal_target(name):
    taken = snapshot(load_target(name))
    again = snapshot(from_snapshot(json.loads(json.dumps(taken))))
    assert again == taken and again["hash"] == content_hash(taken)


def test_heron_has_fractional_gates_with_bounds_and_can_do_without():
    full, plain = load_target("boston"), load_target("boston", fractional=False)
    assert {"rx", "rzz"} <= set(full.operation_names) and not {"rx", "rzz"} & set(plain.operation_names)
    assert full.supported_angle_bound("rzz", [pi / 2]) and not full.supported_angle_bound("rzz", [-0.1])
    assert full["rzz"].keys() == full["cz"].keys() == plain["cz"].keys()
    assert snapshot(full)["gates"]["cz"] == snapshot(plain)["gates"]["cz"]
    assert all(place.error is not None and place.duration > 0 for place in full["rzz"].values())


def test_the_square_lattice_is_reached_exactly():
    target = load_target("iqm-54")
    circuit = QuantumCircuit(3)
    circuit.h(0)
    circuit.rzz(0.3, 0, 1)
    circuit.cx(1, 2)
    small = transpile(circuit, basis_gates=["r", "cz"], optimization_level=3)
    assert set(small.count_ops()) == {"r", "cz"} and Operator(small).equiv(Operator(circuit))
    native = transpile(circuit, target=target, optimization_level=3, seed_transpiler=0)
    assert set(native.count_ops()) == {"r", "cz"}
    assert target["r"][(0,)].duration == 40e-9 and target["cz"][(0, 1)].duration == 120e-9


def test_any_backend_or_target_can_be_given():
    backend = GenericBackendV2(4, basis_gates=["cz", "sx", "rz", "x"], coupling_map=[[0, 1], [1, 2], [2, 3]], seed=1)
    for source in (backend, backend.target):
        taken = snapshot(load_target(source))
        assert taken["qubits"] == 4 and taken["gates"]["cz"]["qubits"] == [[0, 1], [1, 2], [2, 3]]


def test_what_has_no_place_in_a_snapshot_is_left_out_and_gaps_stay_gaps():
    target = Target(num_qubits=2, qubit_properties=[QubitProperties(t1=1e-4), QubitProperties(t2=inf)])
    target.add_instruction(CZGate(), {(0, 1): InstructionProperties(duration=1e-7, error=float("nan"))})
    target.add_instruction(RZZGate(Parameter("t")), {(0, 1): None}, angle_bounds=[(0, pi / 2)])
    target.add_instruction(RXGate(pi / 6), {(0,): None}, name="rx_30")
    target.add_instruction(SXGate(), {(0,): None, (1,): None})
    target.add_instruction(IGate(), None)
    target.add_instruction(Measure(), {(0,): None, (1,): InstructionProperties(error=0.01)})
    taken = snapshot(target)
    assert sorted(taken["gates"]) == ["cz", "id", "measure", "rzz", "sx"]
    assert taken["gates"]["cz"]["error"] == [None] and taken["gates"]["id"]["qubits"] is None
    assert taken["gates"]["rzz"]["angle_bounds"] == [[0, pi / 2]]
    assert (taken["t1"], taken["t2"]) == ([1e-4, None], [None, None])
    assert snapshot(from_snapshot(taken)) == taken


def test_a_snapshot_file_is_data_and_is_checked(tmp_path):
    taken = snapshot(load_target("iqm-54"))
    path = tmp_path / "device.json"
    path.write_text(json.dumps(taken))
    assert snapshot(load_target(path)) == taken
    for change, message in (
        ({"qubits": 55}, "hash does not match"),
        ({"format": "other"}, "not a target snapshot"),
        ({"hash": None, "gates": {"fsim": {}}}, "hash does not match"),
    ):
        path.write_text(json.dumps({**taken, **change}))
        with pytest.raises(InputError, match=message):
            load_target(path)
    without_hash = {name: value for name, value in taken.items() if name != "hash"}
    for change, message in (
        ({"gates": {"fsim": {}}}, "library does not"),
        ({"gates": {"cz": {"qubits": [[0, 1]]}}}, "cannot be read"),
        ({"t1": [1.0]}, "cannot be read"),
    ):
        path.write_text(json.dumps({**without_hash, **change}))
        with pytest.raises(InputError, match=message):
            load_target(path)
    for text, message in (
        ("[1]", "not a target snapshot"),
        ("{}", "not a target snapshot"),
        (json.dumps({**taken, "dt": float("nan")}), "cannot be read"),
        (json.dumps({**without_hash, "gates": 3}), "cannot be read"),
        (json.dumps({**taken, "t1": [1e-6] * 54}), "hash does not match"),
    ):
        path.write_text(text)
        for fractional in (True, False):
            with pytest.raises(InputError, match=message):
                load_target(path, fractional)
    del without_hash["timing"]
    path.write_text(json.dumps(without_hash))
    with pytest.raises(InputError, match="lacks"):
        load_target(path)
    path.write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        load_target(path)
    with pytest.raises(InputError, match="no such file"):
        load_target(tmp_path / "none.json")


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match="boston, pittsburgh, aachen, iqm-54"):
        load_target("emerald")
    with pytest.raises(InputError, match="how many qubits"):
        snapshot(Target())


def test_a_backend_lends_its_name_to_a_target_without_one():
    """Services leave the description out, and a circuit must say what it was compiled for."""
    content = {name: value for name, value in snapshot(load_target("iqm-54")).items() if name != "hash"}
    backend = SimpleNamespace(target=from_snapshot({**content, "name": ""}), name="garnet")
    assert snapshot(backend)["name"] == "garnet" and snapshot(backend.target)["name"] == ""
    assert snapshot(from_snapshot(snapshot(backend))) == snapshot(backend)


def test_edges_join_all_neighbours_and_no_others():
    places, edges = square_positions(), square_edges()
    assert len(places) == len(set(places)) == 54 and len(edges) == 90
    near = {
        (i, j)
        for i in range(54)
        for j in range(i + 1, 54)
        if abs(places[i][0] - places[j][0]) + abs(places[i][1] - places[j][1]) == 1
    }
    assert set(edges) == near
