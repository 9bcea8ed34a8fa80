"""CSV in blocks: the very table that it is as a whole, of a file that is too large to be held.

All rows decide what a column holds, so the file is read twice: once to see that, once to convert. A column whose first
8 MiB look like another type than the rest is read once more, as text that may hold numbers or dates.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from biselect.columns.recognition import TextColumn
from biselect.errors import InputError
from biselect.options import Columns, Csv
from biselect.tables.readers._delimited import (
    BYTES,
    looks_of,
    read_text,
    reading_of_file,
    refuse_many_rejects,
    refuse_open_quote,
    stream_of,
)
from biselect.tables.readers._sniffing import TextFormat, sniff
from biselect.tables.readers._texts import (
    SampleFormat,
    TextForm,
    conversions,
    converted,
    plain_columns,
    reading_from,
    remembered,
    text_columns_of,
    texts_left,
    whole_column,
    without_closing_blocks,
)
from biselect.tables.readers.sources import Source, is_unnamed, refuse_repeated

GUESSED_FROM = 1 << 23  # bytes by which types are guessed first


@dataclass(kw_only=True)
class Seen:
    """What one reading of the whole file shows.

    Attributes:
        options: of Arrow's reader, with the type of every column.
        schema: of the columns that are any.
        texts: columns of text that may be numbers or dates.
        rows: how many there are.
        closing: rows at the end that are no rows.
    """

    options: dict[str, Any]
    schema: pa.Schema
    texts: dict[str, TextColumn]
    rows: int
    closing: list[str]


def stream_delimited(path: Path, csv: Csv, columns: Columns, memory: int) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """The schema and the rows of a CSV, block by block.

    Args:
        path: the file.
        csv: how it is written, as far as that is known.
        columns: what its columns are.
        memory: bytes that a column of dates may take, whose form only all rows together show.
    """
    form = TextForm.of(csv, columns)
    sniffed = sniff(path, form)
    looks = looks_of(sniffed, form)
    rejects = list[str]()
    see = partial(_seen, form=form, looks=looks, comma_splits=sniffed.delimiter == ",", rejects=rejects)
    scan, encoding = read_text(path, sniffed, form, looks, see, rejects)
    refuse_many_rejects(path, sniffed, rejects, scan.rows)
    reading = reading_of_file(path, sniffed, encoding, [*rejects, *scan.closing])  # the next passes add to the list
    blocks = partial(_batches, path, sniffed, encoding, scan)

    def whole(name: str) -> pa.ChunkedArray:
        return whole_column((block[name] for block in blocks(name)), path, name, scan.rows, memory)

    parsed = conversions(scan.texts, whole)
    schema = pa.schema(
        [field.with_type(parsed[field.name][0].values.type) if field.name in parsed else field for field in scan.schema]
    )
    known = {name: one for name, (one, _) in parsed.items()}
    reading = reading_from(reading, looks, schema.names, known, texts_left(scan.schema, known))
    schema = schema.with_metadata(remembered(reading))
    return schema, _converted(blocks(), schema, {name: convert for name, (_, convert) in parsed.items()}, form, scan)


def _converted(blocks: Iterator[pa.Table], schema: pa.Schema, converts: Any, form: TextForm, scan: Seen) -> Any:
    row = 0
    for block in blocks:
        block = plain_columns(block.slice(0, scan.rows - row), form)
        yield converted(block, row, schema, converts, form)
        row += block.num_rows


def _batches(path: Path, sniffed: TextFormat, encoding: str, scan: Seen, name: str = "") -> Iterator[pa.Table]:
    """The file's blocks as they come, of all columns or of a column of text alone."""
    from pyarrow.csv import ConvertOptions, open_csv

    options = dict(scan.options)
    if name:
        marks = options["convert_options"].null_values
        options["convert_options"] = ConvertOptions(
            include_columns=[name], column_types={name: pa.string()}, null_values=marks
        )
    with open_csv(stream_of(path, sniffed, encoding), **options) as batches:
        for batch in batches:
            yield pa.Table.from_batches([batch])


def _seen(
    source: Callable[[], Any],
    *,
    read_options: Any,
    parse_options: Any,
    convert_options: Any,
    form: TextForm,
    looks: SampleFormat,
    comma_splits: bool,
    rejects: list[str],
) -> Seen:
    """Guess the types from the beginning of the file, and look at all of its rows."""
    from pyarrow.csv import open_csv

    options = {"read_options": read_options, "parse_options": parse_options, "convert_options": convert_options}
    block_size, read_options.block_size = read_options.block_size, max(GUESSED_FROM, read_options.block_size)
    with open_csv(source(), **options) as beginning:
        schema = beginning.schema
    del beginning  # it holds what it has read ahead
    read_options.block_size = block_size
    if any(kind.id == BYTES for kind in schema.types):
        raise UnicodeError("some text is not in the encoding")
    convert_options.column_types = dict(zip(schema.names, schema.types, strict=True))
    plain = plain_columns(schema.empty_table(), form).schema
    texts = text_columns_of(plain, form, looks, comma_splits=comma_splits)
    refuse_repeated(schema.names, Source.of(str(source())))
    closing, rows = list[str](), 0
    rejects.clear()  # those of the beginning come again
    with open_csv(source(), **options) as batches:
        last = None

        def blocks() -> Iterator[pa.Table]:
            nonlocal last
            for last in batches:
                yield plain_columns(pa.Table.from_batches([last]), form)

        for block in without_closing_blocks(blocks(), closing):
            for name, column in texts.items():
                column.add(block[name])
            rows += block.num_rows
    if last is not None:
        refuse_open_quote(source(), pa.Table.from_batches([last]))
    schema = pa.schema([field for field in plain if not is_unnamed(field.name, field.type)])
    return Seen(options=options, schema=schema, texts=texts, rows=rows, closing=closing)
