"""What the page says: all its words come from one file a language, and the finding is put into a sentence here."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import floor, fsum, log10
from typing import Any

from markupsafe import Markup

NOUN = re.compile(r"([A-Za-z]{3,})[ _.-]?(?:id|ID|Id|no|No|number|Number|nr|Nr|key|Key)")
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

        >>> Words().phrase("rows.adds", adds="<2>")
        'adds <2>'
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

    def alternatives(self, names: Sequence[str]) -> str:
        """One value or another.

        >>> Words().alternatives(["card", "cash", "invoice"])
        'card, cash or invoice'
        """
        *first, last = names or [""]
        return self.tree["or"].join([self.tree["comma"].join(first), last]) if first else last

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
        if like:
            return (f" ({moved})" if moved else "") + self.phrase("reason.like", usual=usual)
        return self.phrase("reason.normal", usual=usual, moved=f"{moved}; " if moved else "")

    def listed(self, items: Sequence[str]) -> str:
        """Items as in a sentence.

        >>> Words().listed(["a", "b", "c"])
        'a, b and c'
        """
        if len(items) < 2:
            return "".join(items)
        return self.tree["comma"].join(items[:-1]) + self.tree["and"] + items[-1]

    def finding(self, view: Mapping[str, Any]) -> str:
        """The finding in two sentences: what the rows share, and what that is worth."""
        return f"{self.headline(view)} {self.lead(view)}"

    def headline(self, view: Mapping[str, Any]) -> str:
        """What was found, in one sentence."""
        finding, facts = view["finding"], {"of": view["budgets"]["samples"], **view["noun"]}
        if finding["case"] == "nothing":
            return self.phrase("finding.nothing", **facts)
        if traits := [trait["text"] for trait in finding["shared"]]:
            key = "of" if finding["case"] == "described" else "share"
            return self.phrase(f"finding.{key}", n=finding["chosen"], traits=self.listed(traits), **facts)
        return self.phrase("finding.apart", n=finding["chosen"], **facts)

    def lead(self, view: Mapping[str, Any]) -> str:
        """What the finding is worth, in one sentence."""
        finding, noun = view["finding"], view["noun"]
        if finding["case"] in ("nothing", "described"):
            key = finding["case"] if view["reference"] == "self" or finding["case"] == "nothing" else "uncounted"
            return self.phrase(f"finding.lead_{key}", n=view["budgets"]["k"], **noun)
        expected = round(finding["expected"])
        return self.phrase(f"finding.lead_{finding['case']}" if expected else "finding.lead_none", n=expected, **noun)

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


def _with_thousands(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _Thousands(value) if type(value) is int else value for name, value in values.items()}


@cache
def words_of(language: str = "en") -> Words:
    """The words of a language, read once."""
    return Words(language)


def phrase(key: str, **values: Any) -> str:
    """A sentence as plain text, its values filled in; see `Words.phrase`."""
    return words_of().phrase(key, **values)


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
    missing = round(total * unit) - sum(floors)
    order = sorted(range(len(parts)), key=lambda at: (floors[at] - parts[at] * unit, at))
    for at in order[:missing] if missing > 0 else order[missing:] if missing else ():
        floors[at] += 1 if missing > 0 else -1
    return [f"{part / unit:,.{decimals}f}" for part in floors]


def told_parts(row: Mapping[str, Any], score: str) -> list[tuple[str, str]]:
    """The reasons of a row and all other columns together, each with what it adds as it is printed.

    Args:
        row: of a report.
        score: of the row, as it is printed; the parts add up to it as printed.
    """
    reasons = [row["parts"][at] for at in row["reasons"]]
    parts = [part["part"] for part in reasons]
    texts = [part["text"] for part in reasons]
    if len(parts) < len(row["parts"]):
        parts.append(fsum(part["part"] for part in row["parts"]) - fsum(parts))
        texts.append(phrase("reason.rest"))
    decimals = len(score.partition(".")[2])
    return list(zip(texts, rounded_parts(parts, float(score.replace(",", "")), decimals), strict=True))


def printed_scores(view: Mapping[str, Any], kind: int = 0) -> list[str]:
    """The scores of a kind's rows as they are printed; with what columns are worth on their own they add up."""
    told = view["kinds"]["list"][kind]
    parts = [row["score"] for row in told["rows"]] + [*told["feature_scores"].values()]
    decimals = decimals_for(told["rows"][0]["score"])
    return rounded_parts(parts, told["selection"]["score"], decimals)[: len(told["rows"])]


def decimals_for(score: float) -> int:
    """With how many decimals a score and its parts are printed.

    >>> decimals_for(412.0), decimals_for(38.5), decimals_for(2.71), decimals_for(0.02)
    (1, 1, 2, 4)
    """
    return max(1, 2 - floor(log10(abs(score)))) if score else 1
