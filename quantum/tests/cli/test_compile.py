import json
from dataclasses import replace

import numpy as np
import pytest
from qiskit import qasm3, qpy
from qiskit.primitives import StatevectorSampler

from biselect.core import SelectionProblem
from biselect.core.untrusted import check_seal
from biselect.errors import InputError
from biselect_quantum.circuits import Training
from biselect_quantum.devices import Patch, load_circuit, load_target
from biselect_quantum.devices._circuit_checks import SIMULATED
from biselect_quantum.devices.targets import from_snapshot, snapshot

ANGLES = "0.9,2.4,2.4,1.15"


FILES = {"circuit.qpy", "circuit.qasm", "target.json", "problem.npz", "patch.svg", "manifest.json"}


def compact(circuit):
    """The circuit on its measured qubits alone, for a simulator."""
    used = [circuit.find_bit(step.qubits[0]).index for step in circuit.data if step.operation.name == "measure"]
    small = type(circuit)(len(used), len(used))
    for step in circuit.data:
        if step.operation.name != "barrier":
            qubits = [used.index(circuit.find_bit(qubit).index) for qubit in step.qubits]
            small.append(step.operation, qubits, [circuit.find_bit(bit).index for bit in step.clbits])
    return small


def test_everything_a_run_needs_is_written(run, problem_file, tmp_path):
    outcome = run("compile", problem_file, "--angles", ANGLES, "--depth", 2, "--out", tmp_path / "made", "--json")
    assert outcome.code == 0, outcome.err
    assert {path.name for path in (tmp_path / "made").iterdir()} == FILES
    manifest = json.loads((tmp_path / "made" / "manifest.json").read_text())
    check_seal(manifest, "manifest.json")
    files, _ = manifest.pop("files"), manifest.pop("hash")
    assert manifest.pop("checked") == SIMULATED
    assert manifest == json.loads(outcome.out)
    assert set(files) == FILES - {"manifest.json"}
    dense = SelectionProblem.load(problem_file)
    assert manifest["problem_hash"] == dense.digest
    target = from_snapshot(json.loads((tmp_path / "made" / "target.json").read_text()))
    assert snapshot(target)["hash"] == manifest["target"]["hash"] == snapshot(load_target("boston"))["hash"]
    with open(tmp_path / "made" / "circuit.qpy", "rb") as file:
        circuit = qpy.load(file)[0]
    assert qasm3.loads((tmp_path / "made" / "circuit.qasm").read_text()).count_ops() == circuit.count_ops()
    kept = sum(abs(dense.coupling[i, j]) for i, j in manifest["mask"])
    assert kept == pytest.approx(manifest["retained_mass"]) == pytest.approx(manifest["placement"]["mass"])
    patch = Patch.from_dict(manifest["patch"])
    assert list(patch.layout) == manifest["layout"]["begins_on"] == manifest["layout"]["measured_on"]
    ours, plain = manifest["resources"], manifest["references"]["Qiskit Opt-3 CZ"]
    assert ours["depth"] < plain["depth"] and ours["two_qubit_gates"] < plain["two_qubit_gates"]
    counts = StatevectorSampler(seed=1).run([compact(circuit)], shots=500).result()[0].data.c
    stored = load_circuit(tmp_path / "made")
    assert stored.decode(counts).exact_budget_mass == 1
    assert stored.decode(counts.get_counts()).samples.shots == 500


def test_people_get_a_table_and_equal_runs_give_equal_bytes(run, problem_file, tmp_path):
    for name in ("first", "second"):
        outcome = run("compile", problem_file, "--angles", ANGLES, "--depth", 2, "--out", tmp_path / name)
        assert outcome.code == 0
    assert "Against Qiskit Opt-3 CZ: depth -" in outcome.out and "couplings stay" in outcome.out
    for name in FILES:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes(), name


def test_trained_angles_say_what_they_are_for(run, problem_file, tmp_path):
    short = ("--depth", 1, "--evaluations", 20, "-q", "--out")
    assert run("train", problem_file, *short, tmp_path / "whole.json").code == 0
    outcome = run("compile", problem_file, "--angles", tmp_path / "whole.json", "--json")
    assert outcome.code == 0 and json.loads(outcome.out)["depth"] == 1
    said = " ".join(outcome.err.split())
    assert "warning: these angles were trained for another circuit: mixer (0-1 2-3 1-2 3-4 0-4 and" in said
    assert "mixer (0-1 2-3 1-2 3-4 0-4 and" in said and "start (dicke there, samples [" in said and "cost (" in said
    assert "depth (" not in said and "schedule (" not in said and "leave --angles out" in said
    wrong = run("compile", problem_file, "--angles", tmp_path / "whole.json", "--depth", 2)
    assert wrong.code == 2 and "leave depth out" in wrong.err
    dense = SelectionProblem.load(problem_file)
    replace(dense, coupling=dense.coupling + 1).save(tmp_path / "other.npz")
    outcome = run("compile", tmp_path / "other.npz", "--angles", tmp_path / "whole.json")
    assert outcome.code == 0 and f"circuit: problem ({dense.digest[:8]}… there" in " ".join(outcome.err.split())


@pytest.mark.parametrize("options", [(), ("--path", "opt3-cz", "--start", "dicke"), ("--keep", 1)])
def test_train_and_compile_go_one_way(run, problem_file, tmp_path, options):
    """Angles trained with --target are for the circuit that compile makes, and both write the same file."""
    short = ("--depth", 1, "--evaluations", 20, "-q", "--out")
    assert run("train", problem_file, "--target", "boston", *options, *short, tmp_path / "a.json").code == 0
    outcome = run("compile", problem_file, "--angles", tmp_path / "a.json", *options, "--out", tmp_path / "made")
    assert outcome.code == 0 and "warning" not in outcome.err, outcome.err
    assert (tmp_path / "made" / "angles.json").read_text() == (tmp_path / "a.json").read_text()
    manifest = json.loads((tmp_path / "made" / "manifest.json").read_text())
    trained = Training.from_json(tmp_path / "a.json")
    assert manifest["angles"] == dict(zip(trained.angle_names, trained.angles.tolist(), strict=True))
    assert "angles.json" in manifest["files"]
    moved = run("compile", problem_file, "--angles", tmp_path / "a.json", *options, "--start", "canonical")
    told = " ".join(moved.err.split())
    assert moved.code == 0 and "trained for another circuit: " in told and "start (" in told


def test_what_compile_trained_can_be_trained_further(run, problem_file, tmp_path):
    assert run("compile", problem_file, "--depth", 1, "--out", tmp_path / "made", "-q").code == 0
    kept = tmp_path / "made" / "angles.json"
    goal = ("--objective", "hit-rate", "--threshold", Training.from_json(kept).objective["threshold"])
    further = ("--target", "boston", "--depth", 1, *goal, "--strategy", "polish", "--start-from", kept)
    outcome = run("train", problem_file, *further, "--evaluations", 20, "--json", "-q", "--nulls", 0)
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["value"] <= Training.from_json(kept).value + 1e-12
    assert json.loads(outcome.out)["circuit"] == Training.from_json(kept).circuit


def test_a_selection_is_a_warm_start_under_its_own_names(run, problem_file, tmp_path):
    dense = SelectionProblem.load(problem_file)
    start = {"sample_indices": [1, 4], "feature_indices": [0, 3], "problem_hash": dense.digest}
    (tmp_path / "s.json").write_text(json.dumps(start))
    given = ("--angles", "0.1,0.2,0.3", "--depth", 1, "--start", tmp_path / "s.json", "--json")
    manifest = json.loads(run("compile", problem_file, *given, "--out", tmp_path / "made").out)
    assert np.flatnonzero(manifest["start"]).tolist() == [1, 4, 5, 8]
    shots = load_circuit(tmp_path / "made").decode(np.array([manifest["start"]]))
    assert shots.bits.tolist() == [[0, 1, 0, 0, 1, 1, 0, 0, 1]]
    with pytest.raises(InputError, match="other sizes, budgets"):
        shots.under(replace(dense, k=1))
    replace(dense, coupling=dense.coupling[::-1]).save(tmp_path / "other.npz")
    for command in ("compile", "train"):
        outcome = run(command, tmp_path / "other.npz", *given[2 if command == "train" else 0 :])
        assert outcome.code == 2 and "may stand for other items" in " ".join(outcome.err.split())


@pytest.mark.parametrize("target", ["iqm-54", "pittsburgh"])
def test_other_devices_and_paths(run, problem_file, target):
    more = ("--registers", "paths", "--path", "opt3-cz", "--json")
    outcome = run("compile", problem_file, "--angles", "-7,300.5,0,-0.2", "--depth", 2, "--target", target, *more)
    assert outcome.code == 0, outcome.err
    manifest = json.loads(outcome.out)
    assert manifest["path"]["name"].startswith("cz-unfused")
    assert manifest["target"]["hash"] == snapshot(load_target(target, fractional=False))["hash"]
    assert manifest["distortion_bound"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--angles", "1,2"], "give depth"),
        (["--angles", "1,x", "--depth", 1], "numbers separated by commas"),
        (["--angles", "1,2", "--depth", 1], "3 free angles"),
        (["--angles", "nan,1,1", "--depth", 1], "finite"),
        (["--angles", "none.json"], "no such file"),
        (["--angles", "bad.json"], "cannot be read as JSON"),
        (["--angles", "odd.json", "--depth", 1], "list of finite numbers"),
        (["--angles", "vast.json", "--depth", 1], "is beyond float64"),
        (["--angles", "half.json"], "not angles written by biselect"),
        (["--angles", "1,2,3", "--depth", 1, "--target", "nowhere"], "there is no target"),
        (["--angles", "1,2,3", "--depth", 1, "--path", "fast"], "path must be one of"),
        (["--angles", "1,2,3", "--depth", 1, "--registers", "rings"], "take trees or paths"),
        (["--angles", "1,2,3", "--depth", 1, "--start", "none.json"], "no such file"),
        (["--angles", "1,2,3", "--depth", 1, "--start", "half.json"], "holds no selection"),
        (["--angles", "1,2,3", "--depth", 1, "--start", "dicke"], "basis state"),
        (["--angles", "1,2,3", "--depth", 1, "--out", "bad.json"], "is a file"),
        (["--angles", "1,2,3", "--depth", 1, "--schedule", "none"], "schedule must be one of"),
    ],
)
def test_bad_input_is_one_line_and_code_2(run, problem_file, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "odd.json").write_text('["a"]')
    (tmp_path / "vast.json").write_text(f"[1, 2, {10**400}]")
    (tmp_path / "half.json").write_text('{"angles": [1]}')
    outcome = run("compile", problem_file, *arguments, "-q")
    assert outcome.code == 2 and message in outcome.err and "Traceback" not in outcome.err and not outcome.out


def test_a_device_that_is_too_small_is_named(run, tmp_path):
    SelectionProblem(coupling=np.ones((40, 20)), k=2, m=2).save(tmp_path / "wide.npz")
    outcome = run("compile", tmp_path / "wide.npz", "--angles", "1,2,3", "--depth", 1, "--target", "iqm-54")
    assert outcome.code == 2 and "needs 60 qubits, but only 54" in outcome.err


def test_angles_are_trained_for_the_circuit_itself_where_none_are_given(run, problem_file, tmp_path):
    given = {"--start": "canonical", "--schedule": "fully-grouped", "--depth": 2}
    options = [part for pair in given.items() for part in pair]
    outcome = run("compile", problem_file, *options, "--out", tmp_path / "trained", "--json")
    assert outcome.code == 0, outcome.err
    assert "Training angles" in outcome.err
    trained = json.loads(outcome.out)
    zeros = run(
        "compile", problem_file, *options, "--angles", ",".join(["0"] * 8), "--out", tmp_path / "idle", "--json"
    )
    assert trained["angles"].keys() == json.loads(zeros.out)["angles"].keys()
    low = {}
    for name in ("trained", "idle"):
        shots = run("run", tmp_path / name, "--on", "sector", "--shots", 500, "--json")
        assert shots.code == 0, shots.err
        low[name] = json.loads(shots.out)["strict"]["tail_energy"]
    assert low["trained"] < low["idle"]


def test_a_sector_too_large_to_train_on_asks_for_angles(run, tmp_path):
    SelectionProblem(coupling=np.ones((24, 16)), k=8, m=6).save(tmp_path / "large.npz")
    outcome = run("compile", tmp_path / "large.npz")
    assert outcome.code == 2
    assert "give --angles" in outcome.err
