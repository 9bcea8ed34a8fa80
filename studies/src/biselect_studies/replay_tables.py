"""A fixed threshold on a chip of 20 qubits: table creditcard_bilinear_cg_best_known_replay, and planted blocks.

The planted blocks are the last rows of table cgxy_fully_grouped_qpu_replay_p3, whose other rows are simulated only.
"""

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect_quantum.devices.analysis import Range
from biselect_studies import heron_tables as heron
from biselect_studies.figures import dots
from biselect_studies.measured import Circuit, Measured
from biselect_studies.results import Entry, Findings
from biselect_studies.runner import Records
from biselect_studies.study import DeviceColumns, described
from biselect_studies.task import Task, tasks_for

PAPER_RUN = (10, 4096)  # repeats and shots of the paper's device, and ours under the noise model
REPEATS = {"creditcard": (10, 2), "planted": (4, 1)}  # in full, and in the quick form
COURSES = 16  # of errors that a repeat runs
BLOCK = 10  # repeats of one task: each trains the circuit's angles and makes the noise model first
MODEL_RUNS = {"creditcard": (10, 512), "planted": (4, 512)}  # repeats and shots where a model stands in for a device
POOLED = "of a device's pooled hit rates the exact 95 % interval"

VARIANTS = {"tied": "XY-QAOA", "bilinear": "Bilinear-CG", "fully-grouped": "Fully grouped"}
NOISY, MASS = "BK %, noise model", "exact-budget %, noise model"
EXACT = {"ours": "exact-budget %, registers, our path", "paper": "exact-budget %, registers, paper's path"}
TIMES = "BK, fully grouped over tied"

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
    f"rate on either side. {REPEATS['planted'][0]} × {PAPER_RUN[1]:,} shots of the noise model, by the paper's path; "
    f"hits are scaled to the paper's {ALL_SHOTS:,}. " + heron.NOT_HARDWARE,
    heron.TWIRLED,
)


def cell(kind: str, instance: int, depth: int, schedule: str, quick: bool, path: str = "paper") -> dict[str, Any]:
    """Noisy shots of a circuit by a path."""
    size = {"width": 13, "shots": 64} if quick else {"width": 20, "shots": PAPER_RUN[1]}
    run = {"path": path, "courses": COURSES}
    return {"kind": kind, "instance": instance, "p": depth, "schedule": schedule, **run, **size}


def circuit(cell: dict[str, Any], quick: bool) -> Circuit:
    """The same circuit as a device runs it: the paper's shots on hardware."""
    pairs = tuple((name, cell[name]) for name in ("instance", "kind", "p", "schedule", "width"))
    name = f"{cell['kind']}-{cell['width']}-{cell['instance']}-p{cell['p']}-{cell['schedule']}"
    model = (REPEATS[cell["kind"]][quick], cell["shots"]) if quick else MODEL_RUNS[cell["kind"]]
    hardware = model if quick else PAPER_RUN
    return Circuit(name=name, experiment="heron_replay", cell=pairs, hardware=hardware, model=model)


def replays(cells: Iterable[dict[str, Any]], quick: bool) -> list[Task]:
    """Every repeat of every cell."""
    return [
        task for each in cells for task in tasks_for("heron_replay", each, REPEATS[each["kind"]][quick], block=BLOCK)
    ]


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
        ideal = records.of(each)
        cells += [
            heron.beside(row, "BK %, uniform feasible", 100 * ideal["uniform"][:1]),
            heron.beside(row, "BK %, ideal", 100 * ideal["ideal"][:1]),
        ]
        for path, label in heron.BY_PATH.items():
            shots = records.of({**each, "path": path})
            cells += noisy_entries(row, label, shots["hits"], each["shots"])
            cells.append(heron.beside(row, f"exact-budget %, {label}", 100 * shots["mass"]))
        if each in exact_cells(quick):
            exact = records.of({**each, "shots": 0})
            cells += [heron.beside(row, column, 100 * exact[path]) for path, column in EXACT.items()]
    cells += times(cells, quick)
    ours, theirs = (np.mean([e.ours for e in cells if e.column == column]) for column in EXACT.values())
    return Findings(
        seeds=REPEATS["creditcard"][quick],
        cells=tuple(cells),
        brackets=heron.BY_REPEAT,
        notes=(
            heron.NOT_HARDWARE,
            heron.RANGES
            + f" {PAPER_RUN[0]} repeats of {PAPER_RUN[1]:,} shots, as in the paper; those with errors share "
            f"{COURSES} courses of errors a repeat. 'By repeat' is the median of the repeats.",
            heron.TWIRLED,
            heron.TWO_PATHS,
            "'Registers' is the exact density matrix of each register, cross gates left out, for one circuit of each "
            f"depth by our path and by the paper's: {ours - theirs:+.1f} points in the mean.",
            "The paper interleaved the six conditions repeat by repeat within one job (line 4776), so that none has "
            "the better hour. A noise model has no clock, so here the order is nothing; `--device` hands in a "
            "job for each repeat and does not interleave.",
        ),
    )


def exact_cells(quick: bool) -> list[dict[str, Any]]:
    """Conditions whose registers are computed exactly, half a minute each: with fully grouped angles."""
    return [each for each in conditions(quick).values() if each["schedule"] == "fully-grouped"]


def noisy_entries(row: str, label: str, hits: NDArray[np.int64], shots: int) -> list[Entry]:
    """Hits of all repeats together, their rate, and the rates of the repeats: median, lowest and highest."""
    rates = 100 * hits / shots
    by_repeat = heron.ranged(row, f"BK % by repeat, {label}", Range(float(np.median(rates)), rates.min(), rates.max()))
    return [
        heron.beside(row, f"hits in {ALL_SHOTS:,}, {label}", ALL_SHOTS * hits.sum() / (shots * len(hits))),
        heron.beside(row, f"BK %, {label}", rates),
        by_repeat,
    ]


def times(cells: list[Entry], quick: bool) -> list[Entry]:
    """How many times as often fully grouped angles hit as tied ones, at each depth."""
    rates = {cell.row: cell.ours for cell in cells if cell.column == NOISY}
    found = []
    for depth in () if quick else (3, 5):
        tied, grouped = (rates[f"p = {depth}, {VARIANTS[name]}"] for name in ("tied", "fully-grouped"))
        found += [heron.beside(f"p = {depth}", TIMES, grouped / tied)] if tied else []
    return found


def tasks(quick: bool) -> list[Task]:
    """The repeats of every condition by both paths, and the exact masses of some."""
    cells = conditions(quick).values()
    exact = [
        task for each in exact_cells(quick) for task in tasks_for("heron_replay", {**each, "shots": 0}, 1, block=1)
    ]
    return exact + replays(({**each, "path": path} for each in cells for path in heron.BY_PATH), quick)


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
