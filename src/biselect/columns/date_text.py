"""Dates as people write them: 31.12.2025, 12/31/25 3:45 PM, 31-Dec-25; all rows decide which part is the day."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

_TIME = (
    r"(?P<gap>T|, |:| )(?P<hour>9{1,2}):99(?P<second>:99)?(?P<part>[.,]9+)?(?P<half> ?[AaPp][Mm])?(?P<zone> ?[+-]9999)?"
)
_DIGITS = re.compile(rf"(?P<a>9{{1,4}})(?P<mark>[./-])(?P<b>9{{1,2}})(?P=mark)(?P<c>9{{2}}|9{{4}})(?:{_TIME})?")
_MONTH = r"(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_NAMED = re.compile(rf"(?:9{{1,2}}(?P<mark>[ ./-]){_MONTH}(?P=mark)(?P<c>9{{4}}|99))(?:{_TIME})?", re.IGNORECASE)
_US_NAMED = re.compile(rf"{_MONTH} 9{{1,2}}, (?P<c>9{{4}})(?:{_TIME})?", re.IGNORECASE)
_EAST_ASIAN = re.compile(rf"9999年9{{1,2}}月9{{1,2}}日(?:{_TIME})?")
_ISO = re.compile(r"9{4}-99-99(?:[T ]99:99(?::99(?:[.,]9+)?)?(?: ?(?:Z|UTC|GMT)| ?[+-]99(?::?99)?)?)?")
ISO_KINDS = (pa.timestamp("us"), pa.timestamp("us", tz="UTC"))
EXAMPLE = datetime(2025, 12, 31, 15, 45, 30)


@dataclass(frozen=True, kw_only=True)
class Dates:
    """A column of dates that was read.

    Attributes:
        values: as timestamps.
        form: as `strptime` takes it, `ISO` for that.
        doubtful: whether day and month could as well be the other way round.
    """

    values: pa.Array
    form: str
    doubtful: bool = False


def in_words(form: str) -> str:
    """A date in this form, for people.

    >>> in_words("%d.%m.%Y")
    '31.12.2025'
    """
    return "2025-12-31" if form == "ISO" else EXAMPLE.strftime(form)


def forms_of(shape: str) -> tuple[str, ...]:
    """The forms, day first and month first, of a text all of whose digits are nines; none if it is no date.

    >>> forms_of("99.99.9999"), forms_of("9/9/9999 9:99 PM"), forms_of("9.9.9")
    (('%d.%m.%Y', '%m.%d.%Y'), ('%d/%m/%Y %I:%M %p', '%m/%d/%Y %I:%M %p'), ())
    """
    if _ISO.fullmatch(shape):
        return ("ISO",)
    if match := _NAMED.fullmatch(shape):
        return (f"%d{match['mark']}%b{match['mark']}{_year(match['c'])}{_time(match)}",)
    if match := _US_NAMED.fullmatch(shape):
        return (f"%b %d, %Y{_time(match)}",)
    if match := _EAST_ASIAN.fullmatch(shape):
        return (f"%Y年%m月%d日{_time(match)}",)
    if not (match := _DIGITS.fullmatch(shape)):
        return ()
    mark, ends = match["mark"], _time(match)
    if len(match["a"]) == 4:
        return (f"%Y{mark}%m{mark}%d{ends}",) if len(match["c"]) == 2 else ()
    is_short = len(match["c"]) == 2 and (len(match["a"]), len(match["b"])) != (2, 2)
    if len(match["a"]) == 3 or (is_short and mark != "/" and not ends):
        return ()  # 1.2.10 is rather a version than a day
    year = _year(match["c"])
    return f"%d{mark}%m{mark}{year}{ends}", f"%m{mark}%d{mark}{year}{ends}"


def _year(digits: str) -> str:
    return "%Y" if len(digits) == 4 else "%y"


def _time(match: re.Match[str]) -> str:
    if not match["gap"]:
        return ""
    hour = "%I" if match["half"] else "%H"
    half = "" if not match["half"] else " %p" if match["half"].startswith(" ") else "%p"
    zone = "" if not match["zone"] else match["zone"].rstrip("+-9") + "%z"
    return f"{match['gap']}{hour}:%M{':%S' if match['second'] else ''}{half}{zone}"


def to_dates(texts: pa.Array, shapes: Iterable[str], spread: Callable[[pa.Array], pa.ChunkedArray]) -> Dates | None:
    """Different texts of these shapes, or null, as timestamps; None where some are no dates.

    Which part is the day: the order in which all can be read. Where both orders do, the one in which the rows, as
    `spread` gives them, are sorted; then the day first, which without points between them is a guess.
    """
    forms = [forms_of(shape) for shape in shapes]
    if not forms or not all(forms):
        return None
    if any(one == ("ISO",) for one in forms):
        values = iso_dates(texts) if all(one == ("ISO",) for one in forms) else None
        return None if values is None else Dates(values=values, form="ISO")
    if len({len(one) for one in forms}) > 1:
        return None
    if any("." in shape or "," in shape for shape in shapes):  # parts of a second, which `strptime` does not know
        texts = pc.replace_substring_regex(texts, r"(:\d\d)[.,]\d+", r"\1")
    orders = [sorted({one[order] for one in forms}) for order in range(len(forms[0]))]
    read = [Dates(values=values, form=order[0]) for order in orders if (values := _all_read(texts, order)) is not None]
    if len(read) < 2:
        return read[0] if read else None
    in_order = [one for one in read if _sorted(spread(one.values))]
    return replace((in_order or read)[0], doubtful=len(in_order) != 1 and "." not in read[0].form)


def from_form(texts: pa.Array, form: str) -> pa.Array:
    """Different texts in a given form as timestamps; null where they are not."""
    try:
        read = _strptime(texts, form)
        if read.null_count == texts.null_count:
            return read
    except (pa.ArrowException, ValueError):  # a part of the form that Arrow does not know
        pass
    moments = [None if text is None else _moment(text, form) for text in texts.to_pylist()]
    with_offset = any(moment is not None and moment.tzinfo is not None for moment in moments)
    return pa.array(moments, pa.timestamp("us", tz="UTC" if with_offset else None))


def _moment(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text.strip(), form)
    except ValueError:
        return None


def iso_dates(texts: pa.Array) -> pa.Array | None:
    """Different ISO texts as timestamps, with offsets as UTC; None if they do not go together."""
    texts = pc.replace_substring_regex(texts, r"(:\d\d),(\d)", r"\1.\2")
    texts = pc.replace_substring_regex(texts, r" ?(UTC|GMT)$", "Z")
    texts = pc.replace_substring_regex(texts, r"(\d) ([+-])", r"\1\2")
    for kind in ISO_KINDS:
        try:
            return pc.cast(texts, kind)
        except pa.ArrowInvalid:
            continue
    return None


def _all_read(texts: pa.Array, forms: list[str]) -> pa.Array | None:
    """The texts as timestamps, each in one of the forms, or None."""
    if len({"%z" in form for form in forms}) > 1:
        return None
    values = pc.coalesce(*(_strptime(texts, form) for form in forms))
    return values if values.null_count == texts.null_count else None


def _strptime(texts: pa.Array, form: str) -> pa.Array:
    """Null where the form does not fit, or where the day is none: Arrow takes 31.02. for 3 March."""
    read = pc.strptime(texts, format=form, unit="us", error_is_null=True)
    before, day, _ = form.partition("%d")
    if not day:
        return read
    late = pc.match_substring_regex(texts, rf"^\s*(?:\w+\W+){{{before.count('%')}}}(?:29|30|31)")
    none = pc.and_kleene(late, pc.less_equal(pc.day(read), 3))
    return pc.if_else(none, pa.scalar(None, read.type), read) if pc.any(none).as_py() else read


def _sorted(values: pa.ChunkedArray) -> bool:
    moments = values.drop_null().combine_chunks().cast(pa.int64()).to_numpy()
    return bool((moments[1:] >= moments[:-1]).all() or (moments[1:] <= moments[:-1]).all())
