"""The device's columns of table cgxy_fully_grouped_qpu_replay_p3, under a noise model."""

from __future__ import annotations

from typing import Any

import numpy as np

from biselect.studies.heron_tables import NOT_HARDWARE, TWIRLED, beside, of_cell
from biselect.studies.results import Entry
from biselect.studies.runner import Records
from biselect.studies.task import Task, tasks_for

PAPER = (  # ideal and measured 10⁴ p_BK of fully grouped, hits in 40,960 shots, exact-budget %, instance by instance
    (131.40, 85.21, 349, 67.7),
    (12.07, 9.52, 39, 68.8),
    (8.14, 4.15, 17, 65.4),
    (13.36, 7.57, 31, 67.4),
    (12.35, 5.86, 24, 67.6),
    (45.00, 30.52, 125, 66.7),
    (53.96, 34.67, 142, 67.2),
    (40.38, 23.44, 96, 68.7),
)
COLUMNS = (
    "Fully grouped, placed, ideal",
    "the same, noise model",
    "hits in 40,960, noise model",
    "exact-budget %, noise model",
)
REPEATS, SHOTS, PAPER_SHOTS = 4, 512, 40_960
NOTES = (
    "The last rows are the same blocks as a chip runs them: dense couplings placed on FakeBoston's best patch, of "
    "which its cross edges carry a few, tree mixers, angles by the paper's search. Rows are ordered by the ideal hit "
    f"rate on either side. {REPEATS} × {SHOTS} shots under the noise model; hits are scaled to the paper's "
    f"{PAPER_SHOTS:,}. " + NOT_HARDWARE,
    TWIRLED,
)


def instances(quick: bool) -> range:
    """Planted blocks; the paper has 8."""
    return range(1 if quick else len(PAPER))


def cell(instance: int, quick: bool) -> dict[str, Any]:
    """Noisy shots of one instance."""
    return {
        "kind": "planted",
        "width": 13 if quick else 20,
        "instance": instance,
        "p": 3,
        "schedule": "fully-grouped",
        "shots": 64 if quick else SHOTS,
    }


def tasks(quick: bool) -> list[Task]:
    """One repeat a task."""
    repeats = 1 if quick else REPEATS
    return [
        task
        for instance in instances(quick)
        for task in tasks_for("heron_replay", cell(instance, quick), repeats, block=1)
    ]


def entries(records: Records, quick: bool) -> list[Entry]:
    """One row an instance, ordered by the ideal hit rate."""
    found = [(cell(instance, quick), of_cell(records, cell(instance, quick))) for instance in instances(quick)]
    found.sort(key=lambda pair: -pair[1]["ideal"][0])
    printed: list[tuple[float | None, ...]] = sorted(PAPER, reverse=True)
    if quick:
        printed = [(None,) * len(COLUMNS)]
    made = []
    for place, ((setting, values), paper) in enumerate(zip(found, printed, strict=True)):
        rates = values["hits"] / setting["shots"]
        figures = (
            1e4 * values["ideal"][:1],
            1e4 * rates,
            np.array([PAPER_SHOTS * rates.mean()]),
            100 * values["mass"],
        )
        for column, value, theirs in zip(COLUMNS, figures, paper, strict=True):
            made.append(beside(f"placed {place + 1}.", column, value, theirs))
    return made
