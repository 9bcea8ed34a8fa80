"""What the hardware tables share: simulation, noise model and devices beside the printed figures, never as equals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from biselect.hardware.analysis import Range
from biselect_studies.measured import Circuit, Measured
from biselect_studies.results import Entry, Findings
from biselect_studies.runner import Records

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from biselect.hardware.execute.outcomes import Outcome

NOT_HARDWARE = (
    "'ideal' is exact simulation; 'noise model' is the recorded calibration of FakeBoston (Heron r3): noise model, "
    "not hardware. The paper's figures are of a real Heron r3 on another day, another patch and instances it does not "
    "give, so they stand beside ours and are not compared."
)
RANGES = "Each entry is the mean over repeats with its lowest and highest; a single run has no range."
BY_REPEAT = "lowest and highest repeat"
POOLED = "of a device's pooled hit rates the exact 95 % interval"
Figures = dict[str, Range | float | None] | None
TWIRLED = "Under the noise model gate errors are twirled to Paulis, waiting qubits do not relax, and readout errs."


def beside(row: str, column: str, values: ArrayLike, paper: float | None = None) -> Entry:
    """The mean over repeats with its range, beside a device's figure."""
    found = np.atleast_1d(np.asarray(values, dtype=np.float64))
    verdict = "-" if paper is None else "not compared"
    low, high = float(found.min()), float(found.max())
    return Entry(row=row, column=column, ours=float(found.mean()), low=low, high=high, paper=paper, verdict=verdict)


def replay_circuit(cell: dict[str, Any], hardware: tuple[int, int], model: tuple[int, int]) -> Circuit:
    """The circuit of a cell of experiment `heron_replay`."""
    pairs = tuple(sorted((name, value) for name, value in cell.items() if name != "shots"))
    name = f"{cell['kind']}-{cell['width']}-{cell['instance']}-p{cell['p']}-{cell['schedule']}"
    return Circuit(name=name, experiment="heron_replay", cell=pairs, hardware=hardware, model=model)


def on_device(
    device: Measured, row: str, figures: Figures, paper: Mapping[str, float | None], *circuits: Circuit
) -> list[Entry]:
    """A row of a device's columns; all of them pending, or refused, where there are no figures.

    Args:
        device: whose columns.
        row: their row.
        figures: by column; None for one that the shots do not give, such as a gap without a feasible shot.
        paper: the columns, with the paper's figure beside each.
        circuits: what they are of.
    """
    made = []
    for name, theirs in paper.items():
        column = f"{name} {device.label}"
        found = None if figures is None else figures[name]
        if found is None:
            why = device.lacking(*circuits) if figures is None else "none"
            made.append(Entry(row=row, column=column, ours=nan, low=nan, high=nan, paper=None, verdict=why))
            continue
        value, low, high = found if isinstance(found, Range) else (found, found, found)
        verdict = "-" if theirs is None else "not compared"
        made.append(Entry(row=row, column=column, ours=value, low=low, high=high, paper=theirs, verdict=verdict))
    return made


def scaled(found: Range, factor: float) -> Range:
    """A figure in other units."""
    return Range(*(factor * value for value in found))


def ideal_hit_rate(found: Outcome) -> float:
    """p_BK of a run's own circuit on a perfect device, exactly."""
    from biselect.hardware.execute.sector_state import sector_state
    from biselect.simulate.layers import energy_scale, energy_table, rounding_slack

    circuit = found.run.circuit
    placed = circuit.placement.placed(circuit.problem)
    goal = found.strict.threshold + rounding_slack(energy_scale(placed), np.float64)
    chances = np.abs(sector_state(circuit.compiled.program)) ** 2
    return float(chances[energy_table(placed) <= goal].sum())


def of_cell(records: Records, cell: dict[str, Any]) -> dict[str, Any]:
    """What was found in a cell."""
    return records[tuple(sorted(cell.items()))]


def dots(found: Findings, columns: Sequence[str], label: str) -> Figure:
    """A panel a column: ours with its range, that of devices below it, and the paper's figure."""
    from biselect.report.style import COLOURS, MARKERS, PAPER, panels

    labels = [device["label"] for device in found.extra.get("devices", ())]
    series = [("", label), *((f" {name}", name) for name in labels)]
    looks = [(COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]) for number in range(len(series))]
    step = min(0.2, 0.8 / len(series))
    rows = list(dict.fromkeys(entry.row for entry in found.cells))
    figure, axes = panels(1, len(columns), width=3.0, height=max(2.0, 0.28 * len(rows) + 1.0), sharey=True)
    for panel, column in zip(axes[0], columns, strict=True):
        stem = column.rpartition(", ")[0]
        for number, (suffix, _) in enumerate(series):
            name = f"{stem}{suffix}" if suffix else column
            cells = {entry.row: entry for entry in found.cells if entry.column == name}
            for place, row in enumerate(rows):
                if row not in cells:
                    continue
                entry, height, (colour, marker) = cells[row], place + step * number, looks[number]
                panel.plot([entry.low, entry.high], [height] * 2, color=colour)
                panel.plot([entry.ours], [height], marker, color=colour)
                if entry.paper is not None and not suffix:
                    panel.plot([entry.paper], [place], "x", color=PAPER)
        panel.set_title(column if not labels else stem)
        panel.set_yticks(range(len(rows)), rows)
        panel.set_ylim(len(rows) - 0.5, -0.5)
    for (_, name), (colour, marker) in zip(series, looks, strict=True):
        axes[0, 0].plot([], [], marker, color=colour, label=name.replace("$", r"\$"))  # a name is no formula
    axes[0, 0].plot([], [], "x", color=PAPER, label="paper, hardware")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
