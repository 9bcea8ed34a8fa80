import numpy as np
import pytest
from hypothesis import given, settings
from tests.weights.drawn_tables import pairs

import biselect as bs
from biselect.errors import InputError
from biselect.options import Kinds, RowRules, Search, Weighing
from biselect.weights import Weigher
from biselect.weights.paper import PRESETS, Form, paper_marginals, paper_problem

RNG = np.random.default_rng(0)
REFERENCE, POOL = RNG.normal(size=(120, 4)), RNG.normal(size=(30, 4)) * 2
QUICK = {"search": Search(neighbours=(0, 0)), "progress": False}


def test_the_papers_rank_on_ties():
    flags = np.repeat([0.0, 1.0], 20)[:, None]
    assert Weigher("ecdf-paper").fit(flags).weights([[1.0]])[0, 0] == pytest.approx(np.log(41 / 2))
    assert Weigher("ecdf").fit(flags).weights([[1.0]])[0, 0] < 0.06


def test_the_papers_marginals():
    W, Z = np.array([[1.0, 0.0], [3.0, 0.0]]), np.array([[1.0, -2.0], [-3.0, 2.0]])
    a, b = paper_marginals(W, Z)
    np.testing.assert_allclose(a, [1.0, 3.0])
    np.testing.assert_allclose(b, [1.0, 0.0])


def test_the_papers_problem_formula_by_formula():
    reference, pool = RNG.standard_t(3, size=(80, 3)), 3 * RNG.standard_t(3, size=(7, 3))
    problem = paper_problem(pool, reference, k=2, m=1, cap=2.5, coupling_weight=0.5)
    median = np.median(reference, axis=0)
    Z = (pool - median) / (1.4826 * np.median(np.abs(reference - median), axis=0))
    F = np.clip(((reference[None] <= pool[:, None]).sum(axis=1) + 0.5) / 81, 1 / 81, 80 / 81)
    W = np.clip(-np.log(2 * np.minimum(F, 1 - F)), 0, 2.5)
    np.testing.assert_allclose(problem.coupling, W)
    np.testing.assert_allclose(problem.sample_scores, W.max(axis=1))
    np.testing.assert_allclose(problem.feature_scores, np.abs(Z).var(axis=0))
    assert (problem.k, problem.m, problem.coupling_weight, problem.directions) == (2, 1, 0.5, None)


def test_the_papers_form_is_one_word():
    review = bs.review(POOL, REFERENCE, k=3, m=2, weighing=Weighing(preset="paper"), **QUICK)
    problem = paper_problem(POOL, REFERENCE, k=3, m=2)
    for name in ("coupling", "sample_scores", "feature_scores"):
        np.testing.assert_array_equal(getattr(review.problem, name), getattr(problem, name))
    assert review.problem.directions is None and not review.problem.feature_rules
    assert len(review.kinds) == 1 and review.selection.directions == ["", ""]


@settings(max_examples=30)
@given(pairs(kinds=("normal", "heavy", "counts", "tied", "gaps", "label", "flag", "was constant"), alone=False))
def test_the_papers_score_is_shared_out_too(pair):
    review = bs.review(pair.pool, pair.reference, k=pair.k, m=pair.m, weighing=Weighing(preset="paper"), **QUICK)
    problem, scoring, features = review.problem, review.tables.scoring, review.selection.features
    expected = problem.sample_scores + problem.coupling[:, features].sum(axis=1)
    np.testing.assert_array_equal(scoring.pool_scores(features), expected)
    np.testing.assert_allclose(scoring.parts(np.arange(len(pair.pool)), features).sum(axis=1), expected, rtol=1e-9)
    total = expected[review.selection.samples].sum() + problem.feature_scores[features].sum()
    assert total == pytest.approx(review.selection.score, rel=1e-9)
    np.testing.assert_array_equal(scoring.reference_parts, scoring.reference.weights.max(axis=1))


def test_columns_that_must_be_chosen_are_so_in_the_papers_form():
    rules = RowRules(must_columns=["3"])
    review = bs.review(POOL, REFERENCE, k=3, m=1, weighing=Weighing(preset="paper"), rules=rules, **QUICK)
    assert review.selection.feature_names == ["3"] and review.selection.proven_optimal


def test_what_is_given_goes_before_the_preset():
    weighing = Weighing(preset="paper", map="mad-z")
    review = bs.review(POOL, REFERENCE, k=3, m=2, weighing=weighing, kinds=Kinds(kinds=2), **QUICK)
    assert review.tables.weigher.map == "mad-z" and len(review.kinds) == 2
    assert review.tables.form == Form.of(weighing, Kinds(kinds=2))


def test_defaults_are_those_of_the_weigher():
    problem = Weigher().fit(REFERENCE).problem(POOL, k=3, m=2)
    weighing = Weighing(drift="keep")
    told = bs.review(POOL, REFERENCE, k=3, m=2, weighing=weighing, kinds=Kinds(kinds=1), **QUICK).problem
    for name in ("coupling", "sample_scores", "feature_scores"):
        np.testing.assert_array_equal(getattr(told, name), getattr(problem, name))
    assert (told.directions, told.feature_rules) == (problem.directions, problem.feature_rules)
    assert told.column_names == ("0", "1", "2", "3") and told.sample_scores.any()
    assert Weigher().map == PRESETS["default"]["map"] and PRESETS["default"]["marginals"] is None


def test_an_unknown_preset_is_refused():
    with pytest.raises(InputError, match="no preset 'magic'; choose one of: default, paper"):
        bs.review(POOL, REFERENCE, k=3, m=2, weighing=Weighing(preset="magic"))
