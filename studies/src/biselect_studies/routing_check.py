"""The routing check of Section transpilation: bits in the order of wires against bits decoded through the layout."""

from __future__ import annotations

from typing import Any

from biselect.core import Sector
from biselect_studies.figures import GREY, Figure, look, panels
from biselect_studies.results import Findings, entry
from biselect_studies.runner import Records
from biselect_studies.study import described
from biselect_studies.task import Grid

SIZE = {"N": 7, "D": 5, "k": 3, "m": 2, "depth": 2}
DEVICES = ("boston", "pittsburgh", "aachen")
PAPER = {"physical": ("physical order, %", 41.0), "decoded": ("decoded, %", 100.0)}


def cells(quick: bool) -> list[dict[str, Any]]:
    """Every device; one in the quick form."""
    return [{**SIZE, "device": device} for device in DEVICES[: 1 if quick else 3]]


GRID = Grid(experiment="routing", cells=cells, quick=2, full=20, block=5)


def summarise(records: Records, quick: bool) -> Findings:
    """Exact-budget mass read both ways."""
    found, masses = [], {}
    for cell in cells(quick):
        device, values = cell["device"], records.of(cell)
        masses[device] = {name: (100 * values[name]).tolist() for name in PAPER}
        for name, (column, paper) in PAPER.items():
            found.append(entry(device, column, 100 * values[name], paper=paper, decimals=0))
        found.append(entry(device, "SWAPs", values["swaps"]))
    return Findings(
        seeds=GRID.seeds(quick),
        cells=tuple(found),
        notes=(
            "The loss in physical order depends on where the transpiler puts and moves the qubits.",
            f"{sector_chance():.1f} % of all bitstrings meet both budgets by chance.",
        ),
        extra={"masses": masses},
    )


def sector_chance() -> float:
    """The share of bitstrings inside the budgets, in %."""
    n, d, k, m, _ = SIZE.values()
    return 100 * Sector(n_samples=n, n_features=d, k=k, m=m).size / 2 ** (n + d)


def draw(found: Findings) -> Figure:
    """Every seed as a point, both ways of reading it."""
    figure, ((panel,),) = panels(1, 1, width=4.4, height=2.8)
    devices = found.extra["masses"]
    for place, masses in enumerate(devices.values()):
        for position, (name, label) in enumerate((("decoded", "decoded"), ("physical", "physical order"))):
            spots = [place + 0.3 * (step / max(1, len(masses[name]) - 1) - 0.5) for step in range(len(masses[name]))]
            panel.plot(spots, masses[name], label=label if place == 0 else None, linestyle="none", **look(position))
    panel.axhline(41.0, color=GREY, linestyle="--", linewidth=1, label="paper, physical order")
    panel.axhline(sector_chance(), color=GREY, linestyle=":", linewidth=1, label="chance")
    panel.set_xticks(range(len(devices)), list(devices))
    panel.set(ylabel="exact-budget mass, %", ylim=(0, 105))
    figure.legend(loc="outside lower center", ncols=4)
    return figure


STUDY = described("routing-check", tasks=GRID.tasks, summarise=summarise, draw=draw)
