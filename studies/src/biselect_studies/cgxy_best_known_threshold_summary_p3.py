"""Table cgxy_best_known_threshold_summary_p3: hit rates of a fixed threshold, by schedule and by angle search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gmean

from biselect_studies import threshold_tables as panel
from biselect_studies.inference import bootstrap_interval
from biselect_studies.readings import Reading
from biselect_studies.results import Entry, Findings, entry
from biselect_studies.runner import Records
from biselect_studies.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = {  # mean 10⁴ p_BK, lift over XY-QAOA, instances improved of 8
    "tied": (7.98, None, None),
    "bilinear": (8.60, 0.62, 5),
    "fixed-transport": (28.8, 20.77, 7),
    "fully-grouped": (39.6, 31.60, 8),
}
MEAN, LIFT, BETTER, SEEN = "10⁴ p_BK", "lift over XY-QAOA", "improved (%)", "hit in 4096 shots (%)"
TYPICAL, ASCENT = "geometric mean", "Coordinate ascent, one start"
SHOTS = 4096


def summarise(records: Records, quick: bool) -> Findings:
    """Both searches side by side, schedules as rows; uniform sampling and a classical search below."""
    cells: list[Entry] = []
    rows = {**panel.VARIANTS, **panel.FAIR}
    found = {
        (search, schedule): panel.rates(records, f"{search} {schedule}")
        for search in panel.SEARCHES
        for schedule in rows
    }
    for schedule, title in rows.items():
        for search, words in panel.SEARCHES.items():
            row, values, tied = f"{title}, {words}", found[search, schedule], found[search, "tied"]
            mean, lift, better = PAPER.get(schedule, (None, None, None)) if search == "paper" else (None, None, None)
            cells.append(entry(row, MEAN, 1e4 * values, paper=mean, decimals=2))
            cells.append(entry(row, TYPICAL, 1e4 * values, statistic=gmean))
            cells.append(entry(row, SEEN, 100 * (1 - (1 - values) ** SHOTS)))
            if schedule != "tied":
                share = None if better is None else 100 * better / 8
                cells.append(entry(row, LIFT, 1e4 * (values - tied), paper=lift, decimals=2))
                cells.append(entry(row, BETTER, 100.0 * (values > tied), paper=share, decimals=1))
    for row, name in ((panel.MIXING, "mixing"), (panel.UNIFORM, "uniform")):
        values = panel.rates(records, name)
        cells.append(entry(row, MEAN, 1e4 * values))
        cells.append(entry(row, TYPICAL, 1e4 * values, statistic=gmean))
        cells.append(entry(row, SEEN, 100 * (1 - (1 - values) ** SHOTS)))
    cells.append(entry(ASCENT, SEEN, 100.0 * panel.rates(records, "ascent")))
    full = {search: found[search, "fully-grouped"] for search in panel.SEARCHES}
    below = {search: int((found[search, "fixed-transport"] > full[search]).sum()) for search in panel.SEARCHES}
    ratio = full["ours"] / full["paper"]
    ends = bootstrap_interval(np.arange(len(ratio)), statistic=lambda picks, axis: _ratios(full, picks.astype(int)))
    gap, fair = (found["paper", name].mean() - found["paper", "tied"].mean() for name in ("fully-grouped", "layerwise"))
    return Findings(
        seeds=panel.seeds(quick),
        cells=tuple(cells),
        notes=(
            panel.left_out(records),
            f"Ours over the paper's search, fully grouped: {full['ours'].mean() / full['paper'].mean():.2f} times "
            f"the mean hit rate [{ends[0]:.2f}, {ends[1]:.2f}], {np.exp(np.log(ratio).mean()):.2f} in the geometric "
            f"mean, better on {int((ratio > 1).sum())} of {len(ratio)} instances.",
            "The paper's XY-QAOA shares one γ and one β among all layers (bilinear equals it exactly on three of its "
            "instances). Layerwise XY-QAOA is the fair baseline: with the "
            f"paper's search it makes {100 * fair / gap:.0f} % of the lift of fully grouped angles.",
            f"Fully grouped contains fixed-transport, yet ends below it on {below['paper']} instances after the "
            f"paper's search and on {below['ours']} after ours: short searches stop before the optimum.",
            f"The threshold is the optimum itself on {int(panel.rates(records, 'optimal').sum())} of {len(ratio)} "
            "instances. Enumeration gives that in a millisecond; the last row is how often coordinate ascent hits from "
            "one start.",
        ),
    )


def _ratios(rates: dict[str, Any], picks: NDArray[np.int64]) -> NDArray[Any]:
    """Ratio of means in each row of picked instances."""
    return np.asarray(rates["ours"][picks].mean(axis=1) / rates["paper"][picks].mean(axis=1))


def draw(found: Findings) -> Figure:
    """Mean hit rate of every schedule, both searches, and the paper's."""
    from biselect.report.style import COLOURS, MARKERS, panels
    from biselect.report.style import PAPER as GREY

    figure, axes = panels(1, 1, width=5.4, height=3.0)
    rows = list({**panel.VARIANTS, **panel.FAIR}.values())
    places = np.arange(len(rows))
    for position, (search, words) in enumerate(panel.SEARCHES.items()):
        points = [found.find(f"{row}, {words}", MEAN) for row in rows]
        error = [[e.ours - e.low for e in points], [e.high - e.ours for e in points]]
        look: dict[str, Any] = {"color": COLOURS[position], "marker": MARKERS[position], "linestyle": "none"}
        shift = 0.2 * position - 0.1
        axes[0, 0].errorbar([e.ours for e in points], places + shift, xerr=error, label=words, **look)
        if search == "paper":
            axes[0, 0].plot([e.paper for e in points], places + shift, "x", color="black", label="paper reports")
    uniform = found.find(panel.UNIFORM, MEAN).ours
    axes[0, 0].axvline(uniform, color=GREY, linestyle=":", linewidth=1, label="uniform feasible")
    axes[0, 0].set_yticks(places, rows)
    axes[0, 0].invert_yaxis()
    axes[0, 0].set(xlabel="mean 10⁴ p_BK", xscale="log")
    axes[0, 0].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


STUDY = Study(
    name="cgxy-best-known-threshold-summary-p3",
    title="Hit rates of a fixed threshold, by schedule and angle search",
    label="tab:cgxy_best_known_threshold_summary_p3",
    tasks=panel.tasks,
    summarise=summarise,
    draw=draw,
    choices=(
        panel.FAMILY,
        panel.PROTOCOL,
        panel.BUDGET,
    ),
    readings=(
        panel.FROM_TIED,
        Reading(
            cause="chance",
            rows=("Fixed-transport grouped, paper's search",),
            columns=("lift over XY-QAOA",),
            text="One of the paper's eight instances makes five sevenths of its lift (instance 1: from 13 to "
            "133); its own interval, 2.5 to 50.5, holds ours.",
        ),
    ),
)
