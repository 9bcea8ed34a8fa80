"""Tables and queries of SQLite and DuckDB files, opened to read only.

Which of the two a file is, its first bytes say.
"""

import re
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

import pyarrow as pa

from biselect.core.untrusted import refuse_bomb
from biselect.errors import InputError
from biselect.extensions import optional
from biselect.tables.readers._columnar import checked
from biselect.tables.readers._layout import unique_names
from biselect.tables.readers._values import table_of
from biselect.tables.readers.sources import Source

SQLITE, DUCKDB = b"SQLite format 3\0", b"DUCK"
ROWS = 1 << 13  # in a block
STEPS, STEPS_A_BYTE = 1 << 29, 1 << 12  # of SQLite's machine, after which a view is taken to go on for ever
BETWEEN = 1 << 16  # steps from one look at them to the next
QUERY = re.compile(r"\s*(select|with|from|values|table)\s", re.IGNORECASE)


def read_database(source: Source) -> pa.Table:
    """The table or the answer to the query that the source names."""
    if is_sqlite(source):
        return table_of(sqlite_blocks(source), partial(refuse_bomb, source.path, packed=source.path.stat().st_size))
    with duckdb_stream(source) as stream:
        blocks, nbytes = list[pa.RecordBatch](), 0
        for block in stream:
            blocks.append(block)
            refuse_bomb(source.path, nbytes := nbytes + block.nbytes, source.path.stat().st_size)
        return checked(pa.Table.from_batches(blocks, stream.schema))


def table_names(source: Source) -> list[str]:
    """The tables of a database, the one with the most rows first; then its views."""
    if is_sqlite(source):
        with _sqlite(source) as database:
            listed = _listed(database)
            sizes = {
                name: database.execute(f"select count(*) from {_quoted(name)}").fetchone()[0]
                for name, kind in listed.items()
                if kind == "table"
            }
            return sorted(listed, key=lambda name: -sizes.get(name, -1))
    with _duckdb(source) as database:
        listed = database.execute(
            "select table_name, estimated_size from duckdb_tables() order by 2 desc, 1"
        ).fetchall()
        views = database.execute("select view_name from duckdb_views() where not internal order by 1").fetchall()
        return [name for name, *_ in (*listed, *views)]


def is_sqlite(source: Source) -> bool:
    """Whether a database is of SQLite, by its first bytes; else it is of DuckDB."""
    with source.path.open("rb") as file:
        magic = file.read(16)
    if magic != SQLITE and magic[8:12] != DUCKDB:
        raise InputError(f"{source.path}: is neither a SQLite nor a DuckDB file")
    return magic == SQLITE


def _query(source: Source, tables: Collection[str]) -> str:
    """What to ask for; an error that lists the tables where there is no such one."""
    if source.part and source.part not in tables and QUERY.match(source.part):
        return source.part
    if not source.part or source.part not in tables:
        have = ", ".join(map(repr, sorted(tables)[:40])) or "none"
        raise InputError(f"{source.path}: has no table {source.part!r}; it has {have}. A query begins with select")
    return f"select * from {_quoted(source.part)}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _sqlite(source: Source) -> Iterator[sqlite3.Connection]:
    """An SQLite file, opened to read only, which answers after so many steps or not at all."""
    looks_left = [(STEPS + STEPS_A_BYTE * source.path.stat().st_size) // BETWEEN]

    def count() -> bool:
        looks_left[0] -= 1
        return looks_left[0] < 0

    try:
        with closing(sqlite3.connect(f"{source.path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.text_factory = lambda text: text.decode(errors="replace")
            for setting in ("query_only = on", "trusted_schema = off", "cell_size_check = on"):
                database.execute(f"pragma {setting}")
            database.set_progress_handler(count, BETWEEN)
            yield database
    except sqlite3.Error as error:
        if looks_left[0] < 0:
            raise InputError(f"{source}: takes too many steps; write its answer to a table first") from None
        raise InputError(f"{source}: SQLite says: {error}") from error


def _listed(database: sqlite3.Connection) -> dict[str, str]:
    """Tables and views of a user, by name."""
    listed = database.execute("select name, type from sqlite_master where type in ('table', 'view') order by name")
    return {name: kind for name, kind in listed if isinstance(name, str) and not name.startswith("sqlite_")}


def sqlite_blocks(source: Source) -> Iterator[tuple[dict[str, list[Any]], int]]:
    """The columns of some thousand rows at a time, and how many they are; the first time of none."""
    with _sqlite(source) as database:
        answer = database.execute(_query(source, _listed(database)))
        names = unique_names(str(column[0]) for column in answer.description or ())
        yield {name: [] for name in names}, 0
        while rows := answer.fetchmany(ROWS):
            yield dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), len(rows)


@contextmanager
def duckdb_stream(source: Source) -> Iterator[pa.RecordBatchReader]:
    """The answer as a stream of batches, while the file is open."""
    with _duckdb(source) as database:
        listed = database.execute("select table_name from information_schema.tables order by 1").fetchall()
        answer = database.sql(_query(source, [name for (name,) in listed]))
        if unique_names(answer.columns) != answer.columns:
            answer = answer.project(
                ", ".join(f"#{at} as {_quoted(n)}" for at, n in enumerate(unique_names(answer.columns), 1))
            )
        with pa.RecordBatchReader.from_stream(answer) as stream:
            yield stream


@contextmanager
def _duckdb(source: Source) -> Iterator[Any]:
    """A DuckDB file, opened to read only."""
    duckdb = optional("duckdb", str(source.path), "duckdb")
    settings: dict[str, Any] = {
        "enable_external_access": False,  # a view may name any file of this machine
        "autoload_known_extensions": False,
        "autoinstall_known_extensions": False,
        "lock_configuration": True,
        "threads": 1,
    }
    try:
        with duckdb.connect(str(source.path), read_only=True, config=settings) as database:
            yield database
    except duckdb.Error as error:
        raise InputError(f"{source}: DuckDB says: {str(error).splitlines()[0]}") from error
