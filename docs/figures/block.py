"""Draws docs/images/block.svg: a table of weights, and the block that a choice cuts out of it."""

import numpy as np
from canvas import BLUE, GREEN, GREY, ORANGE, box, drawing
from matplotlib import colormaps

import biselect as bs
from biselect.weights import Weigher

ROWS, COLUMNS, CELL = 12, 8, 0.3


def problem() -> bs.SelectionProblem:
    """Four rows that stand out together in three columns, and noise."""
    rng = np.random.default_rng(2)
    reference, pool = rng.normal(size=(500, COLUMNS)), rng.normal(size=(ROWS, COLUMNS))
    pool[np.ix_([2, 5, 6, 10], [1, 4, 6])] += 2.4
    return Weigher().fit(reference).plain_problem(pool, k=4, m=3)


def mark(axes, x: float, y: float, share: float) -> None:
    """A small square, darker for a larger marginal."""
    box(axes, x - 0.09, y - 0.09, 0.18, 0.18, facecolor=GREEN, alpha=float(share))


def table(axes, asked: bs.SelectionProblem, best: bs.Selection) -> None:
    """Weights and marginals, with the chosen cells framed."""
    left, top, shade = 1.25, 3.75, colormaps["Blues"]
    alone, spread = asked.sample_scores / asked.sample_scores.max(), asked.feature_scores / asked.feature_scores.max()
    for i in range(ROWS):
        y = top - (i + 1) * CELL
        for j in range(COLUMNS):
            x = left + j * CELL
            box(
                axes, x, y, CELL, CELL, facecolor=shade(0.75 * asked.coupling[i, j] / asked.coupling.max()), linewidth=1
            )
            if i in best.samples and j in best.features:
                frame = {"facecolor": "none", "edgecolor": ORANGE, "linewidth": 2}
                box(axes, x + 0.02, y + 0.02, CELL - 0.04, CELL - 0.04, **frame)
        colour = ORANGE if i in best.samples else GREY
        axes.text(left - 0.42, y + CELL / 2, f"record {i + 1}", ha="right", va="center", size=8, color=colour)
        mark(axes, left - 0.25, y + CELL / 2, alone[i])
    for j in range(COLUMNS):
        x, colour = left + (j + 0.5) * CELL, ORANGE if j in best.features else GREY
        slanted = {"rotation": 60, "rotation_mode": "anchor", "va": "bottom"}
        axes.text(x, top + 0.42, f"column {j + 1}", size=8, color=colour, **slanted)
        mark(axes, x, top + 0.25, spread[j])


def legend(axes, asked: bs.SelectionProblem, best: bs.Selection) -> None:
    """What the colours mean, and what the block scores."""
    notes = {
        "weights W_ij: darker is more unusual": (3.3, BLUE),
        "the chosen block: k = 4 records,\nm = 3 columns, 12 cells": (2.85, ORANGE),
        "marginals: a_i beside the rows,\nb_j above the columns": (2.25, GREEN),
    }
    for text, (y, colour) in notes.items():
        box(axes, 3.95, y - 0.08, 0.16, 0.16, facecolor=colour)
        axes.text(4.2, y, text, va="center", size=8.5)
    parts = asked.score_parts(best.samples, best.features)
    words = f"score {best.score:.1f} = records {parts['samples']:.1f}"
    words += f"\n + columns {parts['features']:.1f} + block {parts['coupling']:.1f}"
    words += "\n\nno other 4 × 3 block\nscores higher: proven"
    axes.text(3.95, 1.45, words, va="center", size=8.5, linespacing=1.5)


def main() -> None:
    """Draw it."""
    asked = problem()
    best = bs.solve(asked)
    with drawing("block.svg", 6.6, 4.7) as axes:
        table(axes, asked, best)
        legend(axes, asked, best)


if __name__ == "__main__":
    main()
