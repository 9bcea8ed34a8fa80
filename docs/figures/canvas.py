"""What the drawn figures share: the house style, a plain white sheet, and a file that is the same every time."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from biselect.core.files import write_file
from biselect.plot.style import COLOURS, house_style

IMAGES = Path(__file__).parents[1] / "images"
BLUE, ORANGE, GREEN, PINK, YELLOW, SKY, BLACK = COLOURS
GREY, PALE = "#666666", "#e8e8e8"


@contextmanager
def drawing(name: str, width: float, height: float) -> Iterator[Any]:
    """Bare axes, one unit an inch, saved under docs/images."""
    with house_style(), matplotlib.rc_context({"svg.hashsalt": name, "savefig.bbox": None}):
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(0, height))
        axes.axis("off")
        yield axes
        save(figure, name, metadata={"Date": None, "Creator": None})


def save(figure: Any, name: str, **how: Any) -> None:
    """Write a figure under docs/images, in the format of its ending."""
    picture = io.BytesIO()
    figure.savefig(picture, format=name.rpartition(".")[2], **how)
    write_file(IMAGES / name, picture.getvalue())


def box(axes: Any, x: float, y: float, width: float, height: float, text: str = "", **style: Any) -> None:
    """A filled rectangle with a text in its middle."""
    from matplotlib.patches import Rectangle

    size = style.pop("size", 9)
    ink = style.pop("ink", BLACK)
    axes.add_patch(Rectangle((x, y), width, height, **{"facecolor": PALE, "edgecolor": "white", **style}))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", size=size, color=ink)
