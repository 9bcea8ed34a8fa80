"""How a text file is written, from its first bytes: encoding, delimiter, names and a few rows."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa

from biselect.errors import InputError
from biselect.options import ANY, Csv, spell

SAMPLE = 1 << 20  # bytes that are looked at
CELLS = 60_000  # of them at most so many one by one
RECORDS = 200  # by which delimiters are compared
DELIMITERS = (",", ";", "\t", "|")
PREAMBLE = 20  # lines above the names, at most
FEWEST_NAMES = 3  # under a preamble; of fewer, text with a comma in it could be meant
NUMBER = re.compile(r"[\d\s.,'+-]+")
BOMS = (  # the longest first: that of UTF-32 begins as that of UTF-16 does
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WESTERN = "cp1252"  # what a file is taken for that is not UTF-8; printable Latin-1 is a part of it


@dataclass(frozen=True, kw_only=True)
class TextFormat:
    """What the beginning of a file shows.

    Attributes:
        encoding: as Python names it.
        bom: whether a mark of the encoding comes first.
        plain: whether all of it is ASCII, so that the encoding is still open.
        delimiter: between values.
        skipped: lines before the names: Excel's `sep=;`, or what a bank writes above its table.
        names: of the columns; None where the first line is longer than the sample.
        rows: those that are in the sample as a whole.
        multiline: whether a value runs over several lines.
        longest: bytes of the longest line, as far as it is in the sample.
    """

    encoding: str
    bom: bool
    plain: bool
    delimiter: str
    skipped: int
    names: list[str] | None
    rows: list[list[str]]
    multiline: bool
    longest: int


def sniff(path: Path, *, encoding: str | None = None, delimiter: str | None = None) -> TextFormat:
    """Look at the beginning of a file; what is given is not guessed."""
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise InputError(f"{spell(Csv(delimiter=ANY))} must be one plain character, such as ';', got {delimiter!r}")
    with pa.input_stream(str(path), compression="detect") as stream:
        sample = stream.read(SAMPLE)
        whole = len(sample) < SAMPLE or not stream.read(1)
    bom = next((mark for mark, _ in BOMS if sample.startswith(mark)), b"")
    if encoding is None:
        encoding = _encoding(sample, path)
    else:
        _refuse_unknown(encoding)
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(sample, final=whole).removeprefix("\ufeff")
    skipped = 0
    if text[:4].lower() == "sep=" and text[5:6] in "\r\n":
        delimiter, skipped = delimiter or text[4], 1
        text = text[5:].lstrip("\r").removeprefix("\n")
    if not skipped and (above := _above(text, whole, DELIMITERS if delimiter is None else delimiter)):
        skipped, delimiter = above
        text = "".join(list(io.StringIO(text, newline=""))[skipped:])
    if delimiter is None:
        delimiter = _delimiter(text, whole, "\t" if ".tsv" in path.name.lower() else ",")
    names, rows = _rows(text, whole, delimiter)
    return TextFormat(
        encoding=encoding,
        bom=bool(bom),
        plain=sample.isascii(),
        delimiter=delimiter,
        skipped=skipped,
        names=names,
        rows=rows,
        multiline=any("\n" in cell for row in rows for cell in row),
        longest=max(map(len, sample.split(b"\n")[:RECORDS])),
    )


def _encoding(sample: bytes, path: Path) -> str:
    for mark, name in BOMS:
        if sample.startswith(mark):
            return name
    for name, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[::2])):
        if len(sample) >= 4 and zeros.count(0) > len(zeros) // 2:  # Western text in two bytes a character
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError as error:
        if not sample[: error.start].isascii():
            line = sample.count(b"\n", 0, error.start) + 1
            raise InputError(
                f"{path}: is UTF-8 up to line {line}, which holds bytes that are not; repair that line, or say what "
                f"the file is, such as {spell(Csv(encoding='cp1252'))}"
            ) from None
        return WESTERN
    return "utf-8"


def _refuse_unknown(encoding: str) -> None:
    try:
        b"x".decode(encoding)
    except (LookupError, ValueError):
        raise InputError(
            f"{spell(Csv(encoding=encoding))} is not known; such are utf-8, cp1252, latin-1, utf-16, cp1250, cp1251"
        ) from None


def _records(text: str, whole: bool, delimiter: str, most: int = RECORDS) -> tuple[list[int], list[list[str]]]:
    """The lines above each of the first records that are not empty, and these; without one that the sample may cut."""
    begins, records, line = list[int](), list[list[str]](), 0
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for record in islice(reader, most + 1):
            if record:
                begins.append(line)
                records.append(record)
            line = reader.line_num
    except csv.Error:  # a field longer than that module bears
        whole = True
    cut = most if whole or len(records) > most else -1
    return begins[:cut], records[:cut]


def _above(text: str, whole: bool, delimiters: Iterable[str]) -> tuple[int, str] | None:
    """How many lines stand above the names, and what is between these; None where the names come first.

    All records from the names on have as many values as the names, and the first of the file has fewer: read as it
    stands, such a file would be refused.
    """
    candidates: list[tuple[int, int, str]] = []
    for delimiter in delimiters:
        begins, records = _records(text, whole, delimiter)
        widths = [len(record) for record in records]
        usual = Counter(widths).most_common(1)[0][0] if widths else 0
        if usual > 1 and set(widths) == {usual}:
            return None
        at = widths.index(usual) if usual >= FEWEST_NAMES and widths[0] < usual else 0
        names = [name.strip() for name in records[at]] if at else []
        if names and all(names) and not any(map(NUMBER.fullmatch, names)) and set(widths[at:]) == {usual}:
            candidates.append((usual, begins[at], delimiter))
    if not candidates or max(candidates)[1] > PREAMBLE:
        return None
    return max(candidates)[1:]


def _delimiter(text: str, whole: bool, usual: str) -> str:
    """The delimiter that gives the names and the most rows one and the same number of values, more than one."""
    widths_of: dict[str, tuple[float, int]] = {}
    order = sorted(DELIMITERS, key=lambda one: one != usual)
    for candidate in order:
        widths = [len(record) for record in _records(text, whole, candidate)[1]]
        if not widths:  # the first line alone is longer than the sample
            widths = [text.count(candidate) + 1]
        alike = sum(width == widths[0] for width in widths) / len(widths)
        widths_of[candidate] = (round(alike, 1), widths[0])
    several = [one for one in order if widths_of[one][1] > 1]
    if several:
        return max(several, key=widths_of.__getitem__)
    return next((one for one in order if widths_of[one] == (1.0, 1)), usual)  # one column, maybe with decimal commas


def _rows(text: str, whole: bool, delimiter: str) -> tuple[list[str] | None, list[list[str]]]:
    """The names, and as many rows as may be looked at."""
    _, first = _records(text, whole, delimiter, 1)
    if not first:
        return None, []
    names = first[0]
    _, (_, *rows) = _records(text, whole, delimiter, 1 + max(1, CELLS // len(names)))
    return names, [row for row in rows if len(row) == len(names)]
