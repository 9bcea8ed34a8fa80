import json

import pytest

from biselect.errors import InputError
from biselect.qaoa import Training


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
