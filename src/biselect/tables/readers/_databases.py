"""Tables and queries of SQLite and DuckDB files, opened to read only.

Which of the two a file is, its first bytes say.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

import pyarrow as pa

from biselect.core.untrusted import refuse_bomb
from biselect.errors import InputError
from biselect.extensions import optional
from biselect.tables.readers._columnar import checked
from biselect.tables.readers._values import table_of
from biselect.tables.readers.sources import PART, Source, refuse_repeated

SQLITE, DUCKDB = b"SQLite format 3\0", b"DUCK"
ROWS = 1 << 13  # in a block
STEPS, STEPS_A_BYTE = 1 << 29, 1 << 12  # of SQLite's machine, after which a view is taken to go on for ever
BETWEEN = 1 << 16  # steps from one look at them to the next
QUERY = re.compile(r"\s*(select|with|from|values|table)\s", re.IGNORECASE)


def read_database(source: Source) -> pa.Table:
    """The table or the answer to the query that stands after `::`; a file with one table needs no name."""
    if is_sqlite(source):
        return table_of(sqlite_blocks(source), partial(refuse_bomb, source.path, packed=source.path.stat().st_size))
    with duckdb_stream(source) as stream:
        blocks, nbytes = list[pa.RecordBatch](), 0
        for block in stream:
            blocks.append(block)
            refuse_bomb(source.path, nbytes := nbytes + block.nbytes, source.path.stat().st_size)
        return checked(pa.Table.from_batches(blocks, stream.schema))


def is_sqlite(source: Source) -> bool:
    """Whether a database is of SQLite, by its first bytes; else it is of DuckDB."""
    with source.path.open("rb") as file:
        magic = file.read(16)
    if magic != SQLITE and magic[8:12] != DUCKDB:
        raise InputError(f"{source.path}: is neither a SQLite nor a DuckDB file")
    return magic == SQLITE


def _query(source: Source, tables: list[str]) -> str:
    """What to ask for; an error that lists the tables where that is not said."""
    if source.part and source.part not in tables and QUERY.match(source.part):
        return source.part
    have = ", ".join(map(repr, tables[:40])) or "none"
    if not source.part and len(tables) != 1:
        raise InputError(f"{source.path}: name one of its tables as {source.path.name}{PART}TABLE; it has {have}")
    name = source.part or tables[0]
    if name not in tables:
        raise InputError(f"{source.path}: has no table {name!r}; it has {have}. A query begins with select")
    return 'select * from "' + name.replace('"', '""') + '"'


def sqlite_blocks(source: Source) -> Iterator[tuple[dict[str, list[Any]], int]]:
    """The columns of some thousand rows at a time, and how many they are; the first time of none."""
    size = source.path.stat().st_size
    looks_left = [(STEPS + STEPS_A_BYTE * size) // BETWEEN]

    def count() -> bool:
        looks_left[0] -= 1
        return looks_left[0] < 0

    try:
        with closing(sqlite3.connect(f"{source.path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.text_factory = lambda text: text.decode(errors="replace")
            for setting in ("query_only = on", "trusted_schema = off", "cell_size_check = on"):
                database.execute(f"pragma {setting}")
            database.set_progress_handler(count, BETWEEN)
            listed = database.execute("select name from sqlite_master where type in ('table', 'view') order by name")
            tables = [name for (name,) in listed if isinstance(name, str) and not name.startswith("sqlite_")]
            answer = database.execute(_query(source, tables))
            names = [str(column[0]) for column in answer.description or ()]
            refuse_repeated(names, source)
            yield {name: [] for name in names}, 0
            while rows := answer.fetchmany(ROWS):
                yield dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), len(rows)
    except sqlite3.Error as error:
        if looks_left[0] < 0:
            raise InputError(f"{source}: takes too many steps; write its answer to a table first") from None
        raise InputError(f"{source}: SQLite says: {error}") from error


@contextmanager
def duckdb_stream(source: Source) -> Iterator[pa.RecordBatchReader]:
    """The answer as a stream of batches, while the file is open."""
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
            listed = database.execute("select table_name from information_schema.tables order by 1").fetchall()
            answer = database.sql(_query(source, [name for (name,) in listed]))
            refuse_repeated(answer.columns, source)
            with pa.RecordBatchReader.from_stream(answer) as stream:
                yield stream
    except duckdb.Error as error:
        raise InputError(f"{source}: DuckDB says: {str(error).splitlines()[0]}") from error
