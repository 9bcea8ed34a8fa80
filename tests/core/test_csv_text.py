import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.core.csv_text import csv_text, guarded, unguarded

TEXT = st.text(st.sampled_from("=+-@＝＋－＠;\t\r'\",\n 1.e") | st.characters(), max_size=8)
SIGNS = "=+-@＝＋－＠"


def cells_of(text):
    """How a spreadsheet may take a text of ours apart: at any sign that separates cells somewhere, quotes or not."""
    first, *rest = re.split(r"[;\t\r\n]", text)
    return [first, *(cell.lstrip('"') for cell in rest)]


@pytest.mark.parametrize("cell", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "-", "--1", "'=1", "＝1+1", "＠A1"])
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(cell):
    assert guarded(cell) == f"'{cell}"


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        (";=1+1", ";'=1+1"),
        ("a;=1+1;-b", "a;'=1+1;'-b"),
        ("note\n＝1+1", "note\n'＝1+1"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        ('a;"=1+1;', "a;'\"=1+1;"),
        ("a;'=1", "a;''=1"),
    ],
)
def test_so_does_what_would_be_a_cell_of_its_own_where_semicolons_separate(cell, safe):
    assert guarded(cell) == safe and unguarded(safe) == cell


@pytest.mark.parametrize("cell", ["", "a=1", "-2", "+0.5", "-1.5e-3", "'tis", -2, -0.5, None, 7])
def test_numbers_and_plain_text_stay(cell):
    assert guarded(cell) == cell


@given(TEXT)
def test_a_guard_can_be_taken_off(cell):
    assert unguarded(guarded(cell)) == cell
    assert not guarded(cell).startswith(("=", "@", "\t", "\r"))


@given(TEXT)
def test_no_cell_is_run_however_a_text_is_taken_apart(text):
    number = re.fullmatch(r"[+-](\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text)
    assert number or [cell for cell in cells_of(guarded(text)) if cell.startswith(tuple(SIGNS))] == []


@given(st.lists(st.fixed_dictionaries({"a": TEXT, "=b": TEXT}), max_size=3))
def test_cells_come_back_from_the_text(rows):
    header, *lines = csv.reader(io.StringIO(csv_text(rows, ["a", "=b"]), newline=""))
    assert header == ["a", "'=b"]
    assert [[unguarded(cell) for cell in line] for line in lines] == [[row["a"], row["=b"]] for row in rows]
