"""The page of a review session: every round with its answers, and what was found."""

from collections.abc import Mapping, Sequence
from typing import Any

from biselect.pages.html import render_page
from biselect.pages.words import words_of

FORMAT = "biselect-rounds-1"


def render_rounds(summary: Mapping[str, Any], language: str = "en") -> str:
    """The page of a summary made by `biselect.sessions.exports`."""
    return render_page("rounds.html", summary, FORMAT, words=words_of(language), grouped=grouped)


def learnt(taught: Mapping[str, int], language: str = "en") -> str:
    """What the answers about earlier tables do for the present one; nothing where there are none.

    >>> learnt({"rows": 40, "again": 1})
    'What was answered about 40 rows of earlier tables counts here. 1 of them is in this table, unchanged, and ...'
    """
    words = words_of(language)
    parts = (("rounds.learnt", taught.get("rows", 0)), ("rounds.again", taught.get("again", 0)))
    return " ".join(str(words.say(key, n=count)) for key, count in parts if count)


def grouped(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Rows list by list, lists in the order in which they come first.

    >>> [(name, len(rows)) for name, rows in grouped([{"source": "a"}, {"source": "b"}, {"source": "a"}])]
    [('a', 2), ('b', 1)]
    """
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["source"], []).append(row)
    return list(found.items())
