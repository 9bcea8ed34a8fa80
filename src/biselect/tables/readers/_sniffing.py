"""How a text file is written, from its first bytes: encoding, delimiter, names and a few rows."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa

from biselect.errors import InputError
from biselect.options import ANY, Csv, spell
from biselect.tables.readers._layout import FEWEST_NAMES, joined_names, layout, unique_names

SAMPLE = 1 << 20  # bytes that are looked at
CELLS = 60_000  # of them at most so many one by one
RECORDS = 200  # by which delimiters are compared
DELIMITERS = (",", ";", "\t", "|")
SPACES = ("  ", " ")  # runs of at least so many spaces
EVEN = 0.95  # share of lines with as many values as the others, where spaces are between them
TOKEN = re.compile(r'"((?:[^"]|"")*)"|\[([^\]]*)\]|(\S+)')  # quotes and brackets hold values with spaces together
BOMS = (  # the longest first: that of UTF-32 begins as that of UTF-16 does
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
EAST = r"[\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]"
LETTERS = {"cp949": r"[\uac00-\ud7a3]", "gb18030": EAST, "cp1251": r"[\u0400-\u04ff]"}
DOS = re.compile(rb"(?<=[A-Za-z])[\x81\x82\x84\x85\x87\x8a\x94](?=[a-z])")  # ü é ä à ç è ö inside words
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
MOST_CONTROL = 0.01  # share of bytes of a text that no text holds
FEWEST = 8  # letters that are no ASCII, by which an encoding is known
WESTERN = "cp1252"  # what a file is taken for that is not UTF-8; printable Latin-1 is a part of it


@dataclass(frozen=True, kw_only=True)
class TextFormat:
    """What the beginning of a file shows.

    Attributes:
        encoding: as Python names it.
        bom: whether a mark of the encoding comes first.
        plain: whether all of it is ASCII, so that the encoding is still open.
        delimiter: between values; one or two spaces stand for any number of them.
        skipped: lines before the names: Excel's `sep=;`, or what a bank writes above its table.
        header: how many records hold names: 0 for none, 2 where units follow.
        names: of the columns; None where the first line is longer than the sample.
        as_written: whether the file's own reader finds these names.
        rows: those that are in the sample as a whole.
        multiline: whether a value runs over several lines.
        longest: bytes of the longest line, as far as it is in the sample.
    """

    encoding: str
    bom: bool
    plain: bool
    delimiter: str
    skipped: int
    header: int
    names: list[str] | None
    as_written: bool
    rows: list[list[str]]
    multiline: bool
    longest: int


def sniff(path: Path, csv_form: Csv = Csv()) -> TextFormat:
    """Look at the beginning of a file; what is given is not guessed."""
    delimiter = csv_form.delimiter
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise InputError(f"{spell(Csv(delimiter=ANY))} must be one plain character, such as ';', got {delimiter!r}")
    with pa.input_stream(str(path), compression="detect") as stream:
        sample = stream.read(SAMPLE)
        whole = len(sample) < SAMPLE or not stream.read(1)
    bom = next((mark for mark, _ in BOMS if sample.startswith(mark)), b"")
    encoding = csv_form.encoding
    if encoding is None:
        encoding = _encoding(sample, path)
    else:
        _refuse_unknown(encoding)
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(sample, final=whole).removeprefix("\ufeff")
    skipped = 0
    if text[:4].lower() == "sep=" and text[5:6] in "\r\n":
        delimiter, skipped = delimiter or text[4], 1
        text = text[5:].lstrip("\r").removeprefix("\n")
    if csv_form.header:
        skipped, text = csv_form.header - 1, _below(text, csv_form.header - 1 - skipped)
    sheets = [Sheet.of(text, whole, one, csv_form.header) for one in (delimiter or DELIMITERS)]
    sheet = _best(sheets, "\t" if ".tsv" in path.name.lower() else ",")
    if delimiter is None and sheet.width < FEWEST_NAMES:
        spaced = (Sheet.of(text, whole, one, csv_form.header) for one in SPACES)
        sheet = next((one for one in spaced if one.width > sheet.width and one.even >= EVEN), sheet)
    names, most = sheet.names, sheet.header + max(1, CELLS // sheet.width)
    _, records = _records(_below(text, sheet.above), whole, sheet.delimiter, most)
    rows = [row for row in records[sheet.header :] if len(row) == sheet.width]
    return TextFormat(
        encoding=encoding,
        bom=bool(bom),
        plain=sample.isascii(),
        delimiter=sheet.delimiter,
        skipped=skipped + sheet.above,
        header=sheet.header,
        names=names,
        as_written=sheet.header == 1 and (names is None or names == records[0]) and sheet.delimiter not in SPACES,
        rows=rows,
        multiline=any("\n" in cell for row in rows for cell in row),
        longest=max(map(len, sample.split(b"\n")[:RECORDS])),
    )


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """The beginning of a text as records between one delimiter.

    Attributes:
        delimiter: between values.
        above: lines above the names.
        header: records that hold names.
        names: one for each column; None where the first line is longer than the sample.
        width: values of most records.
        even: share of the records from the names on that have so many.
    """

    delimiter: str
    above: int
    header: int
    names: list[str] | None
    width: int
    even: float

    @classmethod
    def of(cls, text: str, whole: bool, delimiter: str, header: int | None) -> "Sheet":
        """Part a text; `header` as for `Csv`."""
        begins, records = _records(text, whole, delimiter)
        if not records:
            return cls(delimiter=delimiter, above=0, header=1, names=None, width=text.count(delimiter) + 1, even=1.0)
        stripped = [[cell.strip() for cell in record] for record in records]
        top, names = layout(stripped) if header is None else (0, min(header, 1))
        widths = [len(record) for record in records[top:]]
        usual = Counter(widths[names:] or widths).most_common(1)[0][0]
        head, width = stripped[top : top + names], widths[0]
        ends_empty = not any(record[-1] for record in stripped[top + names :] if len(record) == usual)
        if names and usual == width + 1 and ends_empty:  # a delimiter after the last value, but none after the names
            head, width = [[*row, ""] for row in head], usual
        return cls(
            delimiter=delimiter,
            above=begins[top],
            header=names,
            names=unique_names(joined_names(head) if names else [""] * width),
            width=width,
            even=sum(one == width for one in widths[names:] or widths) / len(widths[names:] or widths),
        )


def _best(sheets: Sequence[Sheet], usual: str) -> Sheet:
    """The one that gives the most records one and the same number of values, more than one."""
    order = sorted(sheets, key=lambda sheet: sheet.delimiter != usual)
    if several := [sheet for sheet in order if sheet.width > 1]:
        return max(several, key=lambda sheet: (round(sheet.even, 1), sheet.header > 0, sheet.width))
    return next((sheet for sheet in order if sheet.even == 1), order[0])  # one column, maybe with decimal commas


def _below(text: str, lines: int) -> str:
    """The text without its first lines."""
    return text if lines <= 0 else "".join(list(io.StringIO(text, newline=""))[lines:])


def _records(text: str, whole: bool, delimiter: str, most: int = RECORDS) -> tuple[list[int], list[list[str]]]:
    """The lines above each of the first records that are not empty, and these; without one that the sample may cut."""
    begins, records, line = list[int](), list[list[str]](), 0
    lines = io.StringIO(text, newline="")
    tabbed = (as_tabs(one, delimiter) for one in lines) if delimiter in SPACES else lines
    reader = csv.reader(tabbed, delimiter="\t" if delimiter in SPACES else delimiter)
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


def as_tabs(line: str, delimiter: str) -> str:
    """A line with tabs between values in place of runs of spaces.

    >>> as_tabs('10.0.0.1 - [30/Jun/2025 +0200] "GET /" 200', " ").split()
    ['10.0.0.1', '-', '30/Jun/2025', '+0200', 'GET', '/', '200']
    """
    line = line.removeprefix("#Fields:")  # of a web server
    if len(delimiter) > 1:
        return re.sub(r"[ \t]{2,}", "\t", line.strip()) + "\n"
    values = ("".join(parts).replace("\t", " ") for parts in TOKEN.findall(line))
    return "\t".join(f'"{one}"' if '"' in one else one for one in values) + "\n"


def _encoding(sample: bytes, path: Path) -> str:
    """The encoding of a text; of one that is not Unicode the bytes of its letters tell."""
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
        if len(CONTROL.findall(sample)) > MOST_CONTROL * len(sample):
            raise InputError(
                f"{path}: is no text, whatever its name says: it holds bytes that no encoding has"
            ) from None
        return _by_letters(sample)
    return "utf-8"


def _by_letters(sample: bytes) -> str:
    """Which encoding of one or two bytes a letter a text that is not Unicode is in."""
    runs = re.findall(rb"[\x80-\xff]+", sample)
    letters = b"".join(runs)
    kinds = set(letters)

    def share(some: bytes) -> float:
        return sum(letters.count(one) for one in some) / len(letters)

    if share(bytes(range(0x81, 0xA0))) > 0.2 and _is_text_in("cp932", sample):
        return "cp932"
    if len(DOS.findall(sample)) > 0.3 * len(letters):
        return "cp850"
    if len(letters) > max(FEWEST, 2.5 * len(runs)):  # Western words have no three such letters in a row
        pairs = all(len(run) % 2 == 0 for run in runs)
        own = [name for name in LETTERS if (pairs or name == "cp1251") and _is_text_in(name, sample)]
        return next(iter(own), WESTERN)
    if share(b"\xd0\xdd\xde\xf0\xfd\xfe") > 0.1 and not kinds & set(b"\xe1\xe9\xed\xf3\xfa\xe6"):
        return "cp1254"  # ğ ı ş, without the letters of Iceland
    polish, czech = kinds & set(b"\xb3\xb9\xbf\x9c\x9f"), kinds & set(b"\xf8\x9a\x9e\xec\xf9")
    if (len(polish) > 2 and share(bytes(polish)) > 0.3) or len(czech) > 3 or {0xF5, 0xF6, 0xFB} <= kinds:
        return "cp1250"
    return WESTERN


def _is_text_in(encoding: str, sample: bytes) -> bool:
    """Whether a text can be read in an encoding, as letters of its language."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return False
    letters = re.sub(r"[\x00-\x7f]", "", text)
    if encoding == "cp932" and 2 * len(re.findall(rf"(?<!{EAST}){EAST}(?!{EAST})", text)) > len(letters):
        return False  # single signs in Latin words
    return 10 * len(re.findall(LETTERS.get(encoding, EAST), letters)) > 8 * len(letters)


def _refuse_unknown(encoding: str) -> None:
    try:
        b"x".decode(encoding)
    except (LookupError, ValueError):
        raise InputError(
            f"{spell(Csv(encoding=encoding))} is not known; such are utf-8, cp1252, latin-1, utf-16, cp1250, cp1251"
        ) from None
