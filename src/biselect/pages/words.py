"""What the page says: all its words come from one file a language, and the finding is put into a sentence here."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import ceil, floor, fsum, log10
from typing import Any, NamedTuple

from markupsafe import Markup

NOUN = re.compile(r"([A-Za-z]{3,})[ _.-]?(?:id|ID|Id|no|No|number|Number|nr|Nr|key|Key)")
HEADLINE, LONGEST_NAME = 112, 30  # characters of a headline, which are two lines, and of a column's name in it
NO_NOUNS = {"row", "record", "line", "unique", "index", "external", "internal", "source", "serial", "the"}


class _Thousands(int):
    """An integer that stands in a sentence with its thousands apart unless the sentence says otherwise."""

    def __format__(self, format_spec: str) -> str:
        return format(int(self), format_spec or ",")


class Words:
    """The words of one language."""

    def __init__(self, language: str = "en"):
        text = files("biselect.pages").joinpath("words", f"{language}.toml").read_text(encoding="utf-8")
        self.tree: dict[str, Any] = tomllib.loads(text)

    def say(self, key: str, **values: Any) -> Markup:
        """A sentence for a page, its values filled in and escaped; `n` decides between one and many.

        >>> Words().say("rows.more", n=1), Words().say("rows.more", n=1200)
        (Markup('1 more row'), Markup('1,200 more rows'))
        """
        return Markup(self._template(key, values)).format(**_with_thousands(values))

    def phrase(self, key: str, **values: Any) -> str:
        """The same as plain text, for a terminal, a file or a notebook.

        >>> Words().phrase("labels.names", names="<2>")
        'Known positives among them: <2>.'
        """
        return self._template(key, values).format(**_with_thousands(values))

    def _template(self, key: str, values: Mapping[str, Any]) -> str:
        template: Any = self.tree
        for part in key.split("."):
            template = template[part]
        if isinstance(template, dict):
            template = template["one" if values["n"] == 1 else "other"]
        return str(template)

    def reading(self, files: Sequence[str]) -> str:
        """Name the step that reads these files.

        >>> Words().reading(["a.csv", "b.csv"])
        'Reading a.csv and b.csv'
        """
        return self.phrase("steps.reading", name=self.tree["and"].join(files) or self.phrase("steps.tables_given"))

    @property
    def missing(self) -> str:
        """What stands for a cell without a value."""
        return str(self.tree["value"]["missing"])

    @property
    def alone(self) -> str:
        """What a row is worth on its own, where no table tells its columns apart."""
        return str(self.tree["value"]["alone"])

    def directed(self, column: str, direction: str) -> str:
        """Name a directed column.

        >>> words = Words()
        >>> words.directed("V4", "high"), words.directed("payment", "voucher"), words.directed("V4", "")
        ('high V4', 'payment = voucher', 'V4')
        """
        key = direction if direction in self.tree["direction"] else "value"
        return self.phrase(f"direction.{key}", column=column, value=direction) if direction else column

    def kind(self, columns: Sequence[str], directions: Sequence[str]) -> str:
        """Name a kind of unusual by its columns and their directions.

        >>> Words().kind(["V14", "V4", "V12"], ["low", "high", "low"])
        'low V14, V12 and high V4 together'
        """
        by_direction: dict[str, list[str]] = {}
        for name, direction in zip(columns, directions, strict=True):
            is_value = direction not in self.tree["direction"] and direction != ""
            by_direction.setdefault(f"={direction}" if is_value else direction, []).append(name)
        names = []
        for direction, of_direction in by_direction.items():
            if direction.startswith("="):
                names += [self.directed(name, direction[1:]) for name in of_direction]
            else:
                names.append(self.directed(self.tree["comma"].join(of_direction), direction))
        return self.listed(names) + self.tree["finding"]["together"] * (len(columns) > 1)

    def range(self, low: str, high: str) -> str:
        """From one value to another.

        >>> Words().range("0", "20"), Words().range("3", "3"), Words().range("-2", "1")
        ('0–20', '3', '-2 to 1')
        """
        key = "signed_range" if "-" in low[:1] + high[:1] else "range"
        return low if low == high else self.phrase(f"value.{key}", low=low, high=high)

    def usual(self, usual: str, *, like: bool, moved_from: str = "") -> str:
        """What is usual in a column, to follow a value.

        Args:
            usual: what reference rows have there.
            like: whether these are the rows most like this one, not all of them.
            moved_from: the value in the table as a person reads it, where the column was moved back; else empty.

        >>> words = Words()
        >>> "humidity 23.7" + words.usual("44–52", like=True), "items 46" + words.usual("2–9", like=False)
        ('humidity 23.7, where the rows most like it have 44–52', 'items 46 (normal 2–9)')
        """
        moved = self.phrase("reason.moved", value=moved_from) if moved_from else ""
        if like or not usual:
            return (f" ({moved})" if moved else "") + (self.phrase("reason.like", usual=usual) if usual else "")
        return self.phrase("reason.normal", usual=usual, moved=f"{moved}; " if moved else "")

    def listed(self, items: Sequence[str], last: str = "and") -> str:
        """Items as in a sentence; `last` is the word before the last one.

        >>> Words().listed(["a", "b", "c"]), Words().listed(["card", "cash"], "or")
        ('a, b and c', 'card or cash')
        """
        if len(items) < 2:
            return "".join(items)
        return str(self.tree["comma"].join(items[:-1]) + self.tree[last] + items[-1])

    def finding(self, view: Mapping[str, Any]) -> str:
        """The finding in two sentences: what the rows share, and what that is worth."""
        return f"{self.headline(view)} {self.lead(view)}"

    def headline(self, view: Mapping[str, Any]) -> str:
        """What was found, in one sentence that fits two lines of the page."""
        finding, noun = view["finding"], view["noun"]
        if finding["case"] == "nothing":
            return self.phrase("finding.nothing" + _few(finding), of=view["budgets"]["samples"], **noun)
        return self.shared("finding", finding["shared"], len(finding["pool_rows"]), **noun)

    def kind_headline(self, kind: Mapping[str, Any], noun: Mapping[str, str]) -> str:
        """What the rows of a kind of a report share, in one sentence; its columns if they share nothing."""
        if not kind["shared"]:
            return str(kind["name"])
        number = sum(row["shares"] for row in kind["rows"])
        return self.shared("kinds", kind["shared"], number, k=len(kind["rows"]), **noun)

    def shared(self, section: str, traits: Sequence[Mapping[str, Any]], number: int, **facts: Any) -> str:
        """What some rows share, in one sentence.

        Args:
            section: of the words, with the sentence.
            traits: each with its `text` and the number of `rows` that it holds for.
            number: how many rows share most of them.
            facts: what else the sentence holds.
        """
        all_hold = all(trait["rows"] >= number for trait in traits)
        key = "apart" if not traits else "share" if all_hold else "share_most"
        for told in range(len(traits), -1, -1):
            texts = [trait["text"] for trait in traits[:told]]
            texts += [self.phrase("finding.more_traits", n=len(traits) - told)] * (told < len(traits))
            sentence = self.phrase(f"{section}.{key}", n=number, traits=self.listed(texts), **facts)
            if told < 2 or len(sentence) <= HEADLINE:
                break
        return sentence

    def lead(self, view: Mapping[str, Any]) -> str:
        """What the finding is worth, in one sentence."""
        finding = view["finding"]
        uncounted = finding["case"] == "described" and view["reference"] != "self"
        key = "uncounted" if uncounted else finding["case"] + _few(finding)
        number = round(finding["expected"] or 0)
        if finding["case"] == "nothing":
            number = finding["beyond"] or view["budgets"]["k"]
        return self.phrase(f"finding.lead_{key}", n=number, **view["noun"])

    def next_step(self, view: Mapping[str, Any]) -> str:
        """What to do about the finding, in a sentence or two."""
        finding = view["finding"]
        few, number = "", finding["chosen"]
        if finding["case"] == "nothing":
            few, number = _few(finding), finding["beyond"]
        return self.phrase(f"page.next.{finding['case']}{few}", n=number, **view["noun"])

    def noun(self, id_column: str | None) -> dict[str, str]:
        """What one row of a table is called, and many: by the name of its column of ids, where that says it.

        >>> Words().noun("order_id"), Words().noun("Nr")
        ({'row': 'order', 'rows': 'orders'}, {'row': 'row', 'rows': 'rows'})
        """
        match = NOUN.fullmatch(id_column or "")
        one = match[1].lower() if match and match[1].lower() not in NO_NOUNS else self.tree["noun"]
        if one == self.tree["noun"]:
            return {"row": one, "rows": self.tree["nouns"]}
        ending = next((end for end in ("s", "x", "ch", "sh") if one.endswith(end)), "")
        many = one[:-1] + "ies" if one.endswith("y") and one[-2:-1] not in "aeiou" else one + ("es" if ending else "s")
        return {"row": one, "rows": many}


def _few(finding: Mapping[str, Any]) -> str:
    """How a key ends: hardly any normal row is like these, or some row scores more than all normal ones."""
    if finding["case"] == "nothing":
        return "_few" if finding["beyond"] else ""
    return "_few" if finding["expected"] is not None and finding["expected"] <= 0.5 else ""


def _with_thousands(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _Thousands(value) if type(value) is int else value for name, value in values.items()}


def short_name(name: str, names: Sequence[str]) -> str:
    """A name as it fits into a sentence: its beginning, as long as no other name begins so.

    >>> names = ["temperature of the sensor in the hall", "temperature of the sensor in the northern yard"]
    >>> short_name(names[1], names), short_name("a", names)
    ('temperature of the sensor in the n…', 'a')
    """
    room = LONGEST_NAME
    while room < len(name) and any(other != name and other.startswith(name[:room]) for other in names):
        room += 1
    return name if len(name) <= room else name[:room].rstrip() + "…"


@cache
def words_of(language: str = "en") -> Words:
    """The words of a language, read once."""
    return Words(language)


def phrase(key: str, **values: Any) -> str:
    """A sentence as plain text, its values filled in; see `Words.phrase`."""
    return words_of().phrase(key, **values)


def number(value: float) -> str:
    """Four digits, thousands apart.

    >>> number(12345.6), number(0.0123), number(-0.0)
    ('12,346', '0.0123', '0')
    """
    value += 0.0
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.4g}"


def strongest_reason(row: Mapping[str, Any]) -> str:
    """The largest reason of a row of a review, in words; of a row without any, that nothing by itself is unusual."""
    if not row["reasons"]:
        return phrase("reason.none")
    return str(row["parts"][row["reasons"][0]]["text"])


def rounded_parts(parts: Sequence[float], total: float, decimals: int = 1) -> list[str]:
    """Parts as they are printed: rounded so that what is printed adds up, by the largest remainder.

    Args:
        parts: they sum to `total`.
        total: their sum.
        decimals: of what is printed.

    >>> rounded_parts([1.04, 1.04, 1.02], 3.1)
    ['1.1', '1.0', '1.0']
    """
    unit = 10**decimals
    floors = [floor(part * unit) for part in parts]
    missing = round(float(f"{total:.{decimals}f}") * unit) - sum(floors)
    order = sorted(range(len(parts)), key=lambda at: (floors[at] - parts[at] * unit, at))
    for at in order[:missing] if missing > 0 else order[missing:] if missing else ():
        floors[at] += 1 if missing > 0 else -1
    return [points(part / unit, decimals) for part in floors]


def points(score: float, decimals: int) -> str:
    """A score as it is printed.

    >>> points(1234.56, 1)
    '1,234.6'
    """
    return f"{score:,.{decimals}f}"


class PrintedScores(NamedTuple):
    """Scores of a kind as they are printed: those of rows and columns add up to the total.

    Attributes:
        rows: of its rows.
        columns: what its columns are worth on their own, where they are.
        total: of the kind.
        bound: what no choice scores more than; empty if there is no bound.
        decimals: of all of these.
    """

    rows: list[str]
    columns: list[str]
    total: str
    bound: str
    decimals: int


def printed_scores(kind: Mapping[str, Any]) -> PrintedScores:
    """The scores of a kind of a report, as they are printed."""
    rows, alone = [row["score"] for row in kind["rows"]], list(kind["feature_scores"].values())
    total, bound, decimals = kind["selection"]["score"], kind["selection"]["bound"], decimals_for(rows[0])
    parts = rounded_parts(rows + alone, total, decimals)
    above = "" if bound is None else points(ceil(-bound * 10**decimals) / 10**decimals, decimals)
    return PrintedScores(parts[: len(rows)], parts[len(rows) :], points(total, decimals), above, decimals)


def printed_parts(row: Mapping[str, Any], score: str) -> list[tuple[Mapping[str, Any], str]]:
    """The parts of a row, the largest first, each with what it adds as it is printed.

    Args:
        row: of a report.
        score: of the row, as it is printed; the parts add up to it.
    """
    decimals = len(score.partition(".")[2])
    texts = rounded_parts([part["part"] for part in row["parts"]], float(score.replace(",", "")), decimals)
    return sorted(zip(row["parts"], texts, strict=True), key=lambda pair: -pair[0]["part"])


def told_parts(row: Mapping[str, Any], score: str) -> list[tuple[str, str]]:
    """The reasons of a row and all other columns together, in words, each with what it adds as it is printed.

    Args:
        row: of a report.
        score: of the row, as it is printed; the parts add up to it.
    """
    reasons = [row["parts"][at]["column"] for at in row["reasons"]]
    parts = printed_parts(row, score)
    told = [(part["text"], text) for part, text in parts if part["column"] in reasons]
    others = fsum(float(text.replace(",", "")) for part, text in parts if part["column"] not in reasons)
    rest = points(others, len(score.partition(".")[2]))
    return told + [(phrase("reason.rest"), rest)] * bool(rest.strip("-0."))


def decimals_for(score: float) -> int:
    """With how many decimals a score and its parts are printed.

    >>> decimals_for(41_200_000.0), decimals_for(38.5), decimals_for(2.71), decimals_for(0.02)
    (0, 1, 2, 4)
    """
    return max(int(abs(score) < 1e6), 2 - floor(log10(abs(score)))) if score else 1
