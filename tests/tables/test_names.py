"""Numbers that are names, words among dates, lists in cells, and files that are not what their names say."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect as bs
from biselect.errors import InputError
from biselect.options import Columns
from biselect.tables import guess_roles
from biselect.tables._table import Table
from biselect.tables.readers import read_table, reading_of

ROWS = 120


def guess_of(name, values, first=None):
    columns = {"amount": first or [i * 0.37 % 11 for i in range(ROWS)], name: values}
    return guess_roles([pa.table(columns)]).columns[1]


@settings(max_examples=60, deadline=None)
@given(digits=st.integers(9, 18), different=st.integers(2, ROWS), seed=st.integers(0, 99), gap=st.booleans())
def test_whole_numbers_of_one_length_and_many_digits_are_names(digits, different, seed, gap):
    rng = np.random.default_rng(seed)
    names = rng.choice(np.unique(rng.integers(3 * 10 ** (digits - 1), 10**digits, different)), ROWS)
    values = [None if gap and i % 50 == 7 else int(name) for i, name in enumerate(names)]
    guess = guess_of("kolumna", values)
    assert guess.role in ("code", "other id", "constant") and guess.role != "number"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 10**12), min_size=ROWS, max_size=ROWS, unique=True))
def test_whole_numbers_of_several_lengths_are_quantities(values):
    assert guess_of("bytes", [7, 12, *values[2:]]).role == "number"


@pytest.mark.parametrize("step", [1, 13, -7])
def test_numbers_that_run_name_the_rows_where_they_come_first(step):
    numbers = [2_000_000 + step * i for i in range(ROWS)]
    table = pa.table({"NHC": numbers, "amount": [i * 0.37 % 11 for i in range(ROWS)]})
    assert guess_roles([table]).described.id == "NHC"
    assert guess_of("Lauf", numbers).role in ("id", "other id")
    assert guess_of("uptime", [600 * i for i in range(ROWS)]).role == "number"


NAMES = [
    "Sachkonto",
    "Kreditor",
    "BuKr",
    "Mitarbeiter",
    "cuenta",
    "Compte",
    "vendor",
    "rekening",
    "Customer",
    "account",
]


@pytest.mark.parametrize("name", NAMES)
def test_accounts_and_people_are_no_quantities_in_any_language(name):
    assert guess_of(name, [[4000, 4100, 4760, 4800][i % 4] for i in range(ROWS)]).role == "code"


def test_moments_as_numbers_of_fourteen_digits_order_the_rows():
    moments = [20250901000044 + 100 * (i % 60) + 10_000 * (i // 60) for i in range(ROWS)]
    assert guess_of("column 2", moments).role == "time"
    assert guess_of("column 2", [20259901000044 + 7 * i for i in range(ROWS)]).role != "time"


def test_words_among_dates_and_lists_are_said():
    days = [f"{i % 28 + 1:02d}.03.2025" if i % 2 else ["folgt", "siehe Mail"][i % 4 // 2] for i in range(ROWS)]
    assert "'folgt'" in guess_of("wann", days).remark
    assert guess_of("tags", [["a"]] * ROWS).remark == "its cells hold lists or objects: left out"


def refusal(source):
    with pytest.raises(InputError) as error:
        bs.review(source)
    return str(error.value)


def test_files_that_are_no_tables_are_refused_in_words_of_people(tmp_path):
    rng = np.random.default_rng(3)
    (tmp_path / "junk.csv").write_bytes(rng.integers(0, 256, 5000, dtype=np.uint8).tobytes())
    (tmp_path / "broken.xlsx").write_bytes(b"not a workbook")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "data.csv").write_text("a,b\n1,2\n")
    assert "is no text" in refusal(tmp_path / "junk.csv")
    assert "is no workbook of Excel" in refusal(tmp_path / "broken.xlsx")
    assert str(tmp_path / "folder" / "data.csv") in refusal(tmp_path / "folder")
    (tmp_path / "plain.csv").write_text("a,b\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(60)))
    words = refusal(Table(tmp_path / "plain.csv", Columns(features=["amount"])))
    assert "the table has no column 'amount'" in words and "reference" not in words


GERMAN = "Müller Größe Köln Straße Bäcker Jäger Öl Schröder Händler für über"
JAPANESE = "日本語の表 会社名 東京都 商品の価格 売上高"


@settings(max_examples=40, deadline=None)
@given(words=st.lists(st.sampled_from(GERMAN.split()), min_size=20, max_size=60), number=st.integers(0, 9))
def test_german_of_dos_is_no_japanese(tmp_path_factory, words, number):
    path = tmp_path_factory.mktemp("dos") / "t.csv"
    text = "Größe;Wert\n" + "".join(f"{word} Müller;{number}{i}\n" for i, word in enumerate(words))
    path.write_bytes(text.encode("cp850"))
    table = read_table(path)
    assert reading_of(table).encoding == "cp850" and table.column_names[0] == "Größe"


@pytest.mark.parametrize("encoding", ["cp932", "cp1252"])
def test_japanese_and_western_text_stay_what_they_are(tmp_path, encoding):
    words = JAPANESE.split() if encoding == "cp932" else ["it’s “so”", "Größe", "„Öl“ – 5 €", "Žitný", "über"]
    path = tmp_path / "t.csv"
    path.write_bytes(("Name;x\n" + "".join(f"{words[i % 5]};{i}\n" for i in range(60))).encode(encoding))
    assert reading_of(read_table(path)).encoding == encoding
