"""Any form in, the same values out; and no bytes that break it."""

import codecs
import csv
import gzip
import io
import logging
from datetime import datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from biselect.columns.distinct_texts import (
    shapes_of,
)
from biselect.errors import InputError
from biselect.options import Csv
from biselect.tables.readers import line_of_row, read_as, read_table, reading_of

DATES = ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%d", "%Y/%m/%d", "%d-%m-%Y %H:%M", "%m/%d/%Y %I:%M %p", "%d %b %Y"]
WORDS = st.text("abcä ß;,|\t\"'\n.", max_size=8).map(lambda text: f"w{text}")
ROWS = st.lists(st.tuples(st.integers(-(10**9), 10**9), st.integers(0, 20_000), WORDS), min_size=1, max_size=12)


def written(value, decimal, thousands):
    text = f"{value / 100:,.2f}".replace(",", "\0").replace(".", decimal)
    return text.replace("\0", thousands)


@settings(max_examples=150)
@given(
    rows=ROWS,
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16"]),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    marks=st.sampled_from([".", ".,", ". ", ".'", ",", ",.", ", ", ",\u00a0", ",'"]),
    form=st.sampled_from(DATES),
    missing=st.sampled_from(["", "-", "n/a", "?", "k.A.", "#NV"]),
    ends=st.sampled_from(["\n", "\r\n"]),
    packed=st.booleans(),
)
def test_a_table_in_any_form_is_read_as_the_same_values(
    tmp_path_factory, rows, encoding, delimiter, marks, form, missing, ends, packed
):
    decimal, thousands = marks[0], marks[1:]
    start = datetime(2020, 1, 31, 13, 7) if "%H" in form or "%I" in form else datetime(2020, 1, 31)
    rows = [(0, 0, "wä"), *rows]  # a day beyond the twelfth, and a word that tells UTF-8 from others
    amounts = [cents if at % 5 != 3 else None for at, (cents, _, _) in enumerate(rows)]
    days = [start + timedelta(days=day) for _, day, _ in rows]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=ends)
    writer.writerow(["Betrag in €", "Tag", "Wort", "Anzahl"])
    for at, (amount, day, row) in enumerate(zip(amounts, days, rows, strict=True)):
        number = missing if amount is None else written(amount, decimal, thousands)
        writer.writerow([number, day.strftime(form), row[2], at])
    content = text.getvalue().encode(encoding)
    path = tmp_path_factory.mktemp("any") / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    table = read_table(path)
    assert table.column_names == ["Betrag in €", "Tag", "Wort", "Anzahl"]
    assert table["Betrag in €"].to_pylist() == [None if cents is None else cents / 100 for cents in amounts]
    assert pa.types.is_temporal(table["Tag"].type)
    assert [datetime.fromisoformat(str(day)) for day in table["Tag"].to_pylist()] == days
    assert table["Wort"].to_pylist() == [word for _, _, word in rows]
    assert table["Anzahl"].to_pylist() == list(range(len(rows)))
    reading = reading_of(table)
    assert reading.delimiter == delimiter and codecs.lookup(reading.encoding).name in encoding.replace("-sig", "")
    if missing in ("-", "?") and None in amounts:
        assert list(reading.missing["Betrag in €"]) == [missing]


@settings(max_examples=60)
@given(st.binary(max_size=300), st.sampled_from([b"", b"a,b\n", b"a;b\n1,5;2\n", "ä;b\n1;2\n".encode("utf-16")]))
@example(b'"', b"a,b\n")
@example(b"\0\0\0", b"a,b\n")
@example(b"1,2\n" * 20 + b"\xff,\xfe\n", b"a,b\n")
@example(b"\n" * 200, b"")
def test_no_bytes_break_it(tmp_path_factory, more, begin):
    path = tmp_path_factory.mktemp("bytes") / "t.csv"
    path.write_bytes(begin + more)
    try:
        assert read_table(path).num_rows > 0
    except InputError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a;b\n1;2\n", ["';' between values"]),
        ("a\tb\n1\t2\n", ["tabs between values"]),
        ("sep=;\na;b\n1;2,5\n", ["';' between values", "names in line 2", "decimal comma in 'b'"]),
        ("x\n1,5\n2,5\n", ["';' between values", "decimal comma in 'x'"]),
        ("a,b\n1,007\n2,012\n", ["codes, not numbers (they begin with 0), in 'b'"]),
        ("a;b;\n1;2;\n3;4;\n", ["';' between values"]),
        ("a,b\n1,12 %\n2,99 %\n", ["% left out in 'b'"]),
        ("a,b\n1,(12.50)\n2,-3.00\n", []),
        ("a,b\n1,2\n", []),
    ],
)
def test_what_was_taken_is_said(tmp_path, content, said):
    path = tmp_path / "t.csv"
    path.write_text(content)
    assert read_as([read_table(path)]).get("t.csv", []) == said


def test_accountants_and_machines_write_numbers_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;c;d\n(1.234,50);12,00-;+7;1,5e3\n€ 99,00;-0,50;−8;2\n")
    rows = read_table(path).to_pydict()
    assert rows == {"a": [-1234.5, 99], "b": [-12, -0.5], "c": [7, -8], "d": [1500, 2]}


@pytest.mark.parametrize(
    ("column", "type_"),
    [
        (["1 €", "2 $"], "string"),  # two currencies are no one quantity
        (["1.2.3", "1.2.4"], "string"),
        (["192.168.1.1", "10.0.0.1"], "string"),
        (["1.234", "5.678"], "double"),
        (["12345678901234567890123", "1"], "double"),
        (["31.02.2025", "01.01.2025"], "string"),  # no such day
        (["yes", "12"], "string"),
    ],
)
def test_what_is_no_number_and_no_date_stays_text(tmp_path, column, type_):
    path = tmp_path / "t.csv"
    path.write_text("n;x\n" + "".join(f"{at};{text}\n" for at, text in enumerate(column)))
    assert str(read_table(path)["x"].type) == type_


def test_days_and_months_that_cannot_be_told_apart_are_a_guess_that_is_said(tmp_path, caplog):
    path = tmp_path / "t.csv"
    path.write_text("x,day\n1,03/04/2025\n2,01/02/2025\n3,02/03/2025\n")
    with caplog.at_level(logging.INFO, "biselect.reading"):
        logging.getLogger("biselect.reading").propagate = True
        table = read_table(path)
    assert (
        "column 'day' may as well have month and day the other way round: csv=Csv(date_format='%m/%d/%Y')"
        in caplog.text
    )
    assert table["day"][0].as_py() == datetime(2025, 4, 3)
    other = read_table(path, Csv(date_format="%m/%d/%Y"))
    assert other["day"][0].as_py() == datetime(2025, 3, 4) and reading_of(other).doubts == {}
    path.write_text("x,day\n1,01/02/2025\n2,01/03/2025\n3,02/01/2025\n")  # sorted if the month comes first
    assert reading_of(read_table(path)).doubts == {} and read_table(path)["day"][1].as_py() == datetime(2025, 1, 3)


def test_the_whole_column_decides_and_not_its_beginning(tmp_path):
    path = tmp_path / "t.csv"
    rows = 60_000  # more than the sample holds
    lines = [f"{at};{at % 900};01.02.2025;plain" for at in range(rows)]
    path.write_bytes(
        "\n".join(["n;amount;day;word", *lines, "7;1.234,50;-;Müller", "8;-;31.12.2025;x\n"]).encode("cp1252")
    )
    table = read_table(path)
    assert reading_of(table).encoding == "cp1252" and table["word"][rows].as_py() == "Müller"
    assert table["amount"].to_pylist()[-2:] == [1234.5, None] and table["amount"].null_count == 1
    assert table["day"][-1].as_py() == datetime(2025, 12, 31) and table["day"].null_count == 1
    assert line_of_row(table, rows) == f"line {rows + 2}"


def test_many_columns_that_turn_to_text_far_down_are_not_read_once_each(tmp_path, monkeypatch):
    import pyarrow.csv

    reads = []
    plain = pyarrow.csv.read_csv
    monkeypatch.setattr(pyarrow.csv, "read_csv", lambda *given, **more: reads.append(1) or plain(*given, **more))
    path = tmp_path / "t.csv"
    columns = 40
    line = ",".join("1" for _ in range(columns))
    path.write_text(
        "\n".join([",".join(f"c{j}" for j in range(columns)), *[line] * 30_000, line.replace("1", "x")]) + "\n"
    )
    table = read_table(path)
    assert set(table.schema.types) == {pa.string()} and len(reads) < 12


def test_long_lines_and_wide_tables_are_read(tmp_path):
    path = tmp_path / "t.csv"
    columns = 3_000
    names = ",".join(f"column_{j:0600d}" for j in range(columns))  # longer than the sample
    path.write_text("\n".join([names, ",".join(["1.5"] * columns)]) + "\n")
    table = read_table(path)
    assert table.shape == (1, columns) and set(table.schema.types) == {pa.float64()}
    path.write_text("a,b\n1," + "x" * 3_000_000 + "\n2,y")
    assert read_table(path)["b"][1].as_py() == "y"


@given(st.lists(st.text("0123456789.,ä€-", max_size=6), max_size=20), st.integers(0, 5))
def test_shapes_are_texts_with_nines_for_digits(texts, skipped):
    """The slow twin of a fast kernel; a slice of an array has offsets of its own."""
    array = pa.array([*["0,1"] * skipped, *texts], pa.string())[skipped:]

    def shape(text):
        nines = ["9" if one.isdigit() else one for one in text]
        for at, one in enumerate(text[:-1]):
            if one == "0" and text[at + 1] in ".," and not (at and text[at - 1].isdigit()):
                nines[at] = "0"
        return "".join(nines)

    assert shapes_of(array).to_pylist() == [shape(text) for text in texts]


@pytest.mark.parametrize(
    "above", ["Kontoauszug;Giro\nvon;bis\n\n", "Umsätze\n\n", '"Auszug\nJanuar"\n', "Statement of, May\n"]
)
def test_lines_above_the_names_are_left_out_and_said(tmp_path, above):
    path = tmp_path / "t.csv"
    rows = "".join(f"{day:02d}.01.2025;1.0{day:02d},50;x{day}\n" for day in range(1, 20))
    path.write_text(f"{above}Tag;Betrag;Text\n{rows}", encoding="utf-8")
    table = read_table(path)
    assert table.column_names == ["Tag", "Betrag", "Text"] and table["Betrag"][1].as_py() == 1002.5
    line = above.count("\n") + 1
    assert f"names in line {line}" in reading_of(table).words
    assert line_of_row(table, 0) == f"line {line + 1}"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x\n1,5\n2,5\n3,5\n", ["x"]),
        ("note\nhello, world\nfoo, bar\n", ["note"]),
        ("a;b\n1,5;2,5,1\n3,5;2,5,2\n4,5;2,5,3\n", ["a", "b"]),
        ("a\n1,2,3\n4,5,6\n7,8,9\n", ["a"]),
    ],
)
def test_a_first_line_that_may_be_the_names_is_taken_for_them(tmp_path, text, names):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert read_table(path).column_names == names
