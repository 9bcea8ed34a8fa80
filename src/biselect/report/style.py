"""One look for all figures: small, quiet, and told apart without colour vision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

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
