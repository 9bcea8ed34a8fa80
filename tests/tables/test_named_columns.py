import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from biselect.columns.flag import label_flags
from biselect.errors import InputError
from biselect.options import Columns, Csv
from biselect.tables._named_columns import numeric, require_columns, texts
from biselect.tables.readers import read_table
from biselect.tables.readers._delimited import line_of_row

ROWS = {"id": ["a", "b", "c"], "x": [1.0, 2.5, -3.0], "n": [1, 2, 3], "flag": [True, False, True]}


def write(table: pa.Table, path) -> None:
    kind = path.name.split(".", 1)[1]
    if kind == "parquet":
        pq.write_table(table, path)
    elif kind in ("arrow", "feather"):
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    elif kind == "ipc":
        with path.open("wb") as stream, pa.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)
    elif kind == "jsonl":
        path.write_text("\n".join(json.dumps(row) for row in table.to_pylist()))
    else:
        separator = "\t" if "tsv" in kind else ","
        lines = [separator.join(table.column_names)]
        lines += [separator.join(str(value) for value in row.values()) for row in table.to_pylist()]
        text = "\n".join(lines).encode()
        path.write_bytes(gzip.compress(text) if kind.endswith("gz") else text)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "parquet", "arrow", "feather", "ipc", "jsonl"])
def test_every_kind_of_file_gives_the_same_table(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    write(pa.table(ROWS), path)
    table = read_table(path)
    assert texts(table, "id", "t") == ["a", "b", "c"]
    numbers = numeric(table, ["x", "n", "flag"], "t")
    np.testing.assert_array_equal(numbers["x"].to_numpy(), [1.0, 2.5, -3.0])
    np.testing.assert_array_equal(numbers["flag"].to_numpy(), [1, 0, 1])
    assert numbers["n"].type == pa.float64()


def test_missing_numbers_become_nan(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,\n,2.5\n")
    numbers = numeric(read_table(path), ["x", "y"], "t")
    np.testing.assert_array_equal(numbers["x"].to_numpy(), [1, np.nan])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "the file is empty"),
        ("t.csv", b"x,y\n", "columns but no rows"),
        ("t.csv", b"x,y\n1,2\n3\n", "cannot be read as csv"),
        ("t.parquet", b"PAR1 cut off", "cannot be read as parquet"),
        ("t.arrow", b"ARROW1 cut off", "cannot be read as arrow"),
        ("t.jsonl", b'{"x": 1}\n{"x": ', "line 2 is no JSON"),
        ("t.xls", b"something", "unknown kind of file"),
        ("t.csv", b'x,y\n1,2\n3,"4\n5,6\n', "the quote before '4' is never closed"),
        ("t.csv", "größe,x\n1,2\n".encode() + b"\xe4,3\n", "is UTF-8 up to line 3, .*encoding='cp1252'"),
        ("t.csv", b"x,y\n1,2\n" + b"\x81\x8d\xe4,2\n", "encoding="),
    ],
)
def test_broken_files_are_refused_with_the_reason(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / name)


def test_a_truncated_parquet_file_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    write(pa.table(ROWS), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="cannot be read as parquet"):
        read_table(path)


def test_absent_files_and_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_table(tmp_path / "t.csv")
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path / "d.csv")


def test_columns_that_cannot_serve_are_named():
    table = pa.table({"word": ["1", "two"], "none": pa.nulls(2), "id": ["a", "a"], "gap": ["a", None], "label": [0, 2]})
    with pytest.raises(InputError, match="no column 'q'; it has 'word'"):
        require_columns(table, ["q"], "t")
    with pytest.raises(
        InputError,
        match=r"'word' is not numeric \(row 1 holds 'two'; if that means missing: csv=Csv\(na_values=\['two'\]",
    ):
        numeric(table, ["word"], "t")
    with pytest.raises(InputError, match="column 'none' is empty"):
        numeric(table, ["none"], "t")
    with pytest.raises(InputError, match=r"'word' is not numeric.*'none' is empty"):
        numeric(table, ["word", "none"], "t")
    with pytest.raises(InputError, match="id 'a' stands in row 0 and row 1"):
        texts(table, "id", "t")
    with pytest.raises(InputError, match="no value in row 1"):
        texts(table, "gap", "t")
    with pytest.raises(
        InputError, match=r"0 and 1 only, or two values .*, but holds '0', '2'; .*Columns\(label='label=2'\)"
    ):
        label_flags(table, "label", "t")


def test_names_of_any_kind_survive(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('id,"a ""b"", <script>"\n"line\nbreak",1\n"x,y",2\n')
    table = read_table(path)
    assert table.column_names == ["id", 'a "b", <script>']
    assert texts(table, "id", "t") == ["line\nbreak", "x,y"]


def test_errors_name_the_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,x\na,1\na,two\n")
    table = read_table(path)
    with pytest.raises(InputError, match="id 'a' stands in line 2 and line 3"):
        texts(table, "id", "t")
    with pytest.raises(InputError, match="line 3 holds 'two'"):
        numeric(table, ["x"], "t")


def test_csv_forms(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id;x;y\n007;-;1\n008;2;none\n")
    table = read_table(path, Csv(delimiter=";", na_values=["-", "none"]), Columns(id="id"))
    assert table["id"].to_pylist() == ["007", "008"]
    np.testing.assert_array_equal(numeric(table, ["x"], "t")["x"].to_numpy(), [np.nan, 2])
    path.write_text("x;y\n1,5;2\n2,5;3\n")  # with commas it would not even have the same number of columns
    assert read_table(path)["x"].to_pylist() == [1.5, 2.5]
    with pytest.raises(InputError, match=r"line 2 holds '1,5'; others '2,5', 2 entries in all"):
        numeric(read_table(path, Csv(decimal=".")), ["x"], "t")


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_place_is_the_line_of_the_file(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    text = b'a;note\n1;"two; lines\nof text"\n\n2;x\n3;y\n'
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    table = read_table(path, Csv(delimiter=";"))
    assert [line_of_row(table, row) for row in range(3)] == ["line 2", "line 5", "line 6"]
    assert line_of_row(table.take([2]), 0) == "line 2"  # positions are those of the file
    path.unlink()
    assert line_of_row(table, 1) == "row 1"
    assert line_of_row(pa.table(ROWS), 1) == "row 1"


def test_a_column_that_goes_on_with_words_far_down_is_text(tmp_path):
    path = tmp_path / "t.csv"
    numbers = 400_000  # more than the block that types are guessed from
    path.write_text("x,y\n" + "1,2\n" * numbers + "1,two\n")
    table = read_table(path)
    assert table["x"].type == pa.int64() and table["y"][numbers].as_py() == "two"
    with pytest.raises(InputError, match=f"'y' is not numeric .line {numbers + 2} holds 'two'"):
        numeric(table, ["y"], "t")


def test_empty_text_is_missing_but_namibia_is_not(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("country,note,x\nNA,,1\n,b,2\n-,-,3\nDE,,4\n")
    table = read_table(path, Csv(na_values=["-"]), Columns(show=["note"]))
    assert table["country"].to_pylist() == ["NA", None, None, "DE"]
    assert table["note"].to_pylist() == ["", "b", "-", ""], "what is only shown stays as it is"
