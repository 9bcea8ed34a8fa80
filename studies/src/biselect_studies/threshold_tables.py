"""Hit rates of a fixed threshold on a panel of planted instances, in the mean and instance by instance.

Tables cgxy_best_known_threshold_summary_p3 and cgxy_fully_grouped_qpu_replay_p3; the latter also on a chip.
"""

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gmean

from biselect_studies import replay_tables as chip
from biselect_studies.figures import dots
from biselect_studies.heron_tables import BY_REPEAT, beside
from biselect_studies.inference import bootstrap_interval
from biselect_studies.results import BOOTSTRAP, Entry, Findings, entry, share
from biselect_studies.runner import Records
from biselect_studies.study import described
from biselect_studies.task import Task, tasks_for

CELL = {"p": 3}
VARIANTS = {  # the paper's four and, last, a fair baseline: the paper's XY-QAOA has one γ and one β for all layers
    "tied": "XY-QAOA",
    "bilinear": "Bilinear-CG",
    "fixed-transport": "Fixed-transport grouped",
    "fully-grouped": "Fully grouped",
    "layerwise": "Layerwise XY-QAOA",
}
SEARCHES = {"paper": "paper's search", "ours": "our search"}
TRIVIAL = 0.01  # hit rate of mixing alone
SHOTS = 4096
MEAN, LIFT, BETTER, SEEN = "10⁴ p_BK", "lift over XY-QAOA", "improved (%)", "hit in 4096 shots (%)"
UNIFORM, EACH, OURS = "Uniform feasible", "geometric mean of all", "Fully grouped, our search"


def seeds(quick: bool) -> int:
    """Instances; the paper has 8."""
    return 2 if quick else 32


def tasks(quick: bool) -> list[Task]:
    """One instance a task."""
    return tasks_for("threshold_panel", CELL, seeds(quick), block=1)


def rates(records: Records, name: str) -> NDArray[Any]:
    """A quantity, instance by instance; without those where mixing alone gets there."""
    values = records.of(CELL)
    return np.asarray(values[name][values["mixing"] <= TRIVIAL])


def left_out(records: Records) -> str:
    """Which instances `rates` leaves out, and what they would do to the means."""
    values = records.of(CELL)
    trivial = int((values["mixing"] > TRIVIAL).sum())
    means = [f"{1e4 * values[f'{search} fully-grouped'].mean():.0f} ({words})" for search, words in SEARCHES.items()]
    return (
        f"{trivial} of {len(values['mixing'])} instances are left out because the mixer alone, without any phase, "
        f"carries the start to a hit in more than {100 * TRIVIAL:g} % of the shots: no angles of the cost are tested "
        "there, and one such instance outweighs all others in a mean. The rule was set after seeing that. With them "
        f"fully grouped has {' and '.join(means)}."
    )


def summarise_means(records: Records, quick: bool) -> Findings:
    """Both searches side by side, schedules as rows; uniform sampling and a classical search below."""
    found = {pair: rates(records, " ".join(pair)) for pair in product(SEARCHES, VARIANTS)}
    cells: list[Entry] = []

    def add(row: str, values: NDArray[Any]) -> None:
        cells.append(entry(row, MEAN, 1e4 * values))
        cells.append(entry(row, "geometric mean", 1e4 * values, statistic=gmean))
        cells.append(entry(row, SEEN, 100 * (1 - (1 - values) ** SHOTS)))

    for schedule, search in product(VARIANTS, SEARCHES):
        row, values, tied = f"{VARIANTS[schedule]}, {SEARCHES[search]}", found[search, schedule], found[search, "tied"]
        add(row, values)
        if schedule != "tied":
            cells.append(entry(row, LIFT, 1e4 * (values - tied)))
            cells.append(share(row, BETTER, values > tied))
    add("Mixing alone, γ = 0", rates(records, "mixing"))
    add(UNIFORM, rates(records, "uniform"))
    cells.append(entry("Coordinate ascent, one start", SEEN, 100.0 * rates(records, "ascent")))
    ours, theirs = (found[search, "fully-grouped"] for search in ("ours", "paper"))
    ratio = ours / theirs
    ends = bootstrap_interval(
        np.arange(len(ratio)), statistic=lambda picks, axis: _ratios(ours, theirs, picks.astype(int))
    )
    gap, fair = (found["paper", name].mean() - found["paper", "tied"].mean() for name in ("fully-grouped", "layerwise"))
    below = [int((found[s, "fixed-transport"] > found[s, "fully-grouped"]).sum()) for s in SEARCHES]
    return Findings(
        seeds=seeds(quick),
        cells=tuple(cells),
        notes=(
            left_out(records),
            f"Ours over the paper's search, fully grouped: {ours.mean() / theirs.mean():.2f} times "
            f"the mean hit rate [{ends[0]:.2f}, {ends[1]:.2f}], {np.exp(np.log(ratio).mean()):.2f} in the geometric "
            f"mean, better on {int((ratio > 1).sum())} of {len(ratio)} instances.",
            "The paper's XY-QAOA shares one γ and one β among all layers (bilinear equals it exactly on three of its "
            "instances). Layerwise XY-QAOA is the fair baseline: with the "
            f"paper's search it makes {100 * fair / gap:.0f} % of the lift of fully grouped angles.",
            f"Fully grouped contains fixed-transport, yet ends below it on {below[0]} instances after the "
            f"paper's search and on {below[1]} after ours: short searches stop before the optimum.",
            f"The threshold is the optimum itself on {int(rates(records, 'optimal').sum())} of {len(ratio)} "
            "instances. Enumeration gives that in a millisecond; the last row is how often coordinate ascent hits from "
            "one start.",
        ),
    )


def _ratios(ours: NDArray[Any], theirs: NDArray[Any], picks: NDArray[Any]) -> NDArray[Any]:
    """Ratio of means in each row of picked instances."""
    picks = picks.astype(int)
    return np.asarray(ours[picks].mean(axis=1) / theirs[picks].mean(axis=1))


def summarise_instances(records: Records, quick: bool) -> Findings:
    """The first eight of our instances beside the paper's, both from the highest to the lowest tied hit rate."""
    columns = {VARIANTS[schedule]: 1e4 * rates(records, f"paper {schedule}") for schedule in VARIANTS}
    columns[OURS] = 1e4 * rates(records, "ours fully-grouped")
    columns[UNIFORM] = 1e4 * rates(records, "uniform")
    order = np.argsort(-columns["XY-QAOA"][:8], kind="stable")
    cells = [
        beside(f"{place + 1}.", column, values[own])
        for place, own in enumerate(order)
        for column, values in columns.items()
    ]
    cells += [entry(EACH, column, values, statistic=gmean) for column, values in columns.items()]
    return Findings(
        seeds=seeds(quick),
        cells=(*cells, *chip.planted_entries(records, quick)),
        brackets=f"{BOOTSTRAP}, of placed circuits {BY_REPEAT}",
        notes=(
            "The instances are not the paper's, so rows are ordered by XY-QAOA's hit rate on either side and not "
            f"compared; the last row has the geometric means over all {len(columns[UNIFORM])} of ours.",
            left_out(records),
            "All columns but two are by the paper's search.",
            "Layerwise XY-QAOA, our search and uniform feasible sampling are ours to add; classical search is in "
            "cgxy-best-known-threshold-summary-p3.",
            *chip.PLANTED_NOTES,
        ),
    )


BY_SCHEDULE = described(
    "cgxy-best-known-threshold-summary-p3",
    tasks=tasks,
    summarise=summarise_means,
    draw=lambda found: dots(found, [MEAN], xscale="log"),
)
BY_INSTANCE = described(
    "cgxy-fully-grouped-qpu-replay-p3",
    tasks=lambda quick: tasks(quick) + chip.replays(chip.planted_cells(quick), quick),
    summarise=summarise_instances,
    draw=lambda found: dots(found, [*VARIANTS.values(), OURS, UNIFORM], sharex=True, xscale="log"),
    device=chip.PLANTED_ON_DEVICES,
)
STUDIES = (BY_SCHEDULE, BY_INSTANCE)
