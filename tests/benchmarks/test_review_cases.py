"""Cases drawn from labelled tables: how many anomalies are where, and that a clean reference changes nothing else."""

import numpy as np
from benchmarks.review_cases import table_cases


def test_a_clean_reference_only_lacks_its_anomalies(tmp_path):
    y = np.arange(400) < 100
    np.savez(tmp_path / "rows.npz", X=np.column_stack([np.arange(400), np.zeros(400)]), y=y)
    [(name, split, (reference, pool, labels))] = table_cases(tmp_path, range(1))
    [(_, _, (clean, same_pool, _))] = table_cases(tmp_path, range(1), clean=True)
    anomalous = reference[:, 0] < 100
    assert (name, split) == ("rows", 0) and anomalous.any()
    np.testing.assert_array_equal(clean, reference[~anomalous])
    np.testing.assert_array_equal(pool, same_pool)
    np.testing.assert_array_equal(labels, pool[:, 0] < 100)
    assert anomalous.sum() + labels.sum() == round(300 * 0.05 / 0.95)
