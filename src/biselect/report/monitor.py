"""What has changed since the reference, as one self-contained page with a picture over time."""

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

from biselect.report.render import render_page

FORMAT = "biselect-monitor-2"
MOST_ROWS = 40  # of the picture of columns; the rest is in the JSON
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 300, 46, 34, 14, 14  # of the plot


def render_monitor(summary: Mapping[str, Any]) -> str:
    """The page of a summary made by `biselect.reviews.monitor_drift`."""
    points = summary.get("points", ())
    plot = _plot(summary) if len(points) > 1 and summary["budgets"] else None
    carpet = _carpet(points)
    return render_page(
        "monitor.html",
        summary,
        FORMAT,
        plot=plot,
        carpet=carpet,
        clearest=clearest(summary),
        eaten=eaten,
        chance=chance,
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


def eaten(share: float | None) -> str:
    """A share of a margin, in words that stay short; None stands for a margin of nothing.

    >>> eaten(0.256), eaten(31.9), eaten(None)
    ('26 %', '32 ×', 'all')
    """
    if share is None:
        return "all"
    return f"{100 * share:.0f} %" if share < 10 else f"{share:,.0f} ×"


def _plot(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Relative drift over time, one line per map, in the coordinates of the picture."""
    points = summary["points"]
    names = [drift["map"] for drift in points[0]["drifts"]]
    values = {name: [point["drifts"][at]["relative_drift"] for point in points] for at, name in enumerate(names)}
    top = 1.08 * max(*(max(series) for series in values.values()), 1e-9)
    first, last = points[0]["end"], points[-1]["end"]

    def x(end: int) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (end - first) / (last - first), 1)

    def y(value: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / top, 1)

    lines = []
    for at, name in enumerate(names):
        marks = [
            {
                "x": x(point["end"]),
                "y": y(point["drifts"][at]["relative_drift"]),
                "changed": point["drifts"][at]["changes_selection"],
                "words": f"{name}, {point['when']}: {point['drifts'][at]['relative_drift']:.2f}",
            }
            for point in points
        ]
        kind = "used" if at == 0 else "steady" if name == summary["steadiest_map"] else ""
        path = " ".join(f"{mark['x']},{mark['y']}" for mark in marks)
        lines.append({"map": name, "kind": kind, "marks": marks, "path": path})
    shown = sorted({0, len(points) // 2, len(points) - 1})
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "bottom": HEIGHT - BOTTOM,
        "lines": lines,
        "grid": [{"y": y(value), "words": f"{value:g}"} for value in _round_values(top)],
        "ticks": [
            {"x": x(points[at]["end"]), "words": points[at]["when"], "anchor": anchor}
            for at, anchor in zip(shown, _anchors(len(shown)), strict=True)
        ],
    }


def _round_values(top: float) -> list[float]:
    """Three to six round numbers from zero to just below the top.

    >>> _round_values(2.7)
    [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
    """
    power = 10.0 ** floor(log10(top))
    step = next(power * part for part in (0.1, 0.2, 0.5, 1.0, 2.0) if top / (power * part) < 6)
    return [round(step * at, 12) for at in range(int(top / step) + 1)]


def _anchors(count: int) -> list[str]:
    """Text at the edges of the plot grows inwards."""
    return ["start", "middle", "end"] if count == 3 else ["start", "end"]


def _carpet(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The effect of every test over time, the clearest change first; alarms are marked."""
    rows: dict[str, list[Mapping[str, Any] | None]] = {}
    for at, point in enumerate(points):
        for change in point["changes"]:
            label = change["column"] + (" (missing)" if change["what"] == "missing" else "")
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
