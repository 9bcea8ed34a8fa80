"""Rows' own scores from arrays and from fitted detectors, in one objective."""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

import biselect as bs
from biselect.errors import InputError
from biselect.options import Columns, Kinds, Search, Weighing
from biselect.reviews.outside_scores import log_ranks, outside_scores, row_scores


@pytest.fixture
def tables():
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(60, 5))
    pool[7] = 8
    return pool, rng.normal(size=(200, 5))


def test_more_unusual_is_higher_whatever_the_detector(tables):
    pool, reference = tables
    detectors = [
        IsolationForest(random_state=0).fit(reference),
        LocalOutlierFactor(novelty=True).fit(reference),
    ]
    for detector in detectors:
        assert np.argmax(outside_scores(detector, pool)) == 7


def test_pyod_detectors_grow_with_strangeness(tables):
    knn = pytest.importorskip("pyod.models.knn")
    pool, reference = tables
    assert np.argmax(outside_scores(knn.KNN().fit(reference), pool)) == 7


def test_row_scores_are_ranks_in_units_of_a_block_row():
    own = row_scores(np.array([5.0, -1.0, 99.0]), m=2)
    assert own == pytest.approx(2 * -np.log(np.array([2, 3, 1]) / 4))


def test_evidence_moves_the_answer_and_keeps_the_proof(tables):
    pool, reference = tables
    score = np.zeros(60)
    score[[20, 21, 22]] = 1000, 900, 800
    options = {"k": 3, "m": 1, "search": Search(neighbours=(0, 0)), "kinds": Kinds(kinds=1)}
    plain, with_score = (
        bs.review(pool, reference, **options, weighing=Weighing(row_scores=source)) for source in (None, score)
    )
    assert with_score.selection.proven_optimal
    assert set(with_score.selection.samples) != set(plain.selection.samples)
    assert with_score.problem.sample_scores == pytest.approx(row_scores(score, 1))
    assert not with_score.problem.feature_scores.any()


def test_a_score_column_is_shown_and_never_a_feature(tables):
    import pandas as pd

    pool, reference = tables
    columns = list("abcde")
    frame = pd.DataFrame(pool, columns=columns).assign(mine=np.arange(60))
    normal = pd.DataFrame(reference, columns=columns)
    found = bs.review(
        bs.table(frame, columns=Columns(score="mine")),
        normal,
        k=3,
        m=2,
        kinds=Kinds(kinds=2, null_draws=0),
        search=Search(neighbours=(0, 0)),
    )
    assert found.problem.n_features == 5
    assert found.problem.sample_scores == pytest.approx(row_scores(np.arange(60.0), 2))
    assert found.summary["rows"][0]["shown"]["mine"]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (np.zeros(3), "one number a pool row"),
        ([np.nan] * 60, "missing"),
        (["a"] * 60, "numbers"),
        (IsolationForest, "fitted"),
        (IsolationForest(), "fitted"),
    ],
)
def test_what_is_no_evidence_is_refused(tables, source, words):
    with pytest.raises(InputError, match=words):
        outside_scores(source, tables[0])


def test_log_ranks_are_of_ranks_alone():
    assert log_ranks(np.array([3.0, 1e9, -2.0])) == pytest.approx(-np.log(np.array([2, 1, 3]) / 4))
