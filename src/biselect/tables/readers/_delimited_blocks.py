"""CSV in blocks: the very table that `read_delimited` gives, of a file that is too large to be held.

All rows decide what a column holds, so the file is read twice: once to see that, once to convert. A column whose first
8 MiB look like another type than the rest is read once more, as text that may hold numbers or dates.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from biselect.columns.distinct_texts import DistinctTexts, ParsedColumn, distinct_texts
from biselect.columns.recognition import TextColumn, parse_column, parse_texts
from biselect.errors import InputError
from biselect.options import Columns, Csv
from biselect.tables.readers._delimited import (
    BYTES,
    NOTHING,
    TEXT,
    CsvForm,
    SampleFormat,
    absent_texts,
    hints_for,
    read_text,
    reading_from,
    refuse_marks,
    refuse_open_quote,
    remembered,
    sample_format,
    without,
)
from biselect.tables.readers._sniffing import sniff
from biselect.tables.readers.sources import Source, refuse_repeated

GUESSED_FROM = 1 << 23  # bytes by which types are guessed first
BYTES_A_ROW = 16  # of a column that has to be seen whole: which of its entries, and the date
Convert = Callable[[pa.Array, int], pa.ChunkedArray]  # a column of text in a block, and the position of its first row


@dataclass(kw_only=True)
class Seen:
    """What one reading of the whole file shows.

    Attributes:
        options: of Arrow's reader, with the type of every column.
        kinds: these types.
        texts: columns of text that may be numbers or dates.
        rows: how many there are.
    """

    options: dict[str, Any]
    kinds: dict[str, pa.DataType]
    texts: dict[str, TextColumn]
    rows: int


def stream_delimited(path: Path, csv: Csv, columns: Columns, memory: int) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """The schema and the rows of a CSV, block by block.

    Args:
        path: the file.
        csv: how it is written, as far as that is known.
        columns: what its columns are.
        memory: bytes that a column of dates may take, whose form only all rows together show.
    """
    form = CsvForm.of(csv, columns)
    refuse_marks(form)
    sniffed = sniff(path, encoding=form.encoding, delimiter=form.delimiter)
    looks = sample_format(sniffed, form)
    as_is = {*form.categories, *looks.codes, *form.text_columns}
    scan, encoding = read_text(
        path, sniffed, form, looks, partial(_seen, form=form, looks=looks, delimiter=sniffed.delimiter, as_is=as_is)
    )
    parsed: dict[str, ParsedColumn] = {}
    converts: dict[str, Convert] = {}
    absent = absent_texts(form)
    for name, column in scan.texts.items():
        if (decision := _decided(path, name, column, scan, memory)) is not None:
            parsed[name], converts[name] = decision
    fields = []
    for name, kind in scan.kinds.items():
        if name or kind.id != NOTHING:  # `a;b;` has no third column
            fields.append(pa.field(name, parsed[name].values.type if name in parsed else kind))
    words = {name for name, kind in scan.kinds.items() if kind.id == TEXT} - {
        name for name, one in parsed.items() if one.values.type.id != TEXT
    }
    reading = reading_from(path, sniffed, encoding, looks, list(scan.kinds), parsed, words)
    schema = pa.schema(fields, metadata=remembered(reading))
    return schema, _blocks(path, scan, schema, converts, absent, set(form.text_columns))


def _blocks(
    path: Path,
    scan: Seen,
    schema: pa.Schema,
    converts: Mapping[str, Convert],
    absent: pa.Array | None,
    text_columns: set[str],
) -> Iterator[pa.Table]:
    from pyarrow.csv import open_csv

    row = 0
    with open_csv(str(path), **scan.options) as batches:
        for batch in batches:
            columns = []
            for name in schema.names:
                column = batch.column(name)
                values = converts[name](column, row) if name in converts else pa.chunked_array([column])
                if values.type.id == TEXT and name not in text_columns:
                    values = without(values, absent)
                columns.append(values)
            yield pa.Table.from_arrays(columns, schema=schema)
            row += batch.num_rows


def _seen(
    path: Path,
    *,
    read_options: Any,
    parse_options: Any,
    convert_options: Any,
    form: CsvForm,
    looks: SampleFormat,
    delimiter: str,
    as_is: set[str],
) -> Seen:
    """Guess the types from the beginning of the file, and look at all of its rows."""
    from pyarrow.csv import ReadOptions, open_csv

    guessed = {"encoding": read_options.encoding, "skip_rows": read_options.skip_rows}
    with open_csv(
        str(path),
        read_options=ReadOptions(**guessed, block_size=max(GUESSED_FROM, read_options.block_size)),
        parse_options=parse_options,
        convert_options=convert_options,
    ) as beginning:
        schema = beginning.schema
    del beginning  # it holds what it has read ahead
    refuse_repeated(schema.names, Source.of(path))
    kinds = dict(zip(schema.names, schema.types, strict=True))
    options = {"read_options": read_options, "parse_options": parse_options, "convert_options": convert_options}
    if any(kind.id == BYTES for kind in kinds.values()):
        raise UnicodeError("some text is not in the encoding")
    convert_options.column_types = kinds
    hints = hints_for(form, looks, delimiter, sum(kind.id == TEXT for kind in kinds.values()))
    texts = {name: TextColumn(hints) for name, kind in kinds.items() if kind.id == TEXT and name not in as_is}
    rows, last = 0, None
    with open_csv(str(path), **options) as batches:
        for batch in batches:
            for name, column in texts.items():
                column.add(batch.column(name))
            rows, last = rows + batch.num_rows, batch
    if last is not None:
        refuse_open_quote(path, pa.Table.from_batches([last]))
    return Seen(options=options, kinds=kinds, texts=texts, rows=rows)


def _decided(path: Path, name: str, column: TextColumn, scan: Seen, memory: int) -> tuple[ParsedColumn, Convert] | None:
    """What a column of text holds, and how each block of it is converted; None where it stays text."""
    examples, missing = column.examples, column.hints.missing
    parsed = None if examples is None else parse_texts(examples, column.hints)
    if parsed is None:
        return None
    if parsed.read_more is not None:
        convert: Convert = partial(_read_block, read_more=parsed.read_more, missing=missing)
        first = pa.chunked_array(column.first)
        return replace(parsed, values=pa.chunked_array([convert(part, 0).chunk(0) for part in first.chunks])), convert
    rows = _whole_column(path, name, scan, memory)
    parsed = parse_column(rows, column.hints)
    return None if parsed.values is rows else (parsed, lambda block, row: parsed.values.slice(row, len(block)))


def _read_block(
    block: pa.Array, row: int, *, read_more: Callable[[DistinctTexts], pa.Array], missing: Collection[str]
) -> pa.ChunkedArray:
    """A block of a column whose form is known."""
    texts = distinct_texts(pa.chunked_array([block]), missing)
    assert texts is not None
    return texts.spread(read_more(texts))


def _whole_column(path: Path, name: str, scan: Seen, memory: int) -> pa.ChunkedArray:
    """One column of text, in which equal entries are held once."""
    from pyarrow.csv import ConvertOptions, open_csv

    marks = scan.options["convert_options"]
    alone = ConvertOptions(include_columns=[name], column_types={name: pa.string()}, null_values=marks.null_values)
    blocks: list[pa.Array] = []
    needed = BYTES_A_ROW * scan.rows
    with open_csv(str(path), **{**scan.options, "convert_options": alone}) as batches:
        for batch in batches:
            blocks.append(batch.column(0).dictionary_encode())
            needed += blocks[-1].dictionary.nbytes
            if needed > memory:
                raise InputError(
                    f"{path}: column {name!r} holds dates or numbers in a form that only all of its {scan.rows:,} rows "
                    f"together show, which takes more than {memory / 2**30:.1f} GiB; give more memory, or write the "
                    "table to Parquet first"
                )
    return pa.chunked_array(blocks).unify_dictionaries()
