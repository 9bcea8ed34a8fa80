import json

import numpy as np
import pytest

from biselect.errors import AlteredWarning, InputError
from biselect_quantum.circuits import STRATEGIES, Ansatz, Training
from biselect_quantum.circuits.training.records import Checkpoint

OPTIONS = {"polish": {"start_from": [np.full(8, 0.3)]}}


class KilledError(Exception):
    pass


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_and_resumed_ends_at_the_same_angles(ansatz, tmp_path, strategy, workers, monkeypatch):
    monkeypatch.setattr("biselect_quantum.circuits.training.records.PAUSE", 0.0)
    how = {"strategy": strategy, "evaluations": 80, "seed": 3, "workers": workers, **OPTIONS.get(strategy, {})}
    whole = ansatz.train(**how)
    path = tmp_path / "training.json"
    original = Checkpoint.add

    def mortal(self, *arguments):
        original(self, *arguments)
        raise KilledError  # at a moment that no race between workers moves: when the first result is kept

    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(Checkpoint, "add", mortal)
        ansatz.train(checkpoint=path, **how)
    assert len(json.loads(path.read_text())["done"]) == 1
    resumed = ansatz.train(checkpoint=path, **how)
    assert resumed.to_json() == whole.to_json()
    assert ansatz.train(checkpoint=path, **how).to_json() == whole.to_json()


def test_a_checkpoint_of_another_training_is_refused(ansatz, problem, tmp_path):
    path = tmp_path / "training.json"
    ansatz.train(checkpoint=path, evaluations=20)
    with pytest.raises(InputError, match=r"another training \(it differs in seed\)"):
        ansatz.train(checkpoint=path, evaluations=20, seed=1)
    with pytest.raises(InputError, match="in circuit"):
        Ansatz(problem, 2, mixer="path").train(checkpoint=path, evaluations=20)
    with pytest.raises(InputError, match="in precision"):
        Ansatz(problem, 2, dtype=np.complex64).train(checkpoint=path, evaluations=20)
    path.write_text('{"format": "other"}')
    with pytest.raises(InputError, match="not the checkpoint"):
        ansatz.train(checkpoint=path, evaluations=20)
    with pytest.raises(InputError, match="no folder"):
        ansatz.train(checkpoint=tmp_path / "nowhere" / "x.json")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"evaluations": ', '"evaluations": 1', 1),
        lambda text: text.replace('"angles": [', '"angles": [NaN, ', 1),
        lambda text: text.replace("biselect-training-4", "biselect-training-3"),
        lambda text: json.dumps({name: part for name, part in json.loads(text).items() if name != "hash"}),
    ],
)
def test_a_checkpoint_that_was_changed_is_told_and_not_used(ansatz, tmp_path, damage):
    path = tmp_path / "training.json"
    whole = ansatz.train(checkpoint=path, evaluations=20).to_json()
    changed = damage(path.read_text())
    assert changed != path.read_text()
    path.write_text(changed)
    with pytest.warns(AlteredWarning, match="the training begins anew"):
        again = ansatz.train(checkpoint=path, evaluations=20)
    assert again.to_json() == whole
    assert ansatz.train(checkpoint=path, evaluations=20).to_json() == whole


def test_angles_survive_json(ansatz, tmp_path):
    trained = ansatz.train(strategy="ladder", objective="cvar", evaluations=60)
    text = trained.to_json(tmp_path / "angles.json")
    back = Training.from_json(tmp_path / "angles.json")
    assert back.to_json() == text == Training.from_json(text).to_json()
    assert Training.from_json(str(tmp_path / "angles.json")).to_json() == text
    assert (back.angles == trained.angles).all() and back.ladder == trained.ladder
    assert "seconds" not in json.loads(text)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "biselect-angles-1"}', '{"format": "x", "stages": []}'])
def test_what_is_not_angles_is_refused(text, tmp_path):
    with pytest.raises(InputError, match="not angles"):
        Training.from_json(text)
    for place in (tmp_path / "none.json", str(tmp_path / "none.json")):
        with pytest.raises(InputError, match="no such file"):
            Training.from_json(place)
