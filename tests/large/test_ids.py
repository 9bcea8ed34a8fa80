"""Ids over all parts: refused where they stand twice."""

import re
from collections import Counter
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.errors import InputError
from biselect.large import sides
from biselect.large._sources import HeldRows
from biselect.large.dataset import Partitions, numbered
from biselect.large.sides import compare_ids
from biselect.large.spool import partitions_of


def cut(table, cuts):
    ends = sorted({0, table.num_rows, *(one % (table.num_rows + 1) for one in cuts)})
    parts = numbered(
        (f"part {at}", end - begin, HeldRows(table=table.slice(begin, end - begin), first=begin))
        for at, (begin, end) in enumerate(pairwise(ends))
    )
    return Partitions(name="t", schema=table.schema, parts=parts)


IDS = st.lists(st.text("ab", max_size=4), min_size=1, max_size=30) | st.lists(
    st.integers(-20, 20), min_size=1, max_size=30
)


@settings(max_examples=40, deadline=None)
@given(ids=IDS, cuts=st.lists(st.integers(0, 30), max_size=4))
def test_repeated_ids_are_found_wherever_the_parts_end(ids, cuts):
    names = [str(one) for one in ids]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if not repeated:
        compare_ids(cut(pa.table({"id": ids}), cuts), "id")
        return
    with pytest.raises(InputError) as told:
        compare_ids(cut(pa.table({"id": ids}), cuts), "id")
    first = [row for row, name in enumerate(names) if name == repeated[0]][:2]
    assert f"id {repeated[0]!r} stands in row {first[0]} and row {first[1]}" in str(told.value)
    assert (f"so do {len(repeated) - 1} other ids" in str(told.value)) == (len(repeated) > 1)


def test_both_files_are_named(tmp_path):
    pq.write_table(pa.table({"id": ["a", "b"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": ["c", "b"]}), tmp_path / "b.parquet")
    said = f"the pool: id 'b' stands in row 1 of {tmp_path}/a.parquet and row 1 of {tmp_path}/b.parquet; ids must be"
    with pytest.raises(InputError, match=re.escape(said)):
        compare_ids(partitions_of(tmp_path), "id")


def test_a_row_without_an_id_is_named():
    partitions = cut(pa.table({"id": ["a", None, None]}), [1])
    with pytest.raises(InputError, match="column 'id' has no value in row 1; every row needs an id"):
        compare_ids(partitions, "id")


def test_beyond_the_limit_ids_are_not_compared(monkeypatch):
    monkeypatch.setattr(sides, "MOST_COMPARED", 2)
    compare_ids(cut(pa.table({"id": ["a", "b", "b"]}), []), "id")
