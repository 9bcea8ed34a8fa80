import datetime

import numpy as np
import pyarrow as pa
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.options import Split
from biselect.tables import open_pool
from biselect.tables._split import from_two_tables, split_in_time
from biselect.tables.readers import read_table
from biselect.tables.roles import Roles

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
    pool = split_in_time(TABLE, ROLES, Split(until="3"))
    assert pool.reference["x"].to_pylist() == [10, 20, 30, 31]
    assert pool.candidates["x"].to_pylist() == [40, 50]
    assert pool.sample_names == ["e", "f"]
    assert pool.labels.tolist() == [True, True]
    assert pool.reference.column_names == ["x"]


def test_a_share_counts_rows_in_time_order():
    assert split_in_time(TABLE, ROLES, Split(until="50%")).reference["x"].to_pylist() == [10, 20, 30]
    last = split_in_time(TABLE, ROLES, Split(until="50%", last=1))
    assert last.candidates["x"].to_pylist() == [50]


def test_without_ids_rows_are_named_by_their_position_in_the_file():
    pool = split_in_time(TABLE, Roles(time_column="t", exclude=["id", "label"]), Split(until="3"))
    assert pool.sample_names == ["3", "0"]


@pytest.mark.parametrize(
    ("until", "message"),
    [("0", "no row is that early"), ("9", "every row is"), ("soon", "not a value"), ("120%", "share"), ("x%", "share")],
)
def test_splits_that_leave_one_side_empty_are_refused(until, message):
    with pytest.raises(InputError, match=message):
        split_in_time(TABLE, ROLES, Split(until=until))


def test_more_wrong_splits():
    with pytest.raises(InputError, match=r"Split\(last=...\) must be 1 to 2"):
        split_in_time(TABLE, ROLES, Split(until="3", last=5))
    with pytest.raises(InputError, match="missing values"):
        split_in_time(pa.table({"t": [1, None], "x": [1.0, 2]}), Roles(time_column="t"), Split(until="1"))
    with pytest.raises(InputError, match="1 missing values, the first in row 1"):
        split_in_time(pa.table({"t": [1.0, np.nan], "x": [1.0, 2]}), Roles(time_column="t"), Split(until="1"))
    with pytest.raises(InputError, match="must hold numbers, dates"):
        split_in_time(pa.table({"t": [True, False], "x": [1.0, 2]}), Roles(time_column="t"), Split(until="1"))
    zoneless = pa.table({"t": [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2)], "x": [1.0, 2]})
    with pytest.raises(InputError, match="no time zone"):
        split_in_time(zoneless, Roles(time_column="t"), Split(until="2024-01-01T00:00:00Z"))
    with pytest.raises(InputError, match=r"holds what is no date: row 0 holds 'a' .2 such entries.; write dates as"):
        split_in_time(pa.table({"t": ["a", "b"], "x": [1.0, 2]}), Roles(time_column="t"), Split(until="1"))
    with pytest.raises(InputError, match="no column 'when'"):
        split_in_time(TABLE, Roles(time_column="when"), Split(until="1"))


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
        (Roles(features=["q"]), "the table has no column 'q'"),
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


def test_unusable_entries_are_told_by_their_place_in_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("t,x,y\n3,1,1\n2,,1\n1,5,2\n4,2,\n")
    pool = split_in_time(read_table(path), Roles(time_column="t"), Split(until="50%"))
    with pytest.raises(InputError, match="the reference has a missing value in column 'x', line 3"):
        pool.refuse_unusable("error")
    pool.refuse_unusable("median")
    last = split_in_time(read_table(path), Roles(time_column="t", exclude=["x"]), Split(until="50%"))
    with pytest.raises(InputError, match="the pool has a missing value in column 'y', line 5"):
        last.refuse_unusable("error")


def test_shown_and_limiting_columns_are_text_and_no_features():
    table = pa.table({"a": [1.0, 2.0], "machine": [7.0, None], "day": [datetime.date(2026, 3, 1)] * 2})
    pool = from_two_tables(table.select(["a"]), table, Roles(show=["day"], per="machine", exclude=[]))
    assert pool.candidates.column_names == ["a"] and pool.ignored == ()
    assert pool.shown == {"machine": ["7", ""], "day": ["2026-03-01"] * 2}
    assert pool.per == ["7", None]
    with pytest.raises(
        InputError, match=r"'day' of columns=Columns\(show=...\) or rules=RowRules\(per=...\) is never a feature"
    ):
        from_two_tables(table, table, Roles(show=["day"], features=["a", "day"]))


def test_dates_that_nobody_asked_for_are_left_out_and_told():
    days = [datetime.date(2024, 1, day) for day in range(1, 7)]
    table = pa.table({"x": np.arange(6.0), "day": days})
    pool = from_two_tables(table, table, Roles())
    assert pool.reference.column_names == ["x"] and list(pool.unused_dates) == ["day"]
    asked = from_two_tables(table, table, Roles(dates=["day:weekday"]))
    assert asked.matrices[1].names == ("x", "day weekday") and not asked.unused_dates
    with pytest.raises(InputError, match=r"only dates are left; .*types=\{'day': 'date:hour"):
        from_two_tables(table.select(["day"]), table, Roles())
    with pytest.raises(InputError, match="column 'day' holds times"):
        from_two_tables(table, table, Roles(features=["x", "day"]))


def test_one_table_is_split_by_itself_where_its_labels_end():
    rng = np.random.default_rng(0)
    rows = 200
    labels = ["yes" if i == 3 else "no" for i in range(140)] + [None] * 60
    table = pa.table({"day": range(rows), "x": rng.normal(size=rows), "fraud": labels})
    pool = open_pool(table)
    assert pool.is_split_by_labels and pool.until == "139" and pool.columns.label == "fraud=yes"
    assert (pool.reference.num_rows, pool.candidates.num_rows, pool.sample_names[0]) == (140, 60, "140")
    own = open_pool(table, split=Split(until="none"))
    assert own.is_own_reference and own.until == "none" and len(own.sample_names) == rows
    mixed = table.set_column(2, "fraud", pa.array([*labels[:120], *labels[139:], *labels[120:139]]))
    assert open_pool(mixed).is_own_reference  # labels end, and begin again
    assert open_pool(table.slice(0, 145)).is_own_reference  # five open rows are too few
    review = bs.review(table, k=3, m=1, progress=False)
    assert any("Rows after 139 have no label yet" in caveat.text for caveat in review.warnings)


def test_records_are_the_rows_of_the_file_whatever_the_split(tmp_path):
    lines = [f"{i % 28 + 1:02d}.0{i // 28 + 1}.2025;{i},50 €;n{i:03d}" for i in range(100)]
    (tmp_path / "t.csv").write_text("Titel;;\nTag;Betrag;Nr\n" + "\n".join(reversed(lines)) + "\nSumme;5,00 €;\n")
    pool = open_pool(tmp_path / "t.csv", split=Split(until="60%"))
    assert pool.sample_names[0] == "n060"
    assert pool.records([0, 39]) == [
        {"Tag": "05.03.2025", "Betrag": "60,50 €", "Nr": "n060"},
        {"Tag": "16.04.2025", "Betrag": "99,50 €", "Nr": "n099"},
    ]
    assert [pool.shown["Tag"][0], pool.place(0)] == ["05.03.2025", "line 42"]
