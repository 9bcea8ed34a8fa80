"""Angles to start from that someone has found before: the user's own, and those learnt on other instances."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect_quantum.circuits.training.initial_angles import from_units
from biselect_quantum.circuits.training.objectives import Objective
from biselect_quantum.circuits.training.records import Training, load_angles

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz

Vector = NDArray[np.float64]
LEARNT = "learnt_angles.json"


def as_starts(ansatz: Ansatz, start_from: Any) -> list[Vector]:
    """Angles of this ansatz from what a user has.

    That is a `Training` (of this circuit, or of any other with the same cost groups: its angles are taken over in units
    and by layers), a path to one, free angles of this circuit, or a list of any of these.
    """
    if isinstance(start_from, Training):
        return [_taken_over(ansatz, start_from)]
    if isinstance(start_from, str | Path):
        return as_starts(ansatz, load_angles(start_from))
    if isinstance(start_from, Sequence) and not all(isinstance(part, int | float) for part in start_from):
        return [start for part in start_from for start in as_starts(ansatz, part)]
    try:
        table = np.array(start_from, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"start_from takes angles, a training, a path to one or a list of these; got {start_from!r}"
        ) from error
    for start in np.atleast_2d(table):
        ansatz.schedule.expand(start)  # refuses another number of angles, and what is not finite
    return list(np.atleast_2d(table))


def _taken_over(ansatz: Ansatz, trained: Training) -> Vector:
    if trained.circuit == ansatz.spec.describe():
        return trained.angles
    return from_units(ansatz, [trained.in_units])[0]


def learnt_angles(ansatz: Ansatz, objective: Objective) -> list[Vector]:
    """Angles that gave many hits on other instances, for this one.

    They were learnt for hit rates and from a single choice; other starts and objectives have none.
    """
    fits = "hit-rate" in objective.weights and isinstance(ansatz.spec.start, tuple) and ansatz.spec.has_own_cost
    return from_units(ansatz, _library()) if fits else []


@cache
def _library() -> list[Vector]:
    content = json.loads(files(__package__).joinpath(LEARNT).read_text(encoding="utf-8"))
    return [np.array(entry["in_units"], dtype=np.float64) for entry in content["angles"]]
