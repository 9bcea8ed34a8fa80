"""A table in parts is split in time as one in memory is."""

import datetime as dt
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.errors import InputError
from biselect.large._sources import HeldRows
from biselect.large.dataset import ORIGIN, Partitions, numbered, place_of
from biselect.large.sides import cut_in_time
from biselect.options import Split
from biselect.tables._split import split_in_time
from biselect.tables.roles import Roles

DAY = dt.datetime(2024, 2, 28)
MOMENTS = st.integers(0, 30).map(lambda days: DAY + dt.timedelta(days=days))
KINDS = {
    "int64": (st.integers(-3, 12) | st.integers(-(2**63), 2**63 - 1), pa.int64(), "4"),
    "int8": (st.integers(-128, 127), pa.int8(), "4"),
    "uint64": (st.integers(0, 9) | st.integers(0, 2**64 - 1), pa.uint64(), "4.5"),
    "float": (st.floats(allow_nan=False) | st.sampled_from([-0.0, 0.0, 1.0]), pa.float64(), "0"),
    "float32": (st.floats(allow_nan=False, width=32), pa.float32(), "0.1"),
    "decimal": (st.integers(-999, 999).map(lambda one: Decimal(one) / 100), pa.decimal128(9, 2), "1.25"),
    "timestamp": (MOMENTS, pa.timestamp("ns"), "2024-03-10"),
    "zone": (MOMENTS, pa.timestamp("s", tz="Europe/Berlin"), "2024-03-10 01:00"),
    "date": (MOMENTS.map(lambda one: one.date()), pa.date32(), "2024-03-10"),
    "iso": (MOMENTS.map(lambda one: one.isoformat(" ")), pa.string(), "2024-03-10"),
    "text": (MOMENTS.map(lambda one: one.strftime("%d.%m.%Y")), pa.string(), "10.03.2024"),
}


def cut(table, cuts):
    ends = sorted({0, table.num_rows, *(one % (table.num_rows + 1) for one in cuts)})
    found = [
        (f"part {at}", end - begin, HeldRows(table=table.slice(begin, end - begin), first=begin))
        for at, (begin, end) in enumerate(pairwise(ends))
    ]
    return Partitions(name="t", schema=table.schema, parts=numbered(found))


def column(partitions, name):
    return [value for part in partitions.parts for _, block in part.blocks([name]) for value in block[name].to_pylist()]


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(),
    kind=st.sampled_from(sorted(KINDS)),
    share=st.integers(1, 99) | st.none(),
    cuts=st.lists(st.integers(0, 40), max_size=4),
    last=st.integers(1, 12) | st.none(),
)
def test_both_sides_are_those_of_the_table_in_memory(data, kind, share, cuts, last):
    entries, arrow, limit = KINDS[kind]
    times = data.draw(st.lists(entries, min_size=2, max_size=40))
    table = pa.table({"t": pa.array(times, arrow), "x": [float(row) for row in range(len(times))]})
    wanted = Split(until=limit if share is None else f"{share}%", last=last)
    form = "%d.%m.%Y" if kind == "text" else None
    try:
        expected = split_in_time(table, Roles(time_column="t", date_format=form), wanted)
    except InputError as error:
        with pytest.raises(InputError) as told:
            cut_in_time(cut(table, cuts), "t", wanted, form)
        assert str(told.value) == str(error)
        return
    reference, pool, times_found = cut_in_time(cut(table, cuts), "t", wanted, form)
    for view, rows in ((reference, expected.reference), (pool, expected.candidates)):
        assert column(view, "x") == sorted(rows["x"].to_pylist())
        assert column(view, ORIGIN) == sorted(map(int, rows["x"].to_pylist()))
        assert view.rows == rows.num_rows and view.schema.names == ["t", "x"]
        assert place_of(view, view.rows - 1) == f"row {column(view, ORIGIN)[-1]}"
    zeros = (
        {side: tuple("0" if time == "-0" else time for time in ends) for side, ends in of.items()}
        for of in (times_found, expected.times)
    )
    assert next(zeros) == next(zeros)


def test_rows_of_one_time_are_cut_by_their_position():
    table = pa.table({"t": np.zeros(100), "x": np.arange(100)})
    reference, pool, _ = cut_in_time(cut(table, [10, 50, 77]), "t", Split(until="33%"))
    assert column(reference, "x") == list(range(33))
    assert column(pool, "x") == list(range(33, 100))


@pytest.mark.parametrize("cuts", [[], [1], [7, 11], range(20)])
def test_a_date_that_one_row_alone_decides_is_read_alike_wherever_the_parts_end(cuts):
    days = ["03/04/2024"] * 10 + ["25/04/2024"] + ["02/05/2024"] * 9
    _, pool, _ = cut_in_time(cut(pa.table({"t": days, "x": range(20)}), cuts), "t", Split(until="2024-04-30"))
    assert column(pool, "x") == list(range(11, 20))


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([1.0, None, None], "time column 't' has 2 missing values, the first in row 1; every row needs one"),
        (["2024-01-02", "01/02/2024", "03.04.2024"], "time column 't' holds what is no date: row 1 holds '01/02/2024'"),
        (["2024-01-02", "x", "y"], "time column 't' holds what is no date: row 1 holds 'x'"),
        ([True, False, True], "time column 't' holds bool"),
    ],
)
def test_times_that_cannot_order_the_rows_are_refused(times, said):
    with pytest.raises(InputError, match=said):
        cut_in_time(cut(pa.table({"t": times}), [1, 2]), "t", Split(until="50%"))


def test_a_table_without_the_column_is_refused():
    with pytest.raises(InputError, match="t has no column 'day'"):
        cut_in_time(cut(pa.table({"t": [1]}), []), "day", Split(until="50%"))
