import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.calibrate import Calibrator
from biselect.data.pools import Roles, split_in_time
from biselect.data.splits import refuse_label_copies, split_rows
from biselect.errors import InputError
from biselect.options import Split

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
            W = Calibrator("ecdf").fit(X[reference]).weights(X)
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


@pytest.mark.parametrize("as_text", [False, True])
def test_dates_can_split_too(as_text):
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
    table = pa.table({"day": [str(day) for day in days] if as_text else days, "x": [1.0, 2, 3]})
    pool = split_in_time(table, Roles(time_column="day"), Split(until="2024-01-02"))
    assert pool.candidates["x"].to_pylist() == [3]


def test_shares_are_exact():
    table = pa.table({"t": range(100), "x": np.arange(100.0)})
    for percent in (29, 57, 58):
        assert split_in_time(table, Roles(time_column="t"), Split(until=f"{percent}%")).reference.num_rows == percent


@pytest.mark.parametrize(
    ("zone", "until", "early"),
    [
        (None, "2024-01-01T12:00:00", 2),
        ("UTC", "2024-01-01T12:00:00Z", 2),
        ("UTC", "2024-01-01T13:00:00+02:00", 1),
        ("Europe/Helsinki", "2024-01-01T14:00:00", 2),
        ("+02:00", "2024-01-01T14:00:00", 2),
    ],
)
def test_time_zones_are_respected(zone, until, early):
    noon = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)
    moments = [noon - datetime.timedelta(hours=2), noon, noon + datetime.timedelta(hours=1)]
    column = (
        pa.array(moments, pa.timestamp("ns", tz=zone)) if zone else pa.array([m.replace(tzinfo=None) for m in moments])
    )
    table = pa.table({"t": column, "x": [1.0, 2.0, 3.0]})
    assert split_in_time(table, Roles(time_column="t"), Split(until=until)).reference.num_rows == early


def test_text_with_offsets_and_dictionaries_are_times_too():
    texts = ["2024-01-01T00:00:00+02:00", "2024-01-02T00:00:00+02:00", "2024-01-03T00:00:00+02:00"]
    for column in (pa.array(texts), pa.array(texts).dictionary_encode()):
        table = pa.table({"t": column, "x": [1.0, 2.0, 3.0]})
        split = split_in_time(table, Roles(time_column="t"), Split(until="2024-01-02T00:00:00+02:00"))
        assert split.reference.num_rows == 2


@pytest.mark.parametrize("until", ["28/03/2026 18:55", "2026-03-28 18:55", "50%"])
def test_times_may_be_written_otherwise(until):
    table = pa.table({"t": ["29/03/2026 00:00", "28/03/2026 18:55"], "x": [1.0, 2.0]})
    pool = split_in_time(table, Roles(time_column="t", date_format="%d/%m/%Y %H:%M"), Split(until=until))
    assert pool.candidates["x"].to_pylist() == [1.0]
    assert pool.times == {"reference": ("2026-03-28 18:55:00",) * 2, "pool": ("2026-03-29 00:00:00",) * 2}


def test_offsets_of_a_date_format_are_respected():
    table = pa.table({"t": ["1.3.2026 12:00 +0000", "1.3.2026 12:30 +0100"], "x": [1.0, 2.0]})
    pool = split_in_time(table, Roles(time_column="t", date_format="%d.%m.%Y %H:%M %z"), Split(until="50%"))
    assert pool.candidates["x"].to_pylist() == [1.0]


@pytest.mark.parametrize(
    ("times", "date_format", "message"),
    [
        (["01/03/2026", "30/02/2026"], "%d/%m/%Y", "row 1 holds '30/02/2026', which is not csv=Csv"),
        (["01/03/2026", ""], "%d/%m/%Y", "1 missing values, the first in row 1"),
        ([datetime.date(2026, 3, 1)] * 2, "%d/%m/%Y", "holds times already"),
        (["2026-03-01", "01/03/2026"], None, "row 1 holds '01/03/2026'; write dates as"),
        (["2026-03-01", "2026-03-02T00:00Z"], None, "row 1 holds '2026-03-02T00:00Z'"),
    ],
)
def test_times_that_do_not_fit_their_form_are_refused(times, date_format, message):
    table = pa.table({"t": times, "x": [1.0, 2.0]})
    with pytest.raises(InputError, match=message):
        split_in_time(table, Roles(time_column="t", date_format=date_format), Split(until="50%"))
