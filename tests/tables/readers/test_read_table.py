"""Kinds of files beside CSV: what they hold comes back, and what they cannot hold is refused."""

import datetime
import gzip
import json
import sqlite3

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from biselect.errors import InputError, MissingDependencyError
from biselect.large.engines import Threads
from biselect.large.summaries import summed_up
from biselect.progress import steps_of
from biselect.tables import provenance
from biselect.tables._table import Table
from biselect.tables.problem_files import read_problem
from biselect.tables.readers import read_table, reading_of
from biselect.tables.readers.sources import Source

ROWS = {"id": ["a", "b"], "x": [1, 2], "y": [0.5, None], "ok": [True, False]}


def lines_of(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def sqlite(tmp_path):
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as database:
        database.execute("create table sales (id text, x integer, y real, note text)")
        database.executemany("insert into sales values (?, ?, ?, ?)", [("a", 1, 0.5, "n"), ("b", 2, None, "2")])
        database.execute("create table other (z)")
        database.execute(
            "create view endless as with recursive t(n) as (select 1 union all select n from t) "
            "select count(*) as n from t"
        )
    database.close()
    return path


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
def test_json_lines_packed_or_not_give_typed_columns(tmp_path, packed):
    text = lines_of(*({name: ROWS[name][i] for name in ROWS} for i in range(2)))
    path = tmp_path / f"t.jsonl{packed}"
    with pa.output_stream(str(path)) as stream:
        stream.write(text.encode())
    table = read_table(path)
    assert table.to_pydict() == ROWS
    assert table.schema.types == [pa.string(), pa.int64(), pa.float64(), pa.bool_()]


def test_json_lines_may_lack_values_mix_kinds_and_hold_dates_and_lists(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('\n{"a": 1, "t": "2024-03-01"}\n\n{"a": "x", "b": [1], "t": "2024-03-02 10:00", "h": 1e999}\n')
    table = read_table(path)
    assert table["a"].to_pylist() == ["1", "x"]
    assert table["b"].to_pylist() == [None, ["[1]"]]
    assert table["t"].to_pylist() == [datetime.datetime(2024, 3, 1), datetime.datetime(2024, 3, 2, 10)]


@pytest.mark.parametrize(
    "line",
    ["null", "1", "[]", '"x"', "nul", "{}{}", '{"a": 1} 2', "[" * 100_000, '{"a":' * 5000, "\x00", "{'a': 1}", "NaN"],
)
def test_a_line_that_is_no_object_is_named(tmp_path, line):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n' + line + "\n")
    with pytest.raises(InputError, match="line 2"):
        read_table(path)


def test_half_a_character_becomes_a_sign_that_can_be_written(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"\\ud800": "x\\udfff", "n": 123456789012345678901234567890}\n')
    table = read_table(path)
    assert all(name.encode() for name in table.column_names)
    assert table.column_names[0].endswith("\ufffd")
    assert table["n"].to_pylist() == [float(123456789012345678901234567890)]


@pytest.mark.parametrize("packed", ["gz", "zst"])
def test_a_bomb_is_refused_before_it_unpacks(tmp_path, packed, monkeypatch):
    monkeypatch.setattr("biselect.core.untrusted.FREE", 1 << 20)
    path = tmp_path / f"t.csv.{packed}"
    with pa.output_stream(str(path)) as stream:
        stream.write(b"x,y\n" + b"0,0\n" * (1 << 20))
    with pytest.raises(InputError, match="unpack it first"):
        read_table(path)


def test_packed_csv_is_read_and_a_cut_one_refused(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n1,2\n"))
    assert read_table(path).to_pydict() == {"x": [1], "y": [2]}
    path.write_bytes(gzip.compress(b"x,y\n1,2\n" * 100)[:-9])
    with pytest.raises(InputError, match="cannot be read"):
        read_table(path)


def test_sqlite_gives_a_table_or_the_answer_to_a_query(sqlite):
    assert read_table(f"{sqlite}::sales").to_pydict() == {
        "id": ["a", "b"],
        "x": [1, 2],
        "y": [0.5, None],
        "note": ["n", "2"],
    }
    assert read_table(f"{sqlite}::select x/2.0 as half from sales")["half"].to_pylist() == [0.5, 1.0]
    assert read_table(f"{sqlite}::select x, x from sales").column_names == ["x", "x (2)"]
    assert reading_of(read_table(sqlite)).part == "sales"  # the table with the most rows
    [entry] = provenance("c", 0, [f"{sqlite}::sales"])["inputs"]
    assert entry["name"] == "shop.db::sales"
    assert read_problem(f"{sqlite}::select id, x, 1 as z from sales", k=1, m=1, id_column="id").feature_names == (
        "x",
        "z",
    )


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("::nothing", "has no table 'nothing'; it has 'endless', 'other', 'sales'"),
        ("::select absent from sales", "no such column"),
        ("::other", "no rows"),
        ("::with t as (select 1) delete from sales", "SQLite says"),
    ],
)
def test_what_sqlite_cannot_answer_is_said(sqlite, part, message):
    before = sqlite.read_bytes()
    with pytest.raises(InputError, match=message):
        read_table(f"{sqlite}{part}")
    assert sqlite.read_bytes() == before


def test_a_view_without_end_is_stopped(sqlite, monkeypatch):
    monkeypatch.setattr("biselect.tables.readers._databases.STEPS", 1 << 20)
    monkeypatch.setattr("biselect.tables.readers._databases.STEPS_A_BYTE", 0)
    with pytest.raises(InputError, match="too many steps"):
        read_table(f"{sqlite}::endless")


def test_duckdb_is_known_by_its_content_and_cannot_reach_other_files(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    path = tmp_path / "shop.db"
    with duckdb.connect(str(path)) as database:
        database.execute("create table sales as select 'a' as id, 1 as x, date '2024-01-02' as t")
        database.execute(f"create view theirs as select * from read_csv('{secret}')")
    assert read_table(f"{path}::sales").to_pydict() == {"id": ["a"], "x": [1], "t": [datetime.date(2024, 1, 2)]}
    with pytest.raises(InputError, match="DuckDB says"):
        read_table(f"{path}::theirs")
    assert read_table(path).num_rows == 1 and reading_of(read_table(path)).part == "sales"  # the others are views


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "t.db").write_bytes(b"something else than a database")
    with pytest.raises(InputError, match="neither a SQLite nor a DuckDB file"):
        read_table(tmp_path / "t.db")


@pytest.fixture
def workbook(tmp_path):
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "Sales"
    for row in ([], ["id", "x", "when"], ["a", 1, datetime.datetime(2024, 1, 2)], [], ["b", "#N/A", None]):
        book.active.append(row)
    book.create_sheet("Empty")
    path = tmp_path / "t.xlsx"
    book.save(path)
    return path


def test_a_sheet_of_a_workbook_is_a_table(workbook):
    table = read_table(f"{workbook}::Sales")
    assert table.to_pydict() == {"id": ["a", "b"], "x": [1, None], "when": [datetime.datetime(2024, 1, 2), None]}
    assert read_table(workbook).equals(table) and reading_of(read_table(workbook)).part == "Sales"
    with pytest.raises(InputError, match="the sheet is empty"):
        read_table(f"{workbook}::Empty")
    with pytest.raises(InputError, match="has no sheet 'None'"):
        read_table(f"{workbook}::None")


def test_two_cells_far_apart_take_no_memory(tmp_path):
    import openpyxl

    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "x", 1
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match=r"no rows|more cells"):
        read_table(tmp_path / "t.xlsx")


def test_an_absent_library_is_named_with_its_extra(tmp_path, monkeypatch):
    (tmp_path / "t.db").write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 100)
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(MissingDependencyError, match=r"pip install '\.\["):
        read_table(tmp_path / "t.db")


@pytest.fixture
def parts(tmp_path):
    for year, kind in ((2023, pa.int64()), (2024, pa.int64())):
        folder = tmp_path / "set" / f"year={year}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"x": pa.array([year, 1], kind), "y": ["a", "b"]}), folder / "part.parquet")
    (tmp_path / "set" / "_SUCCESS").touch()
    return tmp_path / "set"


def test_a_folder_or_a_glob_of_parquet_is_one_table(parts):
    whole = read_table(parts)
    assert whole.to_pydict() == {"x": [2023, 1, 2024, 1], "y": list("abab"), "year": [2023, 2023, 2024, 2024]}
    assert read_table(f"{parts}/**/*.parquet").to_pydict() == {"x": [2023, 1, 2024, 1], "y": list("abab")}
    assert summed_up(Table(parts), Threads(), steps_of(False)).rows == 4
    assert len(provenance("c", 0, [parts])["inputs"]) == 2


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": ["a"], "y": ["b"]}, "part2.parquet: column 'x' holds string, but int64 in"),
        ({"x": [1]}, "part2.parquet: its columns differ from those of .*'y' is in part.parquet only"),
        ({"x": [1], "y": ["a"], "z": [1]}, "part2.parquet: its columns differ from those of .*'z' is in part2.parquet"),
    ],
)
def test_a_file_with_other_columns_is_named(parts, columns, message):
    pq.write_table(pa.table(columns), parts / "year=2024" / "part2.parquet")
    with pytest.raises(InputError, match=message):
        read_table(parts)


def test_other_orders_and_empty_columns_fit_together(parts):
    pq.write_table(pa.table({"y": pa.nulls(1), "x": [5]}), parts / "year=2024" / "part2.parquet")
    assert read_table(parts)["x"].to_pylist() == [2023, 1, 2024, 1, 5]


def test_a_set_without_parquet_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    with pytest.raises(InputError, match="is a folder without Parquet files"):
        read_table(tmp_path)
    with pytest.raises(InputError, match="matches no Parquet"):
        read_table(f"{tmp_path}/*.parquet")
    with pytest.raises(InputError, match="only Parquet files are read together"):
        read_table(f"{tmp_path}/*")


def test_a_name_may_hold_the_marks_of_parts_and_globs(tmp_path):
    for name in ("a::b.csv", "c[1].csv"):
        (tmp_path / name).write_text("x\n1\n")
        assert read_table(tmp_path / name).num_rows == 1
    assert Source.of("a.xlsx::One::Two").part == "One::Two"
    with pytest.raises(InputError, match="only workbooks and databases have parts"):
        read_table(f"{tmp_path / 'c[1].csv'}::x")


def test_arrow_files_are_looked_through_before_they_are_used(tmp_path):
    table = pa.table({"x": ["abcdefgh", "ijklmnop"]})
    path = tmp_path / "t.arrow"
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"abcdefgh", b"abc\xff\xffefg"))
    with pytest.raises(InputError, match=r"UTF8|UTF-8"):
        read_table(path)


def test_dates_that_python_cannot_say_are_refused(tmp_path):
    pq.write_table(pa.table({"t": pa.array([1 << 60], pa.timestamp("us"))}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="outside the years 1 to 9999"):
        read_table(tmp_path / "t.parquet")
