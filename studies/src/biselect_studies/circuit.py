"""Figure circuit: one layer of CG-XY-QAOA on four samples and three features, drawn and held against the simulator."""

from itertools import product
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from biselect_quantum.circuits.mixers import mixer_classes
from biselect_studies.figures import COLOURS, GREY, Figure, panels
from biselect_studies.results import Findings, entry
from biselect_studies.runner import Records
from biselect_studies.study import described
from biselect_studies.task import Grid

SIZE = {"N": 4, "D": 3, "k": 2, "m": 1}
COLUMNS = {
    "preparation": "Dicke gates",
    "rz": "field rotations",
    "rzz": "coupling rotations",
    "xy": "mixer gates",
    "distance": "total variation to the simulator",
}
BOX = 0.36  # half the side of a gate
GRID = Grid(experiment="circuit", cells=lambda quick: [SIZE], quick=2, full=50, block=50)


def summarise(records: Records, quick: bool) -> Findings:
    """Its gates, how far it is from the simulator, and where its mixer's edges lie."""
    values = records.of(SIZE)
    mixers = {"samples": mixer_classes("ring", SIZE["N"]), "features": mixer_classes("ring", SIZE["D"])}
    return Findings(
        seeds=GRID.seeds(quick),
        cells=tuple(entry("(4, 3, 2, 1), p = 1", column, values[name]) for name, column in COLUMNS.items()),
        notes=(f"The distance is the largest over random problems and angles: {values['distance'].max():.1g}.",),
        extra={
            "mixers": {name: [[list(edge) for edge in group] for group in classes] for name, classes in mixers.items()}
        },
    )


def draw(found: Findings) -> Figure:
    """Dicke states, fields, couplings, the two mixers, readout; from left to right, samples above features."""
    n, d = SIZE["N"], SIZE["D"]
    heights = [-float(q) for q in range(n)] + [-(q + 0.8) for q in range(n, n + d)]
    colours = [COLOURS[0]] * n + [COLOURS[1]] * d
    names = [f"$s_{i + 1}$" for i in range(n)] + [f"$f_{j + 1}$" for j in range(d)]
    figure, ((panel,),) = panels(1, 1, width=9.6, height=3.8)
    panel.axis("off")
    panel.set_aspect("equal")
    for first, last, label in ((0, n - 1, r"$|D^4_2\rangle$"), (n, n + d - 1, r"$|D^3_1\rangle$")):
        _box(panel, 0.0, heights[first], heights[last], label, colours[first], width=0.62)
    for y, colour in zip(heights, colours, strict=True):
        _box(panel, 1.5, y, y, "$R_Z$", colour)
    x = 2.5
    for i, j in product(range(n), range(n, n + d)):  # a coupling: two dots on a line
        panel.plot([x, x], [heights[i], heights[j]], color=COLOURS[2], marker="o", markersize=4, lw=1.2, zorder=3)
        x += 0.42
    couplings_end, mixing, end = x, x + 0.2, x + 0.7
    for first, name in ((0, "samples"), (n, "features")):
        step = x + 0.7
        for group in found.extra["mixers"][name]:
            apart = 0.45 if _nested(group) else 0.0
            for position, edge in enumerate(group):  # an XY gate: crosses at its two qubits
                ends, look = [heights[first + q] for q in edge], {"marker": "X", "markersize": 6.5, "lw": 1.8}
                panel.plot([step + apart * position] * 2, ends, color=colours[first], zorder=3, **look)
            step += 0.75 + apart
        end = max(end, step)
    x = end + 0.5
    for name, y in zip(names, heights, strict=True):
        panel.text(-0.9, y, rf"{name}  $|0\rangle$", ha="right", va="center")
        _box(panel, x, y, y, "M", GREY)
        panel.plot([-0.8, x + 0.6], [y, y], color="black", linewidth=0.7, zorder=1)
    for place, text in (
        (0.0, "start"),
        (1.5, "fields"),
        ((2.5 + couplings_end - 0.42) / 2, r"couplings $R_{ZZ}(2\gamma_{SF} J_{ij})$"),
        ((mixing + end) / 2, r"mixers, $XY(\beta)$"),
        (x, "readout"),
    ):
        panel.text(place, 0.85, text, ha="center", va="bottom")
    return figure


def _nested(group: list[list[int]]) -> bool:
    """Whether one edge of a class passes over another, so that they must be drawn apart."""
    spans = [(min(edge), max(edge)) for edge in group]
    return any(a < c and d < b for a, b in spans for c, d in spans)


def _box(panel: Axes, x: float, top: float, bottom: float, text: str, colour: str, width: float = BOX) -> None:
    look: dict[str, Any] = {"boxstyle": "round,pad=0.02", "facecolor": "white", "edgecolor": colour, "zorder": 3}
    panel.add_patch(FancyBboxPatch((x - width, bottom - BOX), 2 * width, top - bottom + 2 * BOX, linewidth=1.3, **look))
    panel.text(x, (top + bottom) / 2, text, ha="center", va="center", zorder=4, fontsize=8)


STUDY = described("circuit", tasks=GRID.tasks, summarise=summarise, draw=draw)
