"""Scores as pictures: what each chosen row adds and through which columns, and what other budgets would collect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biselect.core import Selection
from biselect.core.selection import Explanation
from biselect.errors import InputError
from biselect.plot._block import content_of
from biselect.plot.style import AS_IT_IS, COLOURS, MARKERS, QUIET, axes_for, legend_below, name_rows, room
from biselect.reviews import Review

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OTHERS = "#bbbbbb"
WORDS = 3.6  # inches that a reason takes
HATCHES = ("", "", "", "////", "....", "\\\\\\\\")  # colours alike in grey differ in pattern


def reasons(answer: Review | Selection | Explanation, ax: Axes | None = None, *, most_rows: int = 50) -> Axes:
    """What each chosen row adds, strongest first, and through which columns; a review's strongest reasons in words.

    Args:
        answer: an answer; only a review has words.
        ax: where to draw; a new figure if left out.
        most_rows: weaker ones are left out, which the title says.
    """
    content = content_of(answer)
    count = min(len(content.rows), most_rows)
    cells = content.cells[:count]
    own_columns = content.columns[: len(HATCHES)] if len(content.columns) > len(HATCHES) + 1 else content.columns
    parts = {name: (cells[:, j], COLOURS[j % 6], HATCHES[j % 6]) for j, name in enumerate(own_columns)}
    if len(own_columns) < len(content.columns):
        parts[f"{len(content.columns) - len(own_columns)} more chosen columns"] = (
            cells[:, len(own_columns) :].sum(axis=1),
            OTHERS,
            "",
        )
    if content.alone.any():
        rest = "the row alone" if content.reasons is None else "all other columns"
        parts[rest] = (content.alone[:count], "white", "")
    names, words = content.rows[:count], (content.reasons or [])[:count]
    width, height = 4.4 + room(names) + (WORDS if words else 0), 0.21 * count + 1.4
    with axes_for(ax, width=width, height=height) as axes:
        above, below = np.zeros(count), np.zeros(count)
        bars = []
        for values, colour, hatch in parts.values():
            start = np.where(values >= 0, above, below)
            look: Any = {"facecolor": colour, "edgecolor": "#333333" if colour == "white" else "white", "hatch": hatch}
            bars.append(axes.barh(range(count), values, left=start, height=0.76, linewidth=0.6, **look))
            above, below = above + np.maximum(values, 0), below + np.minimum(values, 0)
        far = float(above.max()) or 1.0
        inches = axes.bbox.width / axes.figure.dpi if ax is not None else width - room(names)
        if inches < 1.6 * WORDS:
            words = []
        for row, text in enumerate(words):
            axes.text(above[row] + 0.02 * far, row, text, va="center", fontsize=7, color=QUIET, **AS_IT_IS)
        if words:
            axes.set_xlim(min(0.0, float(below.min())), far * inches / (inches - WORDS))
        axes.set_ylim(count - 0.4, -0.6)
        name_rows(axes, names)
        axes.grid(False, axis="y")
        axes.axvline(0, color="#999999", linewidth=0.6)
        axes.set_xlabel("adds to the score")
        of_all = f", the strongest {count} of {len(content.rows)}" if count < len(content.rows) else ""
        axes.set_title(f"What each chosen row adds{of_all}", loc="left", fontsize=10)
        legend_below(axes, bars, list(parts))
    return axes


def budgets(answers: Review | Sequence[Selection], ax: Axes | None = None) -> Axes:
    """The best score of neighbouring budgets: one line for each number of columns, over the number of rows.

    A filled mark is proven, a hollow one is the best answers; the ring is the answer.

    Args:
        answers: a review, or the selections that `biselect.solvers.neighbours` gives, the answer first.
        ax: where to draw; a new figure if left out.
    """
    nearby = list(answers.neighbours) if isinstance(answers, Review) else list(answers)
    if not nearby or not all(isinstance(near, Selection) for near in nearby):
        raise InputError("a picture of budgets needs a Review or the selections of neighbouring budgets")
    answer = answers.selection if isinstance(answers, Review) else nearby[0]
    with axes_for(ax, width=5.2, height=3.4) as axes:
        numbers = sorted({near.problem.m for near in nearby}, reverse=True)
        for at, m in enumerate(numbers):
            line = sorted((near for near in nearby if near.problem.m == m), key=lambda near: near.problem.k)
            colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]
            rows, scores = [near.problem.k for near in line], [near.score for near in line]
            axes.plot(rows, scores, color=colour, label=f"{m} column{'s' * (m != 1)}")
            for k, near in zip(rows, line, strict=True):
                face = colour if near.proven_optimal else "white"
                axes.plot(k, near.score, marker=marker, markersize=6, color=colour, markerfacecolor=face)
        k, m = answer.problem.k, answer.problem.m
        ring: Any = {"marker": "o", "markersize": 14, "markerfacecolor": "none", "color": "black", "linestyle": ""}
        axes.plot(k, answer.score, label=f"the answer: {k} × {m}", **ring)
        axes.set_xticks(sorted({near.problem.k for near in nearby}))
        axes.margins(0.1)
        axes.set(xlabel="rows", ylabel="best score")
        axes.set_title("What other budgets would collect", loc="left", fontsize=10)
        axes.legend(loc="upper left", labelspacing=0.7)
    return axes
