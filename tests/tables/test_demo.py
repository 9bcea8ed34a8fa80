import numpy as np

from biselect.tables.demo import demo_pool


def test_the_excerpt_is_what_its_attribution_says():
    pool = demo_pool()
    assert (pool.reference.num_rows, pool.candidates.num_rows, pool.reference.num_columns) == (13145, 600, 29)
    assert pool.labels.sum() == 15
    assert np.isfinite(pool.candidates["V1"].to_numpy()).all()
    assert pool.sample_names == sorted(pool.sample_names)
