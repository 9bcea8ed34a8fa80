"""What the paper leaves open, searched once: settings are chosen on some of its numbers and judged on others.

A part is a family of tables that share settings. Which of its numbers choose and which judge is fixed below, in
`PARTS`; nothing else may choose.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations, product
from math import nan
from typing import Any

import numpy as np

from biselect_studies import creditcard_fields as creditcard
from biselect_studies.experiments.depth_ladder import CONTROLS, SHOTS
from biselect_studies.experiments.open_settings import MARKS
from biselect_studies.figures import dots
from biselect_studies.results import Entry, Findings
from biselect_studies.runner import Records
from biselect_studies.setting_search import (
    APART,
    CHOSEN_ON,
    JUDGED_ON,
    Measured,
    Part,
    Place,
    Search,
    Setting,
    described_setting,
    mean,
    quantile,
)
from biselect_studies.study import described
from biselect_studies.synthetic_table import METHODS, NOISE, SIZE, percent
from biselect_studies.task import Cell, Grid, Task, crossed

NAME = "open-settings"

# --- the ring-local walk: temperature, and steps where the paper has a clock or says nothing ---

TEMPERATURES = (0.05, 0.3, 1.0, 3.0, 6.0, 10.0, 15.0, 30.0, 1e9)
TENFOLD = 6  # marks to a factor of ten: what 100 ms allow and 10 ms do not
WALKS = "Ring-local Kawasaki"
SOLVER, PRACTICAL, CREDIT_CARD = (
    "solver-matched-compute",
    "joint-vs-sequential-practical",
    "joint-vs-sequential-real-creditcard",
)


def walk_cell(temperature: float, **more: Any) -> dict[str, Any]:
    """A walk on the synthetic benchmark (`noise`) or on Credit Card pools (`N`)."""
    size = more.get("N")
    if size is None:
        return {**SIZE, "temperature": temperature, **more}
    sector = {"N": size, "D": creditcard.D, "k": creditcard.SIZES[size], "m": creditcard.M}
    return {**sector, "map": creditcard.PAPER_MAPS[size], "temperature": temperature}


def walk_cells(quick: bool) -> list[Cell]:
    """Every temperature on every table; Credit Card pools where the table is at hand."""
    pools = [] if creditcard.absent() else [{"N": size} for size in creditcard.SIZES]
    places: list[dict[str, Any]] = [*({"noise": noise} for noise in NOISE), *pools]
    return [walk_cell(temperature, **place) for temperature in TEMPERATURES for place in places]


def measure_walks(records: Records, setting: Setting, quick: bool) -> dict[Place, Measured]:
    """Both caps at their steps, the two tables without a clock at theirs."""
    temperature, clocked, free = (setting[name] for name in ("temperature", "steps in 10 ms", "steps elsewhere"))
    found: dict[Place, Measured] = {}
    values = records.of(walk_cell(temperature, noise=0.5))
    first = MARKS.index(clocked)
    for cap, mark in ((10, first), (100, first + TENFOLD)):
        for name, column in (("f1", "combined F1"), ("hit", "optimum hit"), ("gap", "mean gap")):
            found[SOLVER, f"{cap} ms, {WALKS}", column] = mean(values[name][:, mark])
    for noise in NOISE:
        values = records.of(walk_cell(temperature, noise=noise))
        found[PRACTICAL, WALKS, percent(noise)] = mean(values["f1"][:, MARKS.index(free)])
    for size in creditcard.SIZES if not creditcard.absent() else ():
        values = records.of(walk_cell(temperature, N=size))
        found[CREDIT_CARD, WALKS, creditcard.heading(size)] = mean(values["f1"][:, MARKS.index(free)])
    return found


# --- simulations without noise: sizes, λ and W of the small instances, and the mixer of all ---

MIXERS = ("product", "continuous")

SMALLER = ((5, 4, 2, 2), (6, 5, 2, 2), (8, 5, 2, 2), (8, 6, 3, 3))
LARGER = ((6, 5, 2, 2), (8, 6, 3, 3), (8, 8, 2, 2), (10, 6, 3, 2))
SIZE_SETS = {"smaller": SMALLER, "larger": LARGER}
WEIGHTS = (0.25, 0.5, 1.0, 2.0)
WEIGHT_SETS = tuple(chosen for count in (1, 2, 3, 4) for chosen in combinations(WEIGHTS, count))
SIGNALS, MODES = (1.0, 2.0, 3.0), ("residual", "mixed")
WEIGHINGS = {"Z": False, "|Z|": True}  # W, and whether it is absolute
GROUPING, CONTROL = "qaoa-calibration-grouped-multiangle", "cgxy-grouping-randomization-control"
ALL_SIZES = tuple(dict.fromkeys((*SMALLER, *LARGER)))


def control_cells(quick: bool) -> list[dict[str, Any]]:
    """Every W, size and λ."""
    signals = SIGNALS[1:2] if quick else SIGNALS
    return crossed(absolute=WEIGHINGS.values(), size=ALL_SIZES, weight=WEIGHTS, signal=signals, mode=MODES)


def ladder_cells(quick: bool) -> list[dict[str, Any]]:
    """Grouped angles at depths 1 and 2, tied ones up to 4; the quick form has few instances of two sizes."""
    sizes = [size for size in ALL_SIZES if not quick or size[0] <= 6]
    signals, modes = (SIGNALS[1:2], MODES[:1]) if quick else (SIGNALS, MODES)
    return crossed(size=sizes, weight=WEIGHTS, signal=signals, mode=modes, tied=(4,), grouped=(2,), mixer=MIXERS)


def measure_noiseless(records: Records, setting: Setting, quick: bool) -> dict[Place, Measured]:
    """All of the simulations without noise that a few layers suffice for."""
    return {**measure_groups(records, setting, quick), **measure_readout(records, setting, quick)}


def measure_groups(records: Records, setting: Setting, quick: bool) -> dict[Place, Measured]:
    """Both rows of the depth table that four layers suffice for, and the control."""
    sizes, weights = SIZE_SETS[setting["sizes"]], setting["λ"]

    def picked(cells: list[dict[str, Any]], **only: Any) -> list[dict[str, Any]]:
        return [
            cell
            for cell in cells
            if tuple(cell[name] for name in "NDkm") in sizes
            and cell["weight"] in weights
            and only.items() <= cell.items()
        ]

    found: dict[Place, Measured] = {}
    ladders = picked(ladder_cells(quick), mixer=setting["mixer"])
    tied, grouped, span = (
        np.concatenate([records.of(cell)[name] for cell in ladders])
        for name in ("tied alpha", "grouped alpha", "range")
    )
    for p in (1, 2):
        gain = tied[:, 2 * p - 1] - tied[:, p - 1]
        recovery = 100 * (grouped[:, p - 1] - tied[:, p - 1]) / gain
        for column, q in (("Q1 (%)", 0.25), ("median recovery (%)", 0.5), ("Q3 (%)", 0.75)):
            found[GROUPING, f"p = {p}", column] = quantile(recovery, q)
        found[GROUPING, f"p = {p}", "mean lift"] = mean(span * (grouped[:, p - 1] - tied[:, p - 1]))
    cells = picked(control_cells(quick), absolute=WEIGHINGS[setting["W"]])
    for control in CONTROLS:
        names = ("gain", *(f"{control} {name}" for name in ("rank", "above", "mean")))
        gain, rank, above, random = (np.concatenate([records.of(cell)[name] for cell in cells]) for name in names)
        found[CONTROL, control, "median percentile (%)"] = quantile(100 * rank, 0.5)
        share, half, units = mean(above)
        found[CONTROL, control, "above the 95th (%)"] = 100 * share, 100 * half, units
        found[CONTROL, control, "gain / random mean"] = quantile(gain / random, 0.5)
    return found


READOUT = "qaoa-sparse-exact-14-10-readout"


def readout_cells(quick: bool, mixer: str | None = None) -> list[dict[str, Any]]:
    """The first depths of the series under both mixers, or under one, in the paper's box."""
    depth = (1,) if quick else (3,)
    return crossed(
        size=[(14, 10, 3, 3)],
        signal=(2.0,) if quick else (2.0, 2.75),
        mode=MODES,
        tied=depth,
        grouped=depth,
        mixer=MIXERS if mixer is None else (mixer,),
        search=("paper",),
    )


def measure_readout(records: Records, setting: Setting, quick: bool) -> dict[Place, Measured]:
    """α, P* and the best α at every depth, tied and grouped."""
    cells = readout_cells(quick, setting["mixer"])
    found: dict[Place, Measured] = {}
    for kind in ("tied", "grouped"):
        alpha, optimum, best = (
            np.concatenate([records.of(cell)[f"{kind} {name}"] for cell in cells])
            for name in ("alpha", "optimum", "best")
        )
        seen = 100 * (1 - (1 - optimum) ** SHOTS)
        for depth in range(alpha.shape[1]):
            for column, values in (("α", alpha), ("P*(4096) %", seen), ("best α", best)):
                found[READOUT, f"p = {depth + 1}, {kind}", column] = mean(values[:, depth])
    return found


# --- the synthetic table: marginals and λ ---

HEURISTIC = {"greedy": "Greedy+LS", "tabu": "Tabu", "exact": "Exact opt"}


def marginal_cells(quick: bool) -> list[dict[str, Any]]:
    """Every kind of marginals, λ and noise fraction."""
    axes = crossed(marginals=("none", "paper", "bounded"), weight=(0.5, 1.0, 2.0), noise=NOISE)
    return [
        {**SIZE, **cell, "methods": tuple(HEURISTIC)}
        for cell in axes
        if cell["marginals"] != "none" or cell["weight"] == 1
    ]


def measure_marginals(records: Records, setting: Setting, quick: bool) -> dict[Place, Measured]:
    """F1 of three selectors at every noise fraction."""
    found: dict[Place, Measured] = {}
    for cell in marginal_cells(quick):
        if (cell["marginals"], cell["weight"]) == (setting["marginals"], setting["λ"]):
            for method in HEURISTIC:
                found[PRACTICAL, METHODS[method], percent(cell["noise"])] = mean(records.of(cell)[method])
    return found


# --- the Credit Card table: w_max and marginals ---

COUPLING = "submitted-coupling-diagnostic"
WIDTHS = {32: (19, 13, 5, 5), 36: (22, 14, 6, 5), 52: (31, 21, 8, 8), 56: (34, 22, 8, 8), 64: (38, 26, 10, 10)}
CAPS = (2.0, 3.0, 4.0, 6.0, 10.0)
SELECTORS = {"joint": METHODS["coordinate-ascent"], "sequential": METHODS["feature-first"]}


def cap_cells(quick: bool) -> list[dict[str, Any]]:
    """Every w_max at every width; the quick form has the smallest."""
    sizes = list(WIDTHS.values())[:1] if quick else list(WIDTHS.values())
    return crossed(device=("boston",), size=sizes, cap=CAPS)


def pool_cells(quick: bool) -> list[dict[str, Any]]:
    """Every w_max and kind of marginals on balanced pools, where the table is at hand."""
    if creditcard.absent():
        return []
    sizes = [(size, creditcard.D, k, creditcard.M) for size, k in creditcard.SIZES.items()]
    axes = crossed(size=sizes, cap=CAPS, marginals=("none", "paper"))
    return [{**cell, "map": creditcard.PAPER_MAPS[cell["N"]]} for cell in axes]


def measure_caps(records: Records, setting: Setting, quick: bool) -> dict[Place, Measured]:
    """The cross mass that circuits keep at every width, and F1@k on balanced pools."""
    found: dict[Place, Measured] = {}
    for cell in (cell for cell in cap_cells(quick) if cell["cap"] == setting["w_max"]):
        size = tuple(cell[name] for name in "NDkm")
        width = next(width for width, one in WIDTHS.items() if one == size)
        values = records.of(cell)["share"]  # the paper's is one instance: it lies where single ones do
        row = f"{width} qubits {size}"
        found[COUPLING, row, "kept of the cross mass, %"] = float(values.mean()), 1.96 * float(values.std()), 1
    for cell in pool_cells(quick):
        if (cell["cap"], cell["marginals"]) == (setting["w_max"], setting["marginals"]):
            for name, row in SELECTORS.items():
                found[CREDIT_CARD, row, creditcard.heading(cell["N"])] = mean(records.of(cell)[name])
    return found


PARTS = (
    Part(
        name="walk",
        settings=tuple(
            {"temperature": t, "steps in 10 ms": clocked, "steps elsewhere": free}
            for t, clocked, free in product(TEMPERATURES, MARKS[6:-TENFOLD], MARKS)
        ),
        measure=measure_walks,
        choosing=lambda place: place[0] != CREDIT_CARD,
        usual={"temperature": 3.0, "steps in 10 ms": MARKS[6], "steps elsewhere": MARKS[12]},
    ),
    Part(
        name="simulations",
        settings=tuple(
            {"sizes": sizes, "λ": weights, "W": weighing, "mixer": mixer}
            for sizes, weights, weighing, mixer in product(SIZE_SETS, WEIGHT_SETS, WEIGHINGS, MIXERS)
        ),
        measure=measure_noiseless,
        choosing=lambda place: not place[1].startswith("p = 3"),
        usual={"sizes": "larger", "λ": (1.0,), "W": "Z", "mixer": "product"},
    ),
    Part(
        name="synthetic table",
        settings=({"marginals": "none", "λ": 1.0}, *crossed(marginals=("paper", "bounded"), λ=(0.5, 1.0, 2.0))),
        measure=measure_marginals,
        choosing=lambda place: place[1] == METHODS["greedy"],
        usual={"marginals": "none", "λ": 1.0},
    ),
    Part(
        name="Credit Card weights",
        settings=tuple(crossed(w_max=CAPS, marginals=("none", "paper"))),
        measure=measure_caps,
        choosing=lambda place: place[0] == COUPLING,
        usual={"w_max": 10.0, "marginals": "none"},
    ),
)

GRIDS = (
    Grid(experiment="walk_settings", cells=walk_cells, quick=4, full=60, block=20),
    Grid(experiment="grouping_control", cells=control_cells, quick=1, full=6, block=6),
    Grid(experiment="depth_ladder", cells=ladder_cells, quick=1, full=1, block=1),
    Grid(experiment="depth_ladder", cells=readout_cells, quick=1, full=3, block=1),
    Grid(experiment="marginal_settings", cells=marginal_cells, quick=4, full=100, block=100),
    Grid(experiment="cap_settings", cells=cap_cells, quick=2, full=6, block=6),
    Grid(experiment="pool_settings", cells=pool_cells, quick=10, full=100, block=100),
)


def tasks(quick: bool) -> list[Task]:
    """All cells of all parts."""
    return [task for grid in GRIDS for task in grid.tasks(quick)]


def summarise(records: Records, quick: bool) -> Findings:
    """Each part: the setting chosen, how much each of its values explains, and what no setting explains."""
    cells: list[Entry] = []
    notes = []
    for part in PARTS:
        search = Search.of(part, records, quick)
        for row, setting in search.beside.items():
            cells += [Entry(row, column, value, nan, nan) for column, value in search.scores(setting).items()]
        best = search.distances[search.chosen]
        left = [place for place, distance in zip(search.places, best, strict=True) if distance > 1]
        notes.append(
            f"{part.name}: of {len(part.settings):,} settings {described_setting(part.settings[search.chosen])} was "
            f"chosen on {sum(map(part.choosing, search.places))} printed numbers. Of all {len(search.places)} "
            f"{len(left)} are then apart{_named(left)}; whatever is chosen {len(search.remaining)} stay apart"
            f"{_named(search.remaining)}."
        )
    return Findings(
        seeds=GRIDS[0].seeds(quick),
        cells=tuple(cells),
        brackets="no interval: a misfit is itself in units of noise",
        notes=(
            "Misfit: the root mean square, over printed numbers, of the distance between ours and theirs in "
            "half-widths of the 95 % interval of their difference. Two runs of the same thing give about 0.5; a number "
            "beyond 1 is apart.",
            *notes,
        ),
    )


def _named(places: list[Place]) -> str:
    return f" ({'; '.join(f'{row}, {column}' for _, row, column in places)})" if places else ""


STUDY = described(NAME, tasks=tasks, summarise=summarise, draw=partial(dots, columns=[CHOSEN_ON, JUDGED_ON, APART]))
