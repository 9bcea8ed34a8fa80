"""A smaller and an older reference of the Credit Card table: F1@k, and how the weights move, under nine maps.

Figures real_creditcard_calibration_data_quality and real_creditcard_calibration_mechanism read the same two sweeps.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect_studies.data.candidates import SLICES
from biselect_studies.experiments.baselines import LABEL_FREE, RANKERS, REFITTED, STUDIED
from biselect_studies.experiments.creditcard import PAPER_MAPS, PARTS, SIZES, absent, heading
from biselect_studies.figures import Figure, bar_look, line, panels
from biselect_studies.inference import Comparison, Family, compare
from biselect_studies.results import Entry, Findings, compared, entry
from biselect_studies.runner import Records
from biselect_studies.studies.slices import listed
from biselect_studies.study import described
from biselect_studies.task import Grid, Task

FRACTIONS = (1.0, 0.5, 0.25, 0.1, 0.05)
BLOCKS = (0, 1, 2, 3, 4)
MAPS = (*STUDIED, REFITTED)
QUICK = 5
PLAIN = {
    "sequential-max": "feature-first by max",
    "sequential-median": "feature-first by median",
    **RANKERS,
}
"""Selectors without a search over both sides, beside feature-first by the sum."""


def slices(quick: bool) -> int:
    """Slices at each point."""
    return QUICK if quick else SLICES


def draws(quick: bool) -> range:
    """Parts drawn of each reference; the slices are dealt out to them."""
    return range(QUICK if quick else PARTS)


def tasks(quick: bool, maps: tuple[str, ...]) -> list[Task]:
    """Every fraction of the reference in the paper's maps, then every block in these."""

    def smaller(quick: bool) -> list[dict[str, Any]]:
        named = dict.fromkeys(PAPER_MAPS.values())
        return [_shrink(name, part, draw) for name in named for part in FRACTIONS for draw in draws(quick)]

    def older(quick: bool) -> list[dict[str, Any]]:
        return [_lag(name, block) for name in maps for block in BLOCKS]

    grids = [
        Grid(experiment="creditcard_reference", cells=cells, quick=few, full=many, block=SLICES)
        for cells, few, many in ((smaller, 1, SLICES // PARTS), (older, QUICK, SLICES))
    ]
    return [task for grid in grids for task in grid.tasks(quick)]


def shrunk(records: Records, size: int, fraction: float, quick: bool) -> dict[str, NDArray[Any]]:
    """Values of a size at a fraction, in the order of the slices."""
    parts = [_of_size(records, size, _shrink(PAPER_MAPS[size], fraction, draw)) for draw in draws(quick)]
    joined = {name: np.stack([part[name] for part in parts], axis=1) for name in parts[0]}
    return {name: found.reshape(-1, *found.shape[2:]) for name, found in joined.items()}


def lagged(records: Records, size: int, block: int, map_name: str | None = None) -> dict[str, NDArray[Any]]:
    """Values of a size at a block, under the paper's map unless said otherwise."""
    return _of_size(records, size, _lag(map_name or PAPER_MAPS[size], block))


def _of_size(records: Records, size: int, cell: dict[str, Any]) -> dict[str, NDArray[Any]]:
    stem = f"{size} "
    return {name.removeprefix(stem): found for name, found in records.of(cell).items() if name.startswith(stem)}


def _shrink(map_name: str, fraction: float, draw: int) -> dict[str, Any]:
    sizes = tuple(size for size, name in PAPER_MAPS.items() if name == map_name)
    return {"kind": "shrink", "map": map_name, "fraction": fraction, "draw": draw, "sizes": sizes}


def _lag(map_name: str, block: int) -> dict[str, Any]:
    return {"kind": "lag", "map": map_name, "block": block, "sizes": tuple(SIZES)}


SELECTORS = ("joint", "sequential")
DRAWN = (*SELECTORS, "weight-sum")
OLDER = "blocks 1 to 4"


def part(fraction: float) -> str:
    """A fraction of the reference as a column."""
    return f"{100 * fraction:g} % of the reference"


def age(block: int) -> str:
    """A block of the lag sweep as a column."""
    return f"block {block}"


OLDEST_COLUMN = age(BLOCKS[-1])
SMALLER, AGED, AGAINST_PLAIN = "smaller references", "older references", "plain rules with the oldest reference"
FAMILIES = {
    SMALLER: [part(f) for f in FRACTIONS],
    AGED: [OLDER, *map(age, BLOCKS)],
    AGAINST_PLAIN: list(PLAIN.values()),
}
"""Comparisons that Holm's correction takes together: with feature-first by the sum, and with plain rules."""

CLAIMS = {
    f"joint selection beats feature-first with {part(FRACTIONS[-1])}": (SMALLER, part(FRACTIONS[-1])),
    "joint selection beats feature-first on average over older references": (AGED, OLDER),
    "joint selection beats feature-first with the reference right before the test window": (AGED, age(0)),
    **{f"joint selection beats {label} with the oldest reference": (AGAINST_PLAIN, label) for label in PLAIN.values()},
}


def summarise_quality(records: Records, quick: bool) -> Findings:
    """F1@k of every selector, and joint minus each of the others, at every point."""
    from biselect_studies.experiments.pools import BLOCK_ROWS, lag_days

    cells: list[Entry] = []
    gaps: dict[tuple[str, int], Comparison] = {}
    ahead: dict[str, list[str]] = {}
    for size in SIZES:
        points = {part(f): [shrunk(records, size, f, quick)] for f in FRACTIONS}
        aged = [lagged(records, size, block) for block in BLOCKS]
        points |= {age(block): [aged[block]] for block in BLOCKS} | {OLDER: aged[1:]}
        for column, found in points.items():
            hits = {
                selector: np.mean([values[f"hits {selector}"] for values in found], axis=0)
                for selector in (*SELECTORS, *PLAIN)
            }
            by_fraud = partial(compare, clusters=found[0]["frauds"])  # all points of a size have the same slices
            gaps[column, size] = by_fraud(hits["joint"] - hits["sequential"])
            if column != OLDER:
                cells += [compared(f"N = {size}, {name}", column, by_fraud(one)) for name, one in hits.items()]
            cells.append(compared(f"N = {size}, joint − sequential", column, gaps[column, size]))
            for selector, label in PLAIN.items():
                lead = by_fraud(hits["joint"] - hits[selector])
                cells.append(compared(f"N = {size}, joint − {selector}", column, lead))
                if column == OLDEST_COLUMN:
                    gaps[label, size] = lead
                if lead.mean < -1e-9:  # equal means may differ by their rounding
                    ahead.setdefault(f"N = {size}, {column}", []).append(f"{label} by {-lead.mean:.3f}")
    families = {
        family: Family({(name, size): gaps[name, size] for name in names for size in SIZES})
        for family, names in FAMILIES.items()
    }
    fresh = {}
    for size in SIZES:
        whole, newest = shrunk(records, size, 1.0, quick), lagged(records, size, 0)
        fresh[f"N = {size}"] = [f"{np.mean(whole[s]):.3f} → {np.mean(newest[s]):.3f}" for s in reversed(SELECTORS)]
    smallest = min(gaps[part(f), size].mean for f in FRACTIONS for size in SIZES)
    older = [f"N = {size}: {gaps[OLDER, size].mean:+.3f}" for size in SIZES]
    days = [lag_days(block) for block in BLOCKS]
    oldest = lagged(records, 50, BLOCKS[-1])
    return Findings(
        seeds=slices(quick),
        cells=tuple(cells),
        notes=(
            f"Plain rules with a higher mean F1@k than the exact joint optimum: {listed(ahead)}.",
            f"Lowest mean gap over the reference-size sweep: {smallest:+.3f} (paper: at least 0 everywhere). Mean "
            f"gap over the older blocks, without the fresh block 0: {', '.join(older)} (paper: positive on average).",
            f"Blocks of {BLOCK_ROWS:,} rows end {', '.join(f'{d:.2f}' for d in days)} days before the test window. At "
            f"N = 50 and the oldest block joint reaches {np.mean(oldest['joint']):.3f} and feature-first "
            f"{np.mean(oldest['sequential']):.3f}: the gap there is feature-first collapsing under a stale ECDF.",
            f"What a newer reference is worth: {listed(fresh)} (sequential and joint F1@k, first 60 % of the rows → "
            "the block right before the test window).",
            *(families[family].claim(text, name) for text, (family, name) in CLAIMS.items()),
            "The paper prints no figures here, only the order. Frauds are resampled: slices share the 75 of the test "
            "window.",
        ),
        extra={"lag_days": days, "holm": {name: family.adjusted for name, family in families.items()}},
    )


def draw_quality(found: Findings) -> Figure:
    """Top row: size of the reference; bottom row: its age."""
    figure, axes = panels(2, len(SIZES), width=2.9, height=2.4, sharey="row")
    rows = (
        (axes[0], [part(f) for f in FRACTIONS], [100 * f for f in FRACTIONS], "reference used (%)"),
        (axes[1], [age(b) for b in BLOCKS], found.extra["lag_days"], "days since the reference ended"),
    )
    for panels_of_row, columns, x, label in rows:
        for panel, size in zip(panels_of_row, SIZES, strict=True):
            for position, selector in enumerate(DRAWN):
                points = [found.find(f"N = {size}, {selector}", column) for column in columns]
                line(panel, x, points, position, PLAIN.get(selector, selector))
            panel.set(xlabel=label, title=heading(size))
        panels_of_row[0].set_ylabel("mean F1@k")
    for panel in axes[0]:
        panel.set_xscale("log")
        panel.set_xticks([5, 10, 25, 50, 100], ["5", "10", "25", "50", "100"])
        panel.minorticks_off()
    axes[0, 0].legend(loc="lower right")
    figure.supxlabel("bands: frauds resampled, each selector by itself; the table has the paired gap", fontsize=8)
    return figure


COMPONENTS = ("global", "row", "feature", "residual")
NORMS = ("row", "feature")
OLDEST = BLOCKS[-1]
SWEEPS = ("smaller reference", "older reference")
POOLED = "all sizes"
NAMED = "gaussian-robust"  # the map that the paper puts first under a stale reference: 2Φ(-|Z|) of median and MAD


def summarise_mechanism(records: Records, quick: bool) -> Findings:
    """Shares and sup-norms by sweep and size; drift and stale F1 by map and size."""
    cells: list[Entry] = []
    pooled: dict[str, dict[str, NDArray[Any]]] = {}
    for sweep in SWEEPS:
        by_size = {heading(size): _sweep(records, sweep, size, quick) for size in SIZES}
        quantities = next(iter(by_size.values()))
        pooled[sweep] = {q: np.mean([found[q] for found in by_size.values()], axis=0) for q in quantities}
        for column, found in {**by_size, POOLED: pooled[sweep]}.items():
            cells += [entry(f"{sweep}, {quantity}", column, values) for quantity, values in found.items()]
    drift, spreads, stale = {}, {}, {}
    ahead: dict[str, list[str]] = {}
    for map_name in MAPS:
        for size in SIZES:
            values, column = lagged(records, size, OLDEST, map_name), heading(size)
            relative = values["largest feature"] / np.maximum(values["spread"], 1e-12)
            drift[map_name, size] = float(np.mean(values["largest feature"]))
            stale[map_name, size] = float(np.mean(values["joint"]))
            cells.append(entry(f"{map_name}, feature drift", column, values["largest feature"]))
            cells.append(entry(f"{map_name}, feature drift in spreads", column, relative))
            spreads[map_name, size] = cells[-1].ours
            for selector in ("joint", "sequential", *PLAIN):
                f1 = compare(values[f"hits {selector}"], clusters=values["frauds"])
                cells.append(compared(f"{map_name}, stale {selector} F1@k", column, f1))
                if selector in PLAIN and map_name in LABEL_FREE and f1.mean > stale[map_name, size] + 1e-9:
                    ahead.setdefault(f"{map_name}, N = {size}", []).append(f"{PLAIN[selector]} {f1.mean:.3f}")
    better: dict[tuple[str, int], Comparison] = {}
    others = [name for name in LABEL_FREE if name != NAMED]
    for size in SIZES:
        ours = lagged(records, size, OLDEST, NAMED)
        for name in others:
            hits = ours["hits joint"] - lagged(records, size, OLDEST, name)["hits joint"]
            better[name, size] = compare(hits, clusters=ours["frauds"])
            cells.append(compared(f"{NAMED} − {name}, stale joint F1@k", heading(size), better[name, size]))
    family = Family({(name, size): better[name, size] for name in others for size in SIZES})

    def means(sweep: str) -> str:
        return " / ".join(f"{float(np.mean(pooled[sweep][f'share {name}'])):.2f}" for name in COMPONENTS)

    def means_of(of: dict[tuple[str, int], float], name: str) -> str:
        return ", ".join(f"{of[name, size]:.2f}" for size in SIZES)

    def first(of: dict[tuple[str, int], float], pick: Any) -> str:
        return ", ".join(f"N = {s}: {pick(LABEL_FREE, key=lambda m, s=s: of[m, s])}" for s in SIZES)

    ratio = float(np.mean(pooled[SWEEPS[1]]["largest feature"]) / np.mean(pooled[SWEEPS[1]]["largest row"]))
    return Findings(
        seeds=slices(quick),
        cells=tuple(cells),
        notes=(
            f"Shares global / row / feature / residual: {means(SWEEPS[0])} with a smaller reference, "
            f"{means(SWEEPS[1])} with an older one; feature over row sup-norm there: {ratio:.2f}.",
            f"Among the maps without labels, least feature-aligned drift: {first(drift, min)}; in spreads of the map's "
            f"own weights: {first(spreads, min)}. Highest joint F1@k with the oldest block: {first(stale, max)}. "
            "The paper names Gaussian-tail z for both, at all sizes; it does not list its nine maps.",
            f"`{NAMED}` is the paper's 2Φ(-|Z|) of median and MAD, `{REFITTED}` the same of mean and standard "
            f"deviation: its drift is {means_of(drift, REFITTED)}, that of the paper's {means_of(drift, NAMED)}. "
            "`logistic` is supervised: it sees the labels of its reference block and is no rival of the others.",
            "With the oldest reference, plain rules on the same weights with a higher mean F1@k than the exact joint "
            f"optimum: {listed(ahead)}.",
            *(family.claim(f"{NAMED} beats {name} in joint F1@k with the oldest reference", name) for name in others),
            "Intervals of F1@k resample frauds, all others slices.",
        ),
        extra={"holm": family.adjusted},
    )


def _sweep(records: Records, sweep: str, size: int, quick: bool) -> dict[str, NDArray[Any]]:
    """Slice by slice, the mean over the points of a sweep; the point that is its own reference is left out."""
    if sweep == SWEEPS[0]:
        points = [shrunk(records, size, fraction, quick) for fraction in FRACTIONS[1:]]
    else:
        points = [lagged(records, size, block) for block in BLOCKS[1:]]
    names = [f"share {name}" for name in COMPONENTS] + [f"largest {name}" for name in NORMS]
    return {name: np.mean([point[name] for point in points], axis=0) for name in names}


def draw_mechanism(found: Findings) -> Figure:
    """Panels a and b: shares; c and d: sup-norms; e and f: drift in spreads and stale F1 by map."""
    figure, axes = panels(3, 2, width=4.2, height=2.4)
    columns = [*(heading(size) for size in SIZES), POOLED]
    for side, sweep in enumerate(SWEEPS):
        bottom = np.zeros(len(columns))
        for position, name in enumerate(COMPONENTS):
            heights = np.array([found.find(f"{sweep}, share {name}", column).ours for column in columns])
            axes[0, side].bar(columns, heights, 0.6, bottom=bottom, label=name, **bar_look(position))
            bottom += heights
        axes[0, side].set(title=f"({'ab'[side]}) {sweep}", ylabel="share of ‖Δ‖²")
        for position, name in enumerate(NORMS):
            heights = np.array([found.find(f"{sweep}, largest {name}", column).ours for column in columns])
            x = np.arange(len(columns)) + 0.3 * (position - 0.5)
            axes[1, side].bar(x, heights, 0.28, label=name, **bar_look(1 + position))
        axes[1, side].set_xticks(range(len(columns)), columns)
        axes[1, side].set(title=f"({'cd'[side]}) {sweep}", ylabel="sup-norm")
    for side, quantity in enumerate(("feature drift in spreads", "stale joint F1@k")):
        for position, size in enumerate(SIZES):
            heights = np.array([found.find(f"{m}, {quantity}", heading(size)).ours for m in MAPS])
            x = np.arange(len(MAPS)) + 0.27 * (position - 1)
            axes[2, side].bar(x, heights, 0.25, label=f"N = {size}", **bar_look(position))
        axes[2, side].set_xticks(range(len(MAPS)), MAPS, rotation=35, ha="right")
        axes[2, side].set(title=f"({'ef'[side]})", ylabel=quantity)
    for row in axes:
        row[1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    for panel in axes[:2].ravel():
        panel.tick_params(axis="x", labelsize=7)
    return figure


QUALITY = described(
    "real-creditcard-calibration-data-quality",
    tasks=lambda quick: tasks(quick, tuple(dict.fromkeys(PAPER_MAPS.values()))),
    summarise=summarise_quality,
    draw=draw_quality,
    absent=absent,
)
MECHANISM = described(
    "real-creditcard-calibration-mechanism",
    tasks=lambda quick: tasks(quick, MAPS),
    summarise=summarise_mechanism,
    draw=draw_mechanism,
    absent=absent,
)


STUDIES = (
    QUALITY,
    MECHANISM,
)
