"""Where a table is read from: a file, a part of one (`file.db::table`), or a folder or glob of Parquet files."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Self

from biselect.errors import InputError

PART = "::"


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
    def of(cls, given: str | Path) -> Self:
        """The source that a path, with or without a part, stands for.

        >>> Source.of("shop.db::select a, b from sales").part
        'select a, b from sales'
        """
        text = str(given)
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
        """All files that are read, in the order of their names; those that begin with a dot or `_` are no data."""
        if not self.is_set:
            return [self.path]
        folder = self.path.is_dir()
        found = self.path.rglob("*.parquet") if folder else map(Path, glob(str(self.path), recursive=True))
        files = sorted(file for file in found if file.is_file() and file.name[0] not in "._")
        if not files:
            raise InputError(f"{self}: {'is a folder without' if folder else 'matches no'} Parquet files")
        if other := next((file for file in files if file.suffix.lower() != ".parquet"), None):
            raise InputError(f"{self}: only Parquet files are read together, but it matches {other}")
        return files

    @property
    def partitions(self) -> list[dict[str, str]]:
        """For each file of a folder the values in the names of its folders, as in `year=2024/part-0.parquet`."""
        if not self.path.is_dir():
            return [{} for _ in self.files]
        parts = [file.relative_to(self.path).parent.parts for file in self.files]
        return [dict(part.split("=", 1) for part in folders if "=" in part) for folders in parts]


def refuse_repeated(names: Sequence[str], source: Source) -> None:
    """Two columns of one name could not be told apart."""
    if len(set(names)) < len(names):
        twice = min(name for name, times in Counter(names).items() if times > 1)
        raise InputError(f"{source}: column {twice!r} stands more than once; rename one of them")
