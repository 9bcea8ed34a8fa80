"""Parts of a table whose columns of text are read as what they hold, block by block; nothing is copied."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from biselect.columns.distinct_texts import is_text
from biselect.large.dataset import Part, Partitions, place_in, rows_between
from biselect.tables import Table, readers
from biselect.tables.readers.sources import Source


@dataclass(frozen=True, kw_only=True)
class ConvertedRows:
    """Rows of a part with its columns of text as what they hold.

    Attributes:
        part: as it is stored.
        schema: of the whole table.
        columns: of the part that a column is made of: a struct for one of its fields.
        converts: how columns of text are read.
        form: says which texts stay as they are written.
    """

    part: Part
    schema: pa.Schema
    columns: Mapping[str, str]
    converts: Mapping[str, readers.Convert]
    form: readers.TextForm

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        schema = pa.schema([self.schema.field(name) for name in columns], self.schema.metadata)
        stored = dict.fromkeys(self.columns[name] for name in columns)
        for row, block in self.part.blocks(list(stored)):
            yield readers.converted(readers.plain_columns(block, self.form), row, schema, self.converts, self.form)

    def place(self, row: int) -> str:
        """Where a row stands in the table as it is stored."""
        return place_in(self.part, row)


def with_texts_read(
    table: Partitions,
    described: Table,
    memory: int,
    reading: readers.Reading | None = None,
    looks: readers.SampleFormat | None = None,
) -> Partitions:
    """The table with its columns of text as what they hold; nothing of it is copied.

    Args:
        table: as it is stored.
        described: says what its columns are, and how its texts are written.
        memory: bytes that a column of dates may take, whose form only all rows together show.
        reading: how it was read; None for as the table knows it.
        looks: what its first rows show; None to look at the columns of text.
    """
    form = readers.TextForm.of(described.csv, described.columns)
    plain = readers.plain_columns(table.schema.empty_table(), form).schema
    names = [field.name for field in plain if is_text(field.type)]
    if not names and not form.marks and plain.equals(table.schema) and reading is None:
        return table
    stored = {name: _stored(name, table.schema.names) for name in plain.names}

    def blocks(names: Iterable[str], rows: Partitions = table) -> Iterator[pa.Table]:
        columns = list(dict.fromkeys(stored[name] for name in names))
        return (readers.plain_columns(block, form) for part in rows.parts for _, block in part.blocks(columns))

    if looks is None:
        sample = [
            block.select(names) for block in blocks(names, rows_between(table, 0, readers.rows_looked_at(len(names))))
        ]
        looks = readers.sample_format(readers.first_texts(pa.concat_tables(sample)), form)
    columns = readers.text_columns_of(plain, form, looks, comma_splits=reading is not None and reading.delimiter == ",")
    for part in table.parts:
        if open_ones := [name for name, column in columns.items() if not column.wordy]:
            for block in blocks(open_ones, replace(table, parts=(part,))):
                for name in open_ones:
                    columns[name].add(block[name])

    def whole(name: str) -> pa.ChunkedArray:
        return readers.whole_column((block[name] for block in blocks([name])), table.name, name, table.rows, memory)

    converts = readers.conversions(columns, whole)
    parsed = {name: one for name, (one, _) in converts.items()}
    metadata = table.schema.metadata
    if reading is not None or readers.reading_of(table) == readers.Reading():
        path = Source.of(described.source).path if described.is_file else ""
        reading = readers.reading_from(reading or readers.Reading(path=str(path)), looks, plain, parsed)
        metadata = readers.remembered(reading)
    fields = [field.with_type(parsed[field.name].values.type) if field.name in parsed else field for field in plain]
    rows: dict[str, Any] = {"schema": pa.schema(fields, metadata), "columns": stored, "form": form}
    rows["converts"] = {name: convert for name, (_, convert) in converts.items()}
    parts = tuple(replace(part, source=ConvertedRows(part=part, **rows)) for part in table.parts)
    return replace(table, schema=rows["schema"], parts=parts)


def _stored(name: str, names: Sequence[str]) -> str:
    """The stored column that holds a column: the struct of a field."""
    while name not in names:
        name = name.rpartition(".")[0]
    return name
