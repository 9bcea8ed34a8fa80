"""Figure cross_platform_compilation: what a cost on hardware edges alone saves on two lattices."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from biselect_studies.figures import COLOURS, GREY, Figure, look, panels
from biselect_studies.grid import crossed
from biselect_studies.results import Entry, Findings
from biselect_studies.runner import Records
from biselect_studies.study import described
from biselect_studies.task import Grid

DEVICES = {"boston": "Heron r3, heavy-hex", "iqm-54": "IQM, square lattice"}
COSTS = {"dense": "--", "aligned": "-", "y-frame": ":"}  # with their lines
WIDTHS = (8, 12, 16, 20, 24)
DEPTHS = (1, 2, 3, 4)
MEASURES = {"two_qubit_gates": "2Q count", "two_qubit_depth": "2Q depth"}
PAPER = {"two_qubit_gates": (42.3, 82.6), "two_qubit_depth": (54.5, 84.8)}  # smallest and largest cut of a cell


def cells(quick: bool) -> list[dict[str, Any]]:
    """Every cost at every width and depth."""
    widths, depths = (WIDTHS[:1], DEPTHS[:1]) if quick else (WIDTHS, DEPTHS)
    return crossed(device=DEVICES, width=widths, depth=depths, cost=COSTS)


GRID = Grid(experiment="compile_dense", cells=cells, quick=1, full=20, block=5)  # seeds as the paper's


def summarise(records: Records, quick: bool) -> Findings:
    """Medians with quartiles of each cost, and the cut of the medians: its smallest, median and largest."""
    found: list[Entry] = []
    for measure, column in MEASURES.items():
        cuts: dict[str, list[float]] = {"aligned": [], "y-frame": []}
        for cell in cells(quick):
            cost, values = cell["cost"], records.of(cell)[measure]
            low, middle, high = (float(np.quantile(values, q)) for q in (0.25, 0.5, 0.75))
            row = _row(cell["device"], cell["width"], cell["depth"])
            found.append(_entry(row, f"{column}, {cost}", low, middle, high, None))
            if cost == "dense":  # comes first of the three
                dense = middle
            else:
                cuts[cost].append(100 * (1 - middle / dense))
        for cost, each in cuts.items():
            smallest, largest = PAPER[measure] if cost == "aligned" and not quick else (None, None)
            for name, share, paper in (("smallest", 0, smallest), ("median", 0.5, None), ("largest", 1, largest)):
                cut = float(np.quantile(each, share))
                found.append(_entry(f"{name} cut against dense, {cost}", f"{column}, %", cut, cut, cut, paper))
    return Findings(
        seeds=GRID.seeds(quick),
        cells=tuple(found),
        brackets="quartiles",
        notes=(
            "Medians with quartiles, not an interval, over transpiler seeds, each with its random feasible start. "
            "Dense and aligned go through the same Qiskit path, optimisation level 3 on the native basis; the y-frame "
            "is ours on the aligned cost.",
        ),
    )


def _entry(row: str, column: str, low: float, middle: float, high: float, paper: float | None) -> Entry:
    verdict = "-" if paper is None else "within noise" if low <= paper <= high else "differs"
    return Entry(row=row, column=column, ours=middle, low=low, high=high, paper=paper, verdict=verdict)


def _row(device: str, width: int, depth: int) -> str:
    return f"{device}, {width} qubits, p = {depth}"


def draw(found: Findings) -> Figure:
    """2Q count and depth against width, a line for each depth: dense dashed, aligned solid, Y-frame dotted."""
    figure, axes = panels(2, 2, width=3.6, height=2.7, sharex=True)
    rows = {cell.row for cell in found.cells}
    for panel, (column, (device, title)) in zip(axes.flat, product(MEASURES.values(), DEVICES.items()), strict=True):
        for (position, depth), (cost, style) in product(enumerate(DEPTHS), COSTS.items()):
            widths = [width for width in WIDTHS if _row(device, width, depth) in rows]
            shown = [found.find(_row(device, width, depth), f"{column}, {cost}") for width in widths]
            label = f"p = {depth}" if cost == "aligned" and shown else None
            panel.plot(widths, [cell.ours for cell in shown], label=label, linestyle=style, **look(position))
            bounds = [cell.low for cell in shown], [cell.high for cell in shown]
            panel.fill_between(widths, *bounds, color=COLOURS[position], alpha=0.15)
        panel.set(title=title, ylabel=f"submitted {column}", yscale="log")
    for panel in axes[1]:
        panel.set(xlabel="decision qubits", xticks=WIDTHS)
    lines = [axes[0, 1].plot([], [], color=GREY, ls=style, label=cost)[0] for cost, style in COSTS.items()]
    axes[0, 0].legend(ncols=2)
    axes[0, 1].legend(handles=lines, loc="lower right", ncols=3)
    return figure


STUDY = described("cross-platform-compilation", tasks=GRID.tasks, summarise=summarise, draw=draw)
