import numpy as np
import pytest

from biselect.columns.number import BINS
from biselect.weights.evidence import Evidence, histograms


@pytest.mark.parametrize(
    ("below", "above", "words"),
    [
        (100, 0, "higher than all 100 reference rows"),
        (0, 100, "lower than all 100 reference rows"),
        (99, 1, "higher than 99.00 % of 100 reference rows"),
        (3, 90, "lower than 90.00 % of 100 reference rows, equal to 7.00 %"),
        (10, 89, "lower than 89.00 % of 100 reference rows"),
        (50, 50, "in the middle of 100 reference rows"),
    ],
)
def test_evidence_in_words(below, above, words):
    assert Evidence(value=1.0, below=below, above=above, rows=100).words == words


def test_missing_values_are_not_shown_as_seen():
    assert Evidence(value=1.0, below=9, above=90, rows=100, absent=True).words.startswith("missing")


def test_shares_are_never_rounded_up_to_all():
    assert "99.99 %" in Evidence(value=1.0, below=999_999, above=0, rows=1_000_000).words


def test_histograms_hold_the_whole_reference(explored):
    reference, _, calibrator, *_ = explored
    for j, histogram in enumerate(histograms(np.arange(6), calibrator)):
        column, edges = reference[:, j], np.linspace(histogram["first"], histogram["last"], BINS + 1)
        assert histogram["below"] + sum(histogram["counts"]) + histogram["above"] == 300
        assert (histogram["low"], histogram["high"]) == pytest.approx((column.min(), column.max()))
        assert histogram["counts"] == pytest.approx(np.histogram(column, edges)[0], abs=1)  # an entry on an edge
        assert histogram["below"] == pytest.approx((column < edges[0]).sum(), abs=1)


def test_evidence_of_a_block_counts_the_reference(explored):
    reference, pool, *_, block, view = explored
    for row, i in enumerate(block.samples):
        for column, j in enumerate(block.features):
            assert view["values"][row][column] == pool[i, j]
            assert view["below"][row][column] == (reference[:, j] < pool[i, j]).sum()
            assert view["above"][row][column] == (reference[:, j] > pool[i, j]).sum()
