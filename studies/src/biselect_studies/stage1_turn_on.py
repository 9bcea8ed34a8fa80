"""Section ibm_trigger_menu_realism: how much each stage-1 trigger keeps, and how much richer that makes a pool."""

from __future__ import annotations

from typing import Any

import numpy as np

from biselect.data.stage1 import WINDOW, enrichment
from biselect_studies import aml_table as table
from biselect_studies.aml_fields import GENERATED, source
from biselect_studies.figures import Figure, line, panels
from biselect_studies.inference import compare
from biselect_studies.results import Entry, Findings, compared
from biselect_studies.runner import Records
from biselect_studies.study import described
from biselect_studies.task import Task, tasks_for

NUMBERS = (500, 1000, 2000)
TRIGGERS = ("logistic", "robust-z")
PAPER = {500: 0.360, 2000: 0.795}  # of the logistic trigger; the printed lifts tell which N each belongs to


def cell(quick: bool) -> dict[str, Any]:
    """The only cell."""
    return {**table.origin(quick), "numbers": NUMBERS}


def tasks(quick: bool) -> list[Task]:
    """A seed is a test window."""
    return tasks_for("aml_turn_on", cell(quick), test_windows(quick), block=8)


def test_windows(quick: bool) -> int:
    """Test windows that are looked at: all that are generated, or the paper's 29 of the published file."""
    if source() == GENERATED:
        return (table.QUICK if quick else table.FULL) // 5 // WINDOW
    return 5 if quick else 29


def summarise(records: Records, quick: bool) -> Findings:
    """Recall and enrichment, pooled over windows; windows are resampled."""
    values = records.of(cell(quick))
    positives = values["positives"]
    rows: list[Entry] = []
    for trigger in TRIGGERS:
        for number in NUMBERS:
            caught = values[f"{trigger} {number}"]
            window = np.repeat(np.arange(len(positives)), positives)
            hits = np.concatenate([np.arange(p) < c for p, c in zip(positives, caught, strict=True)])
            recall = compare(hits.astype(float), clusters=window)
            paper = PAPER.get(number) if trigger == "logistic" else None
            rows.append(table.beside(compared(f"{trigger}: recall", f"N = {number}", recall, paper=paper)))
            lift, low, high = (enrichment(value, number, WINDOW) for value in (recall.mean, recall.low, recall.high))
            printed = None if paper is None else round(enrichment(paper, number, WINDOW), 2)
            verdict = "-" if paper is None else rows[-1].verdict
            row, column = f"{trigger}: enrichment", f"N = {number}"
            rows.append(Entry(row, column, lift, low, high, printed, verdict))
    return Findings(
        seeds=test_windows(quick),
        cells=tuple(rows),
        notes=(
            table.where_from(quick),
            f"{len(positives)} test windows of {WINDOW:,} transactions with {int(np.sum(positives))} positives. The "
            "paper prints ranges (36.0 % to 79.5 %, 7.95 to 14.39).",
            "An enrichment of 1 is chance. The robust-z trigger is label-free.",
        ),
    )


def draw(found: Findings) -> Figure:
    """Recall and enrichment over N."""
    figure, axes = panels(1, 2, width=3.2, height=2.7)
    for panel, quantity in zip(axes[0], ("recall", "enrichment"), strict=True):
        for position, trigger in enumerate(TRIGGERS):
            points = [found.find(f"{trigger}: {quantity}", f"N = {number}") for number in NUMBERS]
            line(panel, NUMBERS, points, position, trigger)
            known = [(n, p.paper) for n, p in zip(NUMBERS, points, strict=True) if p.paper is not None]
            if known:
                panel.plot(*zip(*known, strict=True), "x", color="black", label="paper, HI-Small", zorder=5)
        panel.set(xlabel="N kept of 20,000", ylabel=quantity)
    chance = [number / WINDOW for number in NUMBERS]
    axes[0, 0].plot(NUMBERS, chance, color="grey", linestyle=":", label="chance")
    axes[0, 1].axhline(1, color="grey", linestyle=":")
    axes[0, 0].legend()
    figure.suptitle(table.place(found), fontsize=8)
    return figure


STUDY = described("stage1-turn-on", tasks=tasks, summarise=summarise, draw=draw)
