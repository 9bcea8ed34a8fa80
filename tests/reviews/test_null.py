"""What chance gives: the freedom to choose rows and columns counts, and noise is flagged no more often than said."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect import solve
from biselect.reviews._null import DEEPER, DRAWS, LEVEL, Null, _Blocks, largest_excess, scan
from biselect.weights import Weigher
from biselect.weights.scoring import Scoring

SCORES = st.lists(st.integers(0, 12).map(float), min_size=1, max_size=30)
NOISE = {
    "normal": lambda rng, size: rng.normal(size=size),
    "t4": lambda rng, size: rng.standard_t(4, size=size),
    "lognormal": lambda rng, size: rng.lognormal(size=size),
    "correlated": lambda rng, size: rng.normal(size=size) + 1.5 * rng.normal(size=(size[0], 1)),
    "counts": lambda rng, size: rng.poisson(1.0, size=size).astype(float),
}


def ratio_in_words(n, r, rows, others):
    """Of two binomial samples with one share in common against a share of each."""

    def likelihood(hits, tries, share):
        return sum(x * np.log(p) for x, p in ((hits, share), (tries - hits, 1 - share)) if x)

    share = rows / (rows + others)
    told = likelihood(n, n + r, n / (n + r)) - likelihood(n, n + r, share)
    return np.sign(n / (n + r) - share) * np.sqrt(2 * max(told, 0))


@given(SCORES, SCORES, st.integers(1, 40), st.integers(0, 50))
def test_the_scan_finds_the_clearest_difference(scores, others, deepest, more):
    rows = len(scores) + more
    found = scan(np.array(scores), np.array(others), deepest, rows)
    tries = {}
    for threshold in sorted({*sorted(scores)[-deepest:]}):
        n, r = sum(s >= threshold for s in scores), sum(s >= threshold for s in others)
        tries[threshold] = (ratio_in_words(n, r, rows, len(others)), n, r)
    assert found.z == pytest.approx(max(z for z, _, _ in tries.values()), abs=1e-9)
    assert tries[found.threshold][1:] == (found.rows, found.others)
    assert tries[found.threshold][0] == pytest.approx(found.z, abs=1e-9)


@given(SCORES, SCORES, st.integers(1, 40), st.integers(0, 50))
def test_the_largest_excess_is_over_what_the_rate_gives(scores, others, deepest, more):
    rows = len(scores) + more
    found = largest_excess(np.array(scores), np.array(others), deepest, rows)
    tries = [
        sum(s >= t for s in scores) - sum(s >= t for s in others) * rows / len(others)
        for t in {*sorted(scores)[-deepest:]}
    ]
    assert found.rows - found.others * rows / len(others) == pytest.approx(max(tries))


@given(st.integers(0, 1000), st.integers(1, 3), st.integers(1, 2), st.booleans())
def test_a_climb_comes_close_to_the_best_block(seed, k, m, force):
    """At most one direction of a column, with the columns that must be in."""
    rng = np.random.default_rng(seed)
    columns = np.repeat(np.arange(3), 3)
    weights, alone = rng.exponential(size=(9, 7)), rng.exponential(size=7)
    forced = np.array([4]) if force else np.array([], dtype=int)
    found = _Blocks(columns=columns, forced=forced, k=k, m=m).best(weights, alone, rng)
    assert len(found) == m == len({*columns[found]}) and {*forced} <= {*found}
    best = max(
        np.sort(alone + weights[list(features)].sum(axis=0))[-k:].sum()
        for features in combinations(range(9), m)
        if len({*columns[list(features)]}) == m and {*forced} <= {*features}
    )
    score = np.sort(alone + weights[found].sum(axis=0))[-k:].sum()
    assert 0.9 * best <= score <= best + 1e-9


def scoring(reference, pool, k, m=2):
    weigher = Weigher().fit(reference)
    return Scoring.of(weigher, weigher.cells(pool), k, m)


NOTHING = np.array([], dtype=int)


def first_p(reference, pool, k, m=2, seed=0):
    """The p-value of the best block of a pool."""
    score = scoring(reference, pool, k, m)
    features = solve(score.problem(), time_limit=5).features
    scores, others = score.pool_scores(features), score.reference_scores(features)
    return Null.of(score, NOTHING, seed=seed).p(scan(scores, others, DEEPER * k, score.rows).z)


def test_draws_are_many_sorted_and_fixed_by_the_seed():
    rng = np.random.default_rng(0)
    score = scoring(rng.normal(size=(120, 4)), rng.normal(size=(50, 4)), 5)
    null = Null.of(score, NOTHING, seed=3)
    assert null.z.size == DRAWS and (np.diff(null.z) >= 0).all()
    np.testing.assert_array_equal(null.z, Null.of(score, NOTHING, seed=3).z)
    assert not np.array_equal(null.z, Null.of(score, NOTHING, seed=4).z)
    assert null.p(np.inf) == 1 / (1 + DRAWS) and null.p(-np.inf) == 1.0
    for z in (null.z[0], null.z[50], null.z[-1], 1.0):
        assert null.p(z) == (1 + (null.z >= z).sum()) / (1 + DRAWS), "the pool counts as one of the draws"


@pytest.mark.parametrize(("rows", "pool", "k"), [(10, 1, 1), (10, 60, 60), (30, 5, 5), (200, 3, 1), (12, 12, 12)])
def test_small_references_and_pools_have_a_null_too(rows, pool, k):
    rng = np.random.default_rng(rows + pool)
    score = scoring(rng.normal(size=(rows, 3)), rng.normal(size=(pool, 3)), k, m=3)
    null = Null.of(score, NOTHING, seed=0)
    assert np.isfinite(null.z).all() and 0 < null.p(0.5) <= 1


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_planted_rows_are_flagged(seed):
    rng = np.random.default_rng(seed)
    reference, pool = rng.normal(size=(200, 6)), rng.normal(size=(100, 6))
    pool[:10, :2] += 5
    assert first_p(reference, pool, k=10) <= LEVEL


def test_rows_that_the_reference_holds_too_are_not_flagged():
    rng = np.random.default_rng(1)
    reference, pool = rng.normal(size=(300, 5)), rng.normal(size=(300, 5))
    reference[:10, :2] += 5
    pool[:10, :2] += 5
    assert first_p(reference, pool, k=10) > LEVEL


@pytest.mark.parametrize("name", NOISE)
def test_noise_is_hardly_ever_flagged(name):
    """Twelve pools; the slow test below has two hundred of each."""
    flagged = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, 9])
        flagged += first_p(NOISE[name](rng, (120, 6)), NOISE[name](rng, (60, 6)), k=6) <= LEVEL
    assert flagged <= 3


@pytest.mark.slow
@pytest.mark.parametrize(("size", "name"), [*product([(400, 200, 10, 10), (150, 300, 6, 20)], NOISE)])
def test_noise_is_flagged_in_at_most_eight_of_a_hundred_pools(size, name):
    """Two hundred pools leave a standard error of 1.5 in a hundred."""
    rows, pool, columns, k = size
    flagged = 0
    for seed in range(200):
        rng = np.random.default_rng([seed, rows])
        reference, now = NOISE[name](rng, (rows, columns)), NOISE[name](rng, (pool, columns))
        flagged += first_p(reference, now, k, m=min(4, columns // 2), seed=seed) <= LEVEL
    print(f"{name}, {rows} and {pool} rows × {columns}, k = {k}: {flagged} of 200")
    assert flagged <= 16
