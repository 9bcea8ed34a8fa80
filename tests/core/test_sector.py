from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.core import Sector
from biselect.core.sector import count_in_words, rank, subsets, unrank
from biselect.errors import InputError


@given(st.integers(1, 9), st.data())
def test_rank_and_unrank_are_inverse_and_colexicographic(n, data):
    k = data.draw(st.integers(1, n))
    expected = sorted(combinations(range(n), k), key=lambda subset: subset[::-1])
    listed = subsets(n, k)
    assert [tuple(row) for row in listed.tolist()] == expected
    np.testing.assert_array_equal(rank(listed, n), np.arange(comb(n, k)))


def test_ranks_beyond_64_bits():
    n, k = 200, 100
    last = np.arange(n - k, n)
    position = rank(last, n)
    assert position == comb(n, k) - 1
    np.testing.assert_array_equal(unrank(position, n, k), last)


def test_sector_sizes_and_chance():
    sector = Sector(n_samples=38, n_features=26, k=10, m=10)
    assert sector.size == comb(38, 10) * comb(26, 10)
    assert sector.chance == pytest.approx(sector.size / 2**64)


@pytest.mark.parametrize("wrong", [[[1, 0]], [[0, 0]], [[0, 4]], [[-1, 2]]])
def test_rank_refuses_what_is_not_an_ascending_subset(wrong):
    with pytest.raises(InputError, match="ascending"):
        rank(wrong, 4)


def test_unrank_refuses_positions_outside():
    with pytest.raises(InputError, match=r"0\.\.5"):
        unrank([6], 4, 2)


def test_large_counts_in_words():
    assert count_in_words(123_456) == "123,456"
    assert count_in_words(36 * 10**24) == "about 3.6 × 10²⁵"
    assert count_in_words(10**30) == "about 1.0 × 10³⁰"
    assert count_in_words(comb(15_000, 7_500)).endswith("× 10⁴⁵¹³")
