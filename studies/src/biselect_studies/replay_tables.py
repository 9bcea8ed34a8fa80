"""A fixed threshold on a chip of 20 qubits: table creditcard_bilinear_cg_best_known_replay, and planted blocks.

The planted blocks are the last rows of table cgxy_fully_grouped_qpu_replay_p3, whose other rows are simulated only.
"""

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np

from biselect.hardware.paths import IN_ORDER
from biselect_studies import heron_tables as heron
from biselect_studies.figures import dots
from biselect_studies.measured import Circuit, Measured
from biselect_studies.results import Entry, Findings
from biselect_studies.runner import Records
from biselect_studies.study import DeviceColumns, described
from biselect_studies.task import Task, tasks_for

SHOTS = 512  # of a repeat under the noise model
REPEATS = {"creditcard": (10, 2), "planted": (4, 1)}  # in full, and in the quick form
PAPER_RUN = (10, 4096)  # repeats and shots of the paper's device
POOLED = "of a device's pooled hit rates the exact 95 % interval"

VARIANTS = {"tied": "XY-QAOA", "bilinear": "Bilinear-CG", "fully-grouped": "Fully grouped"}
NOISY, MASS = "BK %, noise model", "exact-budget %, noise model"
OURS, THEIRS = "the same, registers, our path", "the same, registers, paper's path"

ALL_SHOTS = 40_960
PLANTED_COLUMNS = (
    "Fully grouped, placed, ideal",
    "10⁴ p_BK, noise model",
    "hits in 40,960, noise model",
    "exact-budget %, noise model",
)
PLANTED_NOTES = (
    "The last rows are the same blocks as a chip runs them: dense couplings placed on FakeBoston's best patch, of "
    "which its cross edges carry a few, tree mixers, angles by the paper's search. Rows are ordered by the ideal hit "
    f"rate on either side. {REPEATS['planted'][0]} × {SHOTS} shots under the noise model; hits are scaled to the "
    f"paper's {ALL_SHOTS:,}. " + heron.NOT_HARDWARE,
    heron.TWIRLED,
)


def cell(kind: str, instance: int, depth: int, schedule: str, quick: bool) -> dict[str, Any]:
    """Noisy shots of a circuit."""
    size = {"width": 13, "shots": 64} if quick else {"width": 20, "shots": SHOTS}
    return {"kind": kind, "instance": instance, "p": depth, "schedule": schedule, **size}


def circuit(cell: dict[str, Any], quick: bool) -> Circuit:
    """The same circuit as a device runs it: the paper's shots on hardware."""
    pairs = tuple(sorted((name, value) for name, value in cell.items() if name != "shots"))
    name = f"{cell['kind']}-{cell['width']}-{cell['instance']}-p{cell['p']}-{cell['schedule']}"
    model = (REPEATS[cell["kind"]][quick], cell["shots"])
    hardware = model if quick else PAPER_RUN
    return Circuit(name=name, experiment="heron_replay", cell=pairs, hardware=hardware, model=model)


def replays(cells: Iterable[dict[str, Any]], quick: bool) -> list[Task]:
    """Every repeat of every cell."""
    return [task for each in cells for task in tasks_for("heron_replay", each, REPEATS[each["kind"]][quick], block=1)]


def on_device(
    device: Measured, rows: dict[str, dict[str, Any]], measures: dict[str, heron.Measure], quick: bool
) -> list[Entry]:
    """The rows in the columns of a device."""
    return [
        heron.on_device(device, row, name, measure, circuit(each, quick))
        for row, each in rows.items()
        for name, measure in measures.items()
    ]


def conditions(quick: bool) -> dict[str, dict[str, Any]]:
    """Every depth and schedule of the Credit Card instance; one of each in the quick form."""
    wanted = [(3, "fully-grouped")] if quick else list(product((3, 5), VARIANTS))
    return {
        f"p = {depth}, {VARIANTS[schedule]}": cell("creditcard", 0, depth, schedule, quick)
        for depth, schedule in wanted
    }


def summarise(records: Records, quick: bool) -> Findings:
    """Hit rates and exact-budget masses beside the device's."""
    cells: list[Entry] = []
    for row, each in conditions(quick).items():
        shots, exact = records.of(each), records.of({**each, "shots": 0})
        cells += [
            heron.beside(row, "BK %, uniform feasible", 100 * shots["uniform"][:1]),
            heron.beside(row, "BK %, ideal", 100 * shots["ideal"][:1]),
            heron.beside(row, NOISY, 100 * shots["hits"] / each["shots"]),
            heron.beside(row, MASS, 100 * shots["mass"]),
            heron.beside(row, OURS, 100 * exact["ours"]),
            heron.beside(row, THEIRS, 100 * exact["paper"]),
        ]
    ours, theirs = (np.mean([e.ours for e in cells if e.column == column]) for column in (OURS, THEIRS))
    return Findings(
        seeds=REPEATS["creditcard"][quick],
        cells=tuple(cells),
        brackets=heron.BY_REPEAT,
        notes=(
            heron.NOT_HARDWARE,
            heron.RANGES + f" {PAPER_RUN[0]} repeats of {SHOTS} shots in the full form, of 4096 in the paper.",
            heron.TWIRLED,
            "'Registers' is the exact density matrix of each register, cross gates left out, for the same circuit by "
            f"our path, {IN_ORDER.name}, and by the paper's complete fractional path: {ours - theirs:+.1f} points in "
            "the mean.",
        ),
    )


def tasks(quick: bool) -> list[Task]:
    """Exact masses of every condition's registers, and its repeats."""
    cells = list(conditions(quick).values())
    exact = [task for each in cells for task in tasks_for("heron_replay", {**each, "shots": 0}, 1, block=1)]
    return exact + replays(cells, quick)


STUDY = described(
    "creditcard-bilinear-cg-best-known-replay",
    tasks=tasks,
    summarise=summarise,
    draw=lambda found: dots(found, (NOISY, MASS), "noise model, not hardware", paper="paper, hardware"),
    device=DeviceColumns(
        circuits=lambda quick: [circuit(each, quick) for each in conditions(quick).values()],
        entries=lambda device, records, quick: on_device(
            device, conditions(quick), {**heron.hit_rates("BK %", 100), "exact-budget %": heron.mass}, quick
        ),
        brackets=POOLED,
    ),
)


def planted_cells(quick: bool) -> list[dict[str, Any]]:
    """Planted blocks with fully grouped angles; the paper has 8."""
    return [cell("planted", instance, 3, "fully-grouped", quick) for instance in range(1 if quick else 8)]


def planted_rows(records: Records, quick: bool) -> dict[str, dict[str, Any]]:
    """Cells from the highest to the lowest ideal hit rate, the order in which the paper's stand beside them."""
    order = sorted(planted_cells(quick), key=lambda each: -records.of(each)["ideal"][0])
    return {f"placed {place + 1}.": each for place, each in enumerate(order)}


def planted_entries(records: Records, quick: bool) -> list[Entry]:
    """One row an instance, ordered by the ideal hit rate."""
    made = []
    for row, each in planted_rows(records, quick).items():
        values = records.of(each)
        rates = values["hits"] / each["shots"]
        figures = (1e4 * values["ideal"][:1], 1e4 * rates, ALL_SHOTS * rates.mean(), 100 * values["mass"])
        made += [heron.beside(row, *pair) for pair in zip(PLANTED_COLUMNS, figures, strict=True)]
    return made


PLANTED_MEASURES = {
    **heron.hit_rates("10⁴ p_BK", 1e4),
    "hits in 40,960": lambda found: heron.scaled(found.strict.hit_rate, ALL_SHOTS),
    "exact-budget %": heron.mass,
}
PLANTED_ON_DEVICES = DeviceColumns(
    circuits=lambda quick: [circuit(each, quick) for each in planted_cells(quick)],
    entries=lambda device, records, quick: on_device(device, planted_rows(records, quick), PLANTED_MEASURES, quick),
    brackets=POOLED,
)
