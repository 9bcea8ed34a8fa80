import datetime

import numpy as np
import pyarrow as pa
import pytest

from biselect.data.demo import demo_pool
from biselect.data.pools import Roles, from_two_tables, split_in_time
from biselect.data.tables import read_table
from biselect.errors import InputError

TABLE = pa.table(
    {
        "t": [5, 1, 2, 4, 3, 3],
        "id": list("fabedc"),
        "x": [50.0, 10, 20, 40, 30, 31],
        "label": [1, 0, 0, 1, 0, 0],
    }
)
ROLES = Roles(id_column="id", label_column="label", time_column="t")


def test_a_split_never_looks_ahead_and_keeps_ties_in_order():
    pool = split_in_time(TABLE, ROLES, reference_until="3")
    assert pool.reference["x"].to_pylist() == [10, 20, 30, 31]
    assert pool.candidates["x"].to_pylist() == [40, 50]
    assert pool.sample_names == ["e", "f"]
    assert pool.labels.tolist() == [True, True]
    assert pool.reference.column_names == ["x"]


def test_a_share_counts_rows_in_time_order():
    assert split_in_time(TABLE, ROLES, reference_until="50%").reference["x"].to_pylist() == [10, 20, 30]
    last = split_in_time(TABLE, ROLES, reference_until="50%", pool_last=1)
    assert last.candidates["x"].to_pylist() == [50]


def test_without_ids_rows_are_named_by_their_position_in_the_file():
    pool = split_in_time(TABLE, Roles(time_column="t", exclude=["id", "label"]), reference_until="3")
    assert pool.sample_names == ["3", "0"]


@pytest.mark.parametrize("as_text", [False, True])
def test_dates_can_split_too(as_text):
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
    table = pa.table({"day": [str(day) for day in days] if as_text else days, "x": [1.0, 2, 3]})
    pool = split_in_time(table, Roles(time_column="day"), reference_until="2024-01-02")
    assert pool.candidates["x"].to_pylist() == [3]


@pytest.mark.parametrize(
    ("until", "message"),
    [("0", "no row is that early"), ("9", "every row is"), ("soon", "not a value"), ("120%", "share"), ("x%", "share")],
)
def test_splits_that_leave_one_side_empty_are_refused(until, message):
    with pytest.raises(InputError, match=message):
        split_in_time(TABLE, ROLES, reference_until=until)


def test_shares_are_exact():
    table = pa.table({"t": range(100), "x": np.arange(100.0)})
    for percent in (29, 57, 58):
        assert split_in_time(table, Roles(time_column="t"), reference_until=f"{percent}%").reference.num_rows == percent


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
    assert split_in_time(table, Roles(time_column="t"), reference_until=until).reference.num_rows == early


def test_text_with_offsets_and_dictionaries_are_times_too():
    texts = ["2024-01-01T00:00:00+02:00", "2024-01-02T00:00:00+02:00", "2024-01-03T00:00:00+02:00"]
    for column in (pa.array(texts), pa.array(texts).dictionary_encode()):
        table = pa.table({"t": column, "x": [1.0, 2.0, 3.0]})
        split = split_in_time(table, Roles(time_column="t"), reference_until="2024-01-02T00:00:00+02:00")
        assert split.reference.num_rows == 2


def test_more_wrong_splits():
    with pytest.raises(InputError, match="pool_last= must be 1 to 2"):
        split_in_time(TABLE, ROLES, reference_until="3", pool_last=5)
    with pytest.raises(InputError, match="missing values"):
        split_in_time(pa.table({"t": [1, None], "x": [1.0, 2]}), Roles(time_column="t"), reference_until="1")
    with pytest.raises(InputError, match="1 missing values, the first in row 1"):
        split_in_time(pa.table({"t": [1.0, np.nan], "x": [1.0, 2]}), Roles(time_column="t"), reference_until="1")
    with pytest.raises(InputError, match="must hold numbers, dates"):
        split_in_time(pa.table({"t": [True, False], "x": [1.0, 2]}), Roles(time_column="t"), reference_until="1")
    zoneless = pa.table({"t": [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2)], "x": [1.0, 2]})
    with pytest.raises(InputError, match="no time zone"):
        split_in_time(zoneless, Roles(time_column="t"), reference_until="2024-01-01T00:00:00Z")
    with pytest.raises(InputError, match="no ISO date: row 0 holds 'a'; write dates as"):
        split_in_time(pa.table({"t": ["a", "b"], "x": [1.0, 2]}), Roles(time_column="t"), reference_until="1")
    with pytest.raises(InputError, match="no column 'when'"):
        split_in_time(TABLE, Roles(time_column="when"), reference_until="1")


def test_features_follow_the_reference_and_special_columns_never_join_them():
    reference = pa.table({"b": [1.0], "a": [2.0], "t": [0], "label": [0]})
    pool = pa.table({"a": [3.0], "b": [4.0], "extra": ["text"], "label": [1]})
    joined = from_two_tables(reference, pool, Roles(label_column="label", time_column="t"))
    assert joined.candidates.column_names == ["b", "a"]
    chosen = from_two_tables(reference, pool, Roles(features=["a", "b"], exclude=["b"]))
    assert chosen.reference.column_names == ["a"]


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        (Roles(features=["q"]), "the reference has no column 'q'"),
        (Roles(exclude=["a", "b"]), "no feature columns are left"),
        (Roles(features=["a", "a"]), "more than once"),
        (Roles(features=["a"], label_column="a"), "label column 'a' must not be a feature"),
        (Roles(id_column="name"), "the pool has no column 'name'"),
    ],
)
def test_wrong_roles_are_refused(roles, message):
    reference = pa.table({"a": [1.0], "b": [2.0]})
    with pytest.raises(InputError, match=message):
        from_two_tables(reference, reference, roles)


def test_a_pool_without_a_reference_column_is_refused():
    with pytest.raises(InputError, match="the pool lacks columns of the reference: 'b'"):
        from_two_tables(pa.table({"a": [1.0], "b": [2.0]}), pa.table({"a": [1.0]}), Roles())


def test_the_excerpt_is_what_its_attribution_says():
    pool = demo_pool()
    assert (pool.reference.num_rows, pool.candidates.num_rows, pool.reference.num_columns) == (13145, 600, 29)
    assert pool.labels.sum() == 15
    assert np.isfinite(pool.candidates["V1"].to_numpy()).all()
    assert pool.sample_names == sorted(pool.sample_names)


@pytest.mark.parametrize("until", ["28/03/2026 18:55", "2026-03-28 18:55", "50%"])
def test_times_may_be_written_otherwise(until):
    table = pa.table({"t": ["29/03/2026 00:00", "28/03/2026 18:55"], "x": [1.0, 2.0]})
    pool = split_in_time(table, Roles(time_column="t", time_format="%d/%m/%Y %H:%M"), reference_until=until)
    assert pool.candidates["x"].to_pylist() == [1.0]
    assert pool.times == {"reference": ("2026-03-28 18:55:00",) * 2, "pool": ("2026-03-29 00:00:00",) * 2}


def test_offsets_of_a_time_format_are_respected():
    table = pa.table({"t": ["1.3.2026 12:00 +0000", "1.3.2026 12:30 +0100"], "x": [1.0, 2.0]})
    pool = split_in_time(table, Roles(time_column="t", time_format="%d.%m.%Y %H:%M %z"), reference_until="50%")
    assert pool.candidates["x"].to_pylist() == [1.0]


@pytest.mark.parametrize(
    ("times", "time_format", "message"),
    [
        (["01/03/2026", "30/02/2026"], "%d/%m/%Y", "row 1 holds '30/02/2026', which is not time_format="),
        (["01/03/2026", ""], "%d/%m/%Y", "1 missing values, the first in row 1"),
        ([datetime.date(2026, 3, 1)] * 2, "%d/%m/%Y", "holds times already"),
        (["2026-03-01", "01/03/2026"], None, "row 1 holds '01/03/2026'; write dates as"),
        (["2026-03-01", "2026-03-02T00:00Z"], None, "row 1 holds '2026-03-02T00:00Z'"),
    ],
)
def test_times_that_do_not_fit_their_form_are_refused(times, time_format, message):
    table = pa.table({"t": times, "x": [1.0, 2.0]})
    with pytest.raises(InputError, match=message):
        split_in_time(table, Roles(time_column="t", time_format=time_format), reference_until="50%")


def test_unusable_entries_are_told_by_their_place_in_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("t,x,y\n3,1,1\n2,,1\n1,5,2\n4,2,\n")
    pool = split_in_time(read_table(path), Roles(time_column="t"), reference_until="50%")
    with pytest.raises(InputError, match="the reference has a missing value in column 'x', line 3"):
        pool.refuse_unusable("error")
    pool.refuse_unusable("median")
    last = split_in_time(read_table(path), Roles(time_column="t", exclude=["x"]), reference_until="50%")
    with pytest.raises(InputError, match="the pool has a missing value in column 'y', line 5"):
        last.refuse_unusable("error")


def test_shown_and_limiting_columns_are_text_and_no_features():
    table = pa.table({"a": [1.0, 2.0], "machine": [7.0, None], "day": [datetime.date(2026, 3, 1)] * 2})
    pool = from_two_tables(table.select(["a"]), table, Roles(show=["day"], per="machine", exclude=[]))
    assert pool.candidates.column_names == ["a"] and pool.ignored == ()
    assert pool.shown == {"machine": ["7", ""], "day": ["2026-03-01"] * 2}
    assert pool.per == ["7", None]
    with pytest.raises(InputError, match="'day' of show= or per= is never a feature"):
        from_two_tables(table, table, Roles(show=["day"], features=["a", "day"]))
