"""A small picture of each chosen column as plain data: how the reference spreads, and where the chosen rows lie."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.columns.category import NO_LABEL
from biselect.core import Selection
from biselect.weights.evidence import Evidence, WeighedPool, histograms

WIDTH, END = 200, 24  # of the picture, and of each of its ends, which hold the outermost values by rank
TICKS = (("standing", True), ("rest", False))  # which rows each kind of tick is for
MOST_UNSEEN = 4  # categories of chosen rows that are not among the most common of the reference


def column_pictures(
    selection: Selection,
    table: WeighedPool,
    evidence: Sequence[Sequence[Evidence]],
    carrying: NDArray[np.bool_],
    standing: Collection[int],
) -> list[dict[str, Any]]:
    """One picture for each chosen column, as `selection.features` stand.

    Args:
        selection: the answer.
        table: what stands behind the problem.
        evidence: of the chosen rows and columns.
        carrying: which of these cells are reasons; sides are counted among them.
        standing: positions of the rows that stand out.
    """
    stands = [i in standing for i in selection.samples.tolist()]
    pictures = []
    for at, spread in enumerate(histograms(selection.features, table.calibrator)):
        cells = [row[at] for row in evidence]
        sides = Counter(cell.side for cell, reason in zip(cells, carrying[:, at], strict=True) if reason)
        picture = _bars(spread, cells) if "labels" in spread else _ticks(spread, cells, stands)
        pictures.append({"sides": dict(sides.most_common()), **picture})
    return pictures


def _ticks(spread: Mapping[str, Any], cells: Sequence[Evidence], stands: Sequence[bool]) -> dict[str, Any]:
    """The bins, and at which of WIDTH places chosen rows lie; a place holds one tick, however many rows."""
    places: dict[int, bool] = {}
    for cell, out in zip(cells, stands, strict=True):
        if isinstance(cell.value, float):
            place = _across(spread, cell)
            places[place] = places.get(place, False) or out
    return {**spread, "ticks": {key: sorted(at for at, out in places.items() if out is flag) for key, flag in TICKS}}


def _across(spread: Mapping[str, Any], cell: Evidence) -> int:
    """Where a value lies; beyond the bins its rank among the outermost values decides."""
    first, last, value = spread["first"], spread["last"], cell.value
    assert isinstance(value, float)
    if value < first:
        return round(END * min(1.0, cell.below / spread["below"])) if spread["below"] else 0
    if value > last:
        return WIDTH - (round(END * min(1.0, cell.above / spread["above"])) if spread["above"] else 0)
    return round(END + (WIDTH - 2 * END) * (value - first) / (last - first)) if last > first else WIDTH // 2


def _bars(spread: Mapping[str, Any], cells: Sequence[Evidence]) -> dict[str, Any]:
    """The most common categories of the reference and those of the chosen rows, with both counts."""
    counts_here = Counter(_label(cell) for cell in cells)
    counts = dict(zip(spread["labels"], spread["counts"], strict=True))
    by_label = {_label(cell): cell.seen or 0 for cell in cells}
    unseen = [label for label, _ in counts_here.most_common() if label not in counts][:MOST_UNSEEN]
    labels = [*counts, *unseen]
    return {
        "bars": [
            {
                "label": label,
                "reference": counts.get(label, by_label.get(label, 0)),
                "chosen": counts_here.get(label, 0),
            }
            for label in labels
        ],
        "others": {
            "reference": spread["others"] - sum(by_label[label] for label in unseen),
            "chosen": sum(counts_here.values()) - sum(counts_here.get(label, 0) for label in labels),
        },
    }


def _label(cell: Evidence) -> str:
    if cell.absent:
        return NO_LABEL
    return cell.value if isinstance(cell.value, str) else f"{cell.value:.15g}"
