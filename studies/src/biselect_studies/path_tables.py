"""What compilation paths make of the same circuits, at 26 matched points of width and depth on two devices.

Table implementation_path_factorial has the cuts of one path against another, figure compiler_path_scaling_baseline
depth and duration against width.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.hardware.paths import (
    COMPLETE_CZ,
    COMPLETE_FRACTIONAL,
    OPT3_CZ,
    OPT3_FRACTIONAL,
    STRONGEST_QISKIT,
    Y_FRAME,
    CompilationPath,
    YFramePath,
)
from biselect_studies.figures import Figure, dots, line, panels
from biselect_studies.grid import crossed, pooled
from biselect_studies.results import Entry, Findings
from biselect_studies.runner import Records
from biselect_studies.study import described
from biselect_studies.task import Grid

DEVICES = ("boston", "pittsburgh")
REGISTERS = ("trees", "paths")
WIDTHS = tuple(range(16, 65, 4))
DEPTHS = (2, 3)
CUTS = {
    "depth": "depth cut, %",
    "two_qubit_depth": "2Q depth cut, %",
    "two_qubit_gates": "2Q count cut, %",
    "duration": "duration cut, %",
    "gate_duration": "duration cut without readout, %",
}
CZ_COLOURED = replace(OPT3_CZ, coloured=True)
CONTRASTS: dict[str, tuple[CompilationPath, CompilationPath]] = {
    "Opt-3 fractional / Opt-3 CZ": (OPT3_FRACTIONAL, OPT3_CZ),
    "Complete CZ / Opt-3 CZ": (COMPLETE_CZ, OPT3_CZ),
    "Complete fractional / Opt-3 fractional": (COMPLETE_FRACTIONAL, OPT3_FRACTIONAL),
    "Complete fractional / Opt-3 CZ": (COMPLETE_FRACTIONAL, OPT3_CZ),
    "Complete fractional / Opt-3 CZ, same coloured order": (COMPLETE_FRACTIONAL, CZ_COLOURED),
    "Strongest Qiskit / Opt-3 CZ": (STRONGEST_QISKIT, OPT3_CZ),
    "Y-frame / Opt-3 CZ": (Y_FRAME, OPT3_CZ),
    "Y-frame / Opt-3 CZ, same recorded order": (YFramePath(coloured=False), OPT3_CZ),
    "Y-frame / Opt-3 CZ, same coloured order": (Y_FRAME, CZ_COLOURED),
    "Y-frame / complete fractional": (Y_FRAME, COMPLETE_FRACTIONAL),
    "Y-frame / strongest Qiskit": (Y_FRAME, STRONGEST_QISKIT),
}
PAPER = {  # medians
    "Opt-3 fractional / Opt-3 CZ": {"depth": 31.2, "two_qubit_depth": 0.0, "duration": 4.1},
    "Complete CZ / Opt-3 CZ": {"depth": 25.9, "two_qubit_depth": 23.1, "duration": 15.3},
    "Complete fractional / Opt-3 fractional": {"depth": 23.5, "two_qubit_depth": 23.1, "duration": 17.5},
    "Complete fractional / Opt-3 CZ": {"depth": 47.4, "two_qubit_depth": 23.1, "duration": 20.0},
}
SCALED: dict[str, CompilationPath] = {
    "Opt-3 CZ": OPT3_CZ,
    "Opt-3 fractional": OPT3_FRACTIONAL,
    "Complete CZ": COMPLETE_CZ,
    "Complete fractional": COMPLETE_FRACTIONAL,
    "Strongest Qiskit": STRONGEST_QISKIT,
    "Y-frame": Y_FRAME,
}
SIZES = {"depth": ("depth", 1.0), "duration": ("duration, µs", 1e6)}  # column and unit


def points(quick: bool) -> list[dict[str, Any]]:
    """Every point on both kinds of registers; a single, smaller one in the quick form."""
    devices, widths, depths = (DEVICES[:1], (8,), DEPTHS[:1]) if quick else (DEVICES, WIDTHS, DEPTHS)
    return crossed(registers=REGISTERS, device=devices, width=widths, depth=depths)


GRID = Grid(experiment="compile_paths", cells=points, quick=1, full=3, block=1)


def ranged(row: str, column: str, found: NDArray[np.float64], paper: float | None = None) -> Entry:
    """Median with the observed range, as the paper gives it; a printed median inside our range is within noise."""
    low, middle, high = (float(np.quantile(found, q)) for q in (0, 0.5, 1))
    verdict = "-" if paper is None else "within noise" if low <= paper <= high else "differs"
    if paper is not None and round(middle, 1) == paper:
        verdict = "equal"
    return Entry(row=row, column=column, ours=middle, low=low, high=high, paper=paper, verdict=verdict)


def summarise_cuts(records: Records, quick: bool) -> Findings:
    """Cuts of every contrast and measure."""
    found = partial(pooled, records, points(quick))
    cells = []
    for registers, (row, pair), (measure, column) in product(REGISTERS, CONTRASTS.items(), CUTS.items()):
        ours, theirs = (found(f"{path.name}:{measure}", registers=registers) for path in pair)
        paper = None if quick else PAPER.get(row, {}).get(measure)  # a single small point is none of the paper's
        cells.append(ranged(f"{registers}: {row}", column, 100 * (1 - ours / theirs), paper))
    return Findings(
        seeds=GRID.seeds(quick),
        cells=tuple(cells),
        brackets="observed range",
        notes=(
            f"Medians with the observed range, not an interval, over {len(points(quick)) // 2} width-depth points of "
            f"the devices {', '.join(dict.fromkeys(cell['device'] for cell in points(quick)))}; a seed fixes the "
            "recorded order, the random feasible start and the transpiler.",
            "Recorded and coloured order are different circuits, so rows of the same order say what compilation alone "
            "saves.",
            "The paper's 2Q count cut of 1.4 to 3.6 % is that of exposing the fractional target. The Y-frame knows "
            "the start: its count depends on where the ones lie.",
            "Duration includes 2200 ns of readout, which no path shortens.",
        ),
    )


def summarise_sizes(records: Records, quick: bool) -> Findings:
    """Depth and duration of every path at every width and depth, devices and seeds together."""
    found = partial(pooled, records, points(quick))
    widths, depths = (list(dict.fromkeys(cell[name] for cell in points(quick))) for name in ("width", "depth"))
    cells = []
    for registers, depth, width in product(REGISTERS, depths, widths):
        only: dict[str, Any] = {"registers": registers, "depth": depth, "width": width}
        for (measure, (column, unit)), (name, path) in product(SIZES.items(), SCALED.items()):
            values = unit * found(f"{path.name}:{measure}", **only)
            cells.append(ranged(_row(registers, depth, width), f"{column}, {name}", values))
    return Findings(
        seeds=GRID.seeds(quick),
        cells=tuple(cells),
        brackets="observed range",
        notes=(
            "Medians with the observed range over devices and seeds. The paper prints no numbers beside this figure; "
            "its cuts are in implementation-path-factorial.",
        ),
        extra={"widths": widths, "depths": depths},
    )


def draw_sizes(found: Findings) -> Figure:
    """Depth and duration against width, tree registers."""
    widths, depths = found.extra["widths"], found.extra["depths"]
    figure, axes = panels(2, len(depths), width=3.6, height=2.7, sharex=True)
    for row, (column, _) in zip(axes, SIZES.values(), strict=True):
        for panel, depth in zip(row, depths, strict=True):
            for position, name in enumerate(SCALED):
                cells = [found.find(_row("trees", depth, width), f"{column}, {name}") for width in widths]
                line(panel, widths, cells, position, name)
            panel.set(title=f"p = {depth}", ylabel=column, ylim=(0, None))
    for panel in axes[1]:
        panel.set(xlabel="decision qubits")
    axes[0, 0].legend(ncols=2)
    axes[0, 0].set_ylim(0, 1.6 * axes[0, 0].get_ylim()[1])
    return figure


def _row(registers: str, depth: int, width: int) -> str:
    return f"{registers}, p = {depth}, {width} qubits"


FACTORIAL = described(
    "implementation-path-factorial",
    tasks=GRID.tasks,
    summarise=summarise_cuts,
    draw=lambda found: dots(found, [CUTS["depth"]]),
)
SCALING = described("compiler-path-scaling-baseline", tasks=GRID.tasks, summarise=summarise_sizes, draw=draw_sizes)
STUDIES = (FACTORIAL, SCALING)
