"""Readout mitigation that can only lower what looks too good.

M3 inverts the readout errors on the strings that were measured, and gives quasi-probabilities, some of them negative. A
negative weight outside the budgets makes the mass inside look larger than it is, even above one. Here

    F  = Σ q(x) over strings inside the budgets, negative weights included (none if that is below zero)
    I₊ = Σ max(q(x), 0) over strings outside

and the exact-budget mass is F / (F + I₊): never above M3's own F, within [0, 1], and of measured strings only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem, conventions
from biselect.errors import MissingDependencyError
from biselect.hardware.noise.trajectories import NoisyShots


def mitigate(noisy: NoisyShots, problem: SelectionProblem) -> NDArray[np.float64]:
    """The probability of each string of `noisy.shots`, as it would be if nothing were misread.

    Args:
        noisy: what was read, and how often each variable is misread.
        problem: whose budgets count.
    """
    return without_inflation(_quasi(noisy), noisy.shots.inside(problem))


def without_inflation(quasi: NDArray[np.float64], inside: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Quasi-probabilities as probabilities, by the rule above.

    >>> without_inflation(np.array([1.1, -0.1, 0.05, -0.05]), np.array([True, True, False, False])).round(3).tolist()
    [0.952, 0.0, 0.048, 0.0]
    """
    positive = np.maximum(quasi, 0.0)
    total = max(0.0, float(quasi[inside].sum()))
    raw = float(positive[inside].sum())
    positive[inside] *= total / raw if raw > 0 else 0.0
    return positive / positive.sum()


def _quasi(noisy: NoisyShots) -> NDArray[np.float64]:
    try:
        from mthree import M3Mitigation
    except ImportError as error:
        raise MissingDependencyError("mitigation needs mthree: pip install 'biselect[quantum]'") from error
    strings = [conventions.little_endian(row) for row in noisy.shots.bits]
    solver = M3Mitigation()
    solver.cals_from_matrices([matrix.T for matrix in noisy.confusion])  # M3 has what is read in rows
    counts = dict(zip(strings, noisy.shots.counts.tolist(), strict=True))
    found = solver.apply_correction(counts, list(range(len(noisy.confusion))))
    return np.array([found[string] for string in strings], dtype=np.float64)
