"""Figure circuit: one layer of CG-XY-QAOA on four samples and three features, drawn and held against the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biselect_studies.results import Findings, entry
from biselect_studies.runner import Records
from biselect_studies.study import Study
from biselect_studies.task import Task, tasks_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = {"N": 4, "D": 3, "k": 2, "m": 1}
COLUMNS = {
    "preparation": "Dicke gates",
    "rz": "field rotations",
    "rzz": "coupling rotations",
    "xy": "mixer gates",
    "distance": "total variation to the simulator",
}
ROW = "(4, 3, 2, 1), p = 1"
BOX = 0.36  # half the side of a gate


def seeds(quick: bool) -> int:
    """Random problems and angles at which the circuit is checked."""
    return 2 if quick else 50


def tasks(quick: bool) -> list[Task]:
    """The one circuit."""
    return tasks_for("circuit", SIZE, seeds(quick), block=50)


def summarise(records: Records, quick: bool) -> Findings:
    """Its gates, how far it is from the simulator, and where its mixer's edges lie."""
    from biselect.qaoa.mixers import mixer_classes

    values = records[tuple(sorted(SIZE.items()))]
    mixers = {"samples": mixer_classes("ring", SIZE["N"]), "features": mixer_classes("ring", SIZE["D"])}
    return Findings(
        seeds=seeds(quick),
        cells=tuple(entry(ROW, column, values[name]) for name, column in COLUMNS.items()),
        notes=(f"The distance is the largest over random problems and angles: {values['distance'].max():.1g}.",),
        extra={
            "mixers": {name: [[list(edge) for edge in group] for group in classes] for name, classes in mixers.items()}
        },
    )


def draw(found: Findings) -> Figure:
    """Dicke states, fields, couplings, the two mixers, readout; from left to right, samples above features."""
    from biselect.report.style import COLOURS, panels

    n, d = SIZE["N"], SIZE["D"]
    heights = [-float(q) for q in range(n)] + [-(q + 0.8) for q in range(n, n + d)]
    figure, axes = panels(1, 1, width=9.6, height=3.8)
    panel = axes[0, 0]
    panel.axis("off")
    panel.set_aspect("equal")
    names = [f"$s_{i + 1}$" for i in range(n)] + [f"$f_{j + 1}$" for j in range(d)]
    for name, y in zip(names, heights, strict=True):
        panel.text(-0.9, y, rf"{name}  $|0\rangle$", ha="right", va="center")

    for first, last, label, colour in ((0, n - 1, "$|D^4_2\\rangle$", 0), (n, n + d - 1, "$|D^3_1\\rangle$", 1)):
        _box(panel, 0.0, heights[first], heights[last], label, COLOURS[colour], width=0.62)
    x = 1.5
    for q, y in enumerate(heights):
        _box(panel, x, y, y, "$R_Z$", COLOURS[0] if q < n else COLOURS[1])
    x += 1.0
    for i in range(n):
        for j in range(d):
            _pair(panel, x, heights[i], heights[n + j], COLOURS[2])
            x += 0.42
    couplings_end, x = x, x + 0.7
    mixing = x - 0.5
    ends = []
    for first, (name, colour) in ((0, ("samples", 0)), (n, ("features", 1))):
        step = x
        for group in found.extra["mixers"][name]:
            for position, (i, j) in enumerate(group):
                shift = 0.45 * position if _nested(group) else 0.0
                _gate(panel, step + shift, heights[first + i], heights[first + j], COLOURS[colour])
            step += 0.75 + (0.45 if _nested(group) else 0.0)
        ends.append(step)
    x = max(ends) + 0.5
    for y in heights:
        _box(panel, x, y, y, "M", "#666666")
        panel.plot([-0.8, x + 0.6], [y, y], color="black", linewidth=0.7, zorder=1)
    top = 0.85
    marks = (
        (0.0, "start"),
        (1.5, "fields"),
        ((2.5 + couplings_end - 0.42) / 2, r"couplings $R_{ZZ}(2\gamma_{SF} J_{ij})$"),
        ((mixing + max(ends)) / 2, r"mixers, $XY(\beta)$"),
        (x, "readout"),
    )
    for place, text in marks:
        panel.text(place, top, text, ha="center", va="bottom")
    return figure


def _nested(group: list[list[int]]) -> bool:
    """Whether one edge of a class passes over another, so that they must be drawn apart."""
    spans = [(min(edge), max(edge)) for edge in group]
    return any(a < c and d < b for a, b in spans for c, d in spans)


def _box(panel: Axes, x: float, top: float, bottom: float, text: str, colour: str, width: float = BOX) -> None:
    from matplotlib.patches import FancyBboxPatch

    look: dict[str, Any] = {"boxstyle": "round,pad=0.02", "facecolor": "white", "edgecolor": colour, "zorder": 3}
    panel.add_patch(FancyBboxPatch((x - width, bottom - BOX), 2 * width, top - bottom + 2 * BOX, linewidth=1.3, **look))
    panel.text(x, (top + bottom) / 2, text, ha="center", va="center", zorder=4, fontsize=8)


def _pair(panel: Axes, x: float, y: float, other: float, colour: str) -> None:
    """A coupling: two dots on a line."""
    panel.plot([x, x], [y, other], color=colour, marker="o", markersize=4, linewidth=1.2, zorder=3)


def _gate(panel: Axes, x: float, y: float, other: float, colour: str) -> None:
    """An XY gate: crosses at its two qubits, in its register's colour."""
    panel.plot([x, x], [y, other], color=colour, marker="X", markersize=6.5, linewidth=1.8, zorder=3)


STUDY = Study(
    name="circuit",
    title="One layer of CG-XY-QAOA",
    label="fig:circuit",
    tasks=tasks,
    summarise=summarise,
    draw=draw,
    choices=(
        "The paper's drawing keeps some of the couplings and does not say how the mixers' edges are "
        "ordered: here all couplings are kept, and ring mixers have their edges in classes of disjoint "
        "ones.",
    ),
)
