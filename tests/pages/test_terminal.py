import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.table import Table

from biselect.pages.terminal import BETWEEN, _clipped, printable, show_table


def shown(capsys, monkeypatch, width, headings, rows, below=()):
    monkeypatch.setenv("COLUMNS", str(width))
    table = Table(title="What")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in ("adds", "a long heading of numbers") else "left")
    for row in rows:
        table.add_row(*map(printable, row))
    show_table(table, below)
    return capsys.readouterr().out.splitlines()


def test_a_table_that_fits_is_a_table(capsys, monkeypatch):
    lines = shown(capsys, monkeypatch, 80, ["sample", "note", "adds"], [["r1", "short", "3.1"]], below=[1])
    assert lines[1].startswith("┏") and "short" in lines[4]


def test_headings_give_way_before_cells_do(capsys, monkeypatch):
    headings = ["map", *["a long heading of numbers"] * 4]
    lines = shown(capsys, monkeypatch, 60, headings, [["reach", "1", "2", "3", "4"]])
    assert max(map(len, lines)) <= 60 and "│" in lines[-1] and "4" in lines[-1]


@pytest.mark.parametrize("width", [80, 120])
def test_six_columns_beside_long_names_take_two_lines_a_row(capsys, monkeypatch, width):
    beside = [f"column {place} of the export" for place in range(6)]
    value = "a rather long value that nobody could squeeze into a narrow column"
    rows = [[f"transaction-{number}", *[value] * 6, "12.34", "amount: higher than all rows"] for number in range(4)]
    lines = shown(capsys, monkeypatch, width, ["sample", *beside, "adds", "reason"], rows, below=range(1, 7))
    assert max(map(cell_len, lines)) <= width
    first = [line for line in lines if line.startswith("transaction-")]
    assert first[0] == "transaction-0  adds 12.34 · amount: higher than all rows" and len(first) == 4
    assert len([line for line in lines if line.startswith("  a rather")]) == 4
    assert "cut to fit" in lines[-1] and "--json" in lines[-1]


def test_columns_without_room_are_named(capsys, monkeypatch):
    names = [f"c{place}" for place in range(12)]
    lines = shown(capsys, monkeypatch, 40, ["sample", *names], [["x" * 50, *["long value"] * 12]], below=range(1, 13))
    assert "without c3, c4" in " ".join(lines) and "Below each: c0, c1, c2" in lines


def test_a_column_of_the_table_may_be_called_like_ours(capsys, monkeypatch):
    row = ["r1", "x" * 60, "1.5", "y" * 30]
    lines = shown(capsys, monkeypatch, 80, ["sample", "adds", "adds", "reason"], [row], below=[1])
    assert lines[2] == f"r1  adds 1.5 · {'y' * 30}" and lines[3] == "  " + "x" * 60


@given(st.lists(st.text("ab é漢", max_size=40), min_size=1, max_size=6), st.integers(40, 90))
def test_what_is_clipped_fits_and_what_fits_stays(texts, room):
    clipped = _clipped(texts, room)
    assert cell_len(BETWEEN.join(clipped)) <= room
    assert clipped == texts or cell_len(BETWEEN.join(texts)) > room
    for text, cut in zip(texts, clipped, strict=True):
        assert cut == text or text.startswith(cut.removesuffix("…").rstrip())
