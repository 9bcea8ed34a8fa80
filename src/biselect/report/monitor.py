"""The drift of a calibration as one self-contained page with a plot over time."""

from collections.abc import Mapping
from math import floor, log10
from typing import Any

from biselect.report.render import render_page

FORMAT = "biselect-monitor-1"
MOST_FEATURES = 40  # rows of the picture of features; the rest is in the JSON
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 300, 46, 34, 14, 14  # of the plot


def render_monitor(summary: Mapping[str, Any]) -> str:
    """The page of a summary made by `biselect.reviews.monitor_drift`."""
    plot = _plot(summary) if len(summary.get("points", ())) > 1 else None
    carpet = _carpet(summary) if "points" in summary else None
    return render_page("monitor.html", summary, FORMAT, plot=plot, carpet=carpet, eaten=eaten)


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
    top = 1.08 * max(summary["max_drift"], *(max(series) for series in values.values()), 1e-9)
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
        "threshold": y(summary["max_drift"]),
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


def _carpet(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Signed drift of each feature over time under the map in use, most moved first.

    Full colour is the largest drift, or the threshold where all stay below it: steady features look steady.
    """
    columns = [point["drifts"][0]["features"] for point in summary["points"]]
    drift: dict[str, list[float]] = {}
    for at, column in enumerate(columns):
        for row in column:
            drift.setdefault(row["feature"], [0.0] * len(columns))[at] = row["drift"]
    order = sorted(drift, key=lambda name: -max(map(abs, drift[name])))
    threshold = summary["max_drift"] * max(point["drifts"][0]["spread"] for point in summary["points"])
    largest = max(threshold, *(abs(value) for row in drift.values() for value in row)) or 1.0
    return {
        "columns": [point["when"] for point in summary["points"]],
        "left_out": max(0, len(order) - MOST_FEATURES),
        "rows": [
            {
                "feature": name,
                "largest": max(drift[name], key=abs),
                "cells": [
                    {"value": value, "heat": round(100 * abs(value) / largest), "up": value > 0}
                    for value in drift[name]
                ],
            }
            for name in order[:MOST_FEATURES]
        ],
    }
