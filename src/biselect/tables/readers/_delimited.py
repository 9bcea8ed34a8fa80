"""CSV and its like: text whose values stand between delimiters, in whatever form a spreadsheet or a bank wrote it."""

import csv
import io
import json
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from biselect.columns.date_text import in_words
from biselect.columns.distinct_texts import (
    ALWAYS_MISSING,
    LOOKED_AT,
    MISSING_MARKS,
    MOSTLY,
    SEEN,
    ParsedColumn,
    ReadingHints,
)
from biselect.columns.number_text import MARK_NAMES, NumberFormat, NumberPattern, file_style, pattern_of
from biselect.columns.recognition import parse_column
from biselect.errors import InputError
from biselect.options import ANY, Columns, Csv, names_in, possible_names, spell
from biselect.tables.readers._sniffing import WESTERN, TextFormat, sniff
from biselect.tables.readers.sources import PACKED

SOURCE = b"biselect.csv"  # where a table remembers its file
BLOCK, LARGEST_BLOCK = 1 << 20, 1 << 26  # bytes that hold the rows by which types are guessed; a line must fit
ROWS_OF_A_BLOCK = 100  # in a wide file
EMPTY = pa.scalar("")
TEXT, BYTES, NOTHING = pa.string().id, pa.binary().id, pa.null().id
LOOK = 50_000  # entries of columns of text looked at one by one, over all columns
SHOWN = 4  # columns named in a line of words

Taken = TypeVar("Taken")

log = logging.getLogger("biselect.reading")


@dataclass(frozen=True, kw_only=True)
class CsvForm(Csv, heading="Reading the tables"):
    """How a CSV is written, and what is said of its columns before it is read.

    Attributes:
        text_columns: kept as they are written.
        categories: columns of text although they look like numbers (007 stays 007).
        numbers: columns of numbers although they look like codes (007 is 7).
    """

    text_columns: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()

    @classmethod
    def of(cls, csv: Csv, columns: Columns) -> Self:
        """Names and columns to show stay as they are written, and so do times whose form is given."""
        as_text = {columns.id, *possible_names(columns.show)} - {columns.label}
        if csv.date_format is not None:
            as_text.add(columns.time)
        typed = {
            word: [name for name, type in columns.types.items() if type == word] for word in ("category", "number")
        }
        return cls(
            **{**vars(csv), "na_values": names_in(csv.na_values, ())},
            text_columns=frozenset(name for name in as_text if name is not None),
            categories=frozenset(possible_names(typed["category"])),
            numbers=frozenset(possible_names(typed["number"])),
        )


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a CSV was read.

    Attributes:
        path: of the file.
        encoding: of its text.
        bom: whether a mark of the encoding comes first.
        delimiter: between values.
        skipped: lines before the names.
        decimal: the mark before decimals in most columns; empty where nothing shows it.
        styles: decimal and thousands mark of columns whose numbers are not plain.
        units: signs left out of numbers, by column.
        dates: forms of dates that are not ISO, by column.
        missing: marks taken for missing values, by column.
        codes: columns of digits kept as text, because some begin with a zero.
        doubts: what else a column might be, with the option that says so.
    """

    path: str
    encoding: str = "utf-8"
    bom: bool = False
    delimiter: str = ","
    skipped: int = 0
    decimal: str = ""
    styles: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    dates: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict)
    codes: Sequence[str] = ()
    doubts: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """What differs from a plain file: UTF-8, commas between values, decimal points, ISO dates."""
        words = []
        if self.encoding != "utf-8":
            words.append(self.encoding)
        elif self.bom:
            words.append("UTF-8 with a byte order mark")
        if self.delimiter != ",":
            words.append({"\t": "tabs"}.get(self.delimiter, f"{self.delimiter!r}") + " between values")
        if self.skipped:
            words.append(f"names in line {self.skipped + 1}")
        commas = [name for name, (decimal, _) in self.styles.items() if decimal == ","]
        if commas:
            words.append(f"decimal comma in {_listed(commas)}")
        for mark in dict.fromkeys(thousands for _, thousands in self.styles.values() if thousands):
            columns = [name for name, (_, thousands) in self.styles.items() if thousands == mark]
            words.append(f"{MARK_NAMES[mark]} between thousands in {_listed(columns)}")
        for unit in dict.fromkeys(self.units.values()):
            words.append(f"{unit} left out in {_listed([name for name, one in self.units.items() if one == unit])}")
        for form in dict.fromkeys(self.dates.values()):
            words.append(
                f"dates {in_words(form)} in {_listed([name for name, one in self.dates.items() if one == form])}"
            )
        marks: dict[str, list[str]] = {}
        for name, names in self.missing.items():
            marks.setdefault(" and ".join(map(repr, names)), []).append(name)
        words += [f"{mark} missing in {_listed(columns)}" for mark, columns in marks.items()]
        if self.codes:
            words.append(f"codes, not numbers (they begin with 0), in {_listed(self.codes)}")
        return words


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more


def reading_of(table: pa.Table) -> Reading | None:
    """How the table was read, if it comes from a CSV."""
    metadata = (table.schema.metadata or {}).get(SOURCE)
    return None if metadata is None else Reading(**json.loads(metadata))


def read_as(tables: Iterable[Any]) -> dict[str, list[str]]:
    """How the files behind these tables were read, where that is not plain."""
    readings = [reading_of(table) for table in tables if isinstance(table, pa.Table)]
    return {Path(reading.path).name: reading.words for reading in readings if reading is not None and reading.words}


def read_delimited(path: Path, form: CsvForm) -> pa.Table:
    """A CSV as a table: what is not given of its form is found out, and remembered (`reading_of`)."""
    refuse_marks(form)
    sniffed = sniff(path, encoding=form.encoding, delimiter=form.delimiter)
    looks = sample_format(sniffed, form)
    table, encoding = read_text(path, sniffed, form, looks, _whole)
    names, kinds = table.column_names, [kind.id for kind in table.schema.types]
    texts = [at for at, kind in enumerate(kinds) if kind == TEXT]
    parsed = _understood(table, texts, form, looks, hints_for(form, looks, sniffed.delimiter, len(texts)))
    unnamed = [at for at, name in enumerate(names) if not name and kinds[at] == NOTHING]  # `a;b;` has no third column
    by_name = {names[at]: one for at, one in parsed.items()}
    words = {names[at] for at in texts if at not in parsed or parsed[at].values.type.id == TEXT}
    reading = reading_from(path, sniffed, encoding, looks, names, by_name, words)
    if parsed or unnamed:
        columns = table.columns
        for at, one in parsed.items():
            columns[at] = one.values
        for at in reversed(unnamed):
            del columns[at], names[at]
        table = pa.Table.from_arrays(columns, names=names)
    return table.replace_schema_metadata(remembered(reading))  # this survives `take`


def reading_from(
    path: Path,
    sniffed: TextFormat,
    encoding: str,
    looks: "SampleFormat",
    names: Sequence[str],
    parsed: Mapping[str, ParsedColumn],
    words: Collection[str],
) -> Reading:
    """How a CSV was read: what its columns of text were taken for, and which stay text. What is not plain is told."""
    reading = Reading(
        path=str(path),
        encoding=encoding,
        bom=sniffed.bom,
        delimiter=sniffed.delimiter,
        skipped=sniffed.skipped,
        decimal=looks.style.decimal if looks.style else "",
        styles={
            name: marks for name in names if name not in words and (marks := _style(name, parsed, looks)) is not None
        },
        units={name: one.unit for name, one in parsed.items() if one.unit},
        dates={name: one.date_form for name, one in parsed.items() if one.date_form not in (None, "ISO")},
        missing={**looks.missing, **{name: one.missing for name, one in parsed.items() if one.missing}},
        codes=[name for name in names if name in looks.codes or (name in parsed and parsed[name].code)],
        doubts={name: one.doubtful for name, one in parsed.items() if one.doubtful},
    )
    if reading.words:
        log.info("%s read as: %s", path.name, ", ".join(reading.words))
    for name, doubt in reading.doubts.items():
        log.warning("%s: column %r %s", path.name, name, doubt)
    return reading


def remembered(reading: Reading) -> dict[bytes, str]:
    """The metadata of a table that was read so."""
    return {SOURCE: json.dumps(asdict(reading))}


def hints_for(form: CsvForm, looks: "SampleFormat", delimiter: str, texts: int) -> ReadingHints:
    """What is known beside the columns of text, of which there are so many."""
    return ReadingHints(
        style=looks.style,
        decimal=form.decimal,
        thousands=form.thousands,
        missing={mark.lower() for mark in (*ALWAYS_MISSING, *form.na_values)} if form.na_values else MISSING_MARKS,
        date_form=form.date_format,
        comma_splits=delimiter == ",",
        looked_at=max(2, min(LOOKED_AT, LOOK // max(1, texts))),
    )


def absent_texts(form: CsvForm) -> pa.Array | None:
    """Texts that mean missing in columns of text; None for the empty one alone."""
    return pa.array(["", *form.na_values], pa.string()) if form.na_values else None  # it would import pandas


def _understood(
    table: pa.Table, texts: Sequence[int], form: CsvForm, looks: "SampleFormat", hints: ReadingHints
) -> dict[int, ParsedColumn]:
    """Columns of text, by their positions, as what they hold; a column that stays as it is is left out."""
    as_is, absent = {*form.categories, *looks.codes}, absent_texts(form)
    names, text_columns = table.column_names, set(form.text_columns)

    def understood(positions: Sequence[int]) -> dict[int, ParsedColumn]:
        parsed = {}
        for at in positions:
            column = table.column(at)
            result = ParsedColumn(values=column) if names[at] in as_is else parse_column(column, hints)
            if result.values.type.id == TEXT:
                result = replace(result, values=without(result.values, absent))
            if result.values is not column:
                parsed[at] = result
        return parsed

    todo = [at for at in texts if names[at] not in text_columns]
    workers = min(pa.cpu_count(), max(1, len(todo)))
    with ThreadPoolExecutor(max_workers=workers) as threads:
        parts = threads.map(understood, [todo[part::workers] for part in range(workers)])
        return dict(sorted((at, one) for part in parts for at, one in part.items()))


def _style(name: str, parsed: Mapping[str, ParsedColumn], looks: "SampleFormat") -> tuple[str, str] | None:
    """The marks of a column whose numbers are not plain."""
    if name not in parsed:
        return (",", "") if name in looks.commas else None
    style, values = parsed[name].style, parsed[name].values
    if style is None or style.plain:
        return None
    if not style.thousands and pc.all(pc.equal(head := values.slice(0, SEEN).drop_null(), pc.floor(head))).as_py():
        return None  # the file's mark, of which this column has none
    return style.decimal, style.thousands


def refuse_marks(form: CsvForm) -> None:
    """Marks that no number is written with."""
    if form.decimal not in (None, ",", "."):
        raise InputError(f"{spell(Csv(decimal=ANY))} must be ',' or '.', got {form.decimal!r}")
    if form.thousands is not None and form.thousands not in MARK_NAMES:
        raise InputError(
            f"{spell(Csv(thousands=ANY))} must be '.', ',', \"'\", ' ' or '' for none, got {form.thousands!r}"
        )
    if form.decimal is not None and form.decimal == form.thousands:
        raise InputError(f"{spell(Csv(decimal=ANY))} and {spell(Csv(thousands=ANY))} are both {form.decimal!r}")


@dataclass(frozen=True, kw_only=True)
class SampleFormat:
    """What the sample shows of the columns: the style of the file, those with its decimal comma, codes, marks."""

    style: NumberFormat | None
    commas: frozenset[str]
    codes: frozenset[str]
    missing: Mapping[str, Sequence[str]]


def sample_format(sniffed: TextFormat, form: CsvForm) -> SampleFormat:
    """What the sample shows."""
    ways: dict[str, set[NumberPattern]] = {}
    codes, missing = set(), {}
    declared = {*form.text_columns, *form.categories, *form.numbers}
    for name, *entries in zip(sniffed.names or (), *sniffed.rows, strict=False):
        texts = {text.strip() for text in entries}
        marks = {text for text in texts if text in ALWAYS_MISSING}
        texts -= marks
        patterns = [way for text in texts if (way := pattern_of(text)) is not None]
        if patterns and len(patterns) >= MOSTLY * len(texts):
            ways[name] = set(patterns)
            if marks - {""}:
                missing[name] = sorted(marks - {""})
        zero_led = any(len(text) > 1 and text[0] == "0" and text[1].isdigit() for text in texts)
        if zero_led and name not in declared and all(text.isascii() and text.isdigit() for text in texts):
            codes.add(name)
    style = file_style(ways.values())
    if form.decimal is not None:
        style = NumberFormat(decimal=form.decimal)
    elif form.thousands is not None and form.thousands in ".,":
        style = NumberFormat(decimal="," if form.thousands == "." else ".")
    commas = [name for name, patterns in ways.items() if any("," in (way.decimal, way.either) for way in patterns)]
    return SampleFormat(
        style=style,
        commas=frozenset(commas if style is not None and style.decimal == "," else ()),
        codes=frozenset(codes),
        missing=missing,
    )


def read_text(
    path: Path, sniffed: TextFormat, form: CsvForm, looks: SampleFormat, take: Callable[..., Taken]
) -> tuple[Taken, str]:
    """What `take` makes of the file, and the encoding in the end; what the first look could not show is tried again.

    Columns that begin with numbers and go on with something else are read as text, with types guessed from ever more
    rows, so that a file of many such columns is not read once for each.

    Args:
        path: the file.
        sniffed: what its beginning shows.
        form: what was given of it.
        looks: of its columns.
        take: called with the path and the options of Arrow's reader.
    """
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, open_csv

    encoding, multiline = sniffed.encoding, sniffed.multiline
    block = min(LARGEST_BLOCK, max(BLOCK, ROWS_OF_A_BLOCK * sniffed.longest))
    text = {*form.text_columns, *form.categories, *looks.codes}
    native = looks.style.decimal if looks.style is not None and looks.style.decimal != sniffed.delimiter else "."
    while True:
        options = {
            "read_options": ReadOptions(encoding=encoding, block_size=block, skip_rows=sniffed.skipped),
            "parse_options": ParseOptions(delimiter=sniffed.delimiter, newlines_in_values=multiline),
            "convert_options": ConvertOptions(
                column_types=dict.fromkeys(text, pa.string()),
                null_values=[*ALWAYS_MISSING, *form.na_values],
                decimal_point=native,
            ),
        }
        try:
            return take(path, **options), encoding
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
                names = sniffed.names or open_csv(str(path), **options).schema.names
                name = names[int(unread[1])]
                if name in text:
                    raise
                text.add(name)
                if block >= LARGEST_BLOCK:
                    text.update(names)
                block = min(4 * block, LARGEST_BLOCK)
            else:
                raise _explained(path, message, sniffed.delimiter) from None
        if broken:
            if encoding != "utf-8" or sniffed.bom or not sniffed.plain or form.encoding is not None:
                such = spell(Csv(encoding="cp1252"))
                raise InputError(f"{path}: is not {encoding} all through; say what it is with {such}")
            encoding = WESTERN


def _whole(path: Path, **options: Any) -> pa.Table:
    """The table as Arrow reads it."""
    from pyarrow.csv import read_csv

    table = read_csv(str(path), **options)
    table.column_names  # noqa: B018  (these are decoded here)
    if any(kind.id == BYTES for kind in table.schema.types):
        raise UnicodeError("some text is not in the encoding")
    refuse_open_quote(path, table)
    return table


def _explained(path: Path, message: str, delimiter: str) -> InputError:
    """Arrow's words, with what may help."""
    if ragged := re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+): (.*)", message, re.DOTALL):
        line = f"line {int(ragged[1])}" if ragged[1] else "the line"
        return InputError(
            f"{path}: cannot be read as csv: {line} {ragged[4].strip()[:60]!r} holds {ragged[3]} values where "
            f"the first has {ragged[2]} names; put quotes around values that hold {delimiter!r}, give "
            f"{spell(Csv(delimiter=ANY))}, or remove what stands above the names"
        )
    return InputError(f"{path}: cannot be read as csv: {message}")


def refuse_open_quote(path: Path, table: pa.Table) -> None:
    """A quote that is never closed swallows all rows after it, silently."""
    last = table.column(-1) if table.num_columns and table.num_rows else None
    if last is None or not pa.types.is_string(last.type) or "\n" not in (last[-1].as_py() or ""):
        return
    if path.suffix.lower() in PACKED:
        return
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 64))
        end = file.read()
    if not end.replace(b"\0", b"").rstrip().endswith(b'"'):
        line = last[-1].as_py().split("\n")[0][:40]
        raise InputError(f"{path}: the quote before {line!r} is never closed; close it, or take it out")


def without(texts: pa.ChunkedArray, absent: pa.Array | None) -> pa.ChunkedArray:
    """Texts with null for those that mean missing; None for the empty one alone."""
    if absent is None and pc.index(texts, EMPTY).as_py() < 0:  # most often, and it takes no memory
        return texts
    is_missing = pc.is_in(texts, absent) if absent is not None else pc.equal(texts, EMPTY)
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), texts) if pc.any(is_missing).as_py() else texts


def line_of_row(table: pa.Table, row: int) -> str:
    """The line of the file in which a row begins; for other files than CSV its position, from 0.

    The file is read again: values may hold line breaks, and lines may be empty.
    """
    reading = reading_of(table)
    if reading is None:
        return f"row {row}"
    try:
        with (
            pa.input_stream(reading.path) as raw,
            io.TextIOWrapper(raw, encoding=reading.encoding, newline="") as text,
        ):
            for _ in range(reading.skipped):
                text.readline()
            records = csv.reader(text, delimiter=reading.delimiter)
            data_row, line = -1, 1  # the header comes first
            for record in records:
                if record:
                    if data_row == row:
                        return f"line {line + reading.skipped}"
                    data_row += 1
                line = records.line_num + 1
    except (OSError, ValueError, csv.Error):
        pass
    return f"row {row}"
