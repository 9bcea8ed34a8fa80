"""What a checker needs to see for itself that nothing scores higher than the answer."""

from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = "biselect-proof-1"

Dive = tuple[tuple[int, ...], NDArray[np.int16], NDArray[np.int32], NDArray[np.float64]]
"""A node, as the columns it has chosen, then depths, last columns and bounds of it and of what was opened below it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Screen:
    """What the last k rows of a problem stand for: all rows of a larger table that are not in it.

    Attributes:
        rows: of the table.
        kept_rows: where the problem's other rows stand in it, ascending.
        heavy: a row whose weights add up to this or more was to be kept, as it has a score of its own; None where no
            row has one.
    """

    rows: int
    kept_rows: list[int]
    heavy: float | None

    def to_dict(self) -> dict[str, Any]:
        """The part of the proof file that says which rows are not in the problem."""
        return {"screen": {"rows": self.rows, "kept": self.kept_rows, "heavy": self.heavy}}


@dataclass(frozen=True, kw_only=True, eq=False)
class Proof:
    """A search tree in whole units, as docs/reference/proof-format.md describes it.

    Attributes:
        lines: "samples" or "features", the side that was searched.
        exponent: prices and τ are multiples of 2^exponent.
        prices: β of each free line, in units.
        tau: τ in units.
        order: the lines that were branched on, in that order.
        closed: nodes with a bound of at most this many units are closed.
        dives: the nodes that were opened; None where the checker has to open what it needs.
        screen: the larger table that the problem's rows come from; None where they are all there are.
    """

    lines: str
    exponent: int
    prices: list[int]
    tau: int
    order: list[int]
    closed: float
    dives: list[Dive] | None
    screen: Screen | None = None

    def to_dict(self) -> dict[str, Any]:
        """The part of the proof file that says how the search went."""
        return {
            "lines": self.lines,
            "exponent": self.exponent,
            "prices": self.prices,
            "tau": self.tau,
            "order": self.order,
            "nodes": None if self.dives is None else self._nodes(self.dives),
            **({} if self.screen is None else self.screen.to_dict()),
        }

    def _nodes(self, dives: list[Dive]) -> list[list[int]]:
        """[depth, last column] of every node that is not closed by what was found in the end, in preorder."""
        paths: set[tuple[int, ...]] = set()
        for start, depths, columns, bounds in dives:
            path = list(start)
            for depth, column, bound in zip(depths.tolist(), columns.tolist(), bounds.tolist(), strict=True):
                path[max(depth - 1, 0) :] = repeat(column, min(depth, 1))
                if bound > self.closed:
                    paths.add(tuple(path))
        closing = sorted(path for path in paths if path and all(path[:size] in paths for size in range(1, len(path))))
        return [[len(path), path[-1]] for path in closing]
