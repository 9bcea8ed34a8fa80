"""The routing check of Section transpilation: bits in the order of wires against bits decoded through the layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biselect_studies.results import Findings, entry
from biselect_studies.runner import Records
from biselect_studies.study import Study
from biselect_studies.task import Task, tasks_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = {"N": 7, "D": 5, "k": 3, "m": 2, "depth": 2}
DEVICES = ("boston", "pittsburgh", "aachen")
COLUMNS = {"physical": "physical order, %", "decoded": "decoded, %"}
PAPER = {"physical": 41.0, "decoded": 100.0}


def seeds(quick: bool) -> int:
    """Transpiler seeds."""
    return 2 if quick else 20


def tasks(quick: bool) -> list[Task]:
    """Every device."""
    return [task for device in _devices(quick) for task in tasks_for("routing", _cell(device), seeds(quick), block=5)]


def summarise(records: Records, quick: bool) -> Findings:
    """Exact-budget mass read both ways."""
    found, drawn = [], {}
    for device in _devices(quick):
        values = records[tuple(sorted(_cell(device).items()))]
        for name, column in COLUMNS.items():
            found.append(entry(device, column, 100 * values[name], paper=PAPER[name], decimals=0))
        found.append(entry(device, "SWAPs", values["swaps"]))
        drawn[device] = {name: (100 * values[name]).tolist() for name in COLUMNS}
    return Findings(
        seeds=seeds(quick),
        cells=tuple(found),
        notes=(
            "The loss in physical order depends on where the transpiler puts and moves the qubits.",
            f"{sector_chance():.1f} % of all bitstrings meet both budgets by chance.",
        ),
        extra={"masses": drawn},
    )


def sector_chance() -> float:
    """The share of bitstrings inside the budgets, in %."""
    from biselect.core import Sector

    sector = Sector(n_samples=SIZE["N"], n_features=SIZE["D"], k=SIZE["k"], m=SIZE["m"])
    return 100 * sector.size / 2 ** (SIZE["N"] + SIZE["D"])


def draw(found: Findings) -> Figure:
    """Every seed as a point, both ways of reading it."""
    from biselect.report.style import COLOURS, MARKERS, PAPER, panels

    figure, axes = panels(1, 1, width=4.4, height=2.8)
    panel = axes[0, 0]
    for place, masses in enumerate(found.extra["masses"].values()):
        for position, (name, label) in enumerate((("decoded", "decoded"), ("physical", "physical order"))):
            spots = [place + 0.3 * (step / max(1, len(masses[name]) - 1) - 0.5) for step in range(len(masses[name]))]
            look: dict[str, Any] = {"color": COLOURS[position], "marker": MARKERS[position], "linestyle": "none"}
            panel.plot(spots, masses[name], label=label if place == 0 else None, **look)
    panel.axhline(41.0, color=PAPER, linestyle="--", linewidth=1, label="paper, physical order")
    panel.axhline(sector_chance(), color=PAPER, linestyle=":", linewidth=1, label="chance")
    panel.set_xticks(range(len(found.extra["masses"])), list(found.extra["masses"]))
    panel.set(ylabel="exact-budget mass, %", ylim=(0, 105))
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def _devices(quick: bool) -> tuple[str, ...]:
    return DEVICES[:1] if quick else DEVICES


def _cell(device: str) -> dict[str, Any]:
    return {**SIZE, "device": device}


STUDY = Study(
    name="routing-check",
    title="Routed bits need their layout",
    label="lem:routing-feasibility",
    tasks=tasks,
    summarise=summarise,
    draw=draw,
    choices=(
        "The paper names neither sizes, depth, start nor seed of its 12 qubits. Ours: (N, D, k, m) = "
        "(7, 5, 3, 2), dense cost, ring mixers, p = 2, a random feasible start, Qiskit's level 3 with a "
        "layout of its own choice; 4096 noiseless shots a seed.",
    ),
)
