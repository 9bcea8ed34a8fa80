"""The chosen block as a picture: what each cell adds, and on which side of the usual its value lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection
from biselect.core.selection import Explanation
from biselect.errors import InputError
from biselect.pages.words import number, strongest_reason
from biselect.plot.style import ADDS, AS_IT_IS, HIGHER, LOWER, NEITHER, TAKES, axes_for, fitted, name_rows, room
from biselect.reviews import Review

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIDES = {  # hue, shape, words
    "low": (LOWER, "v", "chosen for being low"),
    "high": (HIGHER, "^", "chosen for being high"),
    "": (NEITHER, "D", "chosen for either end, a value or a gap"),
    "adds": (ADDS, "", "adds"),
    "takes": (TAKES, "_", "takes away"),
}
SHORT = 9  # letters of a value in its cell
LUMA = (0.2126, 0.7152, 0.0722)  # how bright red, green and blue look
FAINT = 0.12  # share of the strongest below which a cell gets no shape


@dataclass(frozen=True, kw_only=True, eq=False)
class Content:
    """The chosen block, strongest rows and columns first.

    Attributes:
        rows: names.
        columns: names.
        cells: what each cell adds.
        alone: what each row adds on its own; of a review what all other columns add.
        sides: of each cell the direction of its column; None where nobody knows.
        texts: of each cell the pool's own value, or what it adds.
        reasons: the strongest of each row in words; None where nobody knows.
    """

    rows: list[str]
    columns: list[str]
    cells: NDArray[np.float64]
    alone: NDArray[np.float64]
    sides: list[list[str]] | None
    texts: list[list[str]]
    reasons: list[str] | None

    @property
    def values(self) -> NDArray[np.float64]:
        """What each row adds in all."""
        return self.alone + self.cells.sum(axis=1)


def content_of(answer: Review | Selection | Explanation) -> Content:
    """The block of an answer."""
    if not isinstance(answer, Review | Selection | Explanation):
        raise InputError(f"a picture needs a Review, a Selection or an Explanation, got {type(answer).__name__}")
    why = answer if isinstance(answer, Explanation) else answer.explain(nearest=0)
    rows, columns = why.strongest_samples, why.strongest_features
    names = [why.problem.feature_name(why.features[j]) for j in columns]
    cells = why.cells[np.ix_(rows, columns)]
    told = answer.summary["kinds"]["list"][0]["rows"] if isinstance(answer, Review) and answer.tables else []
    by_row = {row["index"]: row for row in told}
    records = [by_row[int(why.samples[i])] for i in rows] if by_row else []
    parts = [{part["column"]: part for part in record["parts"]} for record in records]
    alone = why.sample_marginals[rows]
    if records:  # as all else that is told of a review: what is unusual about a row as a whole is shared out
        cells = np.array([[own[name]["part"] for name in names] for own in parts])
        alone = np.array([record["score"] for record in records]) - cells.sum(axis=1)
    return Content(
        rows=[why.problem.sample_name(why.samples[i]) for i in rows],
        columns=names,
        cells=cells,
        alone=alone,
        sides=[[why.problem.direction(why.features[j]) for j in columns]] * len(rows) if records else None,
        texts=(
            [[_text(own[name]["value"]) for name in names] for own in parts]
            if records
            else [[number(float(adds)) for adds in row] for row in cells]
        ),
        reasons=[fitted(strongest_reason(record), 66) for record in records] if records else None,
    )


def _text(value: float | str | None) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else number(value)


def block(
    answer: Review | Selection | Explanation, ax: Axes | None = None, *, most_rows: int = 100, most_columns: int = 40
) -> Axes:
    """The chosen rows and columns, strongest first: darker cells add more.

    Hue and shape say whether a value is lower or higher than usual; small blocks show the values too. Where no
    reference is known, cells that add and cells that take away are told apart.

    Args:
        answer: an answer; only a review knows values and sides.
        ax: where to draw; a new figure if left out.
        most_rows: weaker ones are left out, which the title says.
        most_columns: the same for columns.
    """
    content = content_of(answer)
    rows, columns = content.rows[:most_rows], content.columns[:most_columns]
    roomy = len(columns) <= 10 and len(rows) <= 40
    wide = 0.8 if roomy else 0.34
    tall = 0.24 if len(rows) <= 40 else 0.17
    letters = 8.0 if len(rows) <= 40 else 7.0
    slant = max(map(len, columns)) > (8 if roomy else 3)
    width = room(rows) + max(3.8, wide * len(columns)) + 0.4  # the title has room too
    height = tall * len(rows) + 1.2 + (room(columns) if slant else 0.2)
    with axes_for(ax, width=width, height=height) as axes:
        _cells(axes, content, len(rows), len(columns), roomy)
        name_rows(axes, rows, letters)
        axes.xaxis.tick_top()
        look: Any = {"rotation": 50, "ha": "left", "rotation_mode": "anchor"} if slant else {}
        axes.set_xticks(range(len(columns)), [fitted(name) for name in columns], fontsize=8, **look, **AS_IT_IS)
        axes.tick_params(axis="x", length=0)
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.set_title(_title(content, len(rows), len(columns)), loc="left", fontsize=10)
    return axes


def _title(content: Content, rows: int, columns: int) -> str:
    k, m = content.cells.shape
    size = f"the strongest {rows} × {columns} of {k} × {m}" if (rows, columns) != (k, m) else f"{k} × {m}"
    return f"The chosen block, {size}: darker adds more"


def _cells(axes: Axes, content: Content, rows: int, columns: int, roomy: bool) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.lines import Line2D

    adds = content.cells[:rows, :columns]
    strongest = float(np.abs(adds).max()) or 1.0
    strength = np.abs(adds) / strongest
    sides = np.array(
        [["adds" if value >= 0 else "takes" for value in row] for row in adds]
        if content.sides is None
        else [[side if side in ("low", "high") else "" for side in row[:columns]] for row in content.sides[:rows]]
    )
    hues = np.array([[to_rgb(SIDES[side][0]) for side in row] for row in sides])
    shades = 1 - (0.04 + 0.91 * strength[..., None]) * (1 - hues)
    inks = np.where(shades @ LUMA < 0.55, "white", "#222222")
    axes.imshow(shades, aspect="auto", interpolation="nearest")
    axes.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    axes.grid(True, which="minor", color="white", linewidth=1.2 if roomy else 0.6)
    axes.tick_params(which="minor", length=0)
    present = [side for side in SIDES if (sides == side).any()]
    for side in present:
        if shape := SIDES[side][1]:
            y, x = np.nonzero((sides == side) & (strength >= FAINT))
            axes.scatter(x - (0.38 if roomy else 0), y, s=9, c=inks[y, x], marker=shape, linewidths=0)
    if roomy:
        for (y, x), ink in np.ndenumerate(inks):
            text = fitted(content.texts[y][x], SHORT)
            axes.text(x + 0.06, y, text, ha="center", va="center", fontsize=7.5, color=str(ink), **AS_IT_IS)
    handles = [
        Line2D([], [], marker="s", markersize=8, linestyle="", color=SIDES[side][0], label=SIDES[side][2])
        for side in present
    ]
    handles.append(Line2D([], [], linestyle="", label=f"darkest: adds {number(strongest)}"))
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, 0), ncols=2, handletextpad=0.3, borderaxespad=0.6)
