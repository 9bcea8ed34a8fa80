"""Table qaoa_parameterizations: the angle schedules, their counts, and what each reaches at p = 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.qaoa.schedule import SCHEDULES, Schedule
from biselect_studies.results import Entry, Findings, entry
from biselect_studies.runner import Records
from biselect_studies.study import Study
from biselect_studies.task import Task, tasks_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = {"N": 14, "D": 10, "k": 3, "m": 3}
SIGNALS = (2.0, 2.75)
MODES = ("residual", "mixed")
DEPTH = 3
COUNTS = {"bilinear": DEPTH + 2, "fixed-transport": 3 * DEPTH + 1, "fully-grouped": 4 * DEPTH}  # as the paper prints
SHOTS = 4096
ANGLES, ALPHA, BELOW, SEEN, DISTANCE = "angles", "α", "α, share of fully grouped (%)", "P*(4096) %", "distance"
UNIFORM, ASCENT = "uniform feasible", "coordinate ascent, one start"


def seeds(quick: bool) -> int:
    """Instances of each signal and mode."""
    return 2 if quick else 6


def tasks(quick: bool) -> list[Task]:
    """One instance a task."""
    return [t for cell in _cells() for t in tasks_for("parameterizations", cell, seeds(quick), block=1)]


def summarise(records: Records, quick: bool) -> Findings:
    """Counts, α, chance of the optimum in 4096 shots, and the distance to the same circuit as fully grouped."""
    cells: list[Entry] = []
    full = _values(records, "fully-grouped alpha")
    curves = {name: _values(records, f"{name} alpha") for name in SCHEDULES}
    for name in SCHEDULES:
        size = Schedule.named(name, DEPTH).size
        cells += [
            entry(name, ANGLES, [size], paper=COUNTS.get(name), decimals=0),
            entry(name, ALPHA, curves[name]),
            entry(name, BELOW, 100 * curves[name] / full),
            entry(name, SEEN, 100 * (1 - (1 - _values(records, f"{name} optimum")) ** SHOTS)),
            entry(name, DISTANCE, _values(records, f"{name} distance")),
        ]
    cells += [entry(UNIFORM, ALPHA, np.zeros(len(full)))]
    cells += [entry(UNIFORM, SEEN, 100 * (1 - (1 - _values(records, "uniform")) ** SHOTS))]
    ascent = _values(records, "ascent")
    cells += [entry(ASCENT, ALPHA, ascent)]
    contained = [("tied", "layerwise"), ("tied", "bilinear"), ("bilinear", "fixed-transport")]
    contained += [("fixed-transport", "fully-grouped"), ("layerwise", "fully-grouped")]
    kept = sum(int((curves[outer] >= curves[inner] - 1e-9).sum()) for inner, outer in contained)
    return Findings(
        seeds=seeds(quick),
        cells=tuple(cells),
        notes=(
            f"Angles are those of p = {DEPTH}: p + 2, 3p + 1 and 4p as the paper prints; it also has tied (2, one γ "
            "and one β for all layers) and layerwise XY-QAOA (2p). Wherever the paper writes XY-QAOA or tied in its "
            "depth tables layerwise is meant, in its threshold table tied.",
            f"α on {len(full)} instances (14, 10, 3, 3) of the depth family; each schedule starts from the angles of "
            "those it contains.",
            f"A schedule is no worse than one it contains in {kept} of {len(contained) * len(full)} pairs. Distance: "
            "the largest change of a probability when the circuit is written as a fully grouped one: rounding.",
            f"Uniform feasible sampling and coordinate ascent in the same columns; the latter finds the optimum of "
            f"{100 * float((ascent > 1 - 1e-9).mean()):.0f} % of the instances from one start.",
        ),
    )


def draw(found: Findings) -> Figure:
    """α over the number of angles; chance of the optimum beside."""
    from biselect.report.style import COLOURS, MARKERS, panels
    from biselect.report.style import PAPER as GREY

    figure, axes = panels(1, 2, width=3.5, height=2.7)
    for panel, column in zip(axes[0], (ALPHA, SEEN), strict=True):
        for position, name in enumerate(SCHEDULES):
            point = found.find(name, column)
            look: dict[str, Any] = {"color": COLOURS[position], "marker": MARKERS[position], "linestyle": "none"}
            error = [[point.ours - point.low], [point.high - point.ours]]
            panel.errorbar(found.find(name, ANGLES).ours, point.ours, yerr=error, label=name, **look)
        panel.axhline(found.find(UNIFORM, column).ours, color=GREY, linestyle=":", linewidth=1, label=UNIFORM)
        panel.set(xlabel=f"free angles at p = {DEPTH}", ylabel=column)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _cells() -> list[dict[str, Any]]:
    return [{**SIZE, "signal": signal, "mode": mode, "p": DEPTH} for signal in SIGNALS for mode in MODES]


def _values(records: Records, name: str) -> NDArray[Any]:
    return np.concatenate([records[tuple(sorted(cell.items()))][name] for cell in _cells()])


STUDY = Study(
    name="qaoa-parameterizations",
    title="Angle schedules: how many angles, and what they reach",
    label="tab:qaoa_parameterizations",
    tasks=tasks,
    summarise=summarise,
    draw=draw,
    choices=(
        "The paper prints counts of angles only. What each schedule reaches is ours: the depth family "
        "of qaoa-sparse-exact-14-10-readout, ring mixer, Dicke start, mean energy, p = 3.",
    ),
)
