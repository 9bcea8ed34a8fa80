"""A CSV in blocks is the table that it is as a whole, whatever its rows hold and wherever blocks end."""

import gzip

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.errors import InputError
from biselect.large.spool import Spool, partitions_of
from biselect.options import Columns, Csv
from biselect.tables import Table
from biselect.tables.readers import _delimited as delimited
from biselect.tables.readers import read_table

DAYS = st.dates().map(lambda day: f"{day:%d.%m.}{day.year:04}")
NUMBERS = st.integers(-9999, 9999)
KINDS = {
    "whole": NUMBERS.map(str),
    "big": st.integers(-(10**20), 10**20).map(str),
    "decimals": NUMBERS.map(lambda one: f"{one / 100:.2f}"),
    "commas": NUMBERS.map(lambda one: f"{one / 100:.2f}".replace(".", ",")),
    "thousands": st.integers(1000, 10**7).map(lambda one: f"{one:,}".replace(",", ".")),
    "money": NUMBERS.map(lambda one: f"{one} €"),
    "codes": st.integers(0, 999).map(lambda one: f"{one:03}"),
    "flags": st.sampled_from(["true", "false"]),
    "iso": st.dates().map(str),
    "times": st.datetimes().map(lambda one: one.isoformat(" ")),
    "german": DAYS,
    "either": st.tuples(st.integers(1, 12), st.integers(1, 12)).map(lambda one: f"{one[0]:02}/{one[1]:02}/2024"),
    "words": st.text("abc ", max_size=4),
    "lines": st.sampled_from(["x", 'say "hi"', "two\nlines", "semi;colon"]),
}
MISSING = st.sampled_from(["", "NA", "-", "n.a.", "NULL"])


@st.composite
def written_columns(draw, rows):
    usual = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    entries = draw(st.lists(usual | MISSING if draw(st.booleans()) else usual, min_size=rows, max_size=rows))
    for _ in range(draw(st.integers(0, 2))):  # surprises
        entries[draw(st.integers(0, rows - 1))] = draw(KINDS[draw(st.sampled_from(sorted(KINDS)))] | MISSING)
    return entries


@st.composite
def files(draw):
    rows = draw(st.integers(1, 30))
    columns = draw(st.lists(written_columns(rows), min_size=1, max_size=4))
    names = [f"c{at}" for at in range(len(columns))]
    cells = [[_quoted(one) for one in column] for column in columns]
    return "\n".join([";".join(names), *(";".join(row) for row in zip(*cells, strict=True))]) + "\n"


def _quoted(entry):
    return '"' + entry.replace('"', '""') + '"' if set(entry) & set(';"\n') else entry


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Blocks of a few rows, and types guessed from a few more."""
    monkeypatch.setattr(delimited, "BLOCK", 128)
    monkeypatch.setattr(delimited, "ROWS_OF_A_BLOCK", 2)
    monkeypatch.setattr(delimited, "GUESSED_FROM", 512)


def streamed(path, csv=Csv(), columns=Columns(), memory=1 << 20):
    with Spool() as spool:
        parts = partitions_of(Table(path, columns, csv), memory=memory, spool=spool)
        blocks = [block for part in parts.parts for _, block in part.blocks(parts.schema.names)]
        return pa.concat_tables([parts.schema.empty_table(), *blocks])


FORMS = [
    (Csv(), Columns()),
    (Csv(na_values=["-", "x"]), Columns(types={"c0": "category"}, show=["c1"])),
    (Csv(date_format="%d.%m.%Y", decimal=","), Columns()),
]


@settings(max_examples=25, deadline=None)
@given(text=files(), form=st.sampled_from(FORMS))
def test_blocks_hold_what_the_whole_file_does(text, form, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_text(text)
    try:
        expected = read_table(path, *form)
    except InputError:
        return
    found = streamed(path, *form)
    assert found.schema.equals(expected.schema, check_metadata=True)
    assert found.to_pylist() == expected.to_pylist()


def test_other_encodings_and_packed_files_are_read(tmp_path):
    text = "name;price\n" + "".join(f"row {row};1.{row:03},5 €\n" for row in range(200)) + "Jürg;2,5 €\n"
    (tmp_path / "a.csv").write_bytes(text.encode("cp1252"))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode("cp1252")))
    for path in (tmp_path / "a.csv", tmp_path / "a.csv.gz"):
        found, expected = streamed(path), read_table(path)
        assert found.to_pylist() == expected.to_pylist() and found.schema.equals(expected.schema, check_metadata=True)
    assert found["price"][0].as_py() == 1000.5 and found["name"][-1].as_py() == "Jürg"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n" + "1,2\n" * 200 + "1,2,3\n" * 20, "holds 3 values where there are 2 names"),
        ("a,b\n" + "1,x\n" * 200 + '1,"open\n' + "1,y\n", "the quote before 'open' is never closed"),
    ],
)
def test_broken_files_are_refused_as_when_they_are_read_whole(tmp_path, text, said):
    (tmp_path / "a.csv").write_text(text)
    for read in (streamed, read_table):
        with pytest.raises(InputError, match=said):
            read(tmp_path / "a.csv")


def test_a_column_that_must_be_seen_whole_has_to_fit(tmp_path):
    (tmp_path / "a.csv").write_text("day\n" + "".join(f"{1 + row % 28:02}.01.2024\n" for row in range(500)))
    assert streamed(tmp_path / "a.csv")["day"].type == read_table(tmp_path / "a.csv")["day"].type
    with pytest.raises(InputError, match=r"a.csv: column 'day' .* its 500 rows together .* give more memory"):
        streamed(tmp_path / "a.csv", memory=1000)
