"""The tables in the workbench's folder: which there are, and how one comes into it. No other file is ever named."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import AsyncIterator
from functools import lru_cache
from importlib.resources import as_file, files
from itertools import count
from pathlib import Path

from biselect.core.files import keep_staged, temporary_file, temporary_folder, write_file
from biselect.errors import BiselectError, InputError
from biselect.sessions.exports import NEXT
from biselect.sessions.store import FILE
from biselect.tables.readers import part_names
from biselect.tables.readers.sources import ARROW, CSV, DATABASES, JSON, JSON_LINES, PARQUET, PART, WORKBOOKS, Source

ENDINGS = (*CSV, *PARQUET, *ARROW, *JSON, *JSON_LINES, *WORKBOOKS, *DATABASES)
MOST_NAMED = 500  # tables that are listed
LONGEST = 100  # characters of a name
DEMO = {"demo-transactions.parquet": "pool.parquet", "demo-normal.parquet": "reference.parquet"}


def tables_in(folder: Path) -> list[str]:
    """Names of tables in the folder, the newest first: files of a known kind, and folders of Parquet files.

    Each sheet of a workbook and each table of a database has a name of its own, `book.xlsx::Sheet`.
    """
    found = []
    for path in folder.iterdir():
        if path.name.startswith(".") or path.name in (NEXT, FILE) or path.is_symlink():
            continue
        if path.is_file() and path.name.lower().endswith(ENDINGS):
            changed = path.stat().st_mtime_ns
            found += [(changed, name) for name in _parts(path, changed)]
        elif path.is_dir() and next(path.glob("*.parquet"), None) is not None:
            found.append((path.stat().st_mtime_ns, path.name))
    return [name for _, name in sorted(found, key=lambda one: -one[0])][:MOST_NAMED]


@lru_cache(maxsize=MOST_NAMED)
def _parts(path: Path, changed: int) -> list[str]:
    """The names of the tables in a file as it was changed at that time; its own where it holds one, or none."""
    try:
        parts = part_names(Source.of(path)) if path.name.lower().endswith((*WORKBOOKS, *DATABASES)) else []
    except BiselectError:  # is said when somebody opens it
        parts = []
    return [f"{path.name}{PART}{part}" for part in parts] if len(parts) > 1 else [path.name]


def changed_at(folder: Path, table: str) -> int:
    """When the file of a table was last changed."""
    return Source.of(folder / table).path.stat().st_mtime_ns


def named_table(folder: Path, name: str) -> str:
    """The name of a table that is in the folder, or an error."""
    if name not in tables_in(folder):
        raise InputError("there is no such table in the folder; choose one of those listed")
    return name


def safe_name(given: str) -> str:
    r"""A file name for what somebody calls their file: no path, no odd characters, a known ending.

    >>> safe_name("..\\..\\etc/päyments <b>.csv")
    'päyments b.csv'
    """
    last = re.split(r"[\\/]", unicodedata.normalize("NFC", given))[-1]
    kept = "".join(letter for letter in last if letter.isalnum() or letter in " ._-()").replace("::", "")
    name = re.sub(r"\s+", " ", kept).strip(" .")
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), None)
    if ending is None or len(name) == len(ending) or name.lower() == FILE:
        raise InputError(f"the name of a table ends in one of {', '.join(ENDINGS)}")
    return name[: -len(ending)][:LONGEST].strip(" .") + ending.lower()


async def take_in(folder: Path, given: str, content: AsyncIterator[bytes]) -> str:
    """Write a file that somebody brings into the folder, beside what is there; gives the name that it got."""
    name = safe_name(given)
    with temporary_folder(folder) as apart:
        staged = apart / "file"
        size = 0
        with temporary_file(staged) as file:
            async for part in content:
                size += len(part)
                file.write(part)
        if size == 0:
            raise InputError("the file is empty")
        ending = next(ending for ending in ENDINGS if name.endswith(ending))
        for number in count(1):
            free = name if number == 1 else f"{name.removesuffix(ending)} ({number}){ending}"
            if free == NEXT:  # is written anew with every round
                continue
            try:
                keep_staged(staged, folder / free)
            except FileExistsError:
                continue
            return free
    raise AssertionError("numbers do not end")


def bring_demo(folder: Path) -> None:
    """Write the demo's two tables into the folder, where they are not there yet."""
    for name, source in DEMO.items():
        with as_file(files("biselect.tables") / "excerpt" / source) as place:
            if not (folder / name).exists():
                write_file(folder / name, place.read_bytes())
