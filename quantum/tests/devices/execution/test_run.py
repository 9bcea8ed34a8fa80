"""A run is fixed before its first shot; changed files are refused."""

import json
import subprocess
import sys

import pytest

from biselect.core.untrusted import seal
from biselect.errors import InputError
from biselect_quantum.circuits.thresholds import Threshold
from biselect_quantum.devices.execution.run import NAME, load_run, repeat_seed


def test_a_run_is_fixed_before_its_first_shot(whole, stored, problem):
    content = json.loads((whole.folder / NAME).read_text())
    assert content["circuit"] == dict(stored.manifest())
    assert {"problem_hash", "target", "patch", "layout", "placement", "mask", "angles"} <= set(content["circuit"])
    assert content["seeds"] == [repeat_seed(1, repeat) for repeat in range(3)]
    assert content["threshold"]["problem_hash"] == problem.digest
    assert content["threshold"]["pool"] == "solver auto"
    assert content["references"]["dense"]["proven_optimal"]
    assert content["versions"]["qiskit"]


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(shots=1),
        lambda content: content["seeds"].reverse(),
        lambda content: content["threshold"].update(value=0.0),
        lambda content: content["circuit"]["layout"]["read_into"].reverse(),
        lambda content: content["circuit"]["patch"]["samples"].reverse(),
        lambda content: content.pop("hash"),
    ],
)
def test_a_tampered_manifest_is_refused(fixed, tmp_path, change):
    fixed(tmp_path)
    content = json.loads((tmp_path / NAME).read_text())
    change(content)
    (tmp_path / NAME).write_text(json.dumps(content))
    with pytest.raises(InputError, match="hash does not match"):
        load_run(tmp_path)


@pytest.mark.parametrize("name", ["circuit.qpy", "problem.npz"])
def test_a_changed_file_of_the_circuit_is_refused(fixed, tmp_path, name):
    fixed(tmp_path)
    content = bytearray((tmp_path / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name}: was changed"):
        load_run(tmp_path)


def test_a_folder_holds_one_run_only(fixed, tmp_path):
    first = fixed(tmp_path)
    assert fixed(tmp_path).hash == first.hash
    with pytest.raises(InputError, match="differs in shots"):
        fixed(tmp_path, shots=41)


def test_files_that_were_there_before_are_not_touched(fixed, tmp_path):
    mine = tmp_path / "problem.npz"
    mine.write_bytes(b"mine")
    with pytest.raises(InputError, match=r"problem\.npz: is there already"):
        fixed(tmp_path)
    assert mine.read_bytes() == b"mine" and not (tmp_path / NAME).exists()
    mine.unlink()
    assert fixed(tmp_path).shots == 40  # what the first attempt left behind is the run's own


def test_who_comes_second_gets_the_run_that_is_fixed(fixed, tmp_path, monkeypatch):
    """Both saw an empty folder; the first one's files stay as they are."""
    from biselect_quantum.devices.execution import run as manifest

    found = []
    solve = manifest.solve

    def overtaken(*arguments, **options):
        if not found:
            found.append(None)
            found.append(fixed(tmp_path))
        return solve(*arguments, **options)

    monkeypatch.setattr(manifest, "solve", overtaken)
    with pytest.raises(InputError, match="differs in shots"):
        fixed(tmp_path, shots=41)
    assert load_run(tmp_path).hash == found[1].hash


def test_a_threshold_of_another_problem_is_refused(fixed, tmp_path):
    with pytest.raises(InputError, match="belongs to problem"):
        fixed(tmp_path, threshold=Threshold(problem_hash="0" * 64, value=-1.0, pool="elsewhere"))


def test_a_run_of_an_earlier_format_is_refused_in_one_sentence(fixed, tmp_path):
    fixed(tmp_path)
    content = json.loads((tmp_path / NAME).read_text())
    (tmp_path / NAME).write_text(json.dumps(seal({**content, "format": "biselect-run-1"})))
    with pytest.raises(InputError, match=r"format is biselect-run-1, .* reads biselect-run-5"):
        load_run(tmp_path)


FREEZE = """
import sys
from pathlib import Path
from biselect_quantum.devices import load_circuit
from biselect_quantum.devices.execution import freeze, plan

source, folder, shots = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
circuit = load_circuit(source)
print(freeze(circuit, source, folder, plan(circuit, "sector", shots=shots, repeats=3, seed=1)).hash)
"""


@pytest.mark.parametrize("shots", [(40, 40), (40, 41)])
def test_two_processes_at_once_fix_one_run(circuit_folder, tmp_path, shots):
    """Equal wishes get the same run; of two different ones the first counts, and the other is refused."""
    commands = [[sys.executable, "-c", FREEZE, str(circuit_folder), str(tmp_path / "run"), str(n)] for n in shots]
    rivals = [subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for c in commands]
    said = [rival.communicate() for rival in rivals]
    hashes = {out.strip() for out, _ in said if out}
    assert hashes == {load_run(tmp_path / "run").hash}
    refused = sum("differs in shots" in error for _, error in said)
    assert refused == (shots[0] != shots[1]), said
