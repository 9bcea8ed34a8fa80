"""The fast way to read long columns gives what the slow way gives, or leaves the column to it."""

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from biselect.columns import _fast_texts as fast
from biselect.columns.distinct_texts import ReadingHints, distinct_texts
from biselect.columns.number_text import NumberFormat
from biselect.columns.recognition import parse_texts

NUMBERS = st.builds(
    lambda value, decimals, thousands, unit, sign: (
        sign + f"{value:{',' if thousands else ''}.{decimals}f}".translate(str.maketrans(",.", ".,")) + unit
    ),
    st.floats(0, 1e9),
    st.integers(0, 5),
    st.booleans(),
    st.sampled_from(["", "", " €", "€", " kg", " mEq/L"]),
    st.sampled_from(["", "", "-"]),
)
DAYS = st.datetimes().map(lambda one: f"{one.day:02}.{one.month:02}.{one.year:04} {one.hour:02}:{one.minute:02}")
ODD = st.sampled_from(
    ["", " ", "-", "k.A.", " 1,5 ", "1.2.3", "0.123", "1.2345", "1,", ",5", "(1,5)", "+1,5", "x", "--1"]
)
ODD |= st.sampled_from(["31.02.2025 10:00", "01.13.2025 10:00", "1.1.2025 10:00", "01.01.2025", "01.01.2025 24:00"])
ODD |= st.text("0123456789.,- €", max_size=8) | st.none()


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(fast, "FEWEST_ROWS", 1)


@st.composite
def columns(draw):
    usual = draw(st.sampled_from([NUMBERS, DAYS, DAYS.map(lambda one: one[:10])]))
    entries = draw(st.lists(usual, min_size=1, max_size=12))
    for _ in range(draw(st.integers(0, 2))):
        entries[draw(st.integers(0, len(entries) - 1))] = draw(ODD)
    cuts = sorted({0, len(entries), draw(st.integers(0, len(entries)))})
    parts = [pa.array(entries, pa.string()).slice(a, b - a) for a, b in pairwise(cuts)]
    return pa.chunked_array(parts, pa.string())


@settings(max_examples=400, deadline=None)
@given(column=columns(), style=st.sampled_from([None, NumberFormat(decimal=","), NumberFormat(decimal=".")]))
@example(pa.chunked_array([["1.234,5", "0.123", "2,5"]]), None)
@example(pa.chunked_array([["29.02.2024 00:00", "28.02.1900 23:59"]]), None)
def test_it_gives_what_the_slow_way_gives_or_nothing(column, style):
    hints = ReadingHints(style=style)
    found = fast.parse_long(column, hints)
    if found is None:
        return
    slow = parse_texts(distinct_texts(column, hints.missing), hints)
    assert found.values.to_pylist() == slow.values.to_pylist() and found.values.type == slow.values.type
    assert (found.style, found.unit, found.date_form, found.doubtful) == (
        *(slow.style, slow.unit, slow.date_form),
        slow.doubtful,
    )
    assert set(found.missing) == set(slow.missing) and not slow.code


@pytest.mark.parametrize(
    "entries",
    [
        ["1.234,56 €", "7,5 €", "-", "-12,00"],
        ["13.01.2024", "31.12.1999", None],
        ["31/12/2024 23:59:58", "01/01/2025 00:00:00"],
        ["12,345,678.90", "1.5"],
    ],
)
def test_usual_columns_are_read_so(entries):
    column = pa.chunked_array([entries, entries[:1]])
    found = fast.parse_long(column, ReadingHints())
    assert found is not None
    slow = parse_texts(distinct_texts(column), ReadingHints())
    assert found.values.equals(slow.values) or found.values.to_pylist() == slow.values.to_pylist()
