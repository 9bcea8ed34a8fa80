import numpy as np
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.options import Kinds, Search, Weighing
from biselect.weights import Weigher
from biselect.weights.paper import PRESETS, paper_problem

RNG = np.random.default_rng(0)
REFERENCE, POOL = RNG.normal(size=(120, 4)), RNG.normal(size=(30, 4)) * 2


def test_the_papers_form_is_one_word():
    found = bs.review(POOL, REFERENCE, k=3, m=2, weighing=Weighing(preset="paper"), search=Search(neighbours=(0, 0)))
    problem = paper_problem(POOL, REFERENCE, k=3, m=2)
    np.testing.assert_array_equal(found.selection.problem.coupling, problem.coupling)
    np.testing.assert_array_equal(found.selection.problem.feature_scores, problem.feature_scores)
    assert found.kinds is None


def test_what_is_given_goes_before_the_preset():
    found = bs.review(
        POOL, REFERENCE, k=3, m=2, weighing=Weighing(preset="paper", map="mad-z"), search=Search(neighbours=(0, 0))
    )
    assert found.calibrator.map == "mad-z"


def test_defaults_are_those_of_the_calibrator():
    made = Weigher().fit(REFERENCE).problem(POOL, k=3, m=2)
    found = bs.review(
        POOL,
        REFERENCE,
        k=3,
        m=2,
        weighing=Weighing(drift="keep"),
        kinds=Kinds(kinds=1),
        search=Search(neighbours=(0, 0)),
    ).selection.problem
    np.testing.assert_array_equal(found.coupling, made.coupling)
    np.testing.assert_allclose(found.sample_scores, made.sample_scores)
    assert Weigher().map == PRESETS["default"]["map"]


def test_an_unknown_preset_is_refused():
    with pytest.raises(InputError, match="no preset 'magic'; choose one of: default, paper"):
        bs.review(POOL, REFERENCE, k=3, m=2, weighing=Weighing(preset="magic"))
