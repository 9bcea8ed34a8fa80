"""What the page says: all its words come from one file a language, and the finding is put into a sentence here."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import floor
from typing import Any

from markupsafe import Markup

MOST_REASONS = 4  # columns named in a sentence
MOST_GROUPS = 3  # groups of rows named in a sentence


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

    def cell(self, place: Mapping[str, Any], style: str = "cell") -> str:
        """How a cell lies to the reference.

        Args:
            place: the attributes of `biselect.weights.evidence.Evidence`, and its `direction`.
            style: `cell` for a sentence, `cell.brief` for a few words.
        """
        rows, every, beyond = place["rows"], place["rows"] + place["gaps"], max(place["below"], place["above"])
        side, share, which = place["direction"], (beyond, rows), ""
        if place["filled"]:
            side = "filled"
        elif place["absent"]:
            side, share = "missing" if place["gaps"] else "never_missing", (place["gaps"], every)
        elif place["seen"] is not None:
            side = "seen" if place["seen"] else "never_seen"
        else:
            side += "_all" * (side != "middle" and beyond == rows)
            which = self._which_rows(place)
        facts = {"share": _percent(*share), "rows": rows, "every": every, "seen": place["seen"], "which": which}
        return self.phrase(f"{style}.{side}", **facts)

    def _which_rows(self, place: Mapping[str, Any]) -> str:
        """Which reference rows a number is compared with, where these are not all of them, and how many equal it."""
        rows, gaps = place["rows"], place["gaps"]
        equal = rows - place["below"] - place["above"]
        which = self.phrase("cell.with_value") if gaps else ""
        which += self.phrase("cell.equal", share=_percent(equal, rows)) if equal > 1 else ""
        return which + (self.phrase("cell.few", rows=rows, every=rows + gaps) if gaps > rows else "")

    def reading(self, files: Sequence[str]) -> str:
        """Name the step that reads these files.

        >>> Words().reading(["a.csv", "b.csv"])
        'Reading a.csv and b.csv'
        """
        return self.phrase("steps.reading", name=self.tree["and"].join(files) or self.phrase("steps.tables_given"))

    def kind(self, columns: Sequence[str], sides: Sequence[str]) -> str:
        """Name a kind of unusual by its columns and their sides.

        >>> Words().kind(["V14", "V4", "V12"], ["low", "high", "low"])
        'low V14, V12 and high V4 together'
        """
        by_side: dict[str, list[str]] = {}
        for name, side in zip(columns, sides, strict=True):
            by_side.setdefault(side, []).append(name)
        names = [f"{side} {', '.join(of_side)}".strip() for side, of_side in by_side.items()]
        return self.tree["and"].join(names) + self.tree["finding"]["together"] * (len(columns) > 1)

    def listed(self, items: Sequence[str]) -> str:
        """Items as in a sentence.

        >>> Words().listed(["a", "b", "c"])
        'a, b and c'
        """
        if len(items) < 2:
            return "".join(items)
        return self.tree["comma"].join(items[:-1]) + self.tree["and"] + items[-1]

    def reasons(self, group: Mapping[str, Any]) -> str:
        """The columns that carry a group, by side, such as `high amount, distance and low hour`."""
        reasons = group["reasons"]
        most = len(reasons) if len(reasons) <= MOST_REASONS else MOST_REASONS - 1
        by_side: dict[str, list[str]] = {}
        for reason in reasons[:most]:
            side = self.tree["or"].join(self.tree["side"][side] for side in reason["sides"] if side)
            by_side.setdefault(side, []).append(reason["column"])
        if len(by_side) == 1:
            parts = [f"{side} {first}".strip() for side, (first, *_) in by_side.items()]
            parts += [name for _, *rest in by_side.values() for name in rest]
        else:
            parts = [f"{side} {self.tree['comma'].join(names)}".strip() for side, names in by_side.items()]
        if len(reasons) > most:
            parts.append(_plain(self.say("finding.more_columns", n=len(reasons) - most)))
        return self.listed(parts)

    def how(self, groups: Sequence[Mapping[str, Any]]) -> str:
        """What the rows that stand out share, to follow `stand out`."""
        with_sides = any(side for group in groups for reason in group["reasons"] for side in reason["sides"])
        if len(groups) == 1:
            together = self.tree["finding"]["together"] if len(groups[0]["rows"]) > 1 else ""
            return together + _plain(
                self.say(f"finding.{'with' if with_sides else 'in'}", reasons=self.reasons(groups[0]))
            )
        key = "finding.group" if with_sides else "finding.group_in"
        sentences = [
            _plain(self.say(key, n=len(group["rows"]), reasons=self.reasons(group))) for group in groups[:MOST_GROUPS]
        ]
        if rest := sum(len(group["rows"]) for group in groups[MOST_GROUPS:]):
            sentences.append(_plain(self.say("finding.more_groups", n=rest)))
        return _plain(self.say("finding.groups", groups="; ".join(sentences)))

    def finding(self, finding: Mapping[str, Any]) -> str:
        """The finding in one sentence, as plain text."""
        n, k = finding["stand_out"], finding["chosen"]
        if n == 0:
            columns = self.reasons({"reasons": [{"column": name, "sides": ()} for name in finding["columns"]]})
            key = "all_equal" if finding["all_equal"] else "nothing"
            if key == "nothing" and finding["chance"] is None:
                key = "not_compared"
            elif key == "nothing" and finding["as_a_block"] and k > 1:
                shared = finding["groups"][0]
                key = "block" if len(shared["rows"]) == k else "block_some"
                sentence = self.say(f"finding.{key}", n=len(shared["rows"]), k=k, reasons=self.reasons(shared))
                return _plain(sentence)
            return _plain(self.say(f"finding.{key}", n=k, of=finding["of"], columns=columns))
        how = self.how(finding["groups"])
        if n == k:
            return _plain(self.say("finding.all", n=n, how=how))
        rest = self.say(f"finding.{'rest_less' if finding['beyond_chance'] == k else 'rest_ordinary'}", n=k - n)
        return _plain(self.say("finding.some", n=n, k=k, how=how, rest=rest))

    def behind(self, finding: Mapping[str, Any], number: Any) -> list[Markup]:
        """The sentences under the finding: the step, chance, and what was left out."""
        sentences, chance, n = [], finding["chance"], finding["stand_out"]
        draws = {}
        if chance is not None:
            source = self.say("finding.from_shuffles" if chance["shuffled"] else "finding.from_reference")
            draws = {"draws": chance["draws"], "draw": source}
        if n:
            low, high = finding["weighs"]
            same = n > 1 and number(low) == number(high)
            text = self.say(
                "finding.weighs_same" if same else "finding.weighs", n=n, low=number(low), high=number(high)
            )
            key = "step" if finding["step"] else "no_step"
            following = finding["next"]
            text += (
                self.say("finding.alone") if following is None else self.say(f"finding.{key}", next=number(following))
            )
            sentences.append(text)
            if chance is not None:
                key = "chance_some" if chance["rows"] else "chance_none"
                sentences.append(self.say(f"finding.{key}", rows=f"{chance['rows']:.1g}", **draws))
            if finding["left_out"]:
                sentences.append(self.say("finding.left_out", n=finding["left_out"]))
        elif chance is not None and not finding["all_equal"]:
            sentences.append(self.say(f"finding.chance_{'block' if finding['as_a_block'] else 'nothing'}", **draws))
        if finding["ties"]:
            sentences.append(self.say("finding.ties", n=finding["ties"]))
        if others := finding["other_kinds"]:
            names = "; ".join(kind["name"] for kind in others[:MOST_GROUPS])
            sentences.append(self.say("finding.other_kinds", n=len(others), names=names))
        return sentences

    def bands(self, finding: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The rows in groups as the page shows them: those that stand out by their reasons, then the rest."""
        by_index = {row["index"]: row for row in rows}
        stands_out = finding["stand_out"] > 0
        bands = []
        for group in finding["groups"]:
            words = {"how": self.how([group])} if stands_out else {"reasons": self.reasons(group)}
            heading = self.say(f"rows.band_{'all' if stands_out else 'share'}", n=len(group["rows"]), **words)
            bands.append((heading, [by_index[index] for index in group["rows"]], stands_out))
        grouped = {index for group in finding["groups"] for index in group["rows"]}
        rest = [row for row in rows if row["index"] not in grouped]
        key = "ordinary" if finding["chance"] is not None and not finding["all_equal"] else "plain"
        if rest and finding["beyond_chance"] == finding["chosen"]:
            key = "less"
        if rest:
            bands.append((self.say(f"rows.band_{key}", n=len(rest)), rest, False))
        return [
            {"words": heading, "rows": sorted(members, key=lambda row: -row["weight"]), "stands_out": stands_out}
            for heading, members, stands_out in bands
        ]


def _with_thousands(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _Thousands(value) if type(value) is int else value for name, value in values.items()}


def _percent(part: int, whole: int) -> float:
    """Two digits, never rounded up to 100."""
    return floor(10_000 * part / max(1, whole)) / 100


def _plain(text: Markup) -> str:
    """The text before it was escaped, to be filled in elsewhere."""
    return text.unescape()


@cache
def words_of(language: str = "en") -> Words:
    """The words of a language, read once."""
    return Words(language)


def phrase(key: str, **values: Any) -> str:
    """A sentence as plain text, its values filled in; see `Words.phrase`."""
    return words_of().phrase(key, **values)


def strongest_reason(row: Mapping[str, Any]) -> str:
    """The cell that adds most to a row of a review, in words."""
    cell = row["cells"][0]
    value, name = cell.get("value"), cell["feature"]
    if cell.get("direction") == "rare":
        name += f" = {value if isinstance(value, str) else format(value, '.6g')}"
    return f"{name}: {cell.get('words', format(cell['adds'], '.4g'))}"
