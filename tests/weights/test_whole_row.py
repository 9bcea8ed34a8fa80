import numpy as np
import pytest
from scipy import special

from biselect import solve
from biselect.errors import InputError
from biselect.weights import Reference, Weigher
from biselect.weights.whole_row import WholeRow


def surprise_in_words(reference, x):
    """-log of the share at or above x; beyond the largest, how far in lengths of the outer five per cent."""
    share = (1 + sum(value >= x for value in reference)) / (1 + len(reference))
    length = max(reference) - np.quantile(reference, 0.95)
    return -np.log(share) + (np.log(1 + (x - max(reference)) / length) if x > max(reference) else 0)


def normal_scores_in_words(reference, rows):
    def score(column, x):
        middle = (sum(column < x) + sum(column <= x)) / 2
        return special.ndtri((middle + 0.5) / (len(column) + 1))

    return np.array([[score(reference[:, j], x) for j, x in enumerate(row)] for row in rows])


def log_scores_in_words(reference, rows):
    z = (rows - reference.mean(axis=0)) / reference.std(axis=0)
    return np.sign(z) * np.log(1 + np.abs(z))


def distances_in_words(scores, reference, pool):
    """Of the reference rows to each other and of the pool rows to them, ascending."""
    there, here = scores(reference, reference), scores(reference, pool)
    return [np.sort(np.linalg.norm(rows[:, None] - there, axis=2), axis=1) for rows in (there, here)]


def isolation_in_words(reference, pool, w):
    far = int(np.ceil(0.05 * len(reference)))
    within, towards = distances_in_words(normal_scores_in_words, reference, pool)
    near = [surprise_in_words(within[:, 1], x) for x in towards[:, 0]]
    within, towards = distances_in_words(log_scores_in_words, reference, pool)
    away = [surprise_in_words(within[:, far], x) for x in towards[:, far - 1]]
    return w * np.array(near) + (1 - w) * np.array(away)


@pytest.mark.parametrize("w", [0.0, 0.3, 1.0])
def test_isolation_is_as_written_down(w):
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(60, 3)), rng.normal(size=(12, 3)) * 2
    found = Weigher().fit(reference).isolation(pool, w)
    np.testing.assert_allclose(found, isolation_in_words(reference, pool, w), atol=1e-4)


def test_rows_do_not_matter_to_each_other():
    rng = np.random.default_rng(1)
    calibrator = Weigher().fit(rng.normal(size=(200, 4)))
    pool = rng.normal(size=(20, 4))
    whole = calibrator.isolation(pool, 0.5)
    np.testing.assert_allclose(calibrator.isolation(pool[7:9], 0.5), whole[7:9])


def test_the_nearest_neighbour_counts_where_the_reference_is_clean():
    rng = np.random.default_rng(2)
    clean = rng.normal(size=(500, 3))
    odd = rng.normal(size=(30, 3)) * 0.1 + 4
    mixed = np.vstack([rng.normal(size=(470, 3)), odd[:15] + rng.normal(size=(15, 3)) * 0.1, clean[:15]])
    pool = np.vstack([rng.normal(size=(200, 3)), odd[15:]])
    assert Weigher().fit(clean).near_weight(pool, k=15) > 0.8
    assert Weigher().fit(mixed).near_weight(pool, k=15) < 0.5
    assert Weigher().fit(clean).near_weight(rng.normal(size=(200, 3)), k=15) < 0.5


def test_the_choice_finds_rows_that_no_single_column_shows():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(800, 1))
    reference = np.hstack([x, x + 0.1 * rng.normal(size=(800, 1)), rng.normal(size=(800, 1))])
    pool = reference[:100].copy()
    pool[:5, 0] = np.sign(pool[:5, 0]) * np.clip(np.abs(pool[:5, 0]), 0.8, 1.2)
    pool[:5, 1] = -pool[:5, 0]  # each value is ordinary; the pair is not
    calibrator = Weigher().fit(reference[100:])
    chosen = solve(calibrator.problem(pool, k=5, m=1)).samples
    alone = solve(calibrator.problem(pool, k=5, m=1, marginals="none")).samples
    assert sum(chosen < 5) >= 3 > sum(alone < 5)


def test_a_large_pool_is_looked_up_where_its_weights_are_largest(monkeypatch):
    rng = np.random.default_rng(4)
    calibrator = Weigher().fit(rng.normal(size=(100, 2)))
    pool = rng.normal(size=(40, 2))
    whole = calibrator.isolation(pool, 0.5)
    monkeypatch.setattr("biselect.weights.whole_row.MOST_ROWS", 10)
    neighbour_rows = np.argsort(-calibrator.weights(pool).sum(axis=1), kind="stable")[:10]
    some = calibrator.isolation(pool, 0.5)
    np.testing.assert_array_equal(np.flatnonzero(some), np.sort(neighbour_rows[whole[neighbour_rows] > 0]))
    np.testing.assert_allclose(some[neighbour_rows], whole[neighbour_rows])


def test_the_sample_does_not_depend_on_the_blocks(monkeypatch):
    monkeypatch.setattr("biselect.weights.reference.SAMPLE", 30)
    table = np.random.default_rng(5).normal(size=(90, 2))
    whole = Weigher().fit(table)
    parts = Weigher().fit(Reference.of([table[:7], table[7:50], table[50:]]))
    pool = np.random.default_rng(6).normal(size=(9, 2))
    np.testing.assert_allclose(parts.isolation(pool, 0.5), whole.isolation(pool, 0.5))
    assert sum(map(len, whole._sample)) == 30


def test_what_cannot_be_is_refused():
    calibrator = Weigher().fit(np.random.default_rng(0).normal(size=(20, 2)))
    with pytest.raises(InputError, match="k must be a whole number"):
        calibrator.near_weight(np.zeros((3, 2)), k=0)
    assert isinstance(calibrator._whole_row, WholeRow)
