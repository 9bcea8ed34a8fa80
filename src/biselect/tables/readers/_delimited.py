"""CSV and its like: text whose values stand between delimiters, in whatever form a spreadsheet or a bank wrote it."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from biselect.columns.distinct_texts import ALWAYS_MISSING
from biselect.columns.recognition import hints_at
from biselect.core.untrusted import CHUNK
from biselect.errors import InputError
from biselect.options import ANY, Csv, spell
from biselect.tables.readers._layout import unique_names
from biselect.tables.readers._sniffing import SPACES, WESTERN, TextFormat, as_tabs, sniff
from biselect.tables.readers._texts import (
    Reading,
    SampleFormat,
    TextForm,
    plain_columns,
    reading_of,
    remembered,
    sample_format,
    without_closing_blocks,
)
from biselect.tables.readers.sources import PACKED, Source, is_unnamed, opened, refuse_repeated

GUESSED_FROM = 1 << 23  # bytes by which types are guessed where a file is not held
BLOCK, LARGEST_BLOCK = 1 << 20, 1 << 26  # bytes that hold the rows by which types are guessed; a line must fit
ROWS_OF_A_BLOCK = 100  # in a wide file
TEXT, BYTES, NOTHING = pa.string().id, pa.binary().id, pa.null().id
MOST_REJECTS, REJECTS = 1_000, 0.02  # lines with too many or too few values, and their share of all
FEWEST_REJECTS, MOST_OF_FEW = 2, 0.2  # that are no reason to doubt the whole file, and their share of a short one
LINE = 120  # characters of a line that is left out
LINES = 1 << 20  # characters of lines whose spaces are replaced at a time

Taken = TypeVar("Taken")


def read_delimited(path: Path, form: TextForm) -> tuple[pa.Table, Reading, SampleFormat]:
    """A CSV as Arrow reads it, how it is written, and what its first rows show: what is not given is found out."""
    sniffed = sniff(path, form)
    looks = looks_of(sniffed, form)
    rejects = list[str]()
    table, encoding = read_text(path, sniffed, form, looks, _whole, rejects)
    refuse_many_rejects(path, sniffed, rejects, table.num_rows)
    if sniffed.names is None:
        table = table.rename_columns(unique_names(table.column_names))
    names = [
        name for name, kind in zip(table.column_names, table.schema.types, strict=True) if not is_unnamed(name, kind)
    ]
    return table.select(names), reading_of_file(path, sniffed, encoding, rejects), looks


def stream_delimited(
    path: Path, form: TextForm, take: Callable[[pa.Schema, Iterator[pa.Table]], Taken]
) -> tuple[Taken, Reading, SampleFormat]:
    """A CSV block by block, its columns of text as they are; otherwise as `read_delimited`.

    Args:
        path: the file.
        form: what is known of it.
        take: what is made of the schema and the blocks; called again where later rows need other types.
    """
    from pyarrow.csv import open_csv

    sniffed = sniff(path, form)
    looks, rejects, rows = looks_of(sniffed, form), list[str](), [0]

    def streamed(source: Callable[[], Any], **options: Any) -> Taken:
        reads = options["read_options"]
        block_size, reads.block_size = reads.block_size, max(GUESSED_FROM, reads.block_size)
        with open_csv(source(), **options) as beginning:
            schema = beginning.schema
        del beginning  # it holds what it has read ahead
        reads.block_size = block_size
        refuse_repeated(schema.names, Source.of(path))
        if any(kind.id == BYTES for kind in schema.types):
            raise UnicodeError("some text is not in the encoding")
        options["convert_options"].column_types = dict(zip(schema.names, schema.types, strict=True))
        plain = plain_columns(schema.empty_table(), form)
        names = [field.name for field in plain.schema if not is_unnamed(field.name, field.type)]
        known = remembered(reading_of_file(path, sniffed, sniffed.encoding, []))
        rejects.clear()  # those of the beginning come again
        closing, rows[0] = list[str](), 0

        def blocks(batches: Any) -> Iterator[pa.Table]:
            batch = None
            for batch in batches:
                rows[0] += batch.num_rows
                yield plain_columns(pa.Table.from_batches([batch]), form).select(names)
            if batch is not None:
                refuse_open_quote(source(), pa.Table.from_batches([batch]))

        with open_csv(source(), **options) as batches:
            schema = plain.select(names).schema.with_metadata(known)
            taken = take(schema, without_closing_blocks(blocks(batches), closing))
        rejects.extend(closing)
        return taken

    taken, encoding = read_text(path, sniffed, form, looks, streamed, rejects)
    refuse_many_rejects(path, sniffed, rejects, rows[0])
    return taken, reading_of_file(path, sniffed, encoding, rejects), looks


def looks_of(sniffed: TextFormat, form: TextForm) -> SampleFormat:
    """What the sample shows of the columns."""
    columns = zip(sniffed.names or (), zip(*sniffed.rows, strict=False), strict=False)
    return sample_format(columns, form)


def reading_of_file(path: Path, sniffed: TextFormat, encoding: str, rejects: Sequence[str]) -> Reading:
    """How a file is written."""
    return Reading(
        path=str(path),
        encoding=encoding,
        bom=sniffed.bom,
        delimiter=sniffed.delimiter,
        skipped=sniffed.skipped,
        names=sniffed.header,
        width=len(sniffed.names or ()),
        rejects=rejects,
    )


def refuse_many_rejects(path: Path, sniffed: TextFormat, rejects: Sequence[str], rows: int) -> None:
    """An error where so many lines are no rows that the file may be another one than it was taken for."""
    if len(rejects) > FEWEST_REJECTS + REJECTS * rows or len(rejects) > MOST_OF_FEW * rows:
        raise _ragged(path, rejects[0], sniffed.delimiter, len(sniffed.names or ()))


def read_text(
    path: Path,
    sniffed: TextFormat,
    form: TextForm,
    looks: SampleFormat,
    take: Callable[..., Taken],
    rejects: list[str],
) -> tuple[Taken, str]:
    """What `take` makes of the file, and the encoding in the end; what the first look could not show is tried again.

    Columns that begin with numbers and go on with something else are read as text, with types guessed from ever more
    rows, so that a file of many such columns is not read once for each.

    Args:
        path: the file.
        sniffed: what its beginning shows.
        form: what was given of it.
        looks: of its columns.
        take: called with what opens the file, and the options of Arrow's reader.
        rejects: takes the lines that are no rows.
    """
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, open_csv

    encoding, multiline, ragged = sniffed.encoding, sniffed.multiline, False
    block = min(LARGEST_BLOCK, max(BLOCK, ROWS_OF_A_BLOCK * sniffed.longest))
    coded = {name for name in sniffed.names or () if name not in form.numbers and "code" in hints_at(name)}
    text = {*form.text_columns, *form.categories, *looks.codes, *coded}  # further down a code may begin with 0
    native = looks.style.decimal if looks.style is not None and looks.style.decimal != sniffed.delimiter else "."
    while True:
        rejects.clear()
        options = {
            "read_options": ReadOptions(block_size=block, skip_rows=sniffed.skipped, **names_of(sniffed, encoding)),
            "parse_options": ParseOptions(
                delimiter="\t" if sniffed.delimiter in SPACES else sniffed.delimiter,
                newlines_in_values=multiline,
                invalid_row_handler=keep_rejects(rejects) if ragged else None,
            ),
            "convert_options": ConvertOptions(
                column_types=dict.fromkeys(text, pa.string()),
                null_values=[*ALWAYS_MISSING, *form.na_values],
                decimal_point=native,
            ),
        }
        try:
            return take(partial(stream_of, path, sniffed, encoding), **options), encoding
        except UnicodeError:
            broken = True
        except pa.ArrowInvalid as error:
            broken, message = "invalid UTF8" in str(error), str(error)
            unread = re.match(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error", message)
            if broken:
                pass
            elif "out of sync" in message and not multiline:
                multiline = True
            elif ("straddling" in message or "cannot infer number of columns" in message) and block < LARGEST_BLOCK:
                block *= 8
            elif "straddling" in message:
                size = f"{LARGEST_BLOCK >> 20} MiB"
                raise InputError(f"{path}: a line is longer than {size}; is a quote never closed?") from None
            elif unread is not None:
                names = sniffed.names or open_csv(stream_of(path, sniffed, encoding), **options).schema.names
                name = names[int(unread[1])]
                if name in text:
                    raise
                text.add(name)
                if block >= LARGEST_BLOCK:
                    text.update(names)
                block = min(4 * block, LARGEST_BLOCK)
            elif "Expected" in message and not ragged:
                ragged = encoding != "utf-8" or _is_utf8(path)  # Arrow shows no other lines to who keeps them
                broken = not ragged
            elif rejects:
                raise _ragged(path, rejects[0], sniffed.delimiter, len(sniffed.names or ())) from None
            else:
                raise InputError(f"{path}: cannot be read as csv: {message}") from None
        if broken:
            if encoding != "utf-8" or sniffed.bom or not sniffed.plain or form.encoding is not None:
                such = spell(Csv(encoding="cp850" if encoding == WESTERN else WESTERN))
                raise InputError(f"{path}: is not {encoding} all through; say what it is with {such}")
            encoding = WESTERN


def _is_utf8(path: Path) -> bool:
    """Whether a file is UTF-8 from its beginning to its end."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with opened(path) as stream:
            while piece := stream.read(CHUNK):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def names_of(sniffed: TextFormat, encoding: str) -> dict[str, Any]:
    """Options of Arrow's reader about names and encoding; what was written anew is UTF-8."""
    spaced = sniffed.delimiter in SPACES
    options: dict[str, Any] = {"encoding": "utf-8" if spaced else encoding}
    if not sniffed.as_written:
        options |= {"column_names": sniffed.names, "skip_rows_after_names": sniffed.header}
    return options


def keep_rejects(rejects: list[str]) -> Callable[[Any], str]:
    """What Arrow's reader does with a line of more or fewer values than names."""

    def handle(line: Any) -> str:
        rejects.append(line.text.strip()[:LINE])
        return "skip" if len(rejects) < MOST_REJECTS else "error"

    return handle


def stream_of(path: Path, sniffed: TextFormat, encoding: str) -> Any:
    """What Arrow's reader takes: the path, or a stream with tabs for runs of spaces."""
    return TabbedFile(path, sniffed.delimiter, encoding) if sniffed.delimiter in SPACES else str(path)


class TabbedFile(io.RawIOBase):
    """A text file with tabs between values in place of runs of spaces, as UTF-8."""

    def __init__(self, path: Path, delimiter: str, encoding: str) -> None:
        self._text = io.TextIOWrapper(pa.input_stream(str(path)), encoding=encoding, newline="")
        self._delimiter, self._left = delimiter, b""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        while len(self._left) < len(buffer) and (lines := self._text.readlines(LINES)):
            self._left += "".join(as_tabs(line, self._delimiter) for line in lines).encode()
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the file."""
        self._text.close()
        super().close()


def _whole(source: Callable[[], Any], **options: Any) -> pa.Table:
    """The table as Arrow reads it."""
    from pyarrow.csv import read_csv

    table = read_csv(source(), **options)
    table.column_names  # noqa: B018  (these are decoded here)
    if any(kind.id == BYTES for kind in table.schema.types):
        raise UnicodeError("some text is not in the encoding")
    refuse_open_quote(source(), table)
    return table


def _ragged(path: Path, line: str, delimiter: str, names: int) -> InputError:
    """What may help where lines have other numbers of values than there are names."""
    values = line.count(delimiter) + 1
    return InputError(
        f"{path}: cannot be read as csv: the line {line[:60]!r} holds {values} values where there are {names} names; "
        f"put quotes around values that hold {delimiter!r}, give {spell(Csv(delimiter=ANY))}, or say with "
        f"{spell(Csv(header=ANY))} which line holds the names"
    )


def refuse_open_quote(path: Any, table: pa.Table) -> None:
    """A quote that is never closed swallows all rows after it, silently."""
    last = table.column(-1) if table.num_columns and table.num_rows else None
    if last is None or not pa.types.is_string(last.type) or "\n" not in (last[-1].as_py() or ""):
        return
    if not isinstance(path, str) or path.lower().endswith(tuple(PACKED)):
        return
    with open(path, "rb") as file:
        file.seek(max(0, Path(path).stat().st_size - 64))
        end = file.read()
    if not end.replace(b"\0", b"").rstrip().endswith(b'"'):
        line = last[-1].as_py().split("\n")[0][:40]
        raise InputError(f"{path}: the quote before {line!r} is never closed; close it, or take it out")


def line_of_row(table: Any, row: int) -> str:
    """The line of the file in which a row begins; for other files than CSV its position, from 0.

    The file is read again: values may hold line breaks, and lines may be empty or no rows.
    """
    reading = reading_of(table)
    if not reading.delimiter:
        return f"row {row}"
    try:
        for at, line in enumerate(_lines(reading)):
            if at == row:
                return f"line {line}"
    except (OSError, ValueError, csv.Error):
        pass
    return f"row {row}"


def _lines(reading: Reading) -> Iterator[int]:
    """The lines of a file in which its rows begin."""
    with pa.input_stream(reading.path) as raw, io.TextIOWrapper(raw, encoding=reading.encoding, newline="") as text:
        for _ in range(reading.skipped):
            text.readline()
        spaced = reading.delimiter in SPACES
        tabbed = (as_tabs(line, reading.delimiter) for line in text) if spaced else text
        records = csv.reader(tabbed, delimiter="\t" if spaced else reading.delimiter)
        names, line = reading.names, 1
        for record in records:
            if record and names:
                names -= 1
            elif record and (not reading.width or len(record) == reading.width):
                yield line + reading.skipped
            line = records.line_num + 1


def delimited_records(path: Path, form: TextForm, rows: Sequence[int]) -> list[dict[str, str]]:
    """Rows of a file by their positions, as they stand in it."""
    sniffed = sniff(path, form)
    form = replace(form, text_columns=frozenset(sniffed.names or ()))
    records, _ = read_text(path, sniffed, form, looks_of(sniffed, form), partial(_picked, rows=set(rows)), [])
    return [records[row] for row in rows]


def _picked(source: Callable[[], Any], *, rows: set[int], **options: Any) -> dict[int, dict[str, str]]:
    """Some rows by their positions, as texts."""
    from pyarrow.csv import open_csv

    records, first = dict[int, dict[str, str]](), 0
    with open_csv(source(), **options) as batches:
        for batch in batches:
            here = sorted(row for row in rows if first <= row < first + batch.num_rows)
            for row, record in zip(
                here, batch.take(pa.array([row - first for row in here], pa.int64())).to_pylist(), strict=True
            ):
                records[row] = {name: "" if text is None else str(text) for name, text in record.items()}
            first += batch.num_rows
            if len(records) == len(rows):
                break
    return records
