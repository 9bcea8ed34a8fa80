import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import special
from tests.weights.drawn_tables import pairs

from biselect import solve
from biselect.weights import Reference, Weigher
from biselect.weights.reference import FEWEST_ROWS
from biselect.weights.scoring import Scoring
from biselect.weights.whole_row import FAR, PoolFacts, near_weight, neighbour_rows

WHOLE = ("normal", "heavy", "counts", "tied", "huge", "tiny", "offset", "spike", "flag", "label", "drifted")


def surprise_in_words(others, x):
    """-log of the share at or above x; beyond the largest, how far in lengths of the outer five per cent."""
    share = (1 + sum(value >= x for value in others)) / (1 + len(others))
    length = max(others) - np.quantile(others, 0.95)
    return -np.log(share) + (np.log(1 + (x - max(others)) / length) if x > max(others) else 0)


def normal_score_in_words(column, x):
    middle = (sum(column < x) + sum(column <= x)) / 2
    return special.ndtri((middle + 0.5) / (len(column) + 1))


def normal_scores_in_words(reference, rows):
    return np.array([[normal_score_in_words(reference[:, j], x) for j, x in enumerate(row)] for row in rows])


def own_normal_scores_in_words(reference):
    """Each row among the others."""
    others = (np.delete(reference, i, axis=0) for i in range(len(reference)))
    return np.concatenate(
        [normal_scores_in_words(rest, row[None]) for rest, row in zip(others, reference, strict=True)]
    )


def log_scores_in_words(reference, rows):
    spread = reference.std(axis=0)
    z = (rows - reference.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return np.sign(z) * np.log(1 + np.abs(z))


def distances_in_words(rows, reference, number, *, own=False):
    """Of each row to its so many-th neighbour in the reference; `own` rows are the reference's, and not their own."""
    away = np.linalg.norm(rows[:, None] - reference, axis=2)
    if own:
        np.fill_diagonal(away, np.inf)
    return np.sort(away, axis=1)[:, number - 1]


def apartness_in_words(reference, pool):
    """Distances and surprises of pool rows and of reference rows, each of these among the others."""
    far = int(np.ceil(FAR * len(reference)))
    there, here = (normal_scores_in_words(reference, rows) for rows in (reference, pool))
    near = [distances_in_words(own_normal_scores_in_words(reference), there, 1, own=True)]
    near += [distances_in_words(here, there, 1)]
    there, here = (log_scores_in_words(reference, rows) for rows in (reference, pool))
    away = [distances_in_words(there, there, far, own=True), distances_in_words(here, there, far)]
    surprises = []
    for within, towards in (near, away):
        surprises.append([surprise_in_words(np.delete(within, i), x) for i, x in enumerate(within)])
        surprises.append([surprise_in_words(within, x) for x in towards])
    return near[0], near[1], surprises


def test_rows_stand_apart_as_written_down():
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(60, 3)), rng.normal(size=(12, 3)) * 2
    reference[3] = 4.0  # beyond all others
    weigher = Weigher().fit(reference)
    around = weigher.whole_row
    found = around.apartness(weigher.residuals(pool))
    within, towards, (own_near, near, own_far, far) = apartness_in_words(reference, pool)
    np.testing.assert_allclose(around.sample.nearest, within, atol=1e-6)
    np.testing.assert_allclose(found.nearest, towards, atol=1e-6)
    for told, expected in ((around.sample, (own_near, own_far)), (found, (near, far))):
        np.testing.assert_allclose(told.near, expected[0], atol=1e-4)
        np.testing.assert_allclose(told.far, expected[1], atol=1e-4)
    for w in (0.0, 0.3, 1.0):
        np.testing.assert_allclose(found.blend(w), w * np.array(near) + (1 - w) * np.array(far), atol=1e-4)


@given(pairs(kinds=WHOLE, most_rows=25))
def test_distances_and_surprises_of_reference_rows_leave_the_row_out(pair):
    weigher = Weigher().fit(pair.normal)
    around, Z = weigher.whole_row, weigher.scale.residuals(weigher.sample.values)
    own = own_normal_scores_in_words(Z)
    np.testing.assert_array_equal(around.scores, own)
    every = normal_scores_in_words(Z, Z)
    np.testing.assert_allclose(around.sample.nearest, distances_in_words(own, every, 1, own=True), atol=2e-6)
    logs = log_scores_in_words(Z, Z)
    far = distances_in_words(logs, logs, int(np.ceil(FAR * len(Z))), own=True)
    np.testing.assert_allclose(np.sort(far), around.far.values, atol=2e-6)
    for told, distances in ((around.sample.near, around.sample.nearest), (around.sample.far, far.round(6))):
        for i, (x, surprise) in enumerate(zip(distances, told, strict=True)):
            others = np.delete(distances, i)
            if max(others) - np.quantile(others, 0.95) > 1e-6 * distances.std():  # else the spread is the unit
                assert surprise == pytest.approx(surprise_in_words(others, x), abs=1e-4)
            elif x <= max(others):
                assert surprise == pytest.approx(-np.log((1 + sum(others >= x)) / len(Z)))
            else:
                assert -np.log(1 / len(Z)) < surprise < np.inf


@settings(max_examples=40)
@given(pairs(kinds=WHOLE, most_rows=25))
def test_normal_scores_are_those_against_a_reference_without_the_row(pair):
    """Of numbers; the weights of a category change with the row, and their order with them."""
    numbers = pair.normal.select_dtypes("number")
    assume(len(numbers) > FEWEST_ROWS and not numbers.empty)
    values = numbers.to_numpy(dtype=float)
    weigher = Weigher().fit(values)
    for i in range(0, len(values), 5):
        others = Weigher().fit(np.delete(values, i, axis=0))
        alone = others.whole_row.normal_scores(others.scale.residuals(values[i : i + 1]))[0]
        ranked = [column.type.is_ranked for column in others.columns]  # without the row it may be constant
        np.testing.assert_array_equal(weigher.whole_row.scores[i][ranked], alone[ranked])


@settings(max_examples=40)
@given(pairs(most_rows=30), st.integers(0, 99))
def test_rows_do_not_matter_to_each_other(pair, seed):
    weigher = Weigher().fit(pair.normal)
    around = weigher.whole_row
    places = np.arange(len(pair.pool)) if pair.reference is None else None
    Z = weigher.residuals(pair.pool)
    whole = around.apartness(Z, places)
    some = np.random.default_rng(seed).permutation(len(Z))[: 1 + seed % len(Z)]
    part = around.apartness(Z[some], None if places is None else places[some])
    for told, expected in zip(vars(part).values(), vars(whole.rows(some)).values(), strict=True):
        np.testing.assert_array_equal(told, expected)
    spread = whole.rows(some).spread(some, len(Z))
    assert spread.near[some].tolist() == whole.near[some].tolist()
    assert not np.delete(spread.near, some).any() and not np.delete(spread.far, some).any()
    if places is not None:
        np.testing.assert_array_equal(whole.nearest, around.sample.nearest)


def test_rows_of_a_table_that_is_sampled_are_weighed_against_the_sample(monkeypatch):
    monkeypatch.setattr("biselect.weights.reference.SAMPLE", 40)
    monkeypatch.setattr("biselect.weights.whole_row.FAR_SAMPLE", 25)
    table = np.random.default_rng(0).normal(size=(90, 2))
    weigher = Weigher().fit(table)
    places, around = weigher.own_places, weigher.whole_row
    inside = np.flatnonzero(places >= 0)
    assert inside.size == 40 and np.array_equal(weigher.sample.rows.values[places[inside]], table[inside])
    told = around.apartness(weigher.residuals(table), places)
    np.testing.assert_array_equal(told.near[inside], around.sample.near[places[inside]])
    np.testing.assert_array_equal(told.far[inside], around.sample.far[places[inside]])
    own = own_normal_scores_in_words(table)
    base = normal_scores_in_words(table, table[inside])
    for row in range(90):
        away = np.linalg.norm(base - own[row], axis=1)[inside != row]
        assert told.nearest[row] == pytest.approx(away.min(), abs=2e-6)


def test_the_nearest_neighbour_counts_where_the_reference_is_clean():
    rng = np.random.default_rng(2)
    clean = rng.normal(size=(500, 3))
    odd = rng.normal(size=(30, 3)) * 0.1 + 4
    mixed = np.vstack([rng.normal(size=(470, 3)), odd[:15] + rng.normal(size=(15, 3)) * 0.1, clean[:15]])
    pool = np.vstack([rng.normal(size=(200, 3)), odd[15:]])

    def weight(reference, pool):
        weigher = Weigher().fit(reference)
        return Scoring.of(weigher, weigher.cells(pool), 15, 2).near_weight

    assert weight(clean, pool) > 0.8
    assert weight(mixed, pool) < 0.5
    assert weight(clean, rng.normal(size=(200, 3))) < 0.5


@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=40),
    st.lists(st.integers(0, 20), min_size=10, max_size=40),
    st.integers(1, 50),
)
def test_how_much_the_nearest_neighbour_counts(nearest, reference, k):
    told = near_weight(np.array(nearest, float), np.array(reference, float), k, len(nearest))
    most = sorted(nearest)[-min(k, len(nearest)) :]
    explained = (1 + sum(one >= most[0] for one in reference)) / (1 + len(reference)) * len(nearest) / len(most)
    assert told == pytest.approx(min(1, max(0, 2 * (1 - explained))))


def test_the_choice_finds_rows_that_no_single_column_shows():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(800, 1))
    reference = np.hstack([x, x + 0.1 * rng.normal(size=(800, 1)), rng.normal(size=(800, 1))])
    pool = reference[:100].copy()
    pool[:5, 0] = np.sign(pool[:5, 0]) * np.clip(np.abs(pool[:5, 0]), 0.8, 1.2)
    pool[:5, 1] = -pool[:5, 0]  # each value is ordinary; the pair is not
    weigher = Weigher().fit(reference[100:])
    chosen = solve(weigher.problem(pool, k=5, m=1)).samples
    alone = solve(weigher.plain_problem(pool, k=5, m=1)).samples
    assert sum(chosen < 5) >= 3 > sum(alone < 5)


def test_a_large_pool_is_looked_up_where_its_weights_are_largest(monkeypatch):
    rng = np.random.default_rng(4)
    weigher = Weigher().fit(rng.normal(size=(100, 2)))
    pool = rng.normal(size=(40, 2))
    cells = weigher.cells(pool)
    whole = Scoring.of(weigher, cells, 2, 1)
    monkeypatch.setattr("biselect.weights.whole_row.MOST_ROWS", 10)
    best = np.sort(whole.pool.weights.reshape(40, 2, 3).max(axis=2).sum(axis=1))[-10]
    rows = np.sort(neighbour_rows(whole.pool.weights.reshape(40, 2, 3).max(axis=2).sum(axis=1)))
    some = Scoring.of(weigher, cells, 2, 1)
    np.testing.assert_array_equal(np.flatnonzero(some.pool.apartness.nearest), rows)
    np.testing.assert_array_equal(some.pool.apartness.near[rows], whole.pool.apartness.near[rows])
    assert some.near_weight == near_weight(
        some.pool.apartness.nearest[rows], weigher.whole_row.sample.nearest, 2, 40
    ), "the share of unexplained rows is of the whole pool"
    kept = Scoring.of(weigher, cells, 2, 1, whole=PoolFacts(rows=1000, heavy=best))
    np.testing.assert_array_equal(kept.pool.apartness.far, some.pool.apartness.far)
    assert kept.near_weight <= some.near_weight


def test_the_sample_does_not_depend_on_the_blocks(monkeypatch):
    monkeypatch.setattr("biselect.weights.reference.SAMPLE", 30)
    table = np.random.default_rng(5).normal(size=(90, 2))
    whole = Weigher().fit(table)
    parts = Weigher().fit(Reference.of([table[:7], table[7:50], table[50:]]))
    pool = np.random.default_rng(6).normal(size=(9, 2))
    for one, other in zip(
        vars(parts.whole_row.apartness(parts.residuals(pool))).values(),
        vars(whole.whole_row.apartness(whole.residuals(pool))).values(),
        strict=True,
    ):
        np.testing.assert_allclose(one, other)
    np.testing.assert_array_equal(parts.own_places, whole.own_places)
    assert len(whole.sample.rows) == 30 and (whole.own_places >= 0).sum() == 30
