"""What the studies' figures are drawn with: the house's style, and numbers of a table as lines or as points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.figure import Figure

from biselect.report.style import COLOURS, DIVERGING, MARKERS, band, bar_look, panels
from biselect.report.style import PAPER as GREY
from biselect_studies.results import Entry

__all__ = ["COLOURS", "DIVERGING", "GREY", "MARKERS", "Figure", "bar_look", "line", "look", "panels", "whiskers"]


def look(position: int) -> dict[str, Any]:
    """Colour and marker of one of several series."""
    return {"color": COLOURS[position], "marker": MARKERS[position]}


def line(panel: Any, x: Sequence[float], entries: Sequence[Entry], position: int, label: str, **more: Any) -> None:
    """Numbers as a line, their intervals as a band around it."""
    ours, low, high = ([getattr(one, end) for one in entries] for end in ("ours", "low", "high"))
    band(panel, x, ours, low, high, position, label, **more)


def whiskers(
    panel: Any, places: Iterable[float], entries: Sequence[Entry], *, upright: bool = True, **looks: Any
) -> None:
    """Numbers as points with their intervals, upright over the places or lying beside them."""
    ours = [one.ours for one in entries]
    ends = [[one.ours - one.low for one in entries], [one.high - one.ours for one in entries]]
    if upright:
        panel.errorbar(list(places), ours, yerr=ends, linestyle="none", **looks)
    else:
        panel.errorbar(ours, list(places), xerr=ends, linestyle="none", **looks)
