"""What the studies' figures are drawn with: the house's style, and numbers of a table as lines or as points."""

from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.figure import Figure as Figure

from biselect.plot.style import COLOURS as COLOURS
from biselect.plot.style import MARKERS as MARKERS
from biselect.plot.style import panels as panels
from biselect_studies.results import Entry, Findings

GREY, DIVERGING = "#666666", "PuOr"
HATCHES = ("", "///", "...", "xxx")


def look(position: int) -> dict[str, Any]:
    """Colour and marker of one of several series."""
    return {"color": COLOURS[position], "marker": MARKERS[position]}


def bar_look(position: int) -> dict[str, Any]:
    """Colour and hatching of bars, so that grey prints tell them apart too."""
    return {"color": COLOURS[position], "hatch": HATCHES[position], "edgecolor": "white", "linewidth": 0}


def line(panel: Any, x: Sequence[float], entries: Sequence[Entry], position: int, label: str, **more: Any) -> None:
    """Numbers as a line, their intervals as a band around it."""
    ours, low, high = ([getattr(one, end) for one in entries] for end in ("ours", "low", "high"))
    colour = COLOURS[position % len(COLOURS)]
    panel.plot(x, ours, color=colour, marker=MARKERS[position % len(MARKERS)], label=label, **more)
    panel.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)


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


def dots(
    found: Findings,
    columns: Sequence[str],
    label: str = "ours",
    *,
    paper: str = "paper",
    sharex: bool = False,
    xscale: str = "linear",
) -> Figure:
    """A panel a column: ours with its brackets, that of devices below it, and the paper's figure.

    Every row that has a number in a column is shown; a device's column has the name before the last comma.
    """
    labels = [device["label"] for device in found.extra.get("devices", ())]
    looks = [(COLOURS[n % len(COLOURS)], MARKERS[n % len(MARKERS)]) for n in range(1 + len(labels))]
    step = min(0.2, 0.8 / len(looks))
    rows = list(dict.fromkeys(entry.row for entry in found.cells if entry.column in columns))
    width = 2.6 + 0.06 * max(map(len, rows)) / len(columns)  # with room for the rows' names
    height = max(2.0, 0.28 * len(rows) + 1.0)
    figure, axes = panels(1, len(columns), width=width, height=height, sharex=sharex, sharey=True)
    for panel, column in zip(axes[0], columns, strict=True):
        stem = column.rpartition(", ")[0]
        numbers = {name: number for number, name in enumerate([column, *(f"{stem} {name}" for name in labels)])}
        for entry in (entry for entry in found.cells if entry.column in numbers):
            number, place = numbers[entry.column], rows.index(entry.row)
            colour, marker = looks[number]
            panel.plot([entry.low, entry.high], [place + step * number] * 2, color=colour)
            panel.plot([entry.ours], [place + step * number], marker, color=colour)
            if entry.paper is not None and not number:
                panel.plot([entry.paper], [place], "x", color=GREY)
        panel.set_yticks(range(len(rows)), rows)
        panel.set(title=column, ylim=(len(rows) - 0.5, -0.5), xscale=xscale)
    for name, (colour, marker) in zip([label, *labels], looks, strict=True):
        plain = "".join(letter if letter.isprintable() else "�" for letter in name)
        axes[0, 0].plot([], [], marker, color=colour, label=plain.replace("$", r"\$"))  # a name is no formula
    axes[0, 0].plot([], [], "x", color=GREY, label=paper)
    figure.legend(loc="outside lower center", ncols=2)
    return figure
