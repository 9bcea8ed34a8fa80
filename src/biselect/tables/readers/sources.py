"""Where a table is read from: a file, a part of one (`file.db::table`), or a folder or glob of Parquet files.

What packed files unpack to is counted before anybody keeps it.
"""

import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, Self, cast
from urllib.parse import unquote

import pyarrow as pa

from biselect.core.untrusted import CHUNK, refuse_bomb
from biselect.errors import InputError

PART = "::"
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # in the name of a partition's folder
LAKE_TABLES = {"_delta_log": "Delta", "metadata/*.metadata.json*": "Iceberg", ".hoodie": "Hudi"}
"""What lies in a table's folder beside its Parquet files, and the kind of table that it tells."""
PACKED = {".gz": "gzip", ".zst": "zstd"}
CSV = tuple(f"{ending}{packed}" for ending in (".csv", ".tsv", ".txt") for packed in ("", *PACKED))
JSON = (".json",)
JSON_LINES = tuple(f"{ending}{packed}" for ending in (".jsonl", ".ndjson") for packed in ("", *PACKED))
PARQUET, ARROW = (".parquet",), (".arrow", ".feather", ".ipc")
WORKBOOKS = (".xlsx", ".xlsm")
DATABASES = (".db", ".duckdb", ".sqlite", ".sqlite3")
ONE_TABLE = (*CSV, *JSON, *JSON_LINES, *ARROW, *WORKBOOKS, *DATABASES)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A place to read a table from.

    Attributes:
        text: as it was given.
        path: the file or folder, or the pattern of a glob.
        part: of the file: a sheet, a table or a query; None for the whole.
    """

    text: str
    path: Path
    part: str | None = None

    @classmethod
    def of(cls, path: str | Path) -> Self:
        """The source that a path, with or without a part, stands for.

        >>> Source.of("shop.db::select a, b from sales").part
        'select a, b from sales'
        """
        text = str(path)
        file, mark, part = text.partition(PART)
        if not mark or Path(text).exists():
            return cls(text=text, path=Path(text))
        return cls(text=text, path=Path(file), part=part.strip())

    def __str__(self) -> str:
        return self.text

    @property
    def name(self) -> str:
        """Short, for titles and messages."""
        return self.path.name if self.part is None else f"{self.path.name}{PART}{self.part}"

    @property
    def is_set(self) -> bool:
        """Whether this is a folder or a glob, of Parquet files."""
        return self.path.is_dir() or (has_magic(str(self.path)) and not self.path.exists())

    @property
    def files(self) -> list[Path]:
        """All files that are read, in the order of their names, without those of unfinished or deleted data.

        Writers keep what is no data, or not yet or no more, in files and folders that begin with a dot or `_`. Only a
        folder such as `_day=1`, which is a partition, and what was named in so many words are read all the same.
        """
        files, folder = [self.path], self.path.is_dir()
        if self.is_set:
            folders = [*takewhile(lambda part: folder or not has_magic(part), self.path.parts)]
            matches = self.path.rglob("*.parquet") if folder else map(Path, glob(str(self.path), recursive=True))
            files = sorted(file for file in matches if file.is_file() and _is_data(file.parts[len(folders) :]))
            if not files:
                lacks = "is a folder without" if folder else "matches no"
                others = [file for file in self.path.glob("*") if folder and file.name.lower().endswith(ONE_TABLE)]
                way = "names that begin with . or _ are passed over"
                way = f"give one file of it, such as {min(others)}" if others else way
                raise InputError(f"{self}: {lacks} Parquet files; {way}")
            if other := next((file for file in files if file.suffix.lower() != ".parquet"), None):
                raise InputError(f"{self}: only Parquet files are read together, but it matches {other}")
        _refuse_lake_tables([file for file in files if file.suffix.lower() == ".parquet"])
        return files

    @property
    def partitions(self) -> list[dict[str, str | None]]:
        """For each file of a folder the values in the names of its folders, as in `year=2024/part-0.parquet`.

        As Arrow reads them: `%20` is a space, and what Hive writes for a missing value is None.
        """
        if not self.path.is_dir():
            return [{} for _ in self.files]
        parts = [file.relative_to(self.path).parent.parts for file in self.files]
        pairs = [[map(unquote, part.split("=", 1)) for part in folders if "=" in part] for folders in parts]
        return [{name: None if value == NO_VALUE else value for name, value in folder} for folder in pairs]


def _is_data(parts: Sequence[str]) -> bool:
    """Whether neither the folders nor the name of a file say that it holds no data, not yet, or no more."""
    return not any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in parts)


def _refuse_lake_tables(files: Sequence[Path]) -> None:
    """An error for files of a table whose own log says which of them, and which of their rows, are still in it."""
    for folder in sorted({folder for file in files for folder in file.resolve().parents}):
        if kind := next((kind for mark, kind in LAKE_TABLES.items() if any(folder.glob(mark))), None):
            raise InputError(
                f"{files[0]}: belongs to a table of {kind} in {folder}: its Parquet files still hold rows that were "
                "deleted or replaced, and only its log tells which. Read it with a library for such tables and give "
                "the frame, or write it as plain Parquet to a folder of its own"
            )


def refuse_repeated(names: Sequence[str], source: Source) -> None:
    """Two columns of one name could not be told apart."""
    if len(set(names)) < len(names):
        twice = min(name for name, times in Counter(names).items() if times > 1)
        raise InputError(f"{source}: column {twice!r} stands more than once; rename one of them")


def is_unnamed(name: str, kind: pa.DataType) -> bool:
    """Whether a column has neither name nor values: `a;b;` has no third column."""
    return pa.types.is_null(kind) and re.fullmatch(r"column \d+", name) is not None


def refuse_empty(rows: int, columns: Sequence[str], where: object) -> None:
    """A table without rows or columns."""
    if rows == 0 or not columns:
        raise InputError(f"{where}: the table has {'columns but no rows' if columns else 'no columns'}")


def opened(path: Path) -> BinaryIO:
    """A file to read bytes and lines from, unpacked where its name says so."""
    packed = PACKED.get(path.suffix.lower())
    if packed is None:
        return path.open("rb")
    stream = pa.input_stream(str(path), compression=packed)
    return cast(BinaryIO, io.BufferedReader(stream, CHUNK))


def check_unpacked(path: Path) -> None:
    """Refuse a packed file that is damaged, or that unpacks to far more than it is."""
    packed, unpacked = path.stat().st_size, 0
    with opened(path) as stream:
        while piece := stream.read(CHUNK):
            unpacked += len(piece)
            refuse_bomb(path, unpacked, packed)
