"""Figure compiler_path_scaling_baseline: submitted depth and duration against width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biselect.hardware.paths import (
    COMPLETE_CZ,
    COMPLETE_FRACTIONAL,
    OPT3_CZ,
    OPT3_FRACTIONAL,
    STRONGEST_QISKIT,
    Y_FRAME,
    CompilationPath,
)
from biselect_studies import compile_points as points
from biselect_studies.implementation_path_factorial import REGISTERS, tasks
from biselect_studies.results import Findings
from biselect_studies.runner import Records
from biselect_studies.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PATHS: dict[str, CompilationPath] = {
    "Opt-3 CZ": OPT3_CZ,
    "Opt-3 fractional": OPT3_FRACTIONAL,
    "Complete CZ": COMPLETE_CZ,
    "Complete fractional": COMPLETE_FRACTIONAL,
    "Strongest Qiskit": STRONGEST_QISKIT,
    "Y-frame": Y_FRAME,
}
MEASURES = {"depth": "depth", "duration": "duration, µs"}
SCALE = {"duration": 1e6}


def summarise(records: Records, quick: bool) -> Findings:
    """Every measure of every path at every width and depth, devices and seeds together."""
    widths, depths = points.widths(quick), points.depths(quick)
    cells = tuple(
        points.ranged(
            _row(registers, depth, width),
            _column(measure, name),
            SCALE.get(measure, 1.0)
            * points.values(records, registers, quick, path.name, measure, width=width, depth=depth),
            None,
        )
        for registers in REGISTERS
        for depth in depths
        for width in widths
        for measure in MEASURES
        for name, path in PATHS.items()
    )
    return Findings(
        seeds=points.seeds(quick),
        cells=cells,
        brackets="observed range",
        notes=(
            "Medians with the observed range over devices and seeds. The paper prints no numbers beside this figure; "
            "its cuts are in implementation-path-factorial.",
        ),
        extra={"widths": list(widths), "depths": list(depths)},
    )


def draw(found: Findings) -> Figure:
    """Depth and duration against width, tree registers."""
    from biselect.report.style import band, panels

    widths, depths = found.extra["widths"], found.extra["depths"]
    figure, axes = panels(2, len(depths), width=3.6, height=2.7, sharex=True)
    for line, measure in zip(axes, ("depth", "duration"), strict=True):
        for panel, depth in zip(line, depths, strict=True):
            for position, name in enumerate(PATHS):
                cells = [found.find(_row("trees", depth, width), _column(measure, name)) for width in widths]
                bounds = [cell.low for cell in cells], [cell.high for cell in cells]
                band(panel, widths, [cell.ours for cell in cells], *bounds, position, name)
            panel.set(title=f"p = {depth}", ylabel=MEASURES[measure], ylim=(0, None))
    for panel in axes[1]:
        panel.set(xlabel="decision qubits")
    axes[0, 0].legend(ncols=2)
    axes[0, 0].set_ylim(0, 1.6 * axes[0, 0].get_ylim()[1])
    return figure


def _row(registers: str, depth: int, width: int) -> str:
    return f"{registers}, p = {depth}, {width} qubits"


def _column(measure: str, name: str) -> str:
    return f"{MEASURES[measure]}, {name}"


STUDY = Study(
    name="compiler-path-scaling-baseline",
    title="Submitted depth and duration of every path against width",
    label="fig:compiler_path_scaling_baseline",
    tasks=tasks,
    summarise=summarise,
    draw=draw,
    choices=(
        "As in implementation-path-factorial: patches, couplings and the recorded order are ours. Opt-3 "
        "paths keep the random recorded order of the mixer, the others have it coloured.",
        "The paper has 10 transpiler seeds that all give the same; ours are 3, and each also draws the "
        "order and the start.",
    ),
)
