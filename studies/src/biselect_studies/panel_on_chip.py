"""The device's columns of table cgxy_fully_grouped_qpu_replay_p3, under a noise model and on devices."""

from __future__ import annotations

from typing import Any

import numpy as np

from biselect_studies.heron_tables import (
    NOT_HARDWARE,
    TWIRLED,
    Figures,
    beside,
    ideal_hit_rate,
    of_cell,
    on_device,
    replay_circuit,
    scaled,
)
from biselect_studies.measured import Circuit, Measured
from biselect_studies.results import Entry
from biselect_studies.runner import Records
from biselect_studies.task import Task, tasks_for

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
PAPER_REPEATS = 10
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


def circuit(instance: int, quick: bool) -> Circuit:
    """An instance as a device runs it: the paper's shots on hardware."""
    setting = cell(instance, quick)
    model = (1 if quick else REPEATS, setting["shots"])
    return replay_circuit(setting, model if quick else (PAPER_REPEATS, PAPER_SHOTS // PAPER_REPEATS), model)


def circuits(quick: bool) -> list[Circuit]:
    """All instances."""
    return [circuit(instance, quick) for instance in instances(quick)]


def rows(records: Records, quick: bool) -> list[tuple[int, tuple[float | None, ...]]]:
    """Instances with what the paper prints, both from the highest to the lowest ideal hit rate."""
    order = sorted(instances(quick), key=lambda instance: -of_cell(records, cell(instance, quick))["ideal"][0])
    printed: list[tuple[float | None, ...]] = sorted(PAPER, reverse=True)
    return list(zip(order, [(None,) * len(COLUMNS)] if quick else printed, strict=True))


def entries(records: Records, quick: bool) -> list[Entry]:
    """One row an instance, ordered by the ideal hit rate."""
    made = []
    for place, (instance, paper) in enumerate(rows(records, quick)):
        values = of_cell(records, cell(instance, quick))
        rates = values["hits"] / cell(instance, quick)["shots"]
        figures = (
            1e4 * values["ideal"][:1],
            1e4 * rates,
            np.array([PAPER_SHOTS * rates.mean()]),
            100 * values["mass"],
        )
        for column, value, theirs in zip(COLUMNS, figures, paper, strict=True):
            made.append(beside(f"placed {place + 1}.", column, value, theirs))
    return made


def device_entries(device: Measured, records: Records, quick: bool) -> list[Entry]:
    """The same rows on a device."""
    made = []
    for place, (instance, (ideal, rate, hits, mass)) in enumerate(rows(records, quick)):
        found = device.outcomes[circuit(instance, quick)]
        figures: Figures = None
        if found is not None:
            figures = {
                "10⁴ p_BK without errors": 1e4 * ideal_hit_rate(found),
                "10⁴ p_BK": scaled(found.strict.hit_rate, 1e4),
                "10⁴ p_BK by repeat": scaled(found.strict.hit_rate_by_repeat, 1e4),
                "hits in 40,960": scaled(found.strict.hit_rate, PAPER_SHOTS),
                "exact-budget %": scaled(found.strict.feasible_rate, 100),
            }
        paper = {
            "10⁴ p_BK without errors": ideal,
            "10⁴ p_BK": rate,
            "10⁴ p_BK by repeat": None,
            "hits in 40,960": hits,
            "exact-budget %": mass,
        }
        made += on_device(device, f"placed {place + 1}.", figures, paper, circuit(instance, quick))
    return made
