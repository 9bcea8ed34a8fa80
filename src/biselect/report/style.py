"""One look for all figures: small, quiet, and told apart without colour vision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "...", "xxx")
PAPER = "#666666"
DIVERGING = "PuOr"

STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "hatch.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "savefig.dpi": 160,
    "savefig.bbox": "tight",
}


@contextmanager
def house_style() -> Iterator[None]:
    """Everything drawn or saved inside looks alike."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        yield


def panels(rows: int, columns: int, *, width: float = 3.2, height: float = 2.6, **more: Any) -> tuple[Figure, Any]:
    """A figure of rows × columns axes, always as a two-dimensional array."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **more)


def bar_look(position: int) -> dict[str, Any]:
    """Colour and hatching of bars, so that grey prints tell them apart too."""
    return {"color": COLOURS[position], "hatch": HATCHES[position], "edgecolor": "white", "linewidth": 0}


def band(axes: Axes, x: Any, y: Any, low: Any, high: Any, position: int, label: str, **more: Any) -> None:
    """A line with its interval; `position` fixes colour and marker."""
    colour = COLOURS[position % len(COLOURS)]
    axes.plot(x, y, color=colour, marker=MARKERS[position % len(MARKERS)], label=label, **more)
    axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
