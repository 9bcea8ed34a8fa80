"""Columns of text as what they hold, whatever file or frame they come from; and how a table was read.

All rows decide what a column holds. A table that is not held is looked at block by block, and comes out as the same.
"""

import json
import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from biselect.columns.date_text import in_words
from biselect.columns.distinct_texts import (
    ALWAYS_MISSING,
    LOOKED_AT,
    MISSING_MARKS,
    MOSTLY,
    SEEN,
    DistinctTexts,
    ParsedColumn,
    ReadingHints,
    distinct_texts,
    is_text,
)
from biselect.columns.number_text import MARK_NAMES, NumberFormat, NumberPattern, file_style, pattern_of
from biselect.columns.recognition import TextColumn, parse_column, parse_texts
from biselect.errors import InputError
from biselect.options import ANY, Columns, Csv, names_in, possible_names, spell
from biselect.tables.readers._layout import TAIL, closing_rows

SOURCE = b"biselect.reading"  # where a table remembers how it was read
EMPTY = pa.scalar("")
LOOK = 50_000  # entries of columns of text looked at one by one, over all columns
CELLS = 60_000  # cells of the first rows looked at one by one
MOST_ENDING = 1_000  # columns of a table whose last rows are looked at
SHOWN = 4  # columns named in a line of words
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
BYTES_A_ROW = 16  # of a column that has to be seen whole: which of its entries, and the date

Convert = Callable[[pa.ChunkedArray, int], pa.ChunkedArray]
"""What makes values of a column of text in a block; it is given the position of the block's first row, too."""

log = logging.getLogger("biselect.reading")


@dataclass(frozen=True, kw_only=True)
class TextForm(Csv, heading="Reading the tables"):
    """How texts are written, and what is said of the columns before they are read.

    Attributes:
        text_columns: kept as they are written.
        categories: columns of text although they look like numbers (007 stays 007).
        numbers: columns of numbers although they look like codes (007 is 7).
        dates: columns of dates or times of day of which parts are used.
        marks: entries that mean missing in a column of numbers, by its name.
    """

    text_columns: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    dates: frozenset[str] = frozenset()
    marks: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, csv: Csv, columns: Columns) -> Self:
        """Names and columns to show stay as they are written, and so do times whose form is given."""
        as_text = {columns.id, *possible_names(columns.show)} - {columns.label}
        if csv.date_format is not None:
            as_text.add(columns.time)
        typed = {
            word: [name for name, type in columns.types.items() if type.partition(":")[0] == word]
            for word in ("category", "number", "date")
        }
        return cls(
            **{**vars(csv), "na_values": names_in(csv.na_values, ())},
            text_columns=frozenset(name for name in as_text if name is not None),
            categories=frozenset(possible_names(typed["category"])),
            numbers=frozenset(possible_names(typed["number"])),
            dates=frozenset(possible_names(typed["date"])),
            marks=marks_in(columns.types),
        )

    def __post_init__(self) -> None:
        if self.decimal not in (None, ",", "."):
            raise InputError(f"{spell(Csv(decimal=ANY))} must be ',' or '.', got {self.decimal!r}")
        if self.thousands is not None and self.thousands not in MARK_NAMES:
            marks = "'.', ',', \"'\", ' ' or '' for none"
            raise InputError(f"{spell(Csv(thousands=ANY))} must be {marks}, got {self.thousands!r}")
        if self.decimal is not None and self.decimal == self.thousands:
            raise InputError(f"{spell(Csv(decimal=ANY))} and {spell(Csv(thousands=ANY))} are both {self.decimal!r}")

    @property
    def absent(self) -> pa.Array | None:
        """Texts that mean missing in columns of text; None for the empty one alone."""
        return pa.array(["", *self.na_values], pa.string()) if self.na_values else None  # it would import pandas


def marks_in(types: Mapping[str, str]) -> dict[str, list[str]]:
    """Entries that mean missing in columns of numbers: `number:-999,off` has two."""
    words = {name: kind.partition(":") for name, kind in types.items()}
    return {name: marks.split(",") for name, (word, _, marks) in words.items() if word == "number" and marks}


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a table was read.

    Attributes:
        path: of the file; empty for a frame.
        part: the sheet or table of the file that was taken, where nobody named one.
        encoding: of its text.
        bom: whether a mark of the encoding comes first.
        delimiter: between values of a text; empty for what is no text.
        skipped: lines before the names.
        names: how many lines hold names.
        width: values of a line.
        decimal: the mark before decimals in most columns; empty where nothing shows it.
        styles: decimal and thousands mark of columns whose numbers are not plain.
        units: words and signs left out of numbers, by column.
        limits: columns with limits such as <0.5, read as their number.
        dates: forms of dates that are not ISO, by column.
        missing: marks taken for missing values, by column.
        codes: columns of digits kept as text, because some begin with a zero.
        doubts: what else a column might be, with the option that says so.
        rejects: lines that are no rows: with more or fewer values than names, or closing the table, as totals do.
    """

    path: str = ""
    part: str = ""
    encoding: str = "utf-8"
    bom: bool = False
    delimiter: str = ""
    skipped: int = 0
    names: int = 1
    width: int = 0
    decimal: str = ""
    styles: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    limits: Sequence[str] = ()
    dates: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict)
    codes: Sequence[str] = ()
    doubts: Mapping[str, str] = field(default_factory=dict)
    rejects: Sequence[str] = ()

    @property
    def words(self) -> list[str]:
        """What differs from a plain table: UTF-8, commas between values, decimal points, ISO dates."""
        words = [f"its part {self.part!r}"] if self.part else []
        if self.encoding != "utf-8":
            words.append(self.encoding)
        elif self.bom:
            words.append("UTF-8 with a byte order mark")
        if self.delimiter not in ("", ","):
            between = {"\t": "tabs", " ": "spaces", "  ": "spaces"}.get(self.delimiter, repr(self.delimiter))
            words.append(f"{between} between values")
        if not self.names:
            words.append("no line of names")
        elif self.skipped:
            words.append(f"names in line {self.skipped + 1}")
        commas = [name for name, (decimal, _) in self.styles.items() if decimal == ","]
        if commas:
            words.append(f"decimal comma in {_listed(commas)}")
        for mark in dict.fromkeys(thousands for _, thousands in self.styles.values() if thousands):
            columns = [name for name, (_, thousands) in self.styles.items() if thousands == mark]
            words.append(f"{MARK_NAMES[mark]} between thousands in {_listed(columns)}")
        for unit in dict.fromkeys(self.units.values()):
            words.append(f"{unit} left out in {_listed([name for name, one in self.units.items() if one == unit])}")
        if self.limits:
            words.append(f"limits such as <5 read as 5 in {_listed(self.limits)}")
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
        if self.rejects:
            listed = "; ".join(repr(line) for line in self.rejects[:SHOWN]) + (
                " …" if len(self.rejects) > SHOWN else ""
            )
            lines = "1 line" if len(self.rejects) == 1 else f"{len(self.rejects):,} lines"
            words.append(f"{lines} left out, no row{'s' * (len(self.rejects) > 1)}: {listed}")
        return words


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more


def reading_of(table: Any) -> Reading:
    """How a table was read, from its schema."""
    metadata = (table.schema.metadata or {}).get(SOURCE)
    return Reading() if metadata is None else Reading(**json.loads(metadata))


def read_as(tables: Iterable[Any]) -> dict[str, list[str]]:
    """How the files behind these tables were read, where that is not plain."""
    readings = [reading_of(table) for table in tables if isinstance(table, pa.Table)]
    return {Path(reading.path).name: reading.words for reading in readings if reading.path and reading.words}


@dataclass(frozen=True, kw_only=True)
class SampleFormat:
    """What the first rows show of the columns: the style of the file, those with its decimal comma, codes, marks."""

    style: NumberFormat | None
    commas: frozenset[str]
    codes: frozenset[str]
    missing: Mapping[str, Sequence[str]]


def sample_format(columns: Iterable[tuple[str, Iterable[str]]], form: TextForm) -> SampleFormat:
    """What the first rows show; each column is given with its name and its texts."""
    ways: dict[str, set[NumberPattern]] = {}
    codes, missing = set(), {}
    declared = {*form.text_columns, *form.categories, *form.numbers}
    for name, entries in columns:
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


def hints_for(
    form: TextForm, looks: SampleFormat, names: Sequence[str], *, comma_splits: bool = False
) -> dict[str, ReadingHints]:
    """What is known beside each column of text."""
    hints = ReadingHints(
        style=looks.style,
        decimal=form.decimal,
        thousands=form.thousands,
        missing={mark.lower() for mark in (*ALWAYS_MISSING, *form.na_values)} if form.na_values else MISSING_MARKS,
        date_form=form.date_format,
        comma_splits=comma_splits,
        looked_at=max(2, min(LOOKED_AT, LOOK // max(1, len(names)))),
    )
    own = {name: {*hints.missing, *(mark.lower() for mark in marks)} for name, marks in form.marks.items()}
    return {
        name: replace(hints, name=name, missing=own.get(name, hints.missing), is_number=name in form.numbers)
        for name in names
    }


def without_marks(column: pa.ChunkedArray, marks: Sequence[str]) -> pa.ChunkedArray:
    """A column of numbers without those that mean missing."""
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return column
    numbers = [float(mark) for mark in marks if NUMBER.fullmatch(mark)]
    is_mark = pc.is_in(column.cast(pa.float64(), safe=False), pa.array(numbers, pa.float64()))
    return pc.if_else(is_mark, pa.scalar(None, column.type), column)


def with_marks_read(table: pa.Table, form: TextForm) -> pa.Table:
    """The table with those of its columns as numbers in which some entries mean missing."""
    style = None if form.decimal is None else NumberFormat(decimal=form.decimal)
    looks = SampleFormat(style=style, commas=frozenset(), codes=frozenset(), missing={})
    for name, hints in hints_for(replace(form, decimal=None), looks, [*form.marks]).items():
        if name in table.column_names:
            at, column = table.column_names.index(name), table[name]
            column = parse_column(column, hints).values if is_text(column.type) else column
            table = table.set_column(at, name, without_marks(column, form.marks[name]))
    return table


def plain_columns(table: pa.Table, form: TextForm) -> pa.Table:
    """The table with a column for each field of a struct, and with times of day as durations since midnight."""
    while any(pa.types.is_struct(kind) for kind in table.schema.types):
        table = table.flatten()
    for at, (name, kind) in enumerate(zip(table.column_names, table.schema.types, strict=True)):
        if pa.types.is_time(kind) and name not in form.dates:
            steps = table.column(at).cast(pa.int32() if kind.bit_width == 32 else pa.int64()).cast(pa.int64())
            table = table.set_column(at, name, steps.cast(pa.duration(kind.unit)))
        elif pa.types.is_string_view(kind):  # which Arrow can do little with
            table = table.set_column(at, name, table.column(at).cast(pa.large_string()))
        elif pa.types.is_interval(kind):
            lengths = [None if one is None else _nanoseconds(*one) for one in table.column(at).to_pylist()]
            table = table.set_column(at, name, pa.array(lengths, pa.duration("ns")))
        elif str(kind) == "extension<arrow.uuid>":
            texts = [None if one is None else str(one) for one in table.column(at).to_pylist()]
            table = table.set_column(at, name, pa.array(texts, pa.string()))
    return table


def _nanoseconds(months: int, days: int, nanoseconds: int) -> int:
    return (30 * months + days) * 86_400_000_000_000 + nanoseconds


def without_closing_rows(table: pa.Table) -> tuple[pa.Table, list[str]]:
    """The table without the rows at its end that close it, as totals do, and these as texts."""
    if table.num_columns > MOST_ENDING:
        return table, []
    tail = table.slice(max(0, table.num_rows - TAIL))
    rows = [["" if cell is None else str(cell).strip() for cell in row] for row in _rows(tail)]
    rows = [["" if cell.lower() in ("nan", "nat") else cell for cell in row] for row in rows]
    closing = closing_rows(rows)
    rejects = ["; ".join(filter(None, row)) for row in rows[len(rows) - closing :]] if closing else []
    return table.slice(0, table.num_rows - closing), rejects


def texts_of(table: pa.Table) -> list[dict[str, str]]:
    """Rows as texts, as a person would write them."""
    return [dict(zip(table.column_names, map(entry_as_text, row), strict=True)) for row in _rows(table)]


def entry_as_text(value: Any) -> str:
    """An entry as a person would write it."""
    if value is None or value != value:
        return ""
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def with_texts_read(
    table: pa.Table, form: TextForm, reading: Reading, looks: SampleFormat | None = None, *, closes: bool
) -> pa.Table:
    """The table with its columns of text as what they hold, and how it was read (`reading_of`).

    Args:
        table: as it came.
        form: what is known of its texts and columns.
        reading: how the file was read.
        looks: what its first rows show; None to look at the columns of text.
        closes: whether its last rows may be such as totals.
    """
    table, rejects = plain_columns(table, form), list[str]()
    if closes:
        table, rejects = without_closing_rows(table)
    names, texts = table.column_names, [at for at, kind in enumerate(table.schema.types) if is_text(kind)]
    looks = looks or sample_format(first_texts(table.select(texts)), form)
    hints = hints_for(form, looks, [names[at] for at in texts], comma_splits=reading.delimiter == ",")
    parsed = _parsed(table, texts, form, looks, hints)
    reading = replace(reading, rejects=[*reading.rejects, *rejects])
    reading = reading_from(reading, looks, table.schema, {names[at]: one for at, one in parsed.items()})
    columns = table.columns
    for at, one in parsed.items():
        columns[at] = one.values
    for name in form.marks.keys() & set(names):
        columns[names.index(name)] = without_marks(columns[names.index(name)], form.marks[name])
    return pa.Table.from_arrays(columns, names=names).replace_schema_metadata(remembered(reading))  # `take` keeps it


def first_texts(texts: pa.Table) -> Iterator[tuple[str, list[str]]]:
    """Columns of text by name, with the texts of the first rows."""
    rows = rows_looked_at(texts.num_columns)
    columns = zip(texts.column_names, texts.columns, strict=True)
    return ((name, column[:rows].drop_null().to_pylist()) for name, column in columns)


def rows_looked_at(columns: int) -> int:
    """How many rows of so many columns of text are looked at one by one."""
    return max(1, CELLS // max(1, columns))


def _parsed(
    table: pa.Table, texts: Sequence[int], form: TextForm, looks: SampleFormat, hints: Mapping[str, ReadingHints]
) -> dict[int, ParsedColumn]:
    """Columns of text, by their positions, as what they hold; a column that stays as it is is left out."""
    as_is, absent = {*form.categories, *looks.codes}, form.absent
    names = table.column_names

    def parsed_columns(positions: Sequence[int]) -> dict[int, ParsedColumn]:
        parsed = {}
        for at in positions:
            column = table.column(at)
            result = ParsedColumn(values=column) if names[at] in as_is else parse_column(column, hints[names[at]])
            if is_text(result.values.type):
                result = replace(result, values=nulls_for_missing(result.values, absent))
            if result.values is not column:
                parsed[at] = result
        return parsed

    todo = [at for at in texts if names[at] not in form.text_columns]
    workers = min(pa.cpu_count(), max(1, len(todo)))
    with ThreadPoolExecutor(max_workers=workers) as threads:
        parts = threads.map(parsed_columns, [todo[part::workers] for part in range(workers)])
        return dict(sorted((at, one) for part in parts for at, one in part.items()))


def reading_from(
    reading: Reading, looks: SampleFormat, schema: pa.Schema, parsed: Mapping[str, ParsedColumn]
) -> Reading:
    """How a table was read: what its columns of text were taken for. What is not plain is told.

    Args:
        reading: how the file was read.
        looks: what its first rows show.
        schema: of the table before its texts were read.
        parsed: columns of text that were read, by name.
    """
    kinds = {field.name: parsed[field.name].values.type if field.name in parsed else field.type for field in schema}
    names = [name for name, kind in kinds.items() if not is_text(kind)]
    styles = {name: _style(name, parsed, looks) for name in names}
    reading = replace(
        reading,
        decimal=looks.style.decimal if looks.style else "",
        styles={name: marks for name, marks in styles.items() if marks is not None},
        units={name: one.unit for name, one in parsed.items() if one.unit},
        limits=[name for name, one in parsed.items() if one.about],
        dates={name: one.date_form for name, one in parsed.items() if one.date_form not in (None, "ISO")},
        missing={
            **{name: marks for name, marks in looks.missing.items() if name in names and reading.delimiter},
            **{name: one.missing for name, one in parsed.items() if one.missing},
        },
        codes=[name for name in kinds if name in looks.codes or (name in parsed and parsed[name].code)],
        doubts={name: one.doubtful for name, one in parsed.items() if one.doubtful},
    )
    name = Path(reading.path).name
    if reading.words and name:
        log.info("%s read as: %s", name, ", ".join(reading.words))
    for column, doubt in reading.doubts.items():
        log.warning("%s: column %r %s", name or "the table", column, doubt)
    return reading


def remembered(reading: Reading) -> dict[bytes, str]:
    """The metadata of a table that was read so."""
    return {SOURCE: json.dumps(asdict(reading))}


def _style(name: str, parsed: Mapping[str, ParsedColumn], looks: SampleFormat) -> tuple[str, str] | None:
    """The marks of a column whose numbers are not plain."""
    if name not in parsed:
        return (",", "") if name in looks.commas else None
    style, values = parsed[name].style, parsed[name].values
    if style is None or style.plain:
        return None
    if not style.thousands and pc.all(pc.equal(head := values.slice(0, SEEN).drop_null(), pc.floor(head))).as_py():
        return None  # the file's mark, of which this column has none
    return style.decimal, style.thousands


def nulls_for_missing(texts: pa.ChunkedArray, absent: pa.Array | None) -> pa.ChunkedArray:
    """Texts with null for those that mean missing; None for the empty one alone."""
    if absent is None and pc.index(texts, pa.scalar("", texts.type)).as_py() < 0:  # most often, and it takes no memory
        return texts
    is_missing = pc.is_in(texts, absent.cast(texts.type)) if absent is not None else pc.equal(texts, EMPTY)
    none = pa.scalar(None, texts.type)
    return pc.if_else(is_missing, none, texts) if pc.any(is_missing).as_py() else texts


def text_columns_of(
    schema: pa.Schema, form: TextForm, looks: SampleFormat, *, comma_splits: bool = False
) -> dict[str, TextColumn]:
    """The columns of text that may hold something else, to be looked at block by block."""
    texts = [name for name, kind in zip(schema.names, schema.types, strict=True) if is_text(kind)]
    as_is = {*form.categories, *looks.codes, *form.text_columns}
    hints = hints_for(form, looks, texts, comma_splits=comma_splits)
    return {name: TextColumn(hints[name]) for name in texts if name not in as_is}


def conversions(
    columns: Mapping[str, TextColumn], whole: Callable[[str], pa.ChunkedArray]
) -> dict[str, tuple[ParsedColumn, Convert]]:
    """What columns of text hold that were looked at, and how each block of them is converted.

    Args:
        columns: that may hold something else than words.
        whole: a whole column, for one of which all rows must be seen together.
    """
    converts: dict[str, tuple[ParsedColumn, Convert]] = {}
    for name, column in columns.items():
        examples, missing = column.examples, column.hints.missing
        parsed = None if examples is None else parse_texts(examples, column.hints)
        if parsed is None:
            continue
        if parsed.read_more is not None:
            convert: Convert = partial(_read_block, read_more=parsed.read_more, missing=missing)
            first = pa.chunked_array(column.first)
            values = [convert(pa.chunked_array([part]), 0).chunk(0) for part in first.chunks]
            converts[name] = replace(parsed, values=pa.chunked_array(values)), convert
            continue
        rows = whole(name)
        parsed = parse_column(rows, column.hints)
        if parsed.values is not rows:
            converts[name] = parsed, partial(_slice, values=parsed.values)
    return converts


def whole_column(
    blocks: Iterable[pa.ChunkedArray], where: object, name: str, rows: int, memory: int
) -> pa.ChunkedArray:
    """One column of text, in which equal entries are held once; refused where it takes more than so many bytes."""
    parts = list[pa.Array]()
    needed = BYTES_A_ROW * rows
    for block in blocks:
        for chunk in block.slice(0, max(0, rows - sum(map(len, parts)))).chunks:
            parts.append(chunk.cast(pa.string()).dictionary_encode())
            needed += parts[-1].dictionary.nbytes
        if needed > memory:
            raise InputError(
                f"{where}: column {name!r} holds dates or numbers in a form that only all of its {rows:,} rows "
                f"together show, which takes more than {memory / 2**30:.1f} GiB; give more memory, or write the table "
                "to Parquet first, with dates as dates"
            )
    return pa.chunked_array(parts, pa.dictionary(pa.int32(), pa.string())).unify_dictionaries()


def _read_block(
    block: pa.ChunkedArray, row: int, *, read_more: Callable[[DistinctTexts], pa.Array], missing: Collection[str]
) -> pa.ChunkedArray:
    """A block of a column whose form is known."""
    texts = distinct_texts(block, missing)
    assert texts is not None
    return texts.spread(read_more(texts))


def _slice(block: pa.ChunkedArray, row: int, *, values: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same rows of a column that was read whole."""
    return values.slice(row, len(block))


def converted(
    block: pa.Table, row: int, schema: pa.Schema, converts: Mapping[str, Convert], form: TextForm
) -> pa.Table:
    """A block of a table with its columns of text as what they hold.

    Args:
        block: at least the columns of `schema`, as they came.
        row: position of its first row.
        schema: of the result.
        converts: by column.
        form: says which texts stay as they are written.
    """
    columns = []
    for name in schema.names:
        column = block[name]
        values = converts[name](column, row) if name in converts else column
        if is_text(values.type) and name not in form.text_columns:
            values = nulls_for_missing(values, form.absent)
        if name in form.marks:
            values = without_marks(values, form.marks[name])
        columns.append(values)
    return pa.Table.from_arrays(columns, schema=schema)


def without_closing_blocks(blocks: Iterable[pa.Table], rejects: list[str]) -> Iterator[pa.Table]:
    """Blocks of a table without its closing rows, which are added to `rejects`."""
    held: pa.Table | None = None
    for block in blocks:
        block = block if held is None else pa.concat_tables([held, block])
        yield block.slice(0, max(0, block.num_rows - TAIL))
        held = block.slice(max(0, block.num_rows - TAIL))
    if held is not None:
        rows, closing = without_closing_rows(held)
        rejects += closing
        yield rows
