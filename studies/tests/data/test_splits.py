import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.errors import InputError
from biselect.weights import Weigher
from biselect_studies.data.candidates import refuse_label_copies, split_rows

SHARES = st.tuples(st.integers(1, 60), st.integers(1, 38)).map(lambda s: (s[0], s[1], 100 - sum(s)))


@given(st.integers(100, 400), SHARES)
def test_windows_follow_each_other_and_miss_no_row(rows, percent):
    split = split_rows(np.arange(rows), percent)
    assert split.reference.start == 0 and split.test.stop == rows
    assert split.reference.stop == split.buffer.start and split.buffer.stop == split.test.start
    assert split.reference.stop == percent[0] * rows // 100


def test_rows_before_a_window_end_where_it_begins():
    split = split_rows(np.arange(100), (60, 20, 20))
    assert split.before("test") == slice(0, 80) and split.before("test", 30) == slice(50, 80)
    with pytest.raises(InputError, match="60 rows before the buffer"):
        split.before("buffer", 61)
    with pytest.raises(InputError, match="no window 'past'"):
        split.window("past")


def test_unsorted_times_are_refused_with_their_row():
    with pytest.raises(InputError, match=r"row 2 \(1\) is earlier than row 1 \(5\); sort the table first"):
        split_rows([0, 5, 1], (40, 30, 30))


def test_empty_windows_and_wrong_shares_are_refused():
    with pytest.raises(InputError, match="the buffer window is empty: 0 % of 10 rows"):
        split_rows(np.arange(10), (60, 0, 40))
    for percent in ((60, 20, 10), (60, 40), (33.3, 33.3, 33.4)):
        with pytest.raises(InputError, match="add up to 100"):
            split_rows(np.arange(10), percent)


def test_times_that_are_missing_or_no_column_are_refused():
    with pytest.raises(InputError, match="time of row 1 is missing"):
        split_rows([5.0, np.nan, 1.0, 2.0], (50, 25, 25))
    with pytest.raises(InputError, match=r"shape \(4, 2\)"):
        split_rows(np.zeros((4, 2)), (50, 25, 25))


def test_weights_fit_on_the_reference_do_not_see_later_rows_and_a_planted_leak_is_found(looks_ahead):
    """The check must be able to fail: one that calibrates on everything is caught, one that splits is not."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 3))
    split = split_rows(np.arange(300), (60, 20, 20))
    altered = table.copy()
    altered[split.test] += 50

    def weights(reference):
        def columns(X):
            W = Weigher("ecdf").fit(X[reference]).weights(X)
            return {f"W{j}": W[:, j] for j in range(W.shape[1])}

        return columns

    before = split.test.start
    assert looks_ahead(weights(split.reference), table, altered, before) == []
    assert looks_ahead(weights(slice(None)), table, altered, before) == ["W0", "W1", "W2"]


def test_a_copy_of_the_label_is_refused_and_a_good_feature_is_not():
    labels = np.array([0, 1, 0, 1, 0], dtype=bool)
    rng = np.random.default_rng(0)
    honest = np.column_stack([rng.normal(size=5), labels + 0.1 * rng.normal(size=5)])
    refuse_label_copies(honest, ["a", "b"], labels)
    for copy in (labels * 1.0, 7.0 - 3.0 * labels):
        with pytest.raises(InputError, match="feature 'leak' is a copy of the label"):
            refuse_label_copies(np.column_stack([honest, copy]), ["a", "b", "leak"], labels)


def test_a_feature_that_separates_the_classes_is_refused_from_enough_rows_on():
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 5 == 0
    leak = rng.random(200) + 2 * labels
    for column in (leak, -leak):
        with pytest.raises(InputError, match="feature 'leak' separates the label"):
            refuse_label_copies(column[:, None], ["leak"], labels)
    refuse_label_copies((rng.random(200) + 0.9 * labels)[:, None], ["good"], labels)
    refuse_label_copies(leak[:30, None], ["few"], labels[:30])
