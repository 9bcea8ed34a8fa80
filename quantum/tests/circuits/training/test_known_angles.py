import numpy as np
import pytest

from biselect.errors import InputError
from biselect_quantum.circuits import Ansatz, split_terms
from biselect_quantum.circuits.training.first_angles import as_starts


def test_angles_of_this_circuit_are_taken_as_they_are(ansatz, tmp_path):
    trained = ansatz.train(objective="cvar", evaluations=30)
    trained.to_json(tmp_path / "angles.json")
    given = np.full(8, 0.3)
    for source, count in (
        (trained, 1),
        (tmp_path / "angles.json", 1),
        ([given, trained, str(tmp_path / "angles.json")], 3),
    ):
        starts = as_starts(ansatz, source)
        assert len(starts) == count and (starts[-1] == trained.angles).all()
    assert [start.tolist() for start in as_starts(ansatz, given.tolist())] == [given.tolist()]
    assert ansatz.train(strategy="polish", objective="cvar", start_from=trained, evaluations=1).value == trained.value


def test_angles_of_another_problem_are_taken_over_in_its_units(problem, ansatz, with_scores):
    trained = ansatz.train(evaluations=60)
    tenfold = Ansatz(with_scores(problem, 10.0), 2)
    (start,) = as_starts(tenfold, trained)
    np.testing.assert_allclose(tenfold.probabilities(start), ansatz.probabilities(trained.angles), atol=1e-9)
    (longer,) = as_starts(Ansatz(problem, 3), trained)
    assert longer.shape == (12,)
    (tied,) = as_starts(Ansatz(problem, 2, "tied"), trained)
    assert tied.shape == (2,)


def test_what_are_no_angles_is_refused_in_words(problem, ansatz):
    for wrong, words in (([0.1, 0.2], "8 angles"), ({"a": 1}, "start_from takes"), ([np.full(8, np.nan)], "finite")):
        with pytest.raises(InputError, match=words):
            as_starts(ansatz, wrong)
    own = Ansatz(problem, 2, groups=split_terms(problem, np.arange(29) % 2))
    with pytest.raises(InputError, match="cost groups"):
        as_starts(own, ansatz.train(evaluations=5))
    with pytest.raises(InputError, match="starts of its own"):
        ansatz.train(strategy="threshold", start_from=np.zeros(8))
