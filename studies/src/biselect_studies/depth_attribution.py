"""Where a transpiled circuit's depth comes from, by barriers between its stages: Section sparse_surrogate_controls."""

from typing import Any

import numpy as np

from biselect_studies.figures import dots
from biselect_studies.paper_environment import TODAY, column_of, lacking, qiskits, whose_qiskit
from biselect_studies.results import Entry, Findings, entry
from biselect_studies.runner import Records
from biselect_studies.study import described
from biselect_studies.task import Grid, crossed

STAGES = {"preparation": "depth of preparation", "cost": "depth of costs", "mixer": "depth of mixers"}
CIRCUITS = {  # start and cost
    ("dicke", "dense"): "Dicke start, dense cost",
    ("basis", "dense"): "basis start, dense cost",
    ("basis", "aligned"): "basis start, cost on hardware edges",
}
DEVICE, DEPTH = "boston", 2


def cells(quick: bool) -> list[dict[str, Any]]:
    """Every circuit at every width, by either Qiskit."""
    widths = (8,) if quick else (12, 16, 24)
    return [
        {**cell, "start": start, "cost": cost}
        for cell in crossed(qiskit=qiskits(), device=(DEVICE,), width=widths, depth=(DEPTH,))
        for start, cost in CIRCUITS
    ]


GRID = Grid(experiment="staged_depth", cells=cells, quick=1, full=5, block=5)


def summarise(records: Records, quick: bool) -> Findings:
    """Median depths of the stages."""
    found: list[Entry] = []
    for cell in cells(quick):
        row = f"{cell['width']} qubits, {CIRCUITS[cell['start'], cell['cost']]}"
        for name, column in STAGES.items():
            values = records.of(cell)[name]
            found.append(entry(row, column_of(column, cell["qiskit"]), values, statistic=np.median))
    return Findings(
        lacking=lacking(),
        seeds=GRID.seeds(quick),
        cells=tuple(found),
        notes=(
            f"p = {DEPTH}, level 3 on the CZ target, mixers on the edges of a patch of FakeBoston. Barriers keep the "
            "stages apart, so nothing is merged across them and the sum is more than the depth without barriers.",
            "The paper names these sources without figures (lines 4700 to 4704).",
            whose_qiskit(),
        ),
    )


STUDY = described(
    "depth-attribution",
    tasks=GRID.tasks,
    summarise=summarise,
    draw=lambda found: dots(found, [column_of(column, TODAY) for column in STAGES.values()], sharex=True, xscale="log"),
)
