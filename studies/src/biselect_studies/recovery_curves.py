"""What the four theory studies share: recovery at the thresholds, and curves up to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from biselect.core import Sector
from biselect_studies.results import Entry, Findings, entry, stated
from biselect_studies.runner import Records
from biselect_studies.task import Task, tasks_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS = ((8, 6, 2, 2), (12, 8, 2, 2), (16, 8, 3, 2), (20, 6, 2, 2))
DELTA = 0.1
CHOICE = (
    "The paper states this for every size and δ. Sizes, δ = 0.1 and the number of trials are ours, and so is the noise "
    "within what the statement allows; the planted block has the signal that the statement asks for, no more."
)
MULTIPLES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0)
BLOCK = 100


@dataclass(frozen=True, kw_only=True)
class Point:
    """One column of a theory table.

    Attributes:
        column: its heading.
        cell: parameters for the experiment, the setting aside.
        selector: `joint` or `columns`.
        promise: who promises recovery with probability 1 - δ there: the `paper`, `ours` alone, or `nobody`.
    """

    column: str
    cell: dict[str, Any]
    selector: str = "joint"
    promise: str = "paper"


def sectors() -> list[Sector]:
    """The paper's four settings."""
    return [Sector(n_samples=n, n_features=d, k=k, m=m) for n, d, k, m in SETTINGS]


def name(sector: Sector) -> str:
    """A setting as the paper writes it."""
    return str(tuple(_size(sector).values()))


def signal(mu: float) -> float:
    """A threshold as a task keeps it: four decimals, rounded up so that the condition still holds."""
    return ceil(mu * 1e4 - 1e-6) / 1e4


def trials(quick: bool) -> int:
    """Trials per point; the paper has 800."""
    return BLOCK if quick else 800


def tasks(points: dict[Sector, list[Point]], quick: bool) -> list[Task]:
    """All points of all settings."""
    return [
        task
        for sector, of_sector in points.items()
        for point in of_sector
        for task in tasks_for("recovery", {**_size(sector), **point.cell}, trials(quick), block=BLOCK)
    ]


def curve(cell: dict[str, Any], threshold: float) -> list[Point]:
    """Joint and column recovery at multiples of a threshold; no column of the table, only the figure."""
    return [
        Point(column=f"{multiple:g}", cell={**cell, "signal": signal(multiple * threshold)}, selector=selector)
        for multiple in MULTIPLES
        for selector in ("joint", "columns")
    ]


def entries(points: dict[Sector, list[Point]], records: Records) -> tuple[Entry, ...]:
    """Recovery at every point; where theory promises it, held against 1 - δ."""
    found = []
    for sector, of_sector in points.items():
        for point in of_sector:
            values = _values(records, sector, point)
            if point.promise == "nobody":
                found.append(entry(name(sector), point.column, values))
            else:
                by_paper = point.promise == "paper"
                found.append(stated(name(sector), point.column, values, "≥", 1 - DELTA, by_paper=by_paper))
    return tuple(found)


def curves(points: dict[Sector, list[Point]], records: Records) -> dict[str, Any]:
    """Mean recovery along each curve, for the figure."""
    drawn: dict[str, Any] = {}
    for sector, of_sector in points.items():
        lines: dict[str, list[float]] = {"joint": [], "columns": []}
        for point in of_sector:
            lines[point.selector].append(float(_values(records, sector, point).mean()))
        drawn[name(sector)] = lines
    return drawn


def draw(found: Findings) -> Figure:
    """One panel a setting: recovery over the signal, in units of the paper's joint threshold."""
    from biselect.report.style import COLOURS, MARKERS, PAPER, panels

    figure, axes = panels(1, len(SETTINGS), width=2.6, height=2.7, sharey=True)
    labels = {"joint": "joint, pair recovered", "columns": "feature-first, features recovered"}
    for panel, (title, lines) in zip(axes[0], found.extra["curves"].items(), strict=True):
        for position, (selector, label) in enumerate(labels.items()):
            panel.plot(MULTIPLES, lines[selector], color=COLOURS[position], marker=MARKERS[position], label=label)
        panel.axhline(1 - DELTA, color=PAPER, linewidth=0.8, linestyle=":", label="1 - δ")
        for style, (threshold, place) in zip(("--", "-."), found.extra["thresholds"][title].items(), strict=True):
            panel.axvline(place, color="black", linewidth=0.9, linestyle=style, label=threshold)
        panel.set(title=title, xlabel="signal / joint threshold")
    axes[0, 0].set_ylabel("recovered")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def means(cells: Sequence[Entry], column: str) -> tuple[float, float]:
    """Lowest and highest of a column over the settings."""
    found = [cell.ours for cell in cells if cell.column == column]
    return min(found), max(found)


def _values(records: Records, sector: Sector, point: Point) -> Any:
    return records[tuple(sorted({**_size(sector), **point.cell}.items()))][point.selector]


def _size(sector: Sector) -> dict[str, int]:
    return {"N": sector.n_samples, "D": sector.n_features, "k": sector.k, "m": sector.m}
