"""`Table`: a source of rows, with what its columns are and how its file is written."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import narwhals as nw
import numpy as np
import pyarrow as pa

from biselect.errors import InputError
from biselect.options import Columns, Csv, spell
from biselect.tables.readers import read_table
from biselect.tables.readers.sources import Source


@dataclass(frozen=True, eq=False)
class Table:
    """A table to choose from or to compare with; nothing is read before it is needed.

    Attributes:
        source: a path, a frame of any library, or an array.
        columns: what its columns are.
        csv: how it is written, where it is a CSV.
    """

    source: Any
    columns: Columns = Columns()
    csv: Csv = Csv()

    @classmethod
    def of(cls, table: Any) -> "Table":
        """A table as a `Table`; a source of which nothing more is known becomes one."""
        return table if isinstance(table, Table) else cls(table)

    def like(self, source: Any) -> Self:
        """Another source whose columns and file are as those of this table."""
        return replace(self, source=source)

    @property
    def is_file(self) -> bool:
        """Whether the source is a file, a part of one, or a set of files."""
        return isinstance(self.source, str | Path)

    @property
    def name(self) -> str | None:
        """Name of the file; None for what is held in memory."""
        return Source.of(self.source).name if self.is_file else None

    def read(self) -> pa.Table:
        """Read all rows; columns of an array are named by their position.

        Raises:
            InputError: the file is broken, or the source is no table.
        """
        if self.is_file:
            return read_table(self.source, self.csv, self.columns)
        try:
            frame = nw.from_native(self.source, pass_through=True)
            if isinstance(frame, nw.LazyFrame):
                if frame.implementation.is_dask():
                    raise TypeError("it is a Dask frame; write it to Parquet first (to_parquet), and give that folder")
                frame = frame.collect()
            if isinstance(frame, nw.DataFrame):
                return nw.maybe_reset_index(frame).to_arrow()  # or pandas would make its index a column
            values = np.asarray(self.source, dtype=np.float64)
        except (nw.exceptions.DuplicateError, pa.ArrowException, TypeError, ValueError) as error:
            raise InputError(f"the table cannot be read: {error}") from error
        if values.ndim != 2:
            raise InputError(f"a table has rows and columns; this array has the shape {values.shape}")
        return pa.table({str(j): values[:, j] for j in range(values.shape[1])})


def table(
    source: Any,
    *,
    id: str | None = None,
    label: str | None = None,
    time: str | None = None,
    columns: Columns = Columns(),
    csv: Csv = Csv(),
) -> Table:
    """Say what the columns of a table are, and how its file is written where that cannot be found out.

    Args:
        source: a pandas, polars or Arrow table, a NumPy array, or a path (.csv, .parquet, .arrow, .jsonl, …).
        id: column that names the rows, short for `Columns(id=...)`.
        label: column of known positives, short for `Columns(label=...)`.
        time: column that orders the rows, short for `Columns(time=...)`.
        columns: all that is known about columns.
        csv: how a CSV is written.

    Raises:
        InputError: `columns` and one of the three name different columns.

    >>> table("payments.csv", id="number").columns.id
    'number'
    """
    short: dict[str, Any] = {
        name: value for name, value in (("id", id), ("label", label), ("time", time)) if value is not None
    }
    for name, value in short.items():
        if getattr(columns, name) not in (None, value):
            both = f"{name}={value!r} and {spell(replace(Columns(), **{name: getattr(columns, name)}))}"
            raise InputError(f"{both} name two columns; leave one of them out")
    return Table(source, replace(columns, **short), csv)


def tables_of(pool: Any, reference: Any) -> tuple[Table, Any]:
    """The pool with what its columns are, and the source of the reference, which is read in the same way.

    Raises:
        InputError: something else is said about the columns of the reference.
    """
    described = Table.of(pool)
    if not isinstance(reference, Table):
        return described, reference
    for name in ("columns", "csv"):
        if getattr(reference, name) not in (getattr(described, name), getattr(Table(None), name)):
            raise InputError(f"the reference is read as the pool is; say what is in {name}= of the pool alone")
    return described, reference.source


def paths_of(sources: Iterable[Any]) -> list[Source]:
    """Those tables that are files, parts of files, or sets of them."""
    return [Source.of(source) for source in sources if isinstance(source, str | Path)]
