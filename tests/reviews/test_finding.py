"""A finding counts rows of pool and reference on one scale, and says no more than it can."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.reviews.own_tables import review_alone
from tests.weights.drawn_tables import ruled_pairs

import biselect as bs
from biselect.options import Kinds, RowRules, Search
from biselect.reviews._null import LEVEL, Null
from biselect.reviews.finding import (
    BODY,
    FALSE_SHARE,
    MARGIN,
    Finding,
    apart_from_body,
    excess_interval,
    rows_that_hold,
)
from biselect.weights import Weigher
from biselect.weights.scoring import Scoring

QUICK = {"kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0)), "progress": False}
KEYS = {"case", "chosen", "rows", "expected", "interval"}  # those that are promised to whoever reads the files


def planted(seed, rows=200, reference=400, unusual=12, alike=0, columns=2, far=5):
    """A pool with rows that are unusual in some of eight columns, of which the reference holds some too."""
    rng = np.random.default_rng(seed)
    before, now = rng.normal(size=(reference, 8)), rng.normal(size=(rows, 8))
    now[:unusual, :columns] += far
    before[:alike, :columns] += far
    return now, before


@pytest.mark.parametrize("seed", range(6))
def test_a_pool_that_holds_more_is_said_to_and_by_how_many(seed):
    pool, reference = planted(seed)
    found = bs.review(pool, reference, k=12, m=2, **QUICK).finding
    assert found.case == "more" and found.p <= LEVEL
    assert abs(found.rows - 12) <= 3 and found.interval[0] <= 12 <= found.interval[1] + 1
    assert found.interval[0] <= found.rows <= found.interval[1]
    assert len({*found.pool_rows} & {*range(12)}) >= 10 and found.chosen >= 10
    assert found.expected <= 2 and found.sample == 400


def test_rows_that_the_reference_holds_too_are_nothing_new():
    """Never more; and in most cases it is seen that they stand apart in both."""
    apart = 0
    for seed in range(8):
        pool, reference = planted(seed, rows=400, reference=800, unusual=15, alike=30, columns=3, far=8)
        found = bs.review(pool, reference, k=15, m=3, **QUICK).finding
        assert found.case != "more" and found.rows <= 6 and found.p > LEVEL
        if found.case == "as-reference":
            apart += 1
            assert found.expected == pytest.approx(15, abs=4) and found.chosen >= 10
            assert {*found.pool_rows} <= {*range(15)} and {*found.reference_rows} <= {*range(30)}
    assert apart >= 6


@pytest.mark.parametrize("seed", range(6))
def test_an_empty_pool_holds_nothing(seed):
    pool, reference = planted(seed, unusual=0)
    found = bs.review(pool, reference, k=12, m=2, **QUICK).finding
    assert found.case == "nothing" and found.p > LEVEL
    assert (found.chosen, found.rows, found.interval, found.pool_rows) == (0, 0, None, ())


def test_a_table_alone_is_described_not_tested():
    pool, _ = planted(0)
    review = review_alone(pd.DataFrame(pool), k=12, m=2)
    found = review.finding
    assert found.case == "described" and found.chosen >= 11 and review.summary["reference"] == "self"
    assert (found.p, found.expected, found.interval, found.sample, found.rows) == (None, None, None, 0, 0)
    assert all(kind.p is None for kind in review.kinds) and review.summary["false_share"] is None
    assert "compared with itself" in review.summary["finding"]["text"]


def test_a_problem_of_weights_has_no_finding():
    review = bs.review(bs.SelectionProblem(coupling=[[3.0, 0], [0, 2.0]], k=1, m=1))
    assert review.finding is None and review.summary["finding"] is None


@settings(max_examples=25)
@given(ruled_pairs())
def test_a_finding_agrees_with_the_scores_and_with_itself(drawn):
    pair, rules = drawn
    if pair.reference is None:
        review = review_alone(pair.pool, pair.k, pair.m, rules=rules)
    else:
        review = bs.review(pair.pool, pair.reference, k=pair.k, m=pair.m, rules=rules, **QUICK)
    found, scoring, answer = review.finding, review.tables.scoring, review.selection
    scores, others = scoring.pool_scores(answer.features), scoring.reference_scores(answer.features)
    told = review.summary["finding"]
    assert KEYS <= {*told} and told["case"] == found.case in ("more", "as-reference", "nothing", "described")
    assert {key: told[key] for key in ("chosen", "rows", "expected", "p")} == {
        key: asdict(found)[key] for key in ("chosen", "rows", "expected", "p")
    }
    members = np.array(found.pool_rows, dtype=int)
    assert 0 <= found.chosen <= pair.k and found.chosen == np.isin(answer.samples, members).sum()
    assert (np.diff(scores[members]) <= 0).all() and (np.diff(others[list(found.reference_rows)]) <= 0).all()
    assert {*found.traits} <= {*answer.features.tolist()}
    assert len(told["shared"]) == len(found.traits)
    if pair.reference is None:
        assert found.case == "described" and found.p is None
        return
    assert 0 < found.p <= 1 and found.sample == others.size
    rate = scores.size / others.size
    if found.case != "nothing":
        assert found.expected == pytest.approx(len(found.reference_rows) * rate)
        assert found.rows == max(0, round(members.size - found.expected))
        assert found.interval == excess_interval(members.size, len(found.reference_rows), scores.size, others.size)
    else:
        assert found.rows == 0 and found.interval is None
    assert (found.p <= LEVEL) or found.case != "more"


def test_columns_that_must_be_chosen_are_in_every_draw():
    pool, reference = planted(3, unusual=0)
    weigher = Weigher().fit(reference)
    scoring = Scoring.of(weigher, weigher.cells(pool), 5, 2, must=[4])
    either = np.flatnonzero((scoring.features.columns == 4) & (np.array(scoring.features.directions) == "either"))
    free, forced = (Null.of(scoring, one, seed=0).z for one in (np.array([], dtype=int), either))
    assert forced.mean() < free.mean(), "less freedom, less chance"
    found = bs.review(pool, reference, k=5, m=2, rules=RowRules(must_columns=["4"]), **QUICK)
    assert found.finding.case == "nothing"


@given(st.integers(0, 60), st.integers(0, 30), st.integers(60, 5000), st.integers(30, 9000))
def test_the_interval_is_what_the_rate_may_give_nine_times_in_ten(n, r, rows, others):
    low, high = excess_interval(n, r, rows, others)
    chance = stats.nbinom(r + 0.5, others / (others + rows))
    assert 0 <= low <= max(0, high) and high <= n
    assert low == max(0, n - chance.ppf(0.95)) and high == n - chance.ppf(0.05)
    assert chance.cdf(n - high) >= 0.05 and (low == 0 or chance.cdf(n - low) >= 0.95)


@settings(max_examples=50)
@given(
    st.integers(0, 1000), st.integers(50, 400), st.integers(1, 30), st.sampled_from(["exponential", "normal", "tied"])
)
def test_a_body_without_rows_apart_shows_none(seed, rows, k, shape):
    rng = np.random.default_rng(seed)
    scores = {
        "exponential": lambda: rng.exponential(size=rows),
        "normal": lambda: np.abs(rng.normal(size=rows)),
        "tied": lambda: rng.integers(0, 4, size=rows).astype(float),
    }[shape]()
    apart = apart_from_body(scores, scores, rows, k)
    assert np.isfinite([apart.z, apart.excess, apart.threshold]).all()
    if shape != "tied":  # a body of ties has no length: whatever lies beyond it is apart
        assert apart.z <= 5


def test_rows_apart_are_counted_beyond_the_body():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.exponential(size=500), np.full(12, 40.0)])
    apart = apart_from_body(scores, scores, scores.size, 10)
    assert apart.z > 5 and apart.threshold == 40 and apart.excess == pytest.approx(12, abs=0.1)
    highest = np.sort(scores)[-60:]  # of a table that is not held, the others are as the reference shows
    assert apart_from_body(highest, rng.exponential(size=500), scores.size, 10).threshold == 40
    flat = apart_from_body(np.zeros(60), np.zeros(60), 60, 5)
    assert np.isfinite(flat.z)


def ordinary_in_words(score, others, rows):
    """How many ordinary rows of a pool are expected at or above a score: by the reference's rate, or by its tail."""
    by_rate = sum(other >= score for other in others) / len(others)
    hazards = []
    for low, high in BODY:
        start, end = np.quantile(others, low), np.quantile(others, high)
        hazards.append((np.log((1 - low) / (1 - high)) / max(end - start, 1e-9), end, 1 - high))
    hazard, start, share = max(hazards)
    by_tail = share * np.exp(-hazard * (score - start)) if score >= start else 1.0
    return rows * min(by_rate, MARGIN * by_tail)


@settings(max_examples=25)
@given(st.integers(0, 500), st.integers(1, 60), st.integers(10, 80), st.sampled_from([0.05, 0.1, 0.5]))
def test_of_the_rows_that_hold_one_by_one_a_share_is_expected_to_be_ordinary(seed, rows, reference, level):
    rng = np.random.default_rng(seed)
    before, now = rng.normal(size=(reference, 2)), rng.normal(size=(rows, 2))
    now[: rows // 4] += 6
    weigher = Weigher().fit(before)
    scoring = Scoring.of(weigher, weigher.cells(now), 1, 1)
    features = np.array([1])
    scores, others = scoring.pool_scores(features), scoring.reference_scores(features)
    ranking = sorted(scores, reverse=True)
    passed = [
        score for place, score in enumerate(ranking, 1) if ordinary_in_words(score, others, rows) <= level * place
    ]
    expected = scores >= min(passed, default=np.inf)
    np.testing.assert_array_equal(rows_that_hold(scoring, features, level), expected)


@pytest.mark.parametrize("seed", range(4))
def test_of_the_rows_that_hold_few_are_ordinary(seed):
    pool, reference = planted(seed, rows=900, reference=1800, unusual=19)
    review = bs.review(pool, reference, k=20, m=2, **QUICK)
    held = rows_that_hold(review.tables.scoring, review.selection.features)
    assert 15 <= held[:19].sum() and held[19:].sum() <= 6
    assert review.summary["false_share"] == {
        "level": FALSE_SHARE,
        "chosen": int(held[review.selection.samples].sum()),
        "pool": int(held.sum()),
    }


def test_a_finding_is_plain_data():
    found = Finding(case="more", chosen=3, rows=4, expected=1.5, interval=(2, 6), p=0.01, pool_rows=(5, 2))
    assert found.to_dict()["interval"] == [2, 6] and found.to_dict()["pool_rows"] == [5, 2]
