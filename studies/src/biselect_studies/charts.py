"""Marks that figures share: points with their brackets, and curves with their bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from biselect.report.style import COLOURS, MARKERS, band
from biselect_studies.results import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def look(position: int, line: str = "none") -> dict[str, Any]:
    """Colour, marker and line of the series at a position."""
    return {"color": COLOURS[position], "marker": MARKERS[position], "linestyle": line}


def reach(entries: Sequence[Entry]) -> list[list[float]]:
    """How far the brackets reach below and above each number, as error bars want it."""
    return [[max(e.ours - e.low, 0) for e in entries], [e.high - e.ours for e in entries]]


def points(panel: Axes, entries: Sequence[Entry], heights: Any, position: int, label: str | None = None) -> None:
    """Numbers from left to right, each at its height, with their brackets."""
    panel.errorbar([e.ours for e in entries], heights, xerr=reach(entries), label=label, **look(position))


def curve(panel: Axes, x: Any, entries: Sequence[Entry], position: int, label: str) -> None:
    """Numbers over x as a line, with their brackets as a band."""
    band(panel, x, *([getattr(e, part) for e in entries] for part in ("ours", "low", "high")), position, label)


def rows_down(panel: Axes, rows: Sequence[str]) -> None:
    """Name the rows at the left, the first on top."""
    panel.set_yticks(range(len(rows)), rows)
    panel.invert_yaxis()


def legend_below(figure: Figure, panel: Axes, columns: int, **more: Any) -> None:
    """One legend under the whole figure, of what a panel names."""
    figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=columns, **more)
