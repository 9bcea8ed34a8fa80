"""A row has one score: the same in any pool, taken apart to the last point."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.weights.drawn_tables import Pair, pairs

from biselect.errors import InputError
from biselect.weights import Weigher
from biselect.weights.paper import paper_marginals
from biselect.weights.scoring import LEAST_AWAY, ORDINARY, SIMILAR, Scoring
from biselect.weights.whole_row import near_weight

CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def scored(pair: Pair, **options) -> Scoring:
    """A pool against its reference, or against itself."""
    weigher = Weigher().fit(pair.normal)
    places = weigher.own_places if pair.reference is None else None
    return Scoring.of(weigher, weigher.cells(pair.pool, places=places), pair.k, pair.m, **options)


def some_features(scoring, seed):
    """One direction of m columns."""
    rng = np.random.default_rng(seed)
    columns = rng.permutation(len(scoring.features.names))[: scoring.m]
    return np.sort([rng.choice(np.flatnonzero(scoring.features.columns == j)) for j in columns])


SEEDS = st.integers(0, 999)


@settings(max_examples=30)
@given(pairs(), SEEDS, st.booleans())
def test_parts_of_every_row_sum_to_its_score(pair, seed, paper):
    scoring = scored(pair, marginals=paper_marginals if paper else None)
    features, rows = some_features(scoring, seed), np.arange(len(pair.pool))
    parts, scores = scoring.parts(rows, features), scoring.pool_scores(features)
    assert parts.shape == (len(rows), len(scoring.features.names)) and (parts >= 0).all() and np.isfinite(parts).all()
    np.testing.assert_allclose(parts.sum(axis=1), scores, **CLOSE)
    cells = np.zeros_like(parts)
    for feature in features:
        cells[:, scoring.features.columns[feature]] = scoring.pool.weights[:, feature]
    assert (parts >= cells).all(), "a part holds its chosen cell"
    np.testing.assert_allclose(scores, scoring.pool_parts + scoring.pool.weights[:, features].sum(axis=1), **CLOSE)
    some = np.random.default_rng(seed).permutation(rows)[:3]
    np.testing.assert_allclose(scoring.parts(some, features), parts[some], **CLOSE)


def similar_in_words(scoring, rows, features):
    """The 20 rows of the nine tenths of the reference that score least, nearest in normal scores, itself left out."""
    scores, around = scoring.reference_scores(features), scoring.weigher.whole_row
    ordinary = np.flatnonzero(scores <= np.quantile(scores, ORDINARY))
    places = scoring.pool.cells.places
    Z = scoring.weigher.scale.residuals(scoring.pool.cells.values)
    found = []
    for row in rows:
        own = around.normal_scores(Z[row : row + 1], own=places is not None)[0]
        others = ordinary if places is None else ordinary[ordinary != places[row]]
        away = np.linalg.norm(around.scores[others] - own, axis=1)
        found.append((others, away, own))
    return found


@settings(max_examples=30)
@given(pairs(), SEEDS)
def test_a_row_is_compared_with_ordinary_rows_like_it(pair, seed):
    scoring = scored(pair)
    features, rows = some_features(scoring, seed), np.arange(len(pair.pool))
    similar, scores = scoring.similar(rows, features), scoring.weigher.whole_row.scores
    parts = scoring.parts(rows, features)
    expected = np.zeros_like(parts)
    number = similar.shape[1]
    for row, (others, away, own) in enumerate(similar_in_words(scoring, rows, features)):
        number = min(SIMILAR, len(others)) if pair.reference is not None else similar.shape[1]
        assert number in (min(SIMILAR, len(others)), len(others) - 1)
        assert len({*similar[row]}) == number and {*similar[row]} <= {*others}
        told = np.linalg.norm(scores[similar[row]] - own, axis=1)
        np.testing.assert_allclose(np.sort(told), np.sort(away)[:number], atol=1e-6)
        for feature in features:
            expected[row, scoring.features.columns[feature]] += scoring.pool.weights[row, feature]
        difference = (own - scores[similar[row]].mean(axis=0)) ** 2 + LEAST_AWAY
        expected[row] += scoring.pool_parts[row] * difference / difference.sum()
    np.testing.assert_allclose(parts, expected, **CLOSE)


@settings(max_examples=30)
@given(pairs(), SEEDS)
def test_further_rows_are_on_the_same_scale(pair, seed):
    scoring = scored(pair)
    features, rows = some_features(scoring, seed), np.random.default_rng(seed).permutation(len(pair.pool))[:5]
    places = scoring.pool.cells.places
    cells = scoring.weigher.cells(pair.pool.iloc[rows], places=None if places is None else places[rows])
    np.testing.assert_allclose(scoring.scores_of(cells, features), scoring.pool_scores(features)[rows], **CLOSE)
    own = scoring.weigher.cells(pair.normal, places=scoring.weigher.own_places)
    np.testing.assert_allclose(scoring.scores_of(own, features), scoring.reference_scores(features), **CLOSE)


@settings(max_examples=30)
@given(pairs(alone=False), SEEDS)
def test_a_row_weighs_the_same_in_any_pool(pair, seed):
    """But for how much the nearest neighbour counts, which all rows of a pool share."""
    scoring = scored(pair)
    rows = np.sort(np.random.default_rng(seed).permutation(len(pair.pool))[: 1 + seed % len(pair.pool)])
    some = scored(
        Pair(
            pool=pair.pool.iloc[rows],
            reference=pair.reference,
            columns=pair.columns,
            k=min(pair.k, len(rows)),
            m=pair.m,
        )
    )
    for name in ("nearest", "near", "far"):
        own, whole = (getattr(one.pool.apartness, name) for one in (some, scoring))
        np.testing.assert_array_equal(own, whole[rows])
    features, others = (
        {pair: f for f, pair in enumerate(zip(one.features.columns, one.features.directions, strict=True))}
        for one in (some, scoring)
    )
    for feature in features.keys() & others.keys():
        np.testing.assert_array_equal(
            some.pool.weights[:, features[feature]], scoring.pool.weights[rows, others[feature]]
        )
    np.testing.assert_array_equal(some.reference.apartness.far, scoring.reference.apartness.far)
    blend = scoring.near_weight * some.pool.apartness.near + (1 - scoring.near_weight) * some.pool.apartness.far
    np.testing.assert_allclose(pair.m * blend, scoring.pool_parts[rows], **CLOSE)


@settings(max_examples=25)
@given(pairs(), SEEDS)
def test_the_problem_is_the_score(pair, seed):
    scoring = scored(pair)
    problem = scoring.problem([f"r{i}" for i in range(len(pair.pool))], "pandas")
    features = some_features(scoring, seed)
    rows = np.sort(np.random.default_rng(seed).permutation(len(pair.pool))[: pair.k])
    assert problem.score(rows, features) == pytest.approx(scoring.pool_scores(features)[rows].sum(), rel=1e-9, abs=1e-9)
    assert (problem.k, problem.m, problem.coupling_weight) == (pair.k, pair.m, 1.0)
    assert not problem.feature_scores.any() and problem.obeys(rows, features)
    assert problem.directions == scoring.features.directions
    assert problem.column_names == scoring.features.names
    np.testing.assert_array_equal(problem.column_of, scoring.features.columns)
    assert problem.coupling is scoring.pool.weights, "nothing is copied"


@settings(max_examples=25)
@given(pairs(), SEEDS)
def test_a_draw_of_the_reference_is_blended_by_itself(pair, seed):
    scoring = scored(pair)
    size = len(scoring.reference.weights)
    order = np.random.default_rng(seed).permutation(size)
    drawn, rest = order[: size // 2], order[size // 2 :]
    k = 1 + seed % drawn.size
    apart = scoring.reference.apartness
    u = near_weight(apart.nearest[drawn], apart.nearest[rest], k, drawn.size)
    expected = pair.m * (u * apart.near + (1 - u) * apart.far)
    np.testing.assert_array_equal(scoring.drawn_parts(drawn, rest, k), expected)


def test_the_part_as_a_whole_goes_to_the_columns_that_differ():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 1))
    reference = np.hstack([x, x + 0.05 * rng.normal(size=(500, 1)), rng.normal(size=(500, 3))])
    pool = reference[:40].copy()
    pool[0, :2] = [1.5, -1.5]  # each value is ordinary; the pair is not
    weigher = Weigher().fit(reference[40:])
    scoring = Scoring.of(weigher, weigher.cells(pool), 1, 1)
    parts = scoring.parts(np.array([0]), np.array([], dtype=int))[0]
    assert parts.sum() == pytest.approx(scoring.pool_parts[0]) and parts[:2].sum() > 0.8 * parts.sum()
    assert np.argmax(scoring.pool_parts) == 0


def test_a_row_like_all_others_shares_its_part_evenly():
    reference = np.zeros((30, 3))
    reference[:, 0] = np.arange(30) % 2
    weigher = Weigher().fit(reference)
    scoring = Scoring.of(weigher, weigher.cells(reference[:4]), 1, 1)
    parts = scoring.parts(np.arange(4), np.array([], dtype=int))
    np.testing.assert_allclose(parts.sum(axis=1), scoring.pool_parts)
    np.testing.assert_allclose(parts[:, 1], parts[:, 2])


def test_a_reference_that_holds_unusual_rows_does_not_make_them_usual():
    """A row's own kind is no standard: the tenth of the reference that scores most is not compared with."""
    rng = np.random.default_rng(1)
    reference, pool = rng.normal(size=(400, 6)), rng.normal(size=(50, 6))
    reference[:25, :3] += 8
    pool[:5, :3] += 8
    weigher = Weigher().fit(reference)
    scoring = Scoring.of(weigher, weigher.cells(pool), 5, 3)
    high = np.flatnonzero((scoring.features.columns < 3) & (np.array(scoring.features.directions) == "high"))
    similar = scoring.similar(np.arange(5), high)
    assert similar.min() >= 25 and similar.shape == (5, SIMILAR)
    parts = scoring.parts(np.arange(5), high)
    assert (parts[:, :3].sum(axis=1) > 0.9 * parts.sum(axis=1)).all()


@pytest.mark.parametrize(
    ("k", "m", "message"),
    [(0, 1, "k"), (13, 1, "k = 13"), (1, 0, "m"), (1, 3, "m = 3 is out of range: with 2 columns")],
)
def test_budgets_out_of_range_are_refused(k, m, message):
    weigher = Weigher().fit(np.arange(40.0).reshape(20, 2))
    with pytest.raises(InputError, match=message):
        Scoring.of(weigher, weigher.cells(np.zeros((12, 2))), k, m)


def test_a_reference_without_rows_gives_weights_but_no_score():
    from biselect.weights import Reference

    table = pd.DataFrame({"x": np.arange(40.0)})
    weigher = Weigher().fit(Reference().add(table))
    assert weigher.cells(table).weights.shape == (40, 1)
    with pytest.raises(InputError, match="needs rows of the reference, and a summary holds none"):
        Scoring.of(weigher, weigher.cells(table), 1, 1)
