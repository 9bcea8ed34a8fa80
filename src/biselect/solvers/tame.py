"""Numbers so bad that no good choice holds them, made only just bad enough.

A cell of -1e14 says "never together". Left as it is, it would drown the rounding bounds of everything else, and a proof
up to rounding would prove nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from biselect.core import SelectionProblem


def tamed(problem: SelectionProblem, floor: float) -> SelectionProblem:
    """The same problem to anyone who looks for a score of at least `floor`.

    A choice with an entry worth w scores at most w plus all that the best entries could give together. Entries too
    low for that to reach `floor` are raised to where it just does not.
    """
    a, b, weight = problem.sample_scores, problem.feature_scores, problem.coupling_weight
    most = problem.k * max(0.0, float(a.max())) + problem.m * max(0.0, float(b.max()))
    most += problem.k * problem.m * weight * max(0.0, float(problem.coupling.max()))
    lowest = floor - most - 1.0 - 0.01 * (abs(floor) + most)
    if min(float(a.min()), float(b.min()), weight * float(problem.coupling.min())) >= lowest:
        return problem
    wall = problem.coupling.dtype.type(lowest / weight if weight else lowest)
    return replace(
        problem,
        sample_scores=np.maximum(a, lowest),
        feature_scores=np.maximum(b, lowest),
        coupling=np.maximum(problem.coupling, wall),
    )
