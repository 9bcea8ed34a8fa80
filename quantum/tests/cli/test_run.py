"""`biselect run`: from the folder of `biselect compile` to figures, and back to the same bytes."""

import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("qiskit_aer")

from biselect import SelectionProblem
from biselect_quantum.circuits.thresholds import Threshold, save_thresholds


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A compiled circuit of 5 + 3 qubits on the IQM lattice."""
    from biselect_quantum.devices._from_problem import compile_problem
    from biselect_quantum.devices.circuit_files import write_circuit

    rng = np.random.default_rng(2)
    problem = SelectionProblem(coupling=rng.random((5, 3)), sample_scores=rng.random(5), k=2, m=1)
    made = compile_problem(problem, "iqm-54", [0.4, 0.3, 0.5], depth=1, compare=False)
    folder = tmp_path_factory.mktemp("compiled")
    write_circuit(folder, made)
    return folder


def test_it_runs_and_says_what_the_shots_are(run, compiled, tmp_path):
    done = run("run", compiled, "--on", "sector", "--shots", 50, "--repeats", 2, "--out", tmp_path / "r")
    assert done.code == 0
    assert "exact simulation, not hardware" in done.out and "exact-budget mass" in done.out
    assert "Band-1 repair, apart" in done.out
    assert "repeat 2: 50 shots" in done.err
    again = run("run", tmp_path / "r", "--json")
    assert again.code == 0 and "2 of 2 repeats are there already" in again.err
    assert again.out == (tmp_path / "r" / "analysis.json").read_text()
    found = json.loads(again.out)
    assert found["strict"]["shots"] == 100 and found["strict"]["feasible_rate"] == [1.0, 1.0, 1.0]
    assert found["band_1_repair"]["accepted_rate"] == 1.0


def test_a_finished_run_can_be_replayed_without_an_account(run, compiled, tmp_path, monkeypatch):
    """No service is asked for shots that are there already."""
    from biselect_quantum.devices.circuit_files import load_circuit
    from biselect_quantum.devices.execution import runner
    from biselect_quantum.devices.execution.exact_shots import SectorSampling
    from biselect_quantum.devices.execution.run import freeze, plan

    class Device(SectorSampling):
        name, kind = "ibm:nowhere", "hardware"

    circuit = load_circuit(compiled)
    asked = plan(circuit, "ibm:nowhere", shots=30, repeats=2, seed=0)
    runner.execute(freeze(circuit, compiled, tmp_path, asked), Device())
    monkeypatch.setattr("biselect_quantum.devices.execution._ibm.QiskitRuntimeService", None)  # whoever asks, fails
    for arguments in (
        (tmp_path,),
        (compiled, "--on", "ibm:nowhere", "--shots", 30, "--repeats", 2, "--out", tmp_path),
    ):
        done = run("run", *arguments, "--json")
        assert done.code == 0 and json.loads(done.out)["strict"]["shots"] == 60


def test_a_range_of_repeats_is_shown_where_there_are_several(run, compiled, tmp_path):
    one = run("run", compiled, "--on", "sector", "--shots", 50, "--out", tmp_path / "one").out
    two = run("run", compiled, "--on", "sector", "--shots", 50, "--repeats", 2, "--out", tmp_path / "two").out
    assert "in one repeat" in one and "highest" not in one and one.count("95 % interval") == 1
    assert "in 2 repeats" in two and two.count("lowest and highest repeat") == 1


def test_seeds_fix_the_shots_and_repeats_can_be_told_apart(run, compiled, tmp_path):
    from biselect_quantum.devices.execution.run import load_run
    from biselect_quantum.devices.execution.store import RunStore

    results = []
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        run(
            "run",
            compiled,
            "--on",
            "aer",
            "--shots",
            60,
            "--repeats",
            2,
            "--seed",
            seed,
            "--out",
            tmp_path / name,
            "-q",
        )
        with RunStore.open(load_run(tmp_path / name)) as store:
            results.append([readout.to_dict() for readout in store.readouts()])
    assert results[0] == results[1]
    assert results[0][0]["counts"] != results[2][0]["counts"]
    assert results[0][0]["counts"] != results[0][1]["counts"]


def test_a_dry_run_submits_and_writes_nothing(run, compiled):
    before = sorted(compiled.iterdir())
    shown = run(
        "run", compiled / "manifest.json", "--on", "ibm:ibm_boston", "--shots", 4096, "--repeats", 10, "--dry-run"
    )
    assert shown.code == 0 and "nothing was submitted" in shown.out and "10 × 4096 shots" in shown.out
    assert "warning: the circuit was compiled for 'iqm-54', not for ibm_boston" in shown.err
    found = json.loads(run("run", compiled, "--on", "aer", "--dry-run", "--json").out)
    assert found["kind"] == "exact simulation, not hardware" and found["shots"] == 4096
    assert sorted(compiled.iterdir()) == before


@pytest.mark.parametrize(
    ("on", "why"),
    [
        ("noisy:Nope", "Nope"),
        ("noisy:FakeBoston", "has no r on qubits"),
        ("noisy:iqm-54", "error of cz"),
        ("sector", "GiB are free"),
    ],
)
@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_what_cannot_be_run_is_said_before_anything_is_fixed(run, compiled, tmp_path, monkeypatch, on, why, dry):
    if on == "sector":
        monkeypatch.setattr("biselect_quantum.simulate.limits.free_memory", lambda: 100)
    done = run("run", compiled, "--on", on, "--out", tmp_path / "r", *dry)
    assert done.code == 2 and why in done.err.replace("\n", " ")
    assert not (tmp_path / "r").exists()


def test_thresholds_come_from_a_manifest_an_energy_or_the_reference(run, compiled, tmp_path):
    problem = SelectionProblem.load(compiled / "problem.npz")
    save_thresholds(tmp_path / "t.json", [Threshold(problem_hash=problem.digest, value=-1.5, pool="shots of p = 3")])
    figures = {}
    for name, extra in (
        ("file", ("--threshold", tmp_path / "t.json")),
        ("number", ("--threshold", "-1.25")),
        ("none", ()),
    ):
        out = run(
            "run", compiled, "--on", "sector", "--shots", 30, *extra, "--out", tmp_path / name, "--json", "-q"
        ).out
        figures[name] = json.loads(out)
    assert figures["file"]["strict"]["threshold"] == -1.5 and figures["file"]["threshold_pool"] == "shots of p = 3"
    assert figures["number"]["strict"]["threshold"] == -1.25
    assert figures["none"]["threshold_pool"] == "solver auto"


def test_a_run_fixes_its_options(run, compiled, tmp_path):
    run("run", compiled, "--on", "sector", "--shots", 10, "--out", tmp_path, "-q")
    assert "fixes --shots" in run("run", tmp_path, "--shots", 20).err
    other = run("run", compiled, "--on", "sector", "--shots", 20, "--out", tmp_path)
    assert other.code == 2 and "differs in shots" in other.err


def test_a_doubtful_job_names_the_option(run, compiled, tmp_path, monkeypatch):
    from biselect_quantum.devices import execution
    from biselect_quantum.devices.execution.remote import UnknownJobStateError

    def doubt(*arguments, **options):
        raise UnknownJobStateError("repeat 1 may be there; resubmit=True hands it in once more")

    monkeypatch.setattr(execution, "execute", doubt)
    done = run("run", compiled, "--on", "sector", "--out", tmp_path / "r")
    assert done.code == 1 and "--resubmit hands it in once more" in done.err


def test_a_run_of_an_earlier_release_is_refused(run, compiled, tmp_path):
    run("run", compiled, "--on", "sector", "--shots", 10, "--out", tmp_path, "-q")
    manifest = tmp_path / "manifest.json"
    manifest.write_text(manifest.read_text().replace("biselect-run-5", "biselect-run-1"))
    done = run("run", tmp_path)
    assert done.code == 2 and "biselect-run-1, of another release" in done.err.replace("\n", " ")


def test_bad_input_is_one_line(run, compiled, tmp_path):
    assert "--on" in run("run", compiled).err
    for arguments in (
        (compiled, "--on", "cloud"),
        (tmp_path / "missing.json", "--on", "sector"),
        (compiled / "target.json", "--on", "sector"),
        (compiled, "--on", "sector", "--threshold", tmp_path / "none.json"),
        (compiled, "--on", "noisy:Nowhere", "--out", tmp_path / "n"),
    ):
        done = run("run", *arguments)
        assert done.code == 2 and done.err.strip().splitlines()[-1].startswith("error: "), arguments


def test_a_threshold_must_be_finite(run, compiled):
    for text in ("nan", "inf"):
        done = run("run", compiled, "--on", "sector", "--threshold", text)
        assert done.code == 2 and "finite energy" in done.err


def test_a_changed_circuit_manifest_is_refused(run, compiled, tmp_path):
    for name in ("circuit.qpy", "problem.npz", "manifest.json"):
        (tmp_path / name).write_bytes((compiled / name).read_bytes())
    content = json.loads((tmp_path / "manifest.json").read_text())
    content["angles"] = {name: 0.0 for name in content["angles"]}
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    refused = run("run", tmp_path, "--on", "sector", "--out", tmp_path / "r")
    assert refused.code == 2 and "hash does not match" in refused.err


def test_an_address_with_a_password_is_neither_used_nor_shown(run, compiled, tmp_path):
    done = run("run", compiled, "--on", "ibm:https://ada:pa55word@ibm.example", "--out", tmp_path / "r")
    assert done.code == 2
    assert "pa55word" not in done.out + done.err and not (tmp_path / "r").exists()


def test_help_loads_nothing_numeric():
    code = (
        "import sys; from biselect.cli import main; sys.argv = ['biselect', 'run', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    print('numpy' in sys.modules or 'qiskit' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip().endswith("False")
