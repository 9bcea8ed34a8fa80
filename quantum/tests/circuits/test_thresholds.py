import json

import numpy as np
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect_quantum.circuits import Ansatz, Threshold, load_thresholds, save_thresholds
from biselect_quantum.circuits.thresholds import threshold_for


def problem_of(seed):
    return bs.SelectionProblem(coupling=np.random.default_rng(seed).random((5, 4)), k=2, m=2)


def test_a_manifest_keeps_thresholds_and_their_recipe(tmp_path):
    first, second = problem_of(0), problem_of(1)
    ansatz = Ansatz(first, 1)
    shots = Threshold.from_shots(ansatz, np.full(4, np.pi / 4), shots=100, seed=3, pool="all π/4")
    assert shots.value == ansatz.sample(np.full(4, np.pi / 4), 100, 3).energies[0]
    known = Threshold.from_selection(bs.solve(second))
    path = tmp_path / "thresholds.json"
    save_thresholds(path, [shots, known])
    loaded = load_thresholds(path)
    assert loaded == [shots, known]
    assert loaded[0].recipe["shots"] == 100 and loaded[0].pool == "all π/4"
    assert threshold_for(second, path) == known and loaded[1].of(second) == known.value
    with pytest.raises(InputError, match="exists already"):
        save_thresholds(path, [known])
    assert list(tmp_path.iterdir()) == [path]


def test_a_changed_problem_or_manifest_is_refused(tmp_path):
    known = Threshold.from_selection(bs.solve(problem_of(0)))
    with pytest.raises(InputError, match="belongs to problem"):
        known.of(problem_of(1))
    path = tmp_path / "thresholds.json"
    save_thresholds(path, [known])
    with pytest.raises(InputError, match="no threshold for problem"):
        threshold_for(problem_of(1), path)
    content = json.loads(path.read_text())
    content["thresholds"][0]["value"] += 1
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="changed after it was written"):
        load_thresholds(path)
    for text, message in (("", "cannot be read as JSON"), ("[]", "not a manifest"), ("{}", "not a manifest")):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            load_thresholds(path)
    with pytest.raises(InputError, match="no such file"):
        load_thresholds(tmp_path / "none.json")
    with pytest.raises(InputError, match="finite"):
        Threshold(problem_hash="", value=np.nan, pool="")
