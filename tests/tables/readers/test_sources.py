"""Which files of a folder are data, which belong to a table with a log of its own, and what names of folders say."""

from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect as bs
from biselect.errors import InputError
from biselect.large.spool import partitions_of
from biselect.tables import Table
from biselect.tables.readers import read_table
from biselect.tables.readers.sources import Source

TABLE = pa.table({"id": ["a", "b", "c"], "x": [1.0, 2.0, 9.0], "y": [3.0, 1.0, 2.0]})
NO_DATA = [
    "_temporary/0/task/part-1.parquet",
    ".trash/part-1.parquet",
    ".ipynb_checkpoints/part-1.parquet",
    "__MACOSX/part-1.parquet",
    "_delta_log_backup/1.checkpoint.parquet",
    "_spark_metadata/0.parquet",
    "_committed_123.parquet",
    "day=1/_tmp/part-1.parquet",
    "day=1/.part-1.parquet",
    "._part-1.parquet",
]


def write(path: Path, table: pa.Table = TABLE) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)


def rows_by_every_door(source) -> set[int]:
    """How many rows each way to read a table gives."""
    parts = partitions_of(source)
    read = sum(block.num_rows for part in parts.parts for _, block in part.blocks(parts.schema.names))
    return {read_table(source).num_rows, parts.rows, read}


@pytest.mark.parametrize("name", NO_DATA)
@pytest.mark.parametrize("home", ["sales", "_sales", ".sales/v1"])
def test_what_a_writer_puts_aside_is_no_data(tmp_path, name, home):
    write(tmp_path / home / "day=1" / "part-0.parquet")
    write(tmp_path / home / name)
    assert rows_by_every_door(tmp_path / home) == {3}
    assert rows_by_every_door(f"{tmp_path / home}/**/*.parquet") == {3}


def test_a_partition_may_begin_with_an_underscore_and_what_is_named_is_read(tmp_path):
    write(tmp_path / "sales" / "_day=1" / "a.parquet")
    write(tmp_path / "sales" / "_old" / "b.parquet")
    assert rows_by_every_door(tmp_path / "sales") == {3}
    assert read_table(tmp_path / "sales")["_day"].to_pylist() == [1] * 3
    for named in ("_old", "_old/*.parquet", "_old/b.parquet"):
        assert rows_by_every_door(tmp_path / "sales" / named) == {3}
    with pytest.raises(InputError, match=r"names that begin with \. or _ are passed over"):
        read_table(tmp_path / "sales" / "_day=1" / "_*.parquet")


@pytest.mark.parametrize(
    ("mark", "kind"),
    [
        ("_delta_log/00000000000000000000.json", "Delta"),
        ("metadata/v3.metadata.json", "Iceberg"),
        ("metadata/00001-ab.gz.metadata.json", "Iceberg"),
        (".hoodie/hoodie.properties", "Hudi"),
    ],
)
@pytest.mark.parametrize(
    "named",
    ["", "*.parquet", "**/*.parquet", "day=1", "day=1/*.parquet", "part-0.parquet", "day=1/deep/part-1.parquet", ".."],
)
def test_a_table_with_a_log_is_not_read_as_plain_parquet(tmp_path, mark, kind, named):
    home = tmp_path / "warehouse" / "sales"
    write(home / "part-0.parquet")
    write(home / "day=1" / "deep" / "part-1.parquet")
    write(home / "day=1" / "part-2.parquet")
    (home / mark).parent.mkdir(parents=True)
    (home / mark).write_text("{}")
    source = str(home / named)
    doors = (
        read_table,
        partitions_of,
        bs.inspect,
        lambda source: bs.review(source, TABLE, k=1, m=1, progress=False),
        lambda source: bs.review(TABLE, source, k=1, m=1, progress=False),
    )
    for door in doors:
        with pytest.raises(InputError, match=f"belongs to a table of {kind} in .*sales: its Parquet files") as refused:
            door(source)
        assert str(refused.value).endswith("as plain Parquet to a folder of its own")


COMMANDS = [
    ["select", "sales", "-k", 1, "-m", 1, "--reference", "x.parquet"],
    ["review", "round", "sales", "--reference", "x.parquet"],
    ["monitor", "sales", "--older", "x.parquet"],
    ["monitor", "x.parquet", "--older", "sales"],
    ["inspect", "sales"],
    ["summarise", "sales", "--out", "s.npz"],
    ["solve", "sales", "-k", 1, "-m", 1],
]


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_refuses_it(run, tmp_path, monkeypatch, words):
    write(tmp_path / "sales" / "part-0.parquet")
    (tmp_path / "sales" / "_delta_log").mkdir()
    write(tmp_path / "x.parquet")
    monkeypatch.chdir(tmp_path)
    refused = run(*words)
    assert refused.code == 2 and "belongs to a table of Delta" in refused.err.replace("\n", " ")


def test_a_link_into_such_a_table_is_seen_through(tmp_path):
    write(tmp_path / "sales" / "day=1" / "part-0.parquet")
    (tmp_path / "sales" / "_delta_log").mkdir()
    (tmp_path / "today").symlink_to(tmp_path / "sales" / "day=1")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "one.parquet").symlink_to(tmp_path / "sales" / "day=1" / "part-0.parquet")
    for source in (tmp_path / "today", tmp_path / "plain"):
        with pytest.raises(InputError, match="a table of Delta"):
            read_table(source)


def test_a_folder_called_like_a_part_of_such_a_table_is_none(tmp_path):
    write(tmp_path / "metadata" / "notes.parquet")
    (tmp_path / "metadata" / "readme.json").write_text("{}")
    assert rows_by_every_door(tmp_path / "metadata") == {3}


letters = st.characters(codec="utf-8", exclude_characters="\0/", exclude_categories=["Cs"])
texts = st.text(letters, min_size=1, max_size=12)


@settings(max_examples=40)
@given(
    values=st.lists(st.none() | texts, min_size=1, max_size=4, unique=True),
    name=st.sampled_from(["land", "Länder", "two words", "_day"]),
)
def test_names_of_folders_say_what_arrow_reads_in_them(tmp_path_factory, values, name):
    home = tmp_path_factory.mktemp("set")
    written = pa.table({name: pa.array(values, pa.string()), "v": range(len(values))})
    folders = pads.partitioning(written.select([name]).schema, flavor="hive")
    try:
        pads.write_dataset(written, home, format="parquet", partitioning=folders)
    except OSError:  # a name that this file system does not take
        return
    expected = pads.dataset(home, format="parquet", partitioning=folders, ignore_prefixes=["."]).to_table()
    assert dict(zip(expected["v"].to_pylist(), expected[name].to_pylist(), strict=True)) == dict(enumerate(values))
    found, parts = read_table(home), partitions_of(home)
    expected = Table(expected.sort_by("v")).read()  # texts as what they hold
    assert found.sort_by("v")[name].to_pylist() == expected[name].to_pylist()
    blocks = pa.concat_tables(block for part in parts.parts for _, block in part.blocks([name]))
    assert blocks[name].to_pylist() == found[name].to_pylist()


def test_a_missing_partition_is_missing_and_weighs_as_such(tmp_path):
    for value, rows in (("de", slice(0, 2)), ("__HIVE_DEFAULT_PARTITION__", slice(2, 3))):
        write(tmp_path / f"land={value}" / "a.parquet", TABLE.slice(rows.start, rows.stop - rows.start))
    table = read_table(tmp_path)
    assert sorted(zip(table["id"].to_pylist(), table["land"].to_pylist(), strict=True)) == [
        ("a", "de"),
        ("b", "de"),
        ("c", None),
    ]
    assert Source.of(tmp_path).partitions == [{"land": None}, {"land": "de"}]
