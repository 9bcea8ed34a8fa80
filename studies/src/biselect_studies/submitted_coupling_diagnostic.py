"""Figure submitted_coupling_diagnostic: how much coupling the submitted circuits keep, and what it is worth."""

from typing import Any

import numpy as np

from biselect_studies.figures import GREY, Figure, line, panels
from biselect_studies.ledger import read_ledger
from biselect_studies.results import Entry, Findings, entry
from biselect_studies.runner import Records
from biselect_studies.study import described
from biselect_studies.task import Grid

SIZES = {
    20: (12, 8, 3, 5),
    32: (19, 13, 5, 5),
    36: (22, 14, 6, 5),
    52: (31, 21, 8, 8),
    56: (34, 22, 8, 8),
    64: (38, 26, 10, 10),
}
DEVICE = "boston"
WIDE, RANGED = "32 to 64 qubits", ("share", "dense_gain")  # of these the paper prints the range over the widths
COLUMNS = {
    "share": "kept of the cross mass, %",
    "to_fields": "kept cross to field mass, %",
    "dense_gain": "dense gain kept, %",
    "over_diagonal": "gain over the diagonal choice",
    "mended_gain": "dense gain kept with mean field, %",
    "bare_gain": "with mean field, no couplings, %",
    "overlap": "low-energy overlap, %",
    "mended_overlap": "low-energy overlap with mean field, %",
}

GRID = Grid(experiment="coupling", cells=lambda quick: map(_cell, _widths(quick)), quick=2, full=20, block=5)


def summarise(records: Records, quick: bool) -> Findings:
    """Means over problems, with intervals."""
    found: list[Entry] = []
    gaps = []
    for width in _widths(quick):
        values = records.of(_cell(width))
        gaps.append(float(values["gap"].max()))
        for name, column in COLUMNS.items():
            if name in values:
                found.append(entry(_row(width), column, values[name]))
    for column in (COLUMNS[name] for name in RANGED):
        means = [one.ours for one in found if one.column == column and one.row != _row(20)]
        found.append(entry(WIDE, column, means, statistic=np.median, ranged=True))
    return Findings(
        seeds=GRID.seeds(quick),
        cells=tuple(found),
        notes=(
            f"The largest gap of a placement is {max(gaps):.1g}.",
            "Mean field: what the mask drops stays in the fields on average, at the temperature whose low-energy "
            "states are lowest in the dense objective. That takes no more gates, but puts part of a classical "
            "mean-field answer into the circuit: the column without couplings shows what the fields do alone.",
            "Low-energy overlap: how many of the 100 lowest choices of the dense problem are among the 100 lowest of "
            "the surrogate; for sectors that can be listed.",
        ),
    )


def draw(found: Findings) -> Figure:
    """Four panels over the width, as in the paper; the mean field beside the plain mask."""
    figure, axes = panels(2, 2, width=3.6, height=2.6, sharex=True)
    shown = [("share",), ("to_fields",), ("dense_gain", "mended_gain", "bare_gain"), ("over_diagonal",)]
    labels = {"dense_gain": "plain mask", "mended_gain": "with mean field", "bare_gain": "mean field, no couplings"}
    widths = [width for width in SIZES if any(cell.row == _row(width) for cell in found.cells)]
    for panel, names in zip(axes.ravel(), shown, strict=True):
        for position, name in enumerate(names):
            cells = [found.find(_row(width), COLUMNS[name]) for width in widths]
            line(panel, widths, cells, position, labels.get(name, "ours"))
        panel.set(title=COLUMNS[names[0]].replace(", %", " (%)"))
        panel.set_ylim(bottom=0)
    printed = [found.find(_row(width), COLUMNS["share"]).paper for width in widths]
    axes[0, 0].plot(widths, printed, "x", color="black", label="paper")
    gains = read_ledger().of("submitted-coupling-diagnostic")[WIDE, COLUMNS["dense_gain"]].ends
    axes[1, 0].axhspan(*gains, color=GREY, alpha=0.15, label="paper, range", linewidth=0)
    axes[0, 0].legend()
    axes[1, 0].legend(loc="lower right")
    for panel in axes[1]:
        panel.set_xlabel("decision qubits")
        panel.set_xticks(widths)
    return figure


def _widths(quick: bool) -> list[int]:
    return list(SIZES)[:2] if quick else list(SIZES)


def _row(width: int) -> str:
    return f"{width} qubits {SIZES[width]}"


def _cell(width: int) -> dict[str, Any]:
    return {"device": DEVICE, **dict(zip("NDkm", SIZES[width], strict=True))}


STUDY = described("submitted-coupling-diagnostic", tasks=GRID.tasks, summarise=summarise, draw=draw)
