"""Numbers as people write them: 1.234,56 and 1,234.56, 1 234,56 €, 12,34,567, (12.00), 4,3 mEq/L, <0,5, 99,00-."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

SPACES = " \u00a0\u202f\u2009"
APOSTROPHES = "'\u2019"
SAME_MARK = {mark: kind for kind, marks in ((" ", SPACES), ("'", APOSTROPHES)) for mark in marks}
MARK_NAMES = {",": "comma", ".": "point", " ": "space", "'": "apostrophe", "": "none"}
_CODES = "EUR|USD|CHF|GBP|JPY|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|CNY|INR|BRL|MXN|ZAR|TRY"
_SIGNS = "$€£¥￥₹₺₽₩₪₴%‰円元"
# Other words than these before a number name something: Zone 3.
_MONEY = rf"(?:R|A|C|US)?\$|[{_SIGNS}]|{_CODES}|kr|zł|Kč|Ft|Fr\.?|TL|Rs\.?"
_FIRST = rf"(?![¹²³¼-¾⁰-₉⅐-⅟]|[eE](?![^\W_]))(?:[^\W\d_]|[/°{_SIGNS}])"
_WORD = rf"{_FIRST}[\w/°.·*×^⁻{_SIGNS}]*"
_GLUED = rf"{_FIRST}(?:[^\W\d]|[/°.·*×^⁻{_SIGNS}])*\d?"  # 12m2, but not the 1a2b3c of keys
_MORE = rf"(?:[{SPACES}]{_WORD}){{0,2}}"
_ABOUT = r"[<>≤≥≈~]=?|(?:ca|circa|approx)\b\.?"
_BODY = rf"\d[\d.,{SPACES}{APOSTROPHES}]*\d|\d|[.,]\d+"
FEWEST_LETTERS = 3  # of a word that has a plural
_NINES = str.maketrans("012345678", "9" * 9)
_NUMBER = re.compile(
    rf"(?:(?P<about>{_ABOUT})[{SPACES}]?)?(?P<open>\()?(?P<sign>[+\-−])?[{SPACES}]?(?P<before>{_MONEY})?[{SPACES}]?(?P<inner>[+\-−])?(?P<body>{_BODY})"
    rf"(?P<power>[eE][+-]?\d+)?(?:[{SPACES}](?P<after>{_WORD}{_MORE})|(?P<glued>{_GLUED}{_MORE}))?"
    rf"(?P<last>[-−+])?(?P<close>\))?"
)


@dataclass(frozen=True, kw_only=True)
class NumberFormat:
    """The marks of numbers: `decimal` is a comma or a point, `thousands` one of `. , ' space` or empty for none."""

    decimal: str = "."
    thousands: str = ""

    @property
    def plain(self) -> bool:
        """Whether every reader would understand it."""
        return self.decimal == "." and not self.thousands


@dataclass(frozen=True, kw_only=True)
class NumberPattern:
    """One way in which a number is written, from a text of it whose digits need not be the right ones.

    Attributes:
        decimal: the mark before decimals, where it is certain.
        thousands: that between thousands, likewise.
        either: a comma or point that may be one or the other: 1.234.
        unit: the word or sign before or behind it.
        about: whether a sign such as < or ≈ says that it is a limit, or not exact.
        whole: whether it has neither decimals nor a power of ten.
        simple: whether nothing but the marks keeps it from being read as it stands.
    """

    decimal: str = ""
    thousands: str = ""
    either: str = ""
    unit: str = ""
    about: bool = False
    whole: bool = True
    simple: bool = True

    def fits(self, style: NumberFormat) -> bool:
        """Whether a number written so can be read in this style."""
        if self.decimal not in ("", style.decimal) or self.thousands not in ("", style.thousands):
            return False
        return self.either in ("", style.decimal, style.thousands)


def pattern_of(text: str) -> NumberPattern | None:
    """The same as `written`, which is asked once for each shape: texts in which only digits differ."""
    shape = text.translate(_NINES)
    return written("0" + shape[1:] if text[:1] == "0" and text[1:2] in (",", ".") else shape)


@lru_cache(maxsize=4096)
def written(text: str) -> NumberPattern | None:
    """How a text is written as a number, None for any other text.

    >>> written("1.234").either, written("0.234").decimal, written("4,3 mEq/L").unit, written("1.2.3")
    ('.', '.', 'mEq/L', None)
    """
    match = _NUMBER.fullmatch(text)
    if (
        match is None
        or bool(match["open"]) != bool(match["close"])
        or (match["before"] and (match["after"] or match["glued"]))
    ):
        return None
    if sum(bool(match[part]) for part in ("open", "sign", "inner", "last")) > 1:
        return None
    marks = _marks(match["body"])
    if marks is None:
        return None
    decimal, thousands, either = marks
    unit = match["before"] or match["after"] or match["glued"] or ""
    odd = unit or any(match[part] for part in ("about", "open", "inner", "last")) or match["sign"] in ("+", "−")
    if match["power"] and (thousands or either or unit):
        return None
    whole, parts = not decimal and not match["power"], {"decimal": decimal, "thousands": thousands, "either": either}
    return NumberPattern(**parts, unit=unit, about=bool(match["about"]), whole=whole, simple=not odd)


def unit_of(ways: Iterable[NumberPattern]) -> str | None:
    """The unit of a column; empty for none, None where its numbers have several and cannot be compared.

    A sign may be left out; a number without a word that others have may be of another unit: 1,2 Mio beside 900. A word
    may end otherwise in the singular: 1 Jahr, 2 Jahre.
    """
    *others, longest = sorted({way.unit for way in ways} or {""}, key=len)
    fits = all(_is_singular(unit, longest) if unit else is_sign(longest) for unit in others)
    return longest if fits else None


def _is_singular(unit: str, plural: str) -> bool:
    end = plural.removeprefix(unit)
    return plural.startswith(unit) and len(unit) >= FEWEST_LETTERS and len(end) <= 2 and end.isalpha()


def is_sign(unit: str) -> bool:
    """Whether a unit is a sign or a currency, which people also leave out."""
    return not unit or re.fullmatch(_MONEY, unit) is not None


def _marks(body: str) -> tuple[str, str, str] | None:
    """Decimal mark, thousands mark and one that may be either, of a number without sign and unit."""
    groups = re.split(r"\D", body)
    marks = [SAME_MARK.get(mark, mark) for mark in re.findall(r"\D", body)]
    if not marks:
        return "", "", ""
    *before, last = marks
    sizes = [len(group) for group in groups[1:-1]]
    if last == ",":  # 12,34,567 in India
        sizes = [3 if size == 2 else size for size in sizes]
    elif set(before) == {","}:
        sizes[:-1] = [3 if size == 2 else size for size in sizes[:-1]]
    if any(mark != marks[0] for mark in before) or any(size != 3 for size in sizes):
        return None
    of_three = len(groups[-1]) == 3 and 1 <= len(groups[0]) <= 3 and not groups[0].startswith("0")
    if not before:
        if last in ".,":
            return ("", "", last) if of_three else (last, "", "")
        return ("", last, "") if of_three else None
    if not 1 <= len(groups[0]) <= 3:
        return None
    if last == before[0]:
        return ("", last, "") if of_three else None
    return (last, before[0], "") if last in ".," else None


def style_of(
    ways: Iterable[NumberPattern], default: NumberFormat | None, *, comma_splits: bool = False
) -> tuple[NumberFormat, bool]:
    """The style in which a column is written, and whether that is a guess; numbers that do not fit it may remain.

    Args:
        ways: in which its numbers are written.
        default: the style of the rest of the file, where that shows one.
        comma_splits: whether commas stand between values, so that one inside a value is rather for thousands.
    """
    ways = list(ways)
    decimals = {way.decimal for way in ways if way.decimal}
    thousands = {way.thousands for way in ways if way.thousands}
    open_marks = {way.either for way in ways if way.either}
    point = default.decimal if default else "."
    if len(decimals) == 1:
        point = decimals.pop()
    elif len(thousands) == 1 and (only := next(iter(thousands))) in (".", ","):
        point = "," if only == "." else "."
    elif open_marks == {","} and default is None:
        if thousands:
            return NumberFormat(decimal=",", thousands=thousands.pop()), False
        return (NumberFormat(decimal=".", thousands=",") if comma_splits else NumberFormat(decimal=",")), True
    between = thousands or open_marks - {point}
    return NumberFormat(decimal=point, thousands=next(iter(sorted(between)), "")), False


def file_style(columns: Iterable[Iterable[NumberPattern]]) -> NumberFormat | None:
    """The style that most columns are certainly written in; None where none shows any."""
    votes: Counter[str] = Counter()
    for ways in columns:
        marks = {way.decimal for way in ways if way.decimal}
        marks |= {"," if way.thousands == "." else "." for way in ways if way.thousands in (".", ",")}
        if len(marks) == 1:
            votes.update(marks)
    return NumberFormat(decimal=votes.most_common(1)[0][0]) if votes else None


def to_numbers(texts: pa.Array, ways: Mapping[str, NumberPattern], style: NumberFormat, unit: str = "") -> pa.Array:
    """Texts, each of which is null or written in one of these ways, as whole numbers where all are, or floats.

    A unit that holds digits is given as it stands.
    """
    shapes = "".join(ways)
    if any(not way.simple for way in ways.values()):
        names = {unit} if unit else {way.unit for way in ways.values() if way.unit}
        units = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        negative = pc.match_substring_regex(texts, r"^\(|^\D*[-−]|\d\D*[-−]$")
        texts = pc.replace_substring_regex(texts, rf"{units}{units and '|'}^(?:{_ABOUT})|[()−{SPACES}]|^[-+]|[-+]$", "")
        texts = pc.replace_substring_regex(texts, r"^[-+]", "")  # one that stood behind a unit
        texts = pc.if_else(negative, pc.binary_join_element_wise("-", texts, ""), texts)
    for mark in [one for one in marks_for(style.thousands) if one in shapes]:
        texts = pc.replace_substring(texts, mark, "")
    if style.decimal != "." and style.decimal in shapes:
        texts = pc.replace_substring(texts, style.decimal, ".")
    whole = all(way.whole and way.either != style.decimal for way in ways.values())
    if whole:
        try:
            return pc.cast(texts, pa.int64())
        except pa.ArrowInvalid:  # beyond 64 bits
            pass
    return pc.cast(texts, pa.float64())


def marks_for(mark: str) -> str:
    """All characters that are written for a mark."""
    return {" ": SPACES, "'": APOSTROPHES}.get(mark, mark)
