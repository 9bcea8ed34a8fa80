"""What compilation makes of circuits: path against path, dense cost against hardware edges, wires against layout.

Table implementation_path_factorial has the cuts of one path against another at 26 matched points of width and depth on
two devices, figure compiler_path_scaling_baseline depth and duration against width. Figure cross_platform_compilation
shows what a cost on hardware edges alone saves on two lattices. The routing check of Section transpilation reads bits
in the order of wires, and decoded through the layout.
"""

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Sector
from biselect_quantum.devices.paths import (
    COMPLETE_CZ,
    COMPLETE_FRACTIONAL,
    OPT3_CZ,
    OPT3_FRACTIONAL,
    STRONGEST_QISKIT,
    Y_FRAME,
    CompilationPath,
    YFramePath,
)
from biselect_studies.figures import COLOURS, GREY, Figure, dots, line, look, panels
from biselect_studies.ledger import read_ledger
from biselect_studies.paper_environment import TODAY, VERSION, column_of, lacking, python, qiskits, whose_qiskit
from biselect_studies.results import Entry, Findings, entry
from biselect_studies.runner import Records
from biselect_studies.study import described
from biselect_studies.task import Grid, Task, crossed

DEVICES = ("boston", "pittsburgh")
REGISTERS = ("trees", "paths")
WIDTHS = tuple(range(16, 65, 4))
DEPTHS = (2, 3)
CUTS = {
    "depth": "depth cut, %",
    "two_qubit_depth": "2Q depth cut, %",
    "two_qubit_gates": "2Q count cut, %",
    "duration": "duration cut, %",
    "gate_duration": "duration cut without readout, %",
}
CZ_COLOURED = replace(OPT3_CZ, coloured=True)
FUSED_ONLY, COLOURED_ONLY = replace(OPT3_FRACTIONAL, fused=True), replace(OPT3_FRACTIONAL, coloured=True)
CONTRASTS: dict[str, tuple[CompilationPath, CompilationPath]] = {
    "Opt-3 fractional / Opt-3 CZ": (OPT3_FRACTIONAL, OPT3_CZ),
    "Complete CZ / Opt-3 CZ": (COMPLETE_CZ, OPT3_CZ),
    "Complete fractional / Opt-3 fractional": (COMPLETE_FRACTIONAL, OPT3_FRACTIONAL),
    "Complete fractional / Opt-3 CZ": (COMPLETE_FRACTIONAL, OPT3_CZ),
    "Opt-3 fractional, fused / Opt-3 fractional": (FUSED_ONLY, OPT3_FRACTIONAL),
    "Opt-3 fractional, coloured / Opt-3 fractional": (COLOURED_ONLY, OPT3_FRACTIONAL),
    "Complete fractional / Opt-3 CZ, same coloured order": (COMPLETE_FRACTIONAL, CZ_COLOURED),
    "Strongest Qiskit / Opt-3 CZ": (STRONGEST_QISKIT, OPT3_CZ),
    "Y-frame / Opt-3 CZ": (Y_FRAME, OPT3_CZ),
    "Y-frame / Opt-3 CZ, same recorded order": (YFramePath(coloured=False), OPT3_CZ),
    "Y-frame / Opt-3 CZ, same coloured order": (Y_FRAME, CZ_COLOURED),
    "Y-frame / complete fractional": (Y_FRAME, COMPLETE_FRACTIONAL),
    "Y-frame / strongest Qiskit": (Y_FRAME, STRONGEST_QISKIT),
}
SCALED: dict[str, CompilationPath] = {
    "Opt-3 CZ": OPT3_CZ,
    "Opt-3 fractional": OPT3_FRACTIONAL,
    "Complete CZ": COMPLETE_CZ,
    "Complete fractional": COMPLETE_FRACTIONAL,
    "Strongest Qiskit": STRONGEST_QISKIT,
    "Y-frame": Y_FRAME,
}
PRINTED = (OPT3_CZ, OPT3_FRACTIONAL, COMPLETE_CZ, COMPLETE_FRACTIONAL)  # what both Qiskits compile
SAME = "same for all transpiler seeds, %"
SIZES = {"depth": ("depth", 1.0), "duration": ("duration, µs", 1e6)}  # column and unit


def of_registers(kind: str, quick: bool) -> list[dict[str, Any]]:
    """The points on one kind of registers."""
    return [cell for cell in points(quick) if cell["registers"] == kind]


def points(quick: bool) -> list[dict[str, Any]]:
    """Every point on both kinds of registers, by each Qiskit; a single, smaller one in the quick form."""
    devices, widths, depths = (DEVICES[:1], (8,), DEPTHS[:1]) if quick else (DEVICES, WIDTHS, DEPTHS)
    return crossed(qiskit=qiskits(), registers=REGISTERS, device=devices, width=widths, depth=depths)


GRIDS = {  # a second seed of the paths, which are held against the paper
    kind: Grid(experiment="compile_paths", cells=partial(of_registers, kind), quick=1, full=seeds, block=1)
    for kind, seeds in {"trees": 1, "paths": 2}.items()
}
SEEDED = Grid(
    experiment="transpiler_seeds",
    cells=lambda quick: [
        {**cell, "qiskit": qiskit, "drawn": "transpiler"}
        for cell in crossed(registers=("trees",), device=DEVICES[:1], width=(8,) if quick else (16, 40, 64), depth=(2,))
        for qiskit in qiskits()
    ],
    quick=2,
    full=10,
    block=10,
)


def path_tasks(quick: bool) -> list[Task]:
    """Every path at every point."""
    return [task for grid in GRIDS.values() for task in grid.tasks(quick)]


def summarise_cuts(records: Records, quick: bool) -> Findings:
    """Cuts of every contrast and measure."""
    cells = []
    for qiskit, registers, (row, pair), (measure, column) in product(
        qiskits(), REGISTERS, CONTRASTS.items(), CUTS.items()
    ):
        names = [f"{path.name}:{measure}" for path in pair]
        chosen = [cell for cell in points(quick) if cell["qiskit"] == qiskit and cell["registers"] == registers]
        if not set(names) <= set(records.of(chosen[0])):
            continue  # a path that only today's Qiskit is asked for
        cuts = [100 * (1 - records.of(cell)[names[0]] / records.of(cell)[names[1]]) for cell in chosen]
        found = entry(f"{registers}: {row}", column_of(column, qiskit), np.concatenate(cuts), statistic=np.median)
        cells.append(replace(found, range=_of_one_run(chosen, cuts)))
    cells += seeds_entries(records, quick)
    return Findings(
        lacking=lacking(),
        seeds=GRIDS["paths"].seeds(quick),
        cells=tuple(cells),
        notes=(
            f"Medians over {len(WIDTHS) * len(DEPTHS) if not quick else 1} points of width and depth on each of the "
            f"devices {', '.join(dict.fromkeys(cell['device'] for cell in points(quick)))}; a seed fixes the "
            "recorded order, the random feasible start and the transpiler; trees have one seed. Ranges are of one "
            "device and seed, the median of these.",
            whose_qiskit(),
            "Recorded and coloured order are different circuits, so rows of the same order say what compilation alone "
            "saves.",
            "The Y-frame knows the start: its 2Q count depends on where the ones lie.",
            "Duration includes 2200 ns of readout, which no path shortens.",
            f"'{SAME}': conditions of path and width in which all {SEEDED.seeds(quick)} transpiler seeds give one "
            "circuit the same depths, 2Q count and duration.",
        ),
    )


def _of_one_run(chosen: list[dict[str, Any]], cuts: list[NDArray[np.float64]]) -> tuple[float, float]:
    """The observed range of the points of one device and one seed, as the paper has it: the median of each end."""
    runs: dict[tuple[str, int], list[float]] = {}
    for cell, found in zip(chosen, cuts, strict=True):
        for seed, cut in enumerate(found.tolist()):
            runs.setdefault((cell["device"], seed), []).append(cut)
    return float(np.median([min(run) for run in runs.values()])), float(np.median([max(run) for run in runs.values()]))


def seeds_entries(records: Records, quick: bool) -> list[Entry]:
    """In how many conditions of path and width all transpiler seeds give the same resources."""
    found = []
    for qiskit in qiskits():
        same: dict[tuple[int, str], bool] = {}
        for cell in (cell for cell in SEEDED.cells(quick) if cell["qiskit"] == qiskit):
            for name, values in records.of(cell).items():
                condition = (cell["width"], name.partition(":")[0])
                same[condition] = same.get(condition, True) and bool((values == values[0]).all())
        found.append(
            entry("trees: transpiler seeds", column_of(SAME, qiskit), [100.0 * each for each in same.values()])
        )
    return found


def summarise_sizes(records: Records, quick: bool) -> Findings:
    """Depth and duration of every path at every width and depth, devices and seeds together."""
    found = partial(records.pooled, points(quick))
    widths, depths = (list(dict.fromkeys(cell[name] for cell in points(quick))) for name in ("width", "depth"))
    cells = []
    for registers, depth, width in product(REGISTERS, depths, widths):
        only: dict[str, Any] = {"registers": registers, "depth": depth, "width": width}
        for qiskit, (measure, (column, unit)), (name, path) in product(qiskits(), SIZES.items(), SCALED.items()):
            if qiskit == TODAY or path in PRINTED:
                values = unit * found(f"{path.name}:{measure}", qiskit=qiskit, **only)
                title = column_of(f"{column}, {name}", qiskit)
                cells.append(entry(_row(registers, depth, width), title, values, statistic=np.median))
    return Findings(
        lacking=lacking(),
        seeds=GRIDS["paths"].seeds(quick),
        cells=tuple(cells),
        notes=(
            "Medians over devices and seeds. The cuts that the paper prints beside this figure are in "
            "implementation-path-factorial.",
            whose_qiskit(),
        ),
        extra={"widths": widths, "depths": depths},
    )


def draw_sizes(found: Findings) -> Figure:
    """Depth and duration against width, tree registers."""
    widths, depths = found.extra["widths"], found.extra["depths"]
    figure, axes = panels(2, len(depths), width=3.6, height=2.7, sharex=True)
    for row, (column, _) in zip(axes, SIZES.values(), strict=True):
        for panel, depth in zip(row, depths, strict=True):
            for position, name in enumerate(SCALED):
                cells = [found.find(_row("trees", depth, width), f"{column}, {name}") for width in widths]
                line(panel, widths, cells, position, name)
            panel.set(title=f"p = {depth}", ylabel=column, ylim=(0, None))
    for panel in axes[1]:
        panel.set(xlabel="decision qubits")
    axes[0, 0].legend(ncols=2)
    axes[0, 0].set_ylim(0, 1.6 * axes[0, 0].get_ylim()[1])
    return figure


def _row(registers: str, depth: int, width: int) -> str:
    return f"{registers}, p = {depth}, {width} qubits"


LATTICES = {"boston": "Heron r3, heavy-hex", "iqm-54": "IQM, square lattice"}
COSTS = {"dense": "--", "aligned": "-", "y-frame": ":"}  # with their lines
DENSE_WIDTHS = (8, 12, 16, 20, 24)
DENSE_DEPTHS = (1, 2, 3, 4)
MEASURES = {"two_qubit_gates": "2Q count", "two_qubit_depth": "2Q depth"}


def dense_cells(quick: bool) -> list[dict[str, Any]]:
    """Every cost at every width and depth, the mixer on the patch's own edges."""
    widths, depths = (DENSE_WIDTHS[:1], DENSE_DEPTHS[:1]) if quick else (DENSE_WIDTHS, DENSE_DEPTHS)
    return crossed(qiskit=(TODAY,), mixer=("patch",), device=LATTICES, width=widths, depth=depths, cost=COSTS)


def by_qiskit(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cells that Qiskit compiles, not our path."""
    return [cell for cell in cells if cell["cost"] != "y-frame"]


def routed_mixer_cells(quick: bool) -> list[dict[str, Any]]:
    """The same with a ring as the mixer, which is routed as dense costs are; by either Qiskit, and without our path."""
    cells = [{**cell, "mixer": "ring"} for cell in by_qiskit(dense_cells(quick))]
    patched = by_qiskit(dense_cells(quick)) if python() is not None else []
    return [{**cell, "qiskit": qiskit} for cell in cells for qiskit in qiskits()] + [
        {**cell, "qiskit": VERSION} for cell in patched
    ]


DENSE = Grid(  # seeds as the paper's
    experiment="compile_dense", cells=lambda quick: by_qiskit(dense_cells(quick)), quick=1, full=20, block=10
)
OURS = Grid(
    experiment="compile_dense",
    cells=lambda quick: [cell for cell in dense_cells(quick) if cell["cost"] == "y-frame"],
    quick=1,
    full=5,
    block=5,
)
ROUTED_MIXER = Grid(experiment="compile_dense", cells=routed_mixer_cells, quick=1, full=3, block=3)


def summarise_lattices(records: Records, quick: bool) -> Findings:
    """Medians with quartiles of each cost, and the cut of the medians over all cells."""
    found: list[Entry] = []
    for measure, column in MEASURES.items():
        cuts: dict[tuple[str, str], list[float]] = {}
        for cell in (*dense_cells(quick), *routed_mixer_cells(quick)):
            cost, values = cell["cost"], records.of(cell)[measure]
            low, middle, high = (float(np.quantile(values, q)) for q in (0.25, 0.5, 0.75))
            if cell["qiskit"] == TODAY and cell["mixer"] == "patch":
                row = _dense_row(cell["device"], cell["width"], cell["depth"])
                found.append(Entry(row, f"{column}, {cost}", middle, low, high, units=len(values)))
            if cost != "dense":
                dense = float(np.median(records.of({**cell, "cost": "dense"})[measure]))
                row = f"cut against dense, {cost}" + (", ring mixer" if cell["mixer"] == "ring" else "")
                cuts.setdefault((row, cell["qiskit"]), []).append(100 * (1 - middle / dense))
        for (row, qiskit), each in cuts.items():
            found.append(entry(row, column_of(f"{column}, %", qiskit), each, statistic=np.median, ranged=True))
    return Findings(
        lacking=lacking(),
        seeds=DENSE.seeds(quick),
        cells=tuple(found),
        brackets="quartiles; of cuts a 95 % bootstrap interval of the median",
        notes=(
            f"Medians with quartiles, not an interval, over transpiler seeds ({ROUTED_MIXER.seeds(quick)} for the ring "
            f"mixer and for the paper's Qiskit, {OURS.seeds(quick)} for the y-frame), each with its random feasible "
            "start. Dense and aligned go through the same Qiskit path, optimisation level 3 on the native basis; the "
            "y-frame is ours on the aligned cost.",
            whose_qiskit(),
        ),
    )


def _dense_row(device: str, width: int, depth: int) -> str:
    return f"{device}, {width} qubits, p = {depth}"


def draw_lattices(found: Findings) -> Figure:
    """2Q count and depth against width, a line for each depth: dense dashed, aligned solid, Y-frame dotted."""
    figure, axes = panels(2, 2, width=3.6, height=2.7, sharex=True)
    rows = {cell.row for cell in found.cells}
    for panel, (column, (device, title)) in zip(axes.flat, product(MEASURES.values(), LATTICES.items()), strict=True):
        for (position, depth), (cost, style) in product(enumerate(DENSE_DEPTHS), COSTS.items()):
            widths = [width for width in DENSE_WIDTHS if _dense_row(device, width, depth) in rows]
            shown = [found.find(_dense_row(device, width, depth), f"{column}, {cost}") for width in widths]
            label = f"p = {depth}" if cost == "aligned" and shown else None
            panel.plot(widths, [cell.ours for cell in shown], label=label, linestyle=style, **look(position))
            bounds = [cell.low for cell in shown], [cell.high for cell in shown]
            panel.fill_between(widths, *bounds, color=COLOURS[position], alpha=0.15)
        panel.set(title=title, ylabel=f"submitted {column}", yscale="log")
    for panel in axes[1]:
        panel.set(xlabel="decision qubits", xticks=DENSE_WIDTHS)
    lines = [axes[0, 1].plot([], [], color=GREY, ls=style, label=cost)[0] for cost, style in COSTS.items()]
    axes[0, 0].legend(ncols=2)
    axes[0, 1].legend(handles=lines, loc="lower right", ncols=3)
    return figure


ROUTED_SIZE = {"N": 7, "D": 5, "k": 3, "m": 2, "depth": 2}
ROUTED_DEVICES = ("boston", "pittsburgh", "aachen")
MASSES = {"physical": "physical order, %", "decoded": "decoded, %", "penalty": "penalty-X, decoded, %"}


def routed_cells(quick: bool) -> list[dict[str, Any]]:
    """Every device, by either Qiskit; one in the quick form."""
    devices = ROUTED_DEVICES[: 1 if quick else 3]
    return [{**ROUTED_SIZE, "device": device, "qiskit": qiskit} for qiskit in qiskits() for device in devices]


ROUTED = Grid(experiment="routing", cells=routed_cells, quick=2, full=10, block=5)


def summarise_routing(records: Records, quick: bool) -> Findings:
    """Exact-budget mass read both ways."""
    found, masses = [], {}
    for cell in routed_cells(quick):
        device, values, add = cell["device"], records.of(cell), partial(column_of, qiskit=cell["qiskit"])
        if cell["qiskit"] == TODAY:
            masses[device] = {name: (100 * values[name]).tolist() for name in MASSES}
        found += [entry(device, add(column), 100 * values[name]) for name, column in MASSES.items()]
        found.append(entry(device, add("SWAPs"), values["swaps"]))
    return Findings(
        lacking=lacking(),
        seeds=ROUTED.seeds(quick),
        cells=tuple(found),
        notes=(
            "The loss in physical order depends on where the transpiler puts and moves the qubits.",
            f"{sector_chance():.1f} % of all bitstrings meet both budgets by chance. Penalty-X has λ = c_Q and "
            "the angles of the paper's short search.",
            whose_qiskit(),
        ),
        extra={"masses": masses},
    )


def sector_chance() -> float:
    """The share of bitstrings inside the budgets, in %."""
    n, d, k, m, _ = ROUTED_SIZE.values()
    return 100 * Sector(n_samples=n, n_features=d, k=k, m=m).size / 2 ** (n + d)


def draw_routing(found: Findings) -> Figure:
    """Every seed as a point, both ways of reading it."""
    figure, ((panel,),) = panels(1, 1, width=4.4, height=2.8)
    devices = found.extra["masses"]
    for place, masses in enumerate(devices.values()):
        for position, (name, label) in enumerate((("decoded", "decoded"), ("physical", "physical order"))):
            spots = [place + 0.3 * (step / max(1, len(masses[name]) - 1) - 0.5) for step in range(len(masses[name]))]
            panel.plot(spots, masses[name], label=label if place == 0 else None, linestyle="none", **look(position))
    printed = read_ledger().of("routing-check")["boston", column_of(MASSES["physical"], VERSION)]
    panel.axhline(printed.value, color=GREY, linestyle="--", linewidth=1, label="paper, physical order")
    panel.axhline(sector_chance(), color=GREY, linestyle=":", linewidth=1, label="chance")
    panel.set_xticks(range(len(devices)), list(devices))
    panel.set(ylabel="exact-budget mass, %", ylim=(0, 105))
    figure.legend(loc="outside lower center", ncols=4)
    return figure


FACTORIAL = described(
    "implementation-path-factorial",
    tasks=lambda quick: path_tasks(quick) + SEEDED.tasks(quick),
    summarise=summarise_cuts,
    draw=lambda found: dots(found, [CUTS["depth"]]),
)
SCALING = described("compiler-path-scaling-baseline", tasks=path_tasks, summarise=summarise_sizes, draw=draw_sizes)
LATTICE = described(
    "cross-platform-compilation",
    tasks=lambda quick: DENSE.tasks(quick) + OURS.tasks(quick) + ROUTED_MIXER.tasks(quick),
    summarise=summarise_lattices,
    draw=draw_lattices,
)
ROUTING = described("routing-check", tasks=ROUTED.tasks, summarise=summarise_routing, draw=draw_routing)


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


STUDIES = (
    FACTORIAL,
    SCALING,
    LATTICE,
    ROUTING,
    described(
        "depth-attribution",
        tasks=GRID.tasks,
        summarise=summarise,
        draw=lambda found: dots(
            found, [column_of(column, TODAY) for column in STAGES.values()], sharex=True, xscale="log"
        ),
    ),
)
