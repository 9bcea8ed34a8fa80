"""Where wide circuits start and with which angles: the paper's warm, random-feasible and fixed-angle protocols."""

from __future__ import annotations

from math import pi

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.qaoa.schedule import Schedule
from biselect.qaoa.starts import Choice, start_choice
from biselect.solvers import solve

FIXED_ANGLE = pi / 4
POOL = ("swap-sa", "tabu", "coordinate-ascent", "greedy", "feature-first", "kawasaki")
POOL_SEEDS = 4


def warm_starts(problem: SelectionProblem, count: int = 2, *, seed: int = 0) -> list[Choice]:
    """The best distinct choices of a pool of heuristics on the dense problem, lowest energy first.

    >>> problem = SelectionProblem(coupling=np.arange(12.0).reshape(4, 3), k=2, m=1)
    >>> warm_starts(problem, 1)
    [([2, 3], [2])]
    """
    found: dict[tuple[tuple[int, ...], ...], tuple[float, Choice]] = {}
    for name in POOL:
        for number in range(POOL_SEEDS):
            answer = solve(problem, name, seed=seed + number)
            choice = answer.samples.tolist(), answer.features.tolist()
            found[tuple(map(tuple, choice))] = (answer.energy, choice)
    return [choice for _, choice in sorted(found.values())[:count]]


def random_start(problem: SelectionProblem, seed: int) -> Choice:
    """A random feasible start: the control that shows what a warm start is worth."""
    return start_choice(problem, "random", seed)


def canonical_start(problem: SelectionProblem) -> Choice:
    """The first k samples and m features: the start of the fixed-angle protocol."""
    return start_choice(problem, "canonical")


def fixed_angles(schedule: Schedule) -> NDArray[np.float64]:
    """The fixed-angle protocol: every angle π/4, whatever the problem."""
    return np.full(schedule.size, FIXED_ANGLE)
