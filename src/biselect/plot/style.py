"""One look for all figures: small, quiet, and told apart without colour vision; their axes, and names that fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito
LOWER, HIGHER, NEITHER = "#0072B2", "#D55E00", "#555555"  # than usual; rare, missing or without a side
ADDS, TAKES = "#009E73", "#CC79A7"  # where no side is known
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

LONGEST = 30  # letters of a name
AS_IT_IS: Any = {"parse_math": False}  # a name may hold dollars, which are no formula
QUIET = "#666666"
BELOW = 0.48  # inches from the axes to their legend

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

    installed = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(name for name in OTHER_ALPHABETS if name in installed)]


def panels(rows: int, columns: int, *, width: float = 3.2, height: float = 2.6, **more: Any) -> tuple[Figure, Any]:
    """A figure of rows × columns axes, always as a two-dimensional array."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **more)


@contextmanager
def axes_for(ax: Axes | None, *, width: float, height: float) -> Iterator[Axes]:
    """The axes given, or those of a new figure, within the house style."""
    if ax is not None:
        with house_style():
            yield ax
        return
    from matplotlib import pyplot

    # outside of the style, which would undo that the first figure of a notebook turns its plots on
    figure = pyplot.figure(figsize=(width, height), layout="constrained")
    with house_style():
        yield figure.subplots()


def fitted(name: str, longest: int = LONGEST) -> str:
    """A name on one line, its middle left out where it is long; letters of East Asia count twice.

    >>> fitted("a name that goes on for far too long to be read", 20)
    'a name tha…o be read'
    """
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())
    if _width(line) <= longest:
        return line
    head, tail = line[: longest // 2], line[-longest // 2 + 1 :]
    while _width(head) > longest // 2:
        head = head[:-1]
    while _width(tail) > longest // 2 - 1:
        tail = tail[1:]
    return f"{head}…{tail}"


def _width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def room(names: Iterable[str], size: float = 8.0) -> float:
    """Inches that the longest of these names takes at this size of letters."""
    return 0.6 * size / 72 * max((_width(fitted(name)) for name in names), default=0)


def name_rows(axes: Axes, names: Sequence[str], size: float = 8.0) -> None:
    """Names from the top to the bottom of the vertical axis."""
    axes.set_yticks(range(len(names)), [fitted(name) for name in names], fontsize=size, **AS_IT_IS)
    axes.tick_params(axis="y", length=0)


def legend_below(axes: Axes, handles: Sequence[Any], names: Sequence[str], columns: int = 4) -> None:
    """What the colours mean, below the axes and their label."""
    from matplotlib.transforms import ScaledTranslation

    down = axes.transAxes + ScaledTranslation(0, -BELOW, axes.figure.dpi_scale_trans)
    look: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": down, "borderaxespad": 0}
    spaced: Any = {"ncols": min(columns, len(names)), "columnspacing": 1.2, "handlelength": 1.4}
    for text in axes.legend(handles, [fitted(name) for name in names], **look, **spaced).get_texts():
        text.set_parse_math(False)
