"""One look for all figures: small, quiet, and told apart without colour vision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito
LOWER, HIGHER, NEITHER = "#0072B2", "#D55E00", "#555555"  # than usual; rare, missing or without a side
ADDS, TAKES = "#009E73", "#CC79A7"  # where no side is known
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

OTHER_ALPHABETS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans CJK KR", "Source Han Sans", "WenQuanYi Micro Hei"),
    *("Hiragino Sans", "PingFang SC", "Apple SD Gothic Neo", "Yu Gothic", "Microsoft YaHei", "Malgun Gothic"),
    *("Noto Sans", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Thai"),
    *("Segoe UI", "Nirmala UI", "Leelawadee UI", "Arial Unicode MS"),
)

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

    with matplotlib.rc_context({**STYLE, "font.family": families()}):
        yield


@cache
def families() -> list[str]:
    """The usual font, then those at hand that know other alphabets: a name is looked up letter by letter."""
    from matplotlib import font_manager

    known = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(name for name in OTHER_ALPHABETS if name in known)]


def panels(rows: int, columns: int, *, width: float = 3.2, height: float = 2.6, **more: Any) -> tuple[Figure, Any]:
    """A figure of rows × columns axes, always as a two-dimensional array."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **more)
