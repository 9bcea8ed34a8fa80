import json
from unittest.mock import Mock

import numpy as np
import pytest

from biselect.core import SelectionProblem
from biselect.testing.oracles import planted_problem
from biselect_quantum.circuits import Ansatz, Threshold, Training, save_thresholds
from biselect_quantum.simulate.limits import OutOfTimeError


@pytest.fixture
def stored(tmp_path):
    problem = planted_problem((5, 4, 2, 2), 2.0, seed=0)
    problem.save(tmp_path / "problem.npz")
    return problem, tmp_path / "problem.npz"


def test_training_writes_angles_and_a_picture(run, stored, tmp_path):
    problem, path = stored
    out = tmp_path / "angles.json"
    result = run("train", path, "--depth", 2, "--strategy", "ladder", "--out", out, "--evaluations", 60)
    assert result.code == 0 and "expected energy" in result.out and "uniform feasible" in result.out
    trained = Training.from_json(out)
    assert (trained.depth, trained.strategy) == (2, "ladder")
    assert Ansatz(problem, 2).expectation(trained.angles) == trained.energy
    picture = (tmp_path / "angles.svg").read_text()
    assert picture.startswith("<?xml") and "<svg" in picture
    assert sorted(file.name for file in tmp_path.iterdir()) == ["angles.json", "angles.svg", "problem.npz"]
    first = out.read_text(), picture
    assert run("train", path, "--depth", 2, "--strategy", "ladder", "--out", out, "--evaluations", 60).code == 0
    assert (out.read_text(), (tmp_path / "angles.svg").read_text()) == first


def test_json_and_blends_and_thresholds(run, stored, tmp_path):
    problem, path = stored
    common = ("train", path, "--depth", 1, "--evaluations", 20, "--quiet", "--json")
    found = json.loads(run(*common, "--objective", "energy=1,hit-rate=0.5", "--threshold", "-9").out)
    blend = {"weights": {"energy": 1.0, "hit-rate": 0.5}, "threshold": -9.0, "share": 0.05}
    assert found["objective"] == {"name": "hit-rate", **blend}
    known = Threshold(problem_hash=problem.digest, value=-8.5, pool="by hand")
    save_thresholds(tmp_path / "thresholds.json", [known])
    manifest = ("--objective", "hit-rate", "--threshold", tmp_path / "thresholds.json")
    assert json.loads(run(*common, *manifest).out)["objective"]["threshold"] == -8.5
    SelectionProblem(coupling=np.ones((4, 3)), k=1, m=1).save(tmp_path / "other.npz")
    refused = run("train", tmp_path / "other.npz", *manifest)
    assert refused.code == 2 and "no threshold for problem" in refused.err


def test_an_interrupted_training_is_taken_up(run, stored, tmp_path, monkeypatch):
    _, path = stored
    out = tmp_path / "angles.json"
    command = ("train", path, "--depth", 2, "--evaluations", 400, "--out", out, "--quiet", "--nulls", 0)
    run(*command)
    whole = out.read_text()
    out.unlink()
    original, calls = Ansatz.value_and_gradient, [0]

    def interrupted(self, *arguments):
        calls[0] += 1
        if calls[0] == 300:
            raise KeyboardInterrupt
        return original(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Ansatz, "value_and_gradient", interrupted)
        assert run(*command).code == 130
    assert not out.exists() and (tmp_path / ".angles.json.training").exists()
    refused = run(*command, "--seed", 1)
    assert refused.code == 2 and "another training" in refused.err and "--fresh" in refused.err
    assert "in seed" in " ".join(refused.err.split()) and ".training" not in refused.err
    again = [0]

    def counted(self, *arguments):
        again[0] += 1
        return original(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Ansatz, "value_and_gradient", counted)
        assert run(*command).code == 0
    assert out.read_text() == whole and again[0] < 320
    assert not (tmp_path / ".angles.json.training").exists()
    assert run(*command, "--fresh").code == 0


def test_what_is_read_is_never_written_over(run, stored, tmp_path, monkeypatch):
    problem, path = stored
    monkeypatch.chdir(tmp_path)
    save_thresholds(tmp_path / "known.json", [Threshold(problem_hash=problem.digest, value=-8.5, pool="by hand")])
    (tmp_path / "link.json").symlink_to(path)
    for name in ("p.svg", "weights.csv"):
        (tmp_path / name).write_text("kept")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    goal = ("--objective", "hit-rate", "--threshold", "known.json")
    for arguments in (
        (path, "--out", "problem.npz"),
        (path, "--out", "link.json"),
        ("p.svg", "--out", "p.json"),
        (path, "--out", "known.json", *goal),
    ):
        refused = run("train", *arguments, "--evaluations", 10)
        assert refused.code == 2 and "must stay" in refused.err
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--schedule", "magic"), "schedule must be one of"),
        (("--objective", "hit-rate"), "needs a threshold"),
        (("--objective", "energy=much"), "write a blend as"),
        (("--strategy", "prayer"), "no strategy"),
        (("--mixer", "blender"), "mixer must be one of"),
        (("--threshold", "nowhere.json"), "no such file"),
        (("--out", "."), "is a folder"),
        (("--out", "nowhere/angles.json"), "no folder"),
        (("--out", "angles.svg"), "the angles are JSON"),
        (("--start", "cold"), "no such file"),
        (("--path", "y-frame"), "say for which device, with --target"),
        (("--target", "boston", "--mixer", "ring"), "leave it out"),
        (("--target", "boston", "--start", "dicke"), "basis state"),
        (("--start-from", "0.1,0.2"), "12 angles"),
    ],
)
def test_bad_requests_end_in_one_line(run, stored, arguments, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    refused = run("train", stored[1], "--evaluations", 10, *arguments)
    assert refused.code == 2 and words in refused.err and "Traceback" not in refused.err


def test_a_flat_problem_is_said_to_be_flat(run, tmp_path):
    SelectionProblem(coupling=np.ones((4, 3)), k=2, m=1).save(tmp_path / "flat.npz")
    result = run("train", tmp_path / "flat.npz", "--evaluations", 20, "--out", tmp_path / "angles.json")
    assert result.code == 0 and "landscape is flat" in result.err


def test_solving_with_qaoa_says_that_a_classical_solver_is_better(run, stored):
    result = run("solve", stored[1], "--solver", "qaoa")
    assert result.code == 0 and "classical solver is the better choice" in result.err


def test_limits_and_memory_name_what_this_command_has(run, stored, monkeypatch):
    from biselect_quantum.simulate import limits as state_memory

    _, path = stored
    common = ("train", path, "--depth", 1, "--evaluations", 5)
    assert run(*common, "--dtype", "complex64", "--seconds", 30).code == 0
    monkeypatch.setattr(
        "biselect_quantum.cli.train.LARGE", 1
    )  # as if the sector were large: no figure that needs all energies
    short = run(*common, "--seconds", 30)
    assert short.code == 0 and "expected energy" in short.out and "optimum" not in short.out
    assert "leave out --seconds" in short.err
    with monkeypatch.context() as late_at_once:
        late_at_once.setattr("biselect.core.threads.run_until", Mock(side_effect=OutOfTimeError))
        late = run(*common, "--seconds", 3)
    assert late.code == 2 and "too few to build this circuit" in late.err and "--dtype complex64" in late.err
    monkeypatch.setattr(state_memory, "free_memory", lambda: 3500)  # 60 amplitudes in three states, and tables
    large = run(*common)
    assert large.code == 2 and "give --dtype complex64, which fits, train on fewer rows" in large.err
    assert "`biselect solve --solver qaoa`" in large.err and run(*common, "--dtype", "complex64").code == 0


def test_rules_are_kept_and_limits_that_are_not_reached_refused(run, tmp_path):
    rules = {"forced_out": [4], "groups": [{"members": [0, 1], "exactly": 1}]}
    coupling = np.random.default_rng(0).normal(size=(5, 3)).tolist()
    problem = {"coupling": coupling, "k": 2, "m": 1, "sample_rules": rules}
    (tmp_path / "ruled.json").write_text(json.dumps(problem))
    done = run("train", tmp_path / "ruled.json", "--depth", 1, "--evaluations", 5, "--mixer", "grover", "--quiet")
    assert done.code == 0 and "optimum energy" in done.out
    rules["groups"] = [{"members": [0, 1], "at_most": 1}]
    (tmp_path / "loose.json").write_text(json.dumps(problem))
    for command in ("train", "compile"):
        refused = run(command, tmp_path / "loose.json")
        assert refused.code == 2 and '"exactly": t' in refused.err
    assert run("solve", tmp_path / "loose.json", "--solver", "qaoa").code == 2


def test_angles_that_change_nothing_are_listed_apart(run, stored):
    shown = run("train", stored[1], "--depth", 1, "--start", "canonical", "--evaluations", 20).out
    assert "Inert, whatever their value: γ_S,1, γ_F,1, γ_SF,1" in shown and "Angles: β_1 = " in shown


def test_no_hit_rate_is_printed_without_its_nulls(run, stored, tmp_path):
    command = ("train", stored[1], "--depth", 1, "--evaluations", 60, "--start", "canonical")
    shown = " ".join(run(*command, "--out", tmp_path / "a.json").out.split())
    for words in (
        "mixer alone",
        "numbers shuffled",
        "coordinate ascent",
        "trained blind",
        "transport × fields × couplings",
    ):
        assert words in shown
    assert "times as often as a uniform feasible choice" in shown and "The start itself has energy" in shown
    kept = json.loads((tmp_path / "a.json").read_text())["nulls"]
    assert [row["row"] for row in kept["rows"]][-1] == "full" and kept["seeds"] == 8
    without = run(*command, "--nulls", 0)
    assert "hit" not in without.out and "none is printed" in " ".join(without.err.split())
    told = " ".join(run(*command, "--objective", "optimum", "--nulls", 6).out.split())
    assert "trained for the known optimum" in told and "evaluations, trained for the known optimum" in told
    several = run(*command, "--seeds", 3, "--nulls", 0).out
    assert "energy over seeds: median" in several and "hit rate over seeds" not in several
