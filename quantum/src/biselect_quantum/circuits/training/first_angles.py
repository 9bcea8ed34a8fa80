"""Angles to start from: random ones in the problem's own units, ramps, and those of other circuits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits.cost_groups import CostGroup, spread
from biselect_quantum.circuits.schedule import Schedule
from biselect_quantum.circuits.training.objectives import Objective
from biselect_quantum.circuits.training.records import Training, load_angles

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz
    from biselect_quantum.circuits.spec import AnsatzSpec
    from biselect_quantum.circuits.training.objectives import Objective


Vector = NDArray[np.float64]
SCALES = (0.5, 1.0, np.pi / 2, np.pi)
WIDER = 2.0


def units(ansatz: Ansatz | AnsatzSpec) -> Vector:
    """The step of each free angle that matters: 1 for a β, one over the spread of its cost terms for a γ.

    Constants in scores and weights change nothing within the budgets, so only their spread counts. With these units
    a problem whose scores are all multiplied by ten is trained just as well.
    """
    spreads = _spreads(ansatz)
    drives = np.abs(ansatz.schedule.matrix[:, :-1]).sum(axis=0).T  # (free, groups)
    sums = drives @ spreads
    counts = (drives * (spreads > 0)).sum(axis=1)
    return np.divide(counts, sums, out=np.ones(len(sums)), where=sums > 0)


def _spreads(ansatz: Ansatz | AnsatzSpec) -> Vector:
    """How far the cost terms of each group differ."""
    groups = ansatz.groups
    return np.array([max(spread(part) for part in (group.sample, group.feature, group.pair)) for group in groups])


def in_units(ansatz: Ansatz | AnsatzSpec, angles: Vector) -> Vector:
    """Layer angles (p, G + 1), each γ times the spread of its cost terms: what problems of one kind have in common."""
    return ansatz.schedule.expand(angles) * _layer_units(ansatz)


def from_units(ansatz: Ansatz | AnsatzSpec, tables: Sequence[Vector]) -> list[Vector]:
    """The free angles that come closest to layer angles in units, which may be of other problems and depths."""
    schedule = ansatz.schedule
    for table in tables:
        if table.shape[1] != schedule.groups + 1:
            raise InputError(
                f"angles to start from have {table.shape[1] - 1} cost groups, and this circuit has {schedule.groups}"
            )
    scale, matrix = _layer_units(ansatz), np.linalg.pinv(schedule.matrix.reshape(-1, schedule.size))
    return [matrix @ (stretched(table, schedule.depth) / scale).ravel() for table in tables]


def _layer_units(ansatz: Ansatz | AnsatzSpec) -> Vector:
    spreads = _spreads(ansatz)
    return np.append(np.where(spreads > 0, spreads, 1.0), 1.0)


def without_effect(ansatz: Ansatz) -> NDArray[np.bool_]:
    """Which free angles change nothing that can be measured.

    A γ whose phases are the same for all choices, the γ of the first layer where the start is a single choice, and
    every angle where there is but one choice.
    """
    matters = np.ones((ansatz.schedule.depth, ansatz.schedule.groups + 1), dtype=bool)
    matters[:, :-1] = [_tells_apart(group, ansatz.problem) for group in ansatz.groups]
    if isinstance(ansatz.spec.start, tuple):
        matters[0, :-1] = False
    if ansatz.problem.sector.size == 1:
        matters[:] = False
    return ~np.asarray((ansatz.schedule.matrix * matters[..., None]).any(axis=(0, 1)))


def _tells_apart(group: CostGroup, problem: SelectionProblem) -> bool:
    """Whether some two choices differ in these terms; a register that is chosen whole is the same in all of them."""
    all_samples, all_features = problem.k == problem.n_samples, problem.m == problem.n_features
    pair = group.pair.sum(axis=0, keepdims=True) if all_samples else group.pair
    pair = pair.sum(axis=1, keepdims=True) if all_features else pair
    parts = (group.sample if not all_samples else pair * 0, group.feature if not all_features else pair * 0, pair)
    return any(spread(part) > 0 for part in parts)


def is_phase(ansatz: Ansatz) -> NDArray[np.bool_]:
    """Which of the free angles are γ."""
    return np.asarray(np.any(ansatz.schedule.matrix[:, :-1] != 0, axis=(0, 1)))


def widths(ansatz: Ansatz, objective: Objective) -> Vector:
    """How far random angles reach on scale 1; angles that change nothing stay 0.

    Where a hit rate is sought phases are drawn twice as wide: few choices must be told from all others, and larger
    phases tell them apart.
    """
    wide = np.where(is_phase(ansatz) & ("hit-rate" in objective.weights), WIDER, 1.0)
    return np.where(without_effect(ansatz), 0.0, wide * units(ansatz))


def random_start(wide: Vector, rng: np.random.Generator) -> Vector:
    """Uniform angles within `widths`, on a scale that is drawn too."""
    scale = SCALES[rng.integers(len(SCALES))]
    return scale * rng.uniform(-1, 1, size=len(wide)) * wide


def ramp(ansatz: Ansatz | AnsatzSpec, height: float, sign: int) -> Vector:
    """Phases that grow and mixing that fades along the layers, as in annealing; ± for the mixing."""
    steps = layer_midpoints(ansatz.schedule.depth)
    return height * nearest(ansatz.schedule, layer_table(ansatz.schedule, steps, sign * (1 - steps))) * units(ansatz)


def layer_midpoints(depth: int) -> Vector:
    """The middle of each layer's share of the unit interval."""
    return (np.arange(depth) + 0.5) / depth


def layer_table(schedule: Schedule, phase: Vector | float, mixing: Vector | float) -> Vector:
    """Layer angles (p, G + 1): one phase for all groups and the mixing, each a number or one for each layer."""
    table = np.empty((schedule.depth, schedule.groups + 1))
    table[:, :-1] = np.broadcast_to(phase, schedule.depth)[:, None]
    table[:, -1] = mixing
    return table


def nearest(schedule: Schedule, in_layers: Vector) -> Vector:
    """The free angles whose layer angles (p, G + 1) come closest to those given."""
    flat = schedule.matrix.reshape(-1, schedule.size)
    return np.asarray(np.linalg.lstsq(flat, in_layers.ravel(), rcond=None)[0], dtype=np.float64)


def stretched(in_layers: Vector, depth: int) -> Vector:
    """Layer angles of a longer circuit, by interpolation along the layers."""
    old, new = layer_midpoints(len(in_layers)), layer_midpoints(depth)
    return np.stack([np.interp(new, old, column) for column in in_layers.T], axis=1)


def extended(in_layers: Vector, depth: int) -> Vector:
    """Layer angles of a longer circuit that does nothing in its last layers."""
    return np.concatenate([in_layers, np.zeros((depth - len(in_layers), in_layers.shape[1]))])


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
