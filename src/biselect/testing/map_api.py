"""What every map must do, whoever wrote it."""

import numpy as np

from biselect.errors import InputError
from biselect.weights import Reference, Weigher, WeightMap


def assert_map_api(map: str | WeightMap | type[WeightMap]) -> None:
    """Check a map on small tables: bounded weights of each cell alone, the same again, and an honest interval.

    Args:
        map: a registered name, an object or a class, as `biselect.weights.Weigher` takes it.

    >>> assert_map_api("reach")
    """
    rng = np.random.default_rng(1)
    reference = np.column_stack([rng.normal(size=60), rng.integers(0, 4, 60), rng.standard_cauchy(60)])
    reference[::7, 2] = np.nan
    pool = np.vstack([2 * reference, np.full(3, 1e300), np.full(3, -1e300), np.nan_to_num(reference.mean(axis=0))])
    weigher = Weigher(map, seed=3).fit(reference)
    weights = weigher.weights(pool)
    assert weights.shape == pool.shape and np.isfinite(weights).all(), "a weight for every cell"
    assert weights.min() >= 0 and weights.max() <= weigher.cap, "weights lie between 0 and the cap"
    assert weights.max() > 0, "something is unusual"
    for row in (0, 5, len(pool) - 1):
        alone = weigher.weights(pool[row : row + 1])[0]
        assert np.array_equal(alone, weights[row]), "a row weighs the same on its own"
    assert np.array_equal(weigher.weights(pool), weights), "weighing changes nothing"
    assert np.array_equal(Weigher(map, seed=3).fit(reference).weights(pool), weights), "one reference, one answer"
    shifted = weigher.fit(reference + 100).weights(pool + 100)
    assert np.allclose(shifted, weights, rtol=1e-4, atol=1e-4), "fitting again forgets the first reference"
    _assert_interval_holds(weigher.fit(reference), pool)
    try:
        blocks = Weigher(map, seed=3).fit(Reference.of([reference[:30], reference[30:]], seed=3))
    except InputError as error:
        assert weigher.needs_rows and "needs all rows" in str(error), "a refusal names the reason"
    else:
        assert np.array_equal(blocks.weights(pool), weights), "a reference in blocks gives the same"


def _assert_interval_holds(weigher: Weigher, pool: np.ndarray) -> None:
    """No number inside the interval of a level weighs more than that."""
    weights = weigher.weights(pool)
    for level in (0.1, 1.0, 3.0):
        ends = weigher.numbers_at_most(level)
        if ends is not None:
            inside = (pool >= ends[0]) & (pool <= ends[1])
            assert weights[inside].max(initial=0.0) <= level, "within its interval nothing weighs more"
