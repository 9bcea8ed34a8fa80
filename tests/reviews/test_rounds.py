import numpy as np
import pandas as pd
import pytest

from biselect.errors import InputError
from biselect.reviews.rounds import next_round, read_answers


def test_answers_as_people_write_them():
    assert read_answers(["a", "b", "c", "d"], ["yes", 0, None, "TRUE"]) == {"a": True, "b": False, "d": True}
    with pytest.raises(InputError, match="'x'"):
        read_answers(["x"], ["perhaps"])


def test_a_round_can_be_filled_in_and_given_back(tmp_path):
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(200, 6)), rng.normal(size=(60, 6))
    pool[:6, 1:4] += 4
    pd.DataFrame({"sample": ["0", "40"], "answer": [1, 0]}).to_csv(tmp_path / "answers.csv", index=False)
    first = next_round(tmp_path / "answers.csv", pool, reference, count=3, k=4, m=2, kinds=1)
    assert first.to_dict()["reviewed"] == 2 and first.session.hits == 1
    assert {path.name for path in first.save(tmp_path / "round")} == {"next.csv", "session.json"}
    filled = pd.read_csv(tmp_path / "round" / "next.csv").assign(answer="no")
    filled.to_csv(tmp_path / "more.csv", index=False)
    second = next_round(tmp_path / "more.csv", pool, reference, count=3, k=4, m=2, kinds=1)
    assert not {row.name for row in second.rows} & {row.name for row in first.rows}
