"""What has changed since the reference, and the rounds of a review, each as one self-contained page."""

from collections.abc import Mapping, Sequence
from typing import Any

from biselect.pages.html import render_page
from biselect.pages.words import phrase, words_of

FORMAT = "biselect-monitor-3"
ROUNDS_FORMAT = "biselect-rounds-1"
MOST_ROWS = 40  # of the picture of columns; the rest is in the JSON
MOST_NAMES = 12  # rows or columns in a cell of a table; the rest is in the JSON


def render_monitor(summary: Mapping[str, Any]) -> str:
    """The page of a summary made by `biselect.monitor`."""
    points = summary.get("points", ())
    return render_page(
        "monitor.html",
        summary,
        FORMAT,
        carpet=_carpet(points),
        clearest=clearest(summary),
        chance=chance,
        replacements=replacements(points),
    )


def clearest(summary: Mapping[str, Any], most: int = MOST_ROWS) -> list[dict[str, Any]]:
    """The columns that changed, the clearest first, or without any alarm what came nearest to one."""
    ranked = clearest_changes(summary)
    alarms = [change for change in ranked if change["alarm"]]
    return (alarms or ranked[:3])[:most]


def clearest_changes(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The clearest change of each column in any window, the clearest of all first."""
    best: dict[str, dict[str, Any]] = {}
    for point in summary.get("points", ()):
        for change in point["changes"]:
            row = {**change, "when": point["when"]}
            if change["column"] not in best or _order(row) < _order(best[change["column"]]):
                best[change["column"]] = row
    return sorted(best.values(), key=_order)


def _order(change: Mapping[str, Any]) -> tuple[bool, float, float]:
    return not change["alarm"], change["adjusted_p"], -change["effect"]


def chance(p: float) -> str:
    """A p-value for a table.

    >>> chance(0.0312), chance(3e-5), chance(0.0)
    ('0.031', '3.0e-05', '< 1e-300')
    """
    if p < 1e-300:
        return "< 1e-300"
    return f"{p:.2g}" if p >= 0.001 else f"{p:.1e}"


def replacements(points: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """For a table: what the newest reference takes out of the answer under each older one, and what comes in."""
    lines = []
    for point in points:
        if point["replaced"] and any(point["replaced"].values()):
            cells = {
                name: ", ".join(names[:MOST_NAMES]) + " …" * (len(names) > MOST_NAMES)
                for name, names in point["replaced"].items()
            }
            lines.append(({"reference_up_to": point["when"]} if point["when"] else {}) | cells)
    return lines


def _carpet(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The effect of every test over time, the clearest change first; alarms are marked."""
    rows: dict[str, list[Mapping[str, Any] | None]] = {}
    for at, point in enumerate(points):
        for change in point["changes"]:
            label = change["column"]
            if change["what"] == "missing":
                label = phrase("monitor.carpet_missing", name=label)
            rows.setdefault(label, [None] * len(points))[at] = change
    order = sorted(rows, key=lambda label: min(_order(cell) for cell in rows[label] if cell))
    largest = max((cell["effect"] for row in rows.values() for cell in row if cell), default=0.0) or 1.0
    return {
        "columns": [point["when"] for point in points],
        "left_out": max(0, len(order) - MOST_ROWS),
        "rows": [
            {
                "label": label,
                "cells": [cell and {**cell, "heat": round(100 * cell["effect"] / largest)} for cell in rows[label]],
            }
            for label in order[:MOST_ROWS]
        ],
    }


def render_rounds(summary: Mapping[str, Any], language: str = "en") -> str:
    """The page of a summary made by `biselect.sessions.exports`."""
    return render_page("rounds.html", summary, ROUNDS_FORMAT, language=language, grouped=grouped)


def learnt(taught: Mapping[str, int], language: str = "en") -> str:
    """What the answers about earlier tables do for the present one; nothing where there are none.

    >>> learnt({"rows": 40, "again": 1})
    'What was answered about 40 rows of earlier tables counts here. 1 of them is in this table, unchanged, and ...'
    """
    counts = (("rounds.learnt", taught.get("rows", 0)), ("rounds.again", taught.get("again", 0)))
    return " ".join(words_of(language).phrase(key, n=count) for key, count in counts if count)


def grouped(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Rows list by list, lists in the order in which they come first.

    >>> [(name, len(rows)) for name, rows in grouped([{"source": "a"}, {"source": "b"}, {"source": "a"}])]
    [('a', 2), ('b', 1)]
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["source"], []).append(row)
    return list(groups.items())
