"""`Table`: a source of rows, with what its columns are and how its file is written."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from biselect.errors import InputError
from biselect.options import Columns, Csv, spell
from biselect.tables._frames import arrow_of, as_frame, rows_of
from biselect.tables._guess import Guess, guess_roles, with_facts
from biselect.tables._inspection import as_text, inspection_of
from biselect.tables._named_columns import require_columns
from biselect.tables.readers import Reading, TextForm, plain_columns, read_table, records_in, texts_of, with_texts_read
from biselect.tables.readers.sources import Source, refuse_empty
from biselect.tables.roles import Roles, placed, with_roles


@dataclass(frozen=True, eq=False)
class Table:
    """A table to choose from or to compare with; nothing is read before it is needed.

    It knows what its columns are: what a person says of them, and a guess of the rest. Printed, it shows both.

    Attributes:
        source: a path, a frame of any library, or an array.
        columns: what a person says of its columns.
        csv: how its texts are written, where that was said.
    """

    source: Any
    columns: Columns = Columns()
    csv: Csv = Csv()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", placed(self.columns))
        object.__setattr__(self, "source", as_frame(self.source))

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
        """Read all rows, columns of text as what they hold; columns of an array are named by their position.

        Raises:
            InputError: the file is broken, or the source is no table.
        """
        if self.is_file:
            return read_table(self.source, self.csv, self.columns)
        try:
            if (frame := arrow_of(self.source)) is not None:
                refuse_empty(frame.num_rows, frame.column_names, "this frame")
                return with_texts_read(frame, TextForm.of(self.csv, self.columns), Reading(), closes=False)
            values = np.asarray(self.source, dtype=np.float64)
        except InputError:
            raise
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InputError(f"the table cannot be read: {error}") from error
        if values.ndim != 2:
            raise InputError(f"a table has rows and columns; this array has the shape {values.shape}")
        return pa.table({str(j): values[:, j] for j in range(values.shape[1])})

    @cached_property
    def guess(self) -> Guess:
        """What the columns are taken for; all rows are read to see that."""
        rows = self.read()
        roles = Roles.of(self.columns, self.csv, names=rows.column_names)
        named = [*roles.beside, roles.time_column, *(roles.features or ()), *roles.exclude, *self.columns.types]
        require_columns(rows, [name for name in named if name is not None], self.name or "the table")
        guess = guess_roles([rows], self.columns, self.csv)
        return with_facts(guess, guess.cleaned(rows))

    @property
    def roles(self) -> dict[str, str]:
        """The role of each column: `id`, `time`, `label`, `number`, `category` and others, see `ColumnGuess`."""
        return dict(self.guess.roles)

    def with_roles(self, roles: Mapping[str, str] | None = None, **more: str) -> Self:
        """The table with other roles for some columns.

        Args:
            roles: by the name of a column: `number`, `category`, `date` or parts of it such as `date:hour,weekday`,
                `id`, `time`, `label`, `label:VALUE`, `show` or `exclude`.
            more: the same by keyword.

        Raises:
            InputError: there is no such role, or two columns have one that only one can have.

        >>> import pyarrow as pa
        >>> table = inspect(pa.table({"no": ["a1", "a2", "a3"], "shop": [7, 8, 7], "paid": [1.5, 2.5, 9.0]}))
        >>> table.roles, table.with_roles(shop="category").roles["shop"]
        ({'no': 'id', 'shop': 'number', 'paid': 'number'}, 'category')
        """
        return replace(self, columns=with_roles(self.columns, {**(roles or {}), **more}))

    def to_dict(self) -> dict[str, Any]:
        """How the table is written, what its columns are, and the command that makes a report of it: plain data."""
        name, source = self.name or "the table", str(self.source) if self.is_file else "TABLE.csv"
        return inspection_of(name, source, self.guess, self.columns, self.csv)

    def __str__(self) -> str:
        return as_text(self.to_dict())

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def records(self, rows: Sequence[int]) -> list[dict[str, str]]:
        """Some rows as they stand in the file or frame, by their positions: texts by the names of all columns."""
        if self.is_file:
            return records_in(self.source, self.csv, rows)
        frame = arrow_of(rows_of(self.source, np.asarray(rows, dtype=np.int64)))
        return [] if frame is None else texts_of(plain_columns(frame, TextForm()))


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


def inspect(table: Any, *, columns: Columns = Columns(), csv: Csv = Csv()) -> Table:
    """Read a table and guess what its columns are, as every function does that takes a table.

    Args:
        table: a path, a frame of any library, or a `Table`.
        columns: what is known of the columns.
        csv: what is known of how texts are written.

    Returns:
        The table with its guess; `print` it, take `with_roles`, and give it to `biselect.review`.

    >>> import pyarrow as pa
    >>> print(inspect(pa.table({"id": ["a", "b", "c"], "amount": [1.0, 2.5, 9.0]})))
    3 rows, 2 columns
    column  taken for  missing  different  such as
    id      id         0        3          a, b, c
    amount  number     0        3          1, 2.5, 9
    'id': names the rows. Otherwise say columns=Columns(types={'id': 'category'}).
    biselect select TABLE.csv --out TABLE-report
    """
    described = table if isinstance(table, Table) else Table(table, columns, csv)
    described.guess  # noqa: B018  (what is wrong with the table is said now)
    return described


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
