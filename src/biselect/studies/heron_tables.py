"""What the hardware tables share: simulation and noise model beside a device's printed figures, never as equals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from biselect.studies.results import Entry, Findings
from biselect.studies.runner import Records

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOT_HARDWARE = (
    "Nothing here ran on a device. 'ideal' is exact simulation; 'noise model' is the recorded calibration of "
    "FakeBoston (Heron r3): noise model, not hardware. The paper's figures are of a real Heron r3 on another day, on "
    "another patch and on instances it does not give, so they stand beside ours and are not compared."
)
RANGES = "Each entry is the mean over repeats with its lowest and highest; a single run has no range."
TWIRLED = "Under the noise model gate errors are twirled to Paulis, waiting qubits do not relax, and readout errs."


def beside(row: str, column: str, values: ArrayLike, paper: float | None = None) -> Entry:
    """The mean over repeats with its range, beside a device's figure."""
    found = np.atleast_1d(np.asarray(values, dtype=np.float64))
    verdict = "-" if paper is None else "not compared"
    low, high = float(found.min()), float(found.max())
    return Entry(row=row, column=column, ours=float(found.mean()), low=low, high=high, paper=paper, verdict=verdict)


def of_cell(records: Records, cell: dict[str, Any]) -> dict[str, Any]:
    """What was found in a cell."""
    return records[tuple(sorted(cell.items()))]


def dots(found: Findings, columns: Sequence[str], label: str) -> Figure:
    """A panel a column: ours with its range, and the device's figure."""
    from biselect.studies.style import COLOURS, PAPER, panels

    rows = list(dict.fromkeys(entry.row for entry in found.cells))
    figure, axes = panels(1, len(columns), width=3.0, height=max(2.0, 0.28 * len(rows) + 1.0), sharey=True)
    for panel, column in zip(axes[0], columns, strict=True):
        cells = {entry.row: entry for entry in found.cells if entry.column == column}
        for place, row in enumerate(rows):
            if row not in cells:
                continue
            entry = cells[row]
            panel.plot([entry.low, entry.high], [place] * 2, color=COLOURS[0])
            panel.plot([entry.ours], [place], "o", color=COLOURS[0])
            if entry.paper is not None:
                panel.plot([entry.paper], [place], "x", color=PAPER)
        panel.set_title(column)
        panel.set_yticks(range(len(rows)), rows)
    axes[0, 0].invert_yaxis()
    axes[0, 0].plot([], [], "o", color=COLOURS[0], label=label)
    axes[0, 0].plot([], [], "x", color=PAPER, label="paper, hardware")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
