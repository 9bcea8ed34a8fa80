"""Where names of columns stand, also below names of groups; and clocks, sentinels and marks of missing values."""

from datetime import timedelta
from itertools import pairwise

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.columns.distinct_texts import ReadingHints
from biselect.columns.recognition import parse_column
from biselect.tables import guess_roles
from biselect.tables._table import Table
from biselect.tables.readers import read_table
from biselect.tables.readers._layout import layout

NAMES = st.sampled_from(["Quantité", "Minimum", "Q1", "Ist", "Größe", "数量", "Preis (€)", "Écart", "Rotation (j)"])


@settings(max_examples=150, deadline=None)
@given(
    names=st.lists(NAMES, min_size=3, max_size=8),
    cuts=st.sets(st.integers(1, 7), max_size=3),
    title=st.booleans(),
    alone=st.booleans(),
)
def test_names_of_groups_go_with_those_below_them(names, cuts, title, alone):
    ends = sorted({0, len(names), *(cut for cut in cuts if cut < len(names))})
    groups = [f"Gruppe {at}" for at, (a, b) in enumerate(pairwise(ends)) for _ in range(b - a)]
    if alone and len(groups) > 3 and len({*groups[1:]}) < len(groups) - 1:
        groups[0] = ""
    rows = [[f"{i * 7 + j}" for j in range(len(names))] for i in range(12)]
    above = [["Titel", *[""] * (len(names) - 1)]] if title else []
    several = any(a == b != "" for a, b in pairwise(groups))
    top, held = layout([*above, groups, names, *rows])
    assert not several or (top, held) == (len(above), 2)


def test_a_workbook_with_merged_names_has_them_in_the_names_of_its_columns(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet["B1"], sheet["D1"] = "Plan", "Ist"
    sheet.merge_cells("B1:C1")
    sheet.merge_cells("D1:E1")
    sheet.append(["Kostenstelle", "Q1", "Q2", "Q1", "Q2"])
    for row in range(30):
        sheet.append([f"K{row:03d}", row * 1.5, row + 7, 40 - row, row % 5])
    book.save(tmp_path / "plan.xlsx")
    table = read_table(tmp_path / "plan.xlsx")
    assert table.column_names == ["Kostenstelle", "Plan Q1", "Plan Q2", "Ist Q1", "Ist Q2"] and table.num_rows == 30


@pytest.mark.parametrize(
    ("name", "entries", "seconds", "is_doubtful"),
    [
        ("Dauer (mm:ss)", ["00:48", "52:25"], [48, 52 * 60 + 25], False),
        ("Length [min]", ["0:48", "75:00"], [48, 4500], False),
        ("Dauer (mm:ss)", ["0:00:48", "1:00:00"], [48, 3600], False),
        ("Kommen", ["06:20", "16:03"], [22_800, 57_780], False),
        ("duration", ["04:29", "52:25"], [16_140, 188_700], True),
        ("Saldo", ["-2:46", "+1:42", "−0:30"], [-9960, 6120, -1800], False),
        ("Terminal", ["1:00", "2:30"], [3600, 9000], False),
    ],
)
def test_the_name_of_a_clock_says_what_it_counts_and_a_doubt_is_said(name, entries, seconds, is_doubtful):
    column = parse_column(pa.chunked_array([entries]), ReadingHints(name=name))
    assert column.values.to_pylist() == [timedelta(seconds=one) for one in seconds]
    assert bool(column.doubtful) == is_doubtful
    if column.read_more is not None:
        more = parse_column(pa.chunked_array([entries[:1]]), ReadingHints(name=name))
        assert more.values[0].as_py() == timedelta(seconds=seconds[0])


@pytest.mark.parametrize(
    ("usual", "mark", "marks"),
    [
        (range(40, 63), -1, ("-1",)),
        (range(28, 63), -999, ("-999",)),
        (range(3), -1, ()),  # a code or a count beside 0 and 1
        (range(-40, 40), -1, ()),
        (range(0, 500), -1, ()),
    ],
)
def test_a_number_apart_from_all_others_means_missing_and_is_counted_so(usual, mark, marks):
    values = [*usual] * 20 + [mark] * 9
    table = Table(pa.table({"humidity": values, "x": [value * 0.5 for value in range(len(values))]}))
    guess = table.guess.columns[0]
    assert guess.missing_marks == marks and guess.missing == 9 * len(marks)


def test_an_entry_with_digits_is_no_mark_of_a_missing_value():
    entries = [f"{i % 9}.5 mg" for i in range(50)] + ["8 bis 9 mg"]
    (guess,) = guess_roles([pa.table({"dose": entries})]).columns
    assert guess.missing_marks == () and "'8 bis 9 mg'" in guess.remark and not guess.remark.endswith((";", "; "))
