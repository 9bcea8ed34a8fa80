"""Table …_trigger_menu_stage1_baseline: TP@k in pools that a stage-1 trigger hands on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biselect.core.inference import compare, holm
from biselect.data.stage1 import MENUS
from biselect.studies import aml_table as table
from biselect.studies.creditcard_table import comparison_entry
from biselect.studies.detectors import DETECTORS, LABELS
from biselect.studies.results import Entry, Findings, entry
from biselect.studies.runner import Records
from biselect.studies.study import Study
from biselect.studies.task import Task, tasks_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BUDGETS = (20, 50)
PAPER = {  # against feature-first, and against the budget-aware trigger
    ("medium", 20): (0.48, -0.64),
    ("medium", 50): (0.44, -1.72),
    ("high", 20): (1.00, -2.64),
    ("high", 50): (1.52, -7.04),
}
AGGREGATES = ("feature-first:sum", "feature-first:max", "feature-first:median")
COLUMNS = ("Δ feature-first", "Δ budget-aware trigger")


def cell(menu: str, k: int, quick: bool, window: str) -> dict[str, Any]:
    """A menu and a budget, on the buffer or later."""
    return {**table.origin(quick), "menu": menu, "k": k, "window": window, "detectors": DETECTORS}


def tasks(quick: bool) -> list[Task]:
    """Every condition on both windows."""
    return [
        task
        for window in ("buffer", "test")
        for menu, k in PAPER
        for task in tasks_for("aml_menu", cell(menu, k, quick, window), table.slices(quick), block=table.BLOCK)
    ]


def summarise(records: Records, quick: bool) -> Findings:
    """Greedy+LS as in the paper, and the exact optimum, against both baselines."""
    rows: list[Entry] = []
    p_values, kept, rules = {}, [], []
    seen: set[tuple[int, ...]] = set()
    for (menu, k), (sequential, budgeted) in PAPER.items():
        values = records[tuple(sorted(cell(menu, k, quick, "test").items()))]
        buffer = records[tuple(sorted(cell(menu, k, quick, "buffer").items()))]
        rule = max(AGGREGATES, key=lambda name: float(np.mean(buffer[name])))
        title = f"{menu}, k = {k}"
        number, total = int(values["kept"][0]), int(values["windows"][0])
        rows.append(_exactly(f"{title}: windows kept of {total}", "TP@k", number))
        kept.append(f"{title}: {number or 'none'} of {total}")
        rules.append(f"{title}: {rule.split(':')[1]}")
        if number == 0:
            continue
        pools = (k, *(int(place) for place in values["place"]))
        repeated = pools in seen  # both menus keep the same windows: one question, asked twice
        seen.add(pools)
        first = {name: found[: table.PAPER_SLICES].astype(float) for name, found in values.items()}
        for column, other, paper in zip(COLUMNS, (rule, "budgeted"), (sequential, budgeted), strict=True):
            difference = first["greedy"] - first[other]
            rows.append(
                table.beside(entry(f"{title}: Greedy+LS, 25 slices", column, difference, paper=paper, decimals=2))
            )
            for method, name in (("greedy", "Greedy+LS"), ("exact", "exact optimum")):
                found = compare(values[method].astype(float) - values[other], clusters=values["place"])
                rows.append(comparison_entry(f"{title}: {name}, windows resampled", column, found))
                if not repeated:
                    p_values[f"{title}, {name}, {column}"] = found.p
        shown = {rule: "feature-first", **{name: name for name in ("greedy", "exact", "budgeted", "trigger")}}
        shown |= {f"detector:{name}": label for name, label in LABELS.items()}
        for name, label in shown.items():
            rows.append(entry(f"{title}: {label}", "TP@k", values[name].astype(float)))
        rows.append(entry(f"{title}: positives in a pool", "TP@k", values["positives"].astype(float)))
    adjusted = holm(p_values)
    worse = [
        e.row
        for e in rows
        if e.column == COLUMNS[1] and e.row.endswith("exact optimum, windows resampled") and e.ours < 0
    ]
    return Findings(
        seeds=table.slices(quick),
        cells=tuple(rows),
        notes=(
            f"{table.where_from(quick)} The budget-aware trigger, a plain ranking, is ahead of the exact joint optimum "
            f"in {len(worse)} of {sum('none' not in one for one in kept)} conditions with a window.",
            f"Windows kept: {', '.join(kept)} (paper: 10 and 6 of 29). Thresholds are quantiles "
            f"({', '.join(f'{name} {q:g}' for name, q in MENUS.items())}) of the risk of windows before; where none "
            "is kept there is nothing to count, and below six windows there is no interval.",
            f"Feature-first aggregation chosen on the buffer: {', '.join(rules)}. Stage-2 weights are conformal and "
            "label-free; the budget-aware trigger is the supervised one with m = 4 features.",
            "p-values by Holm, windows resampled: "
            + ("; ".join(f"{name}: {p:.3f}" for name, p in adjusted.items()) or "none, as no window is kept"),
        ),
        extra={"holm": adjusted},
    )


def _exactly(row: str, column: str, value: float) -> Entry:
    return Entry(row=row, column=column, ours=value, low=value, high=value, paper=None, verdict="-")


def draw(found: Findings) -> Figure:
    """Both differences by condition, the paper's as crosses."""
    from biselect.studies.style import COLOURS, MARKERS, panels

    figure, axes = panels(1, 2, width=3.6, height=2.8)
    for panel, column in zip(axes[0], COLUMNS, strict=True):
        for position, name in enumerate(("Greedy+LS", "exact optimum")):
            rows = {f"{menu}, k = {k}: {name}, windows resampled": place for place, (menu, k) in enumerate(PAPER)}
            points = [one for one in found.cells if one.row in rows and one.column == column]
            x = [rows[one.row] + 0.2 * (position - 0.5) for one in points]
            error = [[e.ours - e.low for e in points], [e.high - e.ours for e in points]]
            look = {"color": COLOURS[position], "marker": MARKERS[position], "linestyle": "none"}
            panel.errorbar(x, [e.ours for e in points], yerr=error, label=name, **look)
        printed = [figures[COLUMNS.index(column)] for figures in PAPER.values()]
        panel.plot(range(len(PAPER)), printed, "x", color="black", label="paper, HI-Small")
        panel.axhline(0, color="black", linewidth=0.8)
        panel.set_xticks(range(len(PAPER)), [f"{menu}\nk = {k}" for menu, k in PAPER])
        panel.set(title=f"joint, {column}", ylabel="difference in TP@k")
    kept = "" if found.extra["holm"] else ": the menus keep no window"
    figure.suptitle(f"{table.place(found)}{kept}", fontsize=8)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


STUDY = Study(
    name="joint-vs-sequential-real-ibm-aml-hi-small-trigger-menu-stage1-baseline",
    title="TP@k in AML pools behind a stage-1 trigger",
    label="tab:joint_vs_sequential_real_ibm_aml_hi_small_trigger_menu_stage1_baseline",
    tasks=tasks,
    summarise=summarise,
    draw=draw,
    choices=(
        "The thresholds of the menus are open; ours are quantiles of the risk of the windows before. "
        "Features as in joint-vs-sequential-real-ibm-aml-hi-small.",
    ),
)
