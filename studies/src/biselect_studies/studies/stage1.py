"""What a stage-1 trigger is worth on AML transactions: how much it keeps, and TP@k in the pools that it hands on.

Section ibm_trigger_menu_realism, and table …_trigger_menu_stage1_baseline.
"""

from typing import Any

import numpy as np

from biselect_studies.data.candidates import PAPER_SLICES
from biselect_studies.experiments import aml as aml
from biselect_studies.experiments.baselines import DETECTORS, LABEL_FREE, MENUS, WEIGHING, WINDOW, enrichment
from biselect_studies.experiments.pools import SIZE
from biselect_studies.figures import Figure, line, look, panels, whiskers
from biselect_studies.inference import LEVEL, Comparison, compare, holm, smallest_p
from biselect_studies.ledger import read_ledger
from biselect_studies.results import Entry, Findings, compared, entry, share
from biselect_studies.runner import Records
from biselect_studies.studies.slices import SEQUENTIAL, choose, slice_grid
from biselect_studies.study import described
from biselect_studies.task import Task, tasks_for

NUMBERS = (500, 1000, 2000)
TRIGGERS = ("logistic", "robust-z")
ALL = "all N"


def turn_on_cell(quick: bool) -> dict[str, Any]:
    """The only cell."""
    return {**aml.origin(quick), "numbers": NUMBERS}


def turn_on_tasks(quick: bool) -> list[Task]:
    """A seed is a test window."""
    return tasks_for("aml_turn_on", turn_on_cell(quick), test_windows(quick), block=8)


def test_windows(quick: bool) -> int:
    """Test windows that are looked at: all that are generated, or the paper's 29 of the published file."""
    if aml.source() == aml.GENERATED:
        return (aml.QUICK if quick else aml.FULL) // 5 // WINDOW
    return 5 if quick else 29


def summarise_turn_on(records: Records, quick: bool) -> Findings:
    """Recall and enrichment, pooled over windows; windows are resampled."""
    values = records.of(turn_on_cell(quick))
    positives = values["positives"]
    rows: list[Entry] = []
    for trigger in TRIGGERS:
        for number in NUMBERS:
            caught = values[f"{trigger} {number}"]
            window = np.repeat(np.arange(len(positives)), positives)
            hits = np.concatenate([np.arange(p) < c for p, c in zip(positives, caught, strict=True)])
            recall = compare(hits.astype(float), clusters=window)
            rows.append(aml.beside(compared(f"{trigger}: recall", f"N = {number}", recall)))
            lift, low, high = (enrichment(value, number, WINDOW) for value in (recall.mean, recall.low, recall.high))
            row, column = f"{trigger}: enrichment", f"N = {number}"
            rows.append(aml.beside(Entry(row, column, lift, low, high, units=recall.units)))
        for quantity in ("recall", "enrichment"):
            each = [one.ours for one in rows if one.row == f"{trigger}: {quantity}"]
            rows.append(aml.beside(entry(f"{trigger}: {quantity}", ALL, each, statistic=np.median, ranged=True)))
    return Findings(
        seeds=test_windows(quick),
        cells=tuple(rows),
        notes=(
            aml.where_from(quick),
            f"{len(positives)} test windows of {WINDOW:,} transactions with {int(np.sum(positives))} positives. The "
            "paper prints ranges (36.0 % to 79.5 %, 7.95 to 14.39).",
            "An enrichment of 1 is chance. The robust-z trigger is label-free.",
        ),
    )


def draw_turn_on(found: Findings) -> Figure:
    """Recall and enrichment over N."""
    figure, axes = panels(1, 2, width=3.2, height=2.7)
    for panel, quantity in zip(axes[0], ("recall", "enrichment"), strict=True):
        for position, trigger in enumerate(TRIGGERS):
            points = [found.find(f"{trigger}: {quantity}", f"N = {number}") for number in NUMBERS]
            line(panel, NUMBERS, points, position, trigger)
        ends = read_ledger().of("stage1-turn-on")[f"logistic: {quantity}", ALL].ends
        panel.axhspan(*ends, color="grey", alpha=0.15, linewidth=0, label="paper, range on HI-Small")
        panel.set(xlabel="N kept of 20,000", ylabel=quantity)
    chance = [number / WINDOW for number in NUMBERS]
    axes[0, 0].plot(NUMBERS, chance, color="grey", linestyle=":", label="chance")
    axes[0, 1].axhline(1, color="grey", linestyle=":")
    axes[0, 0].legend()
    figure.suptitle(aml.place(found), fontsize=8)
    return figure


BUDGETS = (20, 50)
CONDITIONS = [(menu, k) for menu in MENUS for k in BUDGETS]
COLUMNS = ("Δ feature-first", "Δ budget-aware trigger", "Δ chance")
MANY = 2_900_000  # generated transactions: 29 test windows, as in the paper; of fewer the menus keep none
MAPS = LABEL_FREE
FEW_MAPS = MAPS[:3]  # that the quick form chooses among
HEURISTIC = "greedy"
WEIGHED = {**WEIGHING, HEURISTIC: "Greedy+LS", "exact": "exact joint optimum"}
RANKED = {
    "budgeted": "budget-aware trigger",
    "trigger": "stage-1 trigger, all features",
    **{f"detector:{name}": label for name, label in DETECTORS.items()},
}
"""Methods that read the weights, and those that do not."""


def menu_origin(quick: bool) -> dict[str, Any]:
    """Which transactions the menus read."""
    made = aml.source() == aml.GENERATED and not quick
    return aml.origin(quick) | ({"transactions": MANY} if made else {})


def menu_cell(menu: str, k: int, quick: bool, window: str, map_name: str = MAPS[0]) -> dict[str, Any]:
    """A menu and a budget under one scorer: on the buffer what the choice needs, later all that reads weights."""
    methods = (*SEQUENTIAL, HEURISTIC) if window == "buffer" else tuple(WEIGHED)
    return {**menu_origin(quick), "menu": menu, "k": k, "window": window, "map": map_name, "methods": methods}


def ranked_cell(menu: str, k: int, quick: bool) -> dict[str, Any]:
    """The same pools, for methods that do not read the weights."""
    return {**menu_cell(menu, k, quick, "test"), "methods": tuple(RANKED)}


def maps(quick: bool) -> tuple[str, ...]:
    """Scorers that are tried."""
    return FEW_MAPS if quick else MAPS


def menu_cells(quick: bool) -> list[dict[str, Any]]:
    """Every condition on both windows."""
    scored = [
        menu_cell(menu, k, quick, w, name) for w in ("buffer", "test") for name in maps(quick) for menu, k in CONDITIONS
    ]
    return [ranked_cell(menu, k, quick) for menu, k in CONDITIONS] + scored


MENU_GRID = slice_grid("aml_menu", menu_cells, aml.slices)


def chosen(records: Records, menu: str, k: int, quick: bool) -> tuple[str, str]:
    """Scorer and sequential rule of a condition, from the buffer window alone."""
    tried = {name: records.of(menu_cell(menu, k, quick, "buffer", name)) for name in maps(quick)}
    return choose(tried, [HEURISTIC])


def _where_from(quick: bool) -> str:
    """As of the other AML studies, with the number of transactions of this one."""
    usual, here = aml.origin(quick)["transactions"], menu_origin(quick)["transactions"]
    return aml.where_from(quick) if usual == here else aml.where_from(quick).replace(f"{usual:,}", f"{here:,}", 1)


def summarise_menu(records: Records, quick: bool) -> Findings:
    """Greedy+LS as in the paper, and the exact optimum, against both baselines and against k rows drawn blindly."""
    rows: list[Entry] = []
    family: dict[str, Comparison] = {}  # of one joint method, the exact optimum: two that agree are no more evidence
    kept, choices, ahead, below = [], [], [], []
    seen: set[tuple[Any, ...]] = set()
    for menu, k in CONDITIONS:
        map_name, rule = chosen(records, menu, k, quick)
        values = {**records.of(ranked_cell(menu, k, quick)), **records.of(menu_cell(menu, k, quick, "test", map_name))}
        title = f"{menu}, k = {k}"
        number, total = int(values["kept"][0]), int(values["windows"][0])
        if k == BUDGETS[0]:
            rows.append(aml.beside(share(menu, "windows kept (%)", np.arange(total) < number)))
        before = int(records.of(menu_cell(menu, k, quick, "buffer", map_name))["kept"][0])
        kept.append(f"{title}: {number or 'none'} of {total} ({before or 'none'} on the buffer)")
        choices.append(f"{title}: {map_name}, {rule.split(':')[1]}")
        if number == 0:
            continue
        question = (k, map_name, rule, *(int(place) for place in values["place"]))
        repeated = question in seen  # both menus keep the same windows: one question, asked twice
        seen.add(question)
        chance = values["positives"] * k / SIZE
        others = (values[rule], values["budgeted"], chance)
        for column, other in zip(COLUMNS, others, strict=True):
            first = (values[HEURISTIC] - other)[:PAPER_SLICES]
            rows.append(aml.beside(entry(f"{title}: Greedy+LS, 25 slices", column, first)))
            for method in (HEURISTIC, "exact"):
                found = compare(values[method] - other, clusters=values["place"])
                rows.append(compared(f"{title}: {WEIGHED[method]}, windows resampled", column, found))
                if method == "exact" and not repeated:
                    family[f"{title}, {column}"] = found
        lower = []
        for method, label in {**WEIGHED, **RANKED}.items():
            rows.append(entry(f"{title}: {label}", "TP@k", values[method].astype(float)))
            beyond = compare(values[method] - chance, clusters=values["place"])
            rows.append(compared(f"{title}: {label}", COLUMNS[-1], beyond))
            lower += [f"{label} ({beyond.mean:+.2f})"] * (beyond.mean < 0)
        below.append(f"{title}: {', '.join(lower) or 'none'}")
        rows.append(entry(f"{title}: chance", "TP@k", chance))
        rows.append(entry(f"{title}: positives in a pool", "TP@k", values["positives"].astype(float)))
        plain = {method: label for method, label in {**WEIGHED, **RANKED}.items() if method not in (HEURISTIC, "exact")}
        better = [label for method, label in plain.items() if np.mean(values[method]) > np.mean(values["exact"])]
        ahead.append(f"{title}: {', '.join(better) or 'none'}")
    adjusted = holm({name: one.p for name, one in family.items()})
    return Findings(
        seeds=MENU_GRID.seeds(quick),
        cells=tuple(rows),
        notes=(
            f"{_where_from(quick)} Plain methods with a higher mean TP@k than the exact joint optimum: "
            f"{'; '.join(ahead) or 'no window is kept'}.",
            f"Methods with a mean TP@k below chance (k rows of a pool of {SIZE} drawn blindly): "
            f"{'; '.join(below) or 'no window is kept'}. To be ahead of one of these is no merit.",
            f"Windows kept: {', '.join(kept)} (paper: 10 and 6 of 29). Thresholds are quantiles "
            f"({', '.join(f'{name} {q:g}' for name, q in MENUS.items())}) of the risk of windows before; where none "
            "is kept there is nothing to count, and below six windows there is no interval.",
            f"Scorer and feature-first aggregation chosen on the buffer, then held: {', '.join(choices)}. All scorers "
            "are label-free; the budget-aware trigger is the supervised one with m = 4 features.",
            "The exact joint optimum, p-values by Holm, windows resampled: "
            + ("; ".join(_sureness(family, adjusted)) or "none, as no window is kept"),
        ),
        extra={"holm": adjusted},
    )


def _sureness(family: dict[str, Comparison], adjusted: dict[str, float]) -> list[str]:
    """Every comparison with its p-value, and whether it is sure, or could be if all its windows agreed."""
    lines = []
    for name, one in family.items():
        at_best = holm({other: smallest_p(it.units) if other == name else it.p for other, it in family.items()})[name]
        word = "sure" if adjusted[name] <= LEVEL else "not sure"
        if at_best > LEVEL:
            word = f"cannot be sure with {one.units} windows"
        lines.append(f"{name}: {one.mean:+.2f}, p {adjusted[name]:.3f}, {word}")
    return lines


def draw_menu(found: Findings) -> Figure:
    """All differences by condition, the paper's as crosses."""
    figure, axes = panels(1, len(COLUMNS), width=3.2, height=2.8)
    for panel, column in zip(axes[0], COLUMNS, strict=True):
        for position, name in enumerate((WEIGHED[HEURISTIC], WEIGHED["exact"])):
            rows = {f"{menu}, k = {k}: {name}, windows resampled": place for place, (menu, k) in enumerate(CONDITIONS)}
            points = [one for one in found.cells if one.row in rows and one.column == column]
            x = [rows[one.row] + 0.2 * (position - 0.5) for one in points]
            whiskers(panel, x, points, label=name, **look(position))
        known = read_ledger().of("joint-vs-sequential-real-ibm-aml-hi-small-trigger-menu-stage1-baseline")
        printed = [known.get((f"{menu}, k = {k}: Greedy+LS, 25 slices", column)) for menu, k in CONDITIONS]
        for place, one in enumerate(printed):
            if one is not None:
                label = None if place else "paper, HI-Small"
                panel.plot(place, one.value, "x", color="black", linestyle="none", label=label)
        panel.axhline(0, color="black", linewidth=0.8)
        panel.set_xticks(range(len(CONDITIONS)), [f"{menu}\nk = {k}" for menu, k in CONDITIONS])
        panel.set(title=f"joint, {column}", ylabel="difference in TP@k")
    kept = "" if found.extra["holm"] else ": the menus keep no window"
    figure.suptitle(f"{aml.place(found)}{kept}", fontsize=8)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


TURN_ON = described("stage1-turn-on", tasks=turn_on_tasks, summarise=summarise_turn_on, draw=draw_turn_on)
MENU = described(
    "joint-vs-sequential-real-ibm-aml-hi-small-trigger-menu-stage1-baseline",
    tasks=MENU_GRID.tasks,
    summarise=summarise_menu,
    draw=draw_menu,
)


STUDIES = (
    TURN_ON,
    MENU,
)
