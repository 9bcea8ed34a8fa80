"""What the paper leaves open, searched once: settings are chosen on some of its numbers and judged on others.

A part is a family of tables that share settings. Which of its numbers choose and which judge is fixed below, in
`PARTS`; nothing else may choose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations, product
from math import hypot, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect_studies.experiments import creditcard as creditcard
from biselect_studies.experiments.open_settings import MARKS
from biselect_studies.experiments.planted import CONTROLS, SHOTS
from biselect_studies.figures import dots
from biselect_studies.ledger import Printed, read_ledger
from biselect_studies.results import Entry, Findings
from biselect_studies.runner import Records
from biselect_studies.studies.synthetic import METHODS, NOISE, SIZE, percent
from biselect_studies.study import described
from biselect_studies.task import Cell, Grid, Task, crossed

CHOSEN_ON, JUDGED_ON = "misfit, chosen on", "misfit, judged on"
APART = "apart, of those judged (%)"
RESAMPLES = 400  # of medians and quartiles while settings are compared

Place = tuple[str, str, str]
"""Study, row and column of a printed number."""
Setting = Mapping[str, Any]
Measured = tuple[float, float, int]
"""A number of ours, the half-width of its 95 % interval, and of how many units it is."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Tables that share settings.

    Attributes:
        name: for people.
        settings: every combination that is tried.
        measure: our numbers under a setting, by the place that the paper prints them at.
        choosing: whether a place is one of those that choose; all others judge.
        usual: the setting that the studies had before, to hold others against.
    """

    name: str
    settings: tuple[Setting, ...]
    measure: Callable[[Records, Setting, bool], Mapping[Place, Measured]]
    choosing: Callable[[Place], bool]
    usual: Setting


def apart(found: Measured, place: Place) -> float:
    """How far ours is from the printed number, in half-widths of the 95 % interval of their difference."""
    study, row, column = place
    printed = _printed(study)[row, column]
    ours, half, units = found
    theirs = printed.half
    if theirs is None:  # as noisy as ours would be with as many units
        theirs = half * np.sqrt(units / printed.units) if printed.units else half
    return max(0.0, abs(ours - printed.value) - printed.rounding) / max(hypot(half, theirs), printed.rounding)


@cache
def _printed(study: str) -> dict[tuple[str, str], Printed]:
    return read_ledger().of(study)


def misfit(distances: Iterable[float]) -> float:
    """Root mean square of distances: 0.5 is what two draws of the same thing give, above 1 most numbers differ."""
    return float(np.sqrt(np.mean(np.square(list(distances)))))


def mean(values: Any) -> Measured:
    """A mean with its normal interval; of shares at their ends Agresti and Coull's half-width."""
    sample = np.asarray(values, dtype=np.float64)
    n, share = sample.size, float(sample.mean())
    half = 1.96 * float(sample.std()) / np.sqrt(max(n - 1, 1))
    if set(np.unique(sample)) <= {0.0, 1.0}:
        near = (sample.sum() + 2) / (n + 4)
        half = 1.96 * float(np.sqrt(near * (1 - near) / (n + 4)))
    return share, half, n


def quantile(values: Any, q: float) -> Measured:
    """A quantile with half the width of its bootstrap interval."""
    sample = np.asarray(values, dtype=np.float64)
    drawn = np.quantile(np.random.default_rng(0).choice(sample, (RESAMPLES, sample.size)), q, axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(np.quantile(sample, q)), float(high - low) / 2, sample.size


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """All settings of a part, tried.

    Attributes:
        part: whose they are.
        distances: by setting and place, how far ours is from the printed number (`apart`).
        places: in the order of the columns.
        chosen: the setting with the smallest misfit on the places that choose.
    """

    part: Part
    distances: NDArray[np.float64]
    places: list[Place]
    chosen: int

    @classmethod
    def of(cls, part: Part, records: Records, quick: bool) -> Search:
        """Try every setting."""
        measured = [part.measure(records, setting, quick) for setting in part.settings]
        places = list(measured[0])
        distances = np.array([[apart(found[place], place) for place in places] for found in measured])
        choosing = np.array([part.choosing(place) for place in places])
        return cls(
            part=part,
            distances=distances,
            places=places,
            chosen=int(np.argmin((distances**2)[:, choosing].mean(axis=1))),
        )

    def scores(self, setting: Setting) -> dict[str, float]:
        """Misfit on the places that choose and on those that judge, and how many of the latter are apart."""
        found = self.distances[list(self.part.settings).index(setting)]
        choosing = np.array([self.part.choosing(place) for place in self.places])
        judged = found[~choosing]
        scores = {CHOSEN_ON: misfit(found[choosing])}
        if judged.size:
            scores |= {JUDGED_ON: misfit(judged), APART: 100 * float((judged > 1).mean())}
        return scores

    @property
    def beside(self) -> dict[str, Setting]:
        """The chosen setting, the usual one, and those that differ from the chosen in one thing."""
        best = self.part.settings[self.chosen]
        rows = {f"{self.part.name}: chosen": best, f"{self.part.name}: as our tables had it": self.part.usual}
        for axis in best:
            for value in dict.fromkeys(setting[axis] for setting in self.part.settings):
                other = {**best, axis: value}
                if value != best[axis] and other in self.part.settings:
                    rows[f"{self.part.name}: chosen, but {axis} {in_words(value)}"] = other
        return rows

    @property
    def remaining(self) -> list[Place]:
        """Printed numbers that no setting comes near."""
        return [place for place, nearest in zip(self.places, self.distances.min(axis=0), strict=True) if nearest > 1]


def in_words(value: Any) -> str:
    """The value of a setting."""
    if isinstance(value, tuple):
        return " and ".join(f"{each:g}" for each in value)
    return f"{value:,g}" if isinstance(value, (int, float)) and value < 1e9 else str(value).replace("1000000000.0", "∞")


def described_setting(setting: Setting) -> str:
    """A setting in words."""
    return ", ".join(f"{name}: {in_words(value)}" for name, value in setting.items())


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


STUDIES = (
    described(NAME, tasks=tasks, summarise=summarise, draw=partial(dots, columns=[CHOSEN_ON, JUDGED_ON, APART])),
)
