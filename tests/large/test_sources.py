"""Every source gives the same rows in the same order, however they are divided."""

import datetime as dt
import gzip
import json
import os
import pickle
import re
import sqlite3
from itertools import pairwise

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather

from biselect.errors import InputError
from biselect.large import _sources as sources
from biselect.large import dataset as parts
from biselect.large import spool as any_source
from biselect.large.dataset import Partitions, place_of
from biselect.large.spool import Spool, partitions_of
from biselect.tables import Table
from biselect.tables.readers import _json as json_lines
from biselect.tables.readers import read_table

NAMES = ("a", "b.c", "text")


def tables(most=60):
    rows = st.tuples(
        st.floats(width=32, allow_nan=False) | st.none(), st.integers(-5, 5), st.text(max_size=3) | st.none()
    )
    return st.lists(rows, min_size=1, max_size=most).map(
        lambda found: pa.table(
            [
                pa.array(column, kind)
                for column, kind in zip(zip(*found, strict=True), (pa.float32(), pa.int64(), pa.string()), strict=True)
            ],
            names=NAMES,
        )
    )


def rows_of(partitions, columns=None):
    columns = list(columns or partitions.schema.names)
    found, at = [], partitions.parts[0].first
    for part in partitions.parts:
        assert part.first == at
        for first, block in part.blocks(columns):
            assert first == at and 0 < block.num_rows <= parts.BLOCK_ROWS
            if set(columns) <= set(partitions.schema.names):
                assert block.schema.equals(pa.schema([partitions.schema.field(name) for name in columns]))
            found.append(block)
            at += block.num_rows
        assert at == part.first + part.rows
    return pa.concat_tables(found)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Limits at which a table of sixty rows is large."""
    for module in (any_source, sources, parts):
        monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    for module in (sources, parts):
        monkeypatch.setattr(module, "MOST_PART_ROWS", 10)
    monkeypatch.setattr(parts, "FEWEST_PART_ROWS", 5)
    monkeypatch.setattr(sources, "LARGE_GROUP", 12)


@settings(max_examples=40, deadline=None)
@given(table=tables(), cuts=st.lists(st.integers(0, 60), max_size=5), group=st.integers(1, 25))
def test_a_folder_gives_the_rows_of_its_files_in_order(table, cuts, group, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    ends = sorted({0, table.num_rows, *(cut % (table.num_rows + 1) for cut in cuts)})
    for file, (begin, end) in enumerate(pairwise(ends)):
        pq.write_table(table.slice(begin, end - begin), folder / f"{file}.parquet", row_group_size=group)
    pq.write_table(table.slice(0, 0), folder / "00-empty.parquet")
    partitions, expected = partitions_of(folder), read_table(folder)
    assert rows_of(partitions).equals(expected) and expected["b.c"].equals(table["b.c"])
    assert rows_of(partitions, ["text", "a"]).equals(expected.select(["text", "a"]))
    last = table.num_rows - 1
    assert place_of(partitions, last) == f"row {last - ends[-2]} of {folder}/{len(ends) - 2}.parquet"


@settings(max_examples=20, deadline=None)
@given(table=tables())
def test_tables_in_memory_give_their_rows(table):
    for frame in (table, pl.from_arrow(table), table.to_pandas()):
        found = rows_of(partitions_of(frame))
        assert found.to_pylist() == Table(frame).read().to_pylist()


def test_an_array_is_not_copied_and_a_slice_travels_alone():
    values = np.arange(200, dtype=np.float32).reshape(100, 2)
    found = partitions_of(values)
    assert len(found.parts) > 1 and all(np.shares_memory(part.source.values, values) for part in found.parts)
    assert rows_of(found).equals(pa.table({str(j): values[:, j].astype(float) for j in range(2)}))
    held = partitions_of(pa.table({"x": np.arange(100_000)})).parts[3]
    sent = pickle.dumps(held)
    assert len(sent) < 5_000
    received = rows_of(Partitions(name="", schema=pa.schema([("x", pa.int64())]), parts=(pickle.loads(sent),)))
    assert received["x"].to_pylist() == list(range(held.first, held.first + held.rows))


@settings(max_examples=20, deadline=None)
@given(table=tables(), batch=st.integers(1, 30), packed=st.sampled_from(["uncompressed", "lz4"]))
def test_arrow_files_streams_and_datasets_give_their_rows(table, batch, packed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    feather.write_feather(table, folder / "a.arrow", chunksize=batch, compression=packed)
    with pa.ipc.new_stream(folder / "b.arrow", table.schema) as stream:
        stream.write_table(table, max_chunksize=batch)
    pq.write_table(table, folder / "c.parquet", row_group_size=batch)
    dataset, whole = pads.dataset(folder / "c.parquet"), read_table(folder / "c.parquet")
    few = pads.field("b.c") > 0
    with Spool() as spool:
        for source in (folder / "a.arrow", folder / "b.arrow", dataset, pads.dataset(table), table.to_reader(batch)):
            found = partitions_of(source, spool=spool)
            assert rows_of(found).equals(whole)
            assert rows_of(found, ["text"]).equals(whole.select(["text"]))
        if (some := table.filter(few)).num_rows:
            pq.write_table(some, folder / "d.parquet")
            found = partitions_of(dataset.filter(few), spool=spool)
            assert rows_of(found).equals(read_table(folder / "d.parquet"))


@settings(max_examples=10, deadline=None)
@given(table=tables())
def test_lazy_frames_are_computed_in_blocks(table):
    frame = pl.from_arrow(table).with_columns(kind=pl.col("text").cast(pl.Categorical))
    relation = duckdb.from_arrow(table)
    with Spool() as spool:
        found = partitions_of(frame.lazy(), spool=spool)
        assert rows_of(found).to_pylist() == Table(frame).read().to_pylist()
        assert found.schema.equals(Table(frame).read().schema)
        assert rows_of(partitions_of(relation, spool=spool)).equals(Table(table).read())
        assert place_of(found, 0) == "row 0 of the lazy frame"


VALUES = {
    "number": st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False),
    "whole": st.integers(-9, 9),
    "date": st.dates().map(str),
    "moment": st.datetimes(timezones=st.just(dt.UTC)).map(lambda one: one.isoformat()),
    "text": st.text(max_size=3),
    "flag": st.booleans(),
    "list": st.lists(st.integers(), max_size=2),
    "nothing": st.none(),
}


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_json_lines_in_blocks_are_what_they_are_as_a_whole(data, tmp_path_factory):
    usual = [VALUES[data.draw(st.sampled_from(sorted(VALUES)))] | st.none() for _ in range(3)]
    rows = [
        {name: data.draw(values) for name, values in zip("abc", usual, strict=True) if data.draw(st.integers(0, 9))}
        for _ in range(data.draw(st.integers(1, 12)))
    ]
    if data.draw(st.booleans()):
        rows[data.draw(st.integers(0, len(rows) - 1))]["a"] = data.draw(st.one_of(*VALUES.values()))
    path = tmp_path_factory.mktemp("files") / "a.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    with pytest.MonkeyPatch.context() as patch, Spool() as spool:
        patch.setattr(json_lines, "LINES", 3)
        try:
            expected = read_table(path)
        except InputError as error:
            with pytest.raises(InputError, match=re.escape(str(error).split(": ")[-1])):
                partitions_of(path, spool=spool)
            return
        found = partitions_of(path, spool=spool)
        assert found.schema.equals(expected.schema)
        assert rows_of(found).to_pylist() == expected.to_pylist()


def test_csv_and_databases_are_copied_in_blocks(tmp_path):
    text = "id;day;amount\n" + "".join(f"r{row};{1 + row % 28}.1.2024;1.{row:03},5\n" for row in range(40))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute("create table sales (id text, day text, amount)")
        rows = [(f"r{row}", f"2024-01-{1 + row % 28:02}", row if row % 3 else row / 2) for row in range(40)]
        database.executemany("insert into sales values (?, ?, ?)", rows)
    with duckdb.connect(str(tmp_path / "b.duckdb")) as database:
        database.execute("create table sales as select range as x, range::text as y from range(40)")
    with Spool() as spool:
        for source in (
            "a.csv.gz",
            "a.db::sales",
            "a.db::select amount from sales where id > 'r2'",
            "b.duckdb",
        ):
            found, expected = partitions_of(f"{tmp_path}/{source}", spool=spool), read_table(f"{tmp_path}/{source}")
            copied = getattr(found.parts[0].source, "part", found.parts[0])
            assert copied.source.copy_of == f"{tmp_path}/{source}"
            assert found.schema.equals(expected.schema)
            assert rows_of(found).to_pylist() == expected.to_pylist()
        assert place_of(partitions_of(tmp_path / "a.csv.gz", spool=spool), 30) == f"line 32 of {tmp_path}/a.csv.gz"
        for source, said in (
            ("a.csv.gz::x", "only workbooks"),
            ("a.db::none", "has no table"),
            ("z.csv", "no such file"),
        ):
            with pytest.raises(InputError, match=said):
                partitions_of(f"{tmp_path}/{source}", spool=spool)


def test_names_of_folders_are_columns(tmp_path):
    for year in (2024, 2025):
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(pa.table({"x": [1.0, float(year)]}), tmp_path / f"year={year}" / "p.parquet")
    found = partitions_of(tmp_path)
    assert rows_of(found).equals(read_table(tmp_path).combine_chunks())
    assert rows_of(found, ["year"])["year"].to_pylist() == [2024, 2024, 2025, 2025]


def wrong(folder, case):
    """A folder with a good file and one that is not, and what is said of it."""
    good = pa.table({"x": np.arange(50.0), "y": np.arange(50)})
    pq.write_table(good, folder / "a.parquet")
    bad = folder / "b.parquet"
    match case:
        case "cut off":
            pq.write_table(good, bad)
            bad.write_bytes(bad.read_bytes()[:-30])
            return f"{bad}: cannot be read as Parquet"
        case "another type":
            pq.write_table(good.set_column(1, "y", pa.array(["t"] * 50)), bad)
            return f"{bad}: column 'y' holds string, but int64 in {folder}/a.parquet"
        case "a column less":
            pq.write_table(good.select(["x"]), bad)
            return f"{bad}: its columns differ from those of {folder}/a.parquet: 'y' is in a.parquet only"
        case "a name twice":
            pq.write_table(pa.Table.from_arrays([good["x"]] * 2, ["x", "x"]), bad)
            return f"{bad}: column 'x' stands more than once"
        case "no permission":
            pq.write_table(good, bad)
            bad.chmod(0)
            return f"{bad}: no permission to read it"
        case "gone":
            bad.symlink_to("nowhere")
            (folder / "a.parquet").unlink()
            return "is a folder without Parquet files"


@pytest.mark.parametrize("case", ["cut off", "another type", "a column less", "a name twice", "no permission", "gone"])
def test_a_file_that_does_not_fit_is_named(tmp_path, case):
    said = wrong(tmp_path, case)
    if case == "no permission" and os.access(tmp_path / "b.parquet", os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(InputError, match=re.escape(said)):
        partitions_of(tmp_path)


def test_a_file_that_breaks_in_the_middle_of_a_pass_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": np.random.default_rng(0).normal(size=50_000)}), path, use_dictionary=False)
    found = partitions_of(path)
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56  # the header of the first page
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"{path}: cannot be read as Parquet"):
        rows_of(found)
    pq.write_table(pa.table({"x": [1.0]}), path)
    with pytest.raises(InputError, match=f"{path}: ends .* rows early; was it changed"):
        rows_of(found)
    path.unlink()
    with pytest.raises(InputError, match=f"{path}: no such file"):
        rows_of(found)


def test_no_rows_and_absent_columns_are_refused(tmp_path):
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="the table has columns but no rows"):
        partitions_of(tmp_path)
    with pytest.raises(InputError, match="has no column 'z'; it has 'x'"):
        rows_of(partitions_of(pa.table({"x": [1]})), ["z"])


@pytest.mark.parametrize("spooled", [True, False])
def test_a_stream_that_points_beyond_its_own_bytes_is_refused(spooled):
    """Arrow itself trusts such offsets, and writing them would end the process."""
    offsets = pa.py_buffer(np.array([0, 2**30, 4], dtype=np.int32))
    texts = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"abcd"))
    batch = pa.RecordBatch.from_arrays([texts], ["text"])
    stream = pa.RecordBatchReader.from_batches(batch.schema, [batch])
    with Spool() as spool, pytest.raises(InputError, match="cannot be read as an Arrow stream"):
        partitions_of(stream, spool=spool if spooled else None)
