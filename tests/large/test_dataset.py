"""Ranges of rows: what a slice of the whole table gives."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.large.tallies import cut

from biselect.large.dataset import Partitions, rows_between

TABLE = pa.table({"x": np.arange(100)})


@given(st.lists(st.integers(0, 100), max_size=8), st.integers(0, 99), st.integers(1, 100))
def test_a_range_is_a_slice(ends, first, rows):
    last = min(100, first + rows)
    whole = Partitions(name="t", schema=TABLE.schema, parts=cut(TABLE, ends))
    found = rows_between(whole, first, last)
    blocks = [(at, row) for part in found.parts for at, block in part.blocks(["x"]) for row in block["x"].to_pylist()]
    assert [row for _, row in blocks] == list(range(first, last)) and found.rows == last - first
    assert [part.first for part in found.parts] == np.cumsum([0, *(part.rows for part in found.parts)])[:-1].tolist()
