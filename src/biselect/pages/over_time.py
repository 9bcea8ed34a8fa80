"""What has changed since the reference, and the answers of a review, each as one self-contained page."""

from collections.abc import Mapping, Sequence
from typing import Any

from biselect.pages.html import render_page
from biselect.pages.words import phrase, words_of

FORMAT = "biselect-monitor-3"
REVIEW_FORMAT = "biselect-answers-1"
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


def render_answers(summary: Mapping[str, Any], language: str = "en") -> str:
    """The page of a summary made by `biselect.sessions.exports`."""
    return render_page("answers.html", summary, REVIEW_FORMAT, language=language, curve=found_curve)


def learnt(taught: Mapping[str, int], language: str = "en") -> str:
    """What the answers about earlier tables do for the present one; nothing where there are none.

    >>> learnt({"rows": 40, "again": 1, "changed": 0})
    'What was answered about 40 rows of earlier tables counts here. 1 of them is in this table, unchanged, and ...'
    """
    counts = [(f"review.{name}", taught.get(name, 0)) for name in ("rows", "again", "changed")]
    return " ".join(words_of(language).phrase(key, n=count) for key, count in counts if count)


def queue_sum(row: Mapping[str, Any], language: str = "en") -> str:
    """A row's place in the queue as a sum: its score, and what was learnt.

    >>> queue_sum({"score": 28.91, "learnt": 7.12}), queue_sum({"score": 30.0, "learnt": -0.04})
    ('28.9 + 7.1 learnt = 36.0', '30.0')
    """
    score, place = round(row["score"], 1), round(row["score"] + row["learnt"], 1)
    learnt = round(place - score, 1)
    if not learnt:
        return f"{score:.1f}"
    key = "review.sum" if learnt > 0 else "review.less"
    facts = {"score": f"{score:.1f}", "learnt": f"{abs(learnt):.1f}", "place": f"{place:.1f}"}
    return words_of(language).phrase(key, **facts)


def found_lines(found: Mapping[str, Any], ahead: Mapping[str, Any], language: str = "en") -> list[str]:
    """What was found, beside chance and the plain ranking, and whether it is time to stop."""
    words, n = words_of(language), found["answered"]
    if not n:
        return [words.phrase("review.none")]
    lines = [words.phrase("review.found", n=n, hits=found["hits"])]
    facts = {"plain": found["plain"][-1], "chance": f"{found['chance'][-1]:.1f}"}
    lines.append(words.phrase("review.beside" if found["from_labels"] else "review.beside_at_least", **facts))
    if ahead["rows"]:
        lines.append(words.phrase(f"review.{ahead['advice']}", n=ahead["rows"], low=ahead["low"], high=ahead["high"]))
    return lines


def found_curve(found: Mapping[str, Any]) -> dict[str, str]:
    """Found against reviewed as points of lines in a picture 100 wide and 50 high.

    >>> found_curve({"answered": 2, "hits": 1, "curve": [0, 1], "plain": [1, 1], "chance": [0.1, 0.2]})["curve"]
    '0,50 50,50 100,0'
    """
    n = max(1, found["answered"])
    lines = {name: [0, *found[name]] for name in ("curve", "plain", "chance")}
    highest = max(1.0, *(line[-1] for line in lines.values()))
    return {
        name: " ".join(f"{100 * at / n:.4g},{50 - 50 * value / highest:.4g}" for at, value in enumerate(line))
        for name, line in lines.items()
    }
