"""What all pictures share: axes in the house style, and names that fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from biselect.plot.style import house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 30  # letters of a name
AS_IT_IS: Any = {"parse_math": False}  # a name may hold dollars, which are no formula
QUIET = "#666666"
BELOW = 0.48  # inches from the axes to their legend


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
