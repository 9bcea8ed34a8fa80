"""Does each selector find the planted pair of the recovery theory?"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.solvers import solve
from biselect_studies.data.synthetic import planted_block
from biselect_studies.task import Cell, Values


def recovery(cell: Cell, seeds: Iterable[int]) -> Values:
    """1 where a selector recovers: the pair for `joint`, the features for `columns` (ranked by column sums).

    Beside N, D, k, m and signal a cell may have: `residuals`, `correlation` and `clip` of the noise; `error`, by
    which every weight is wrong in the worst direction; `marginals`, the size of scores that all speak against the
    plant; `cap`, at which the observed weights are clipped.
    """
    values: Values = {"joint": [], "columns": []}
    k, m, error, bound = cell["k"], cell["m"], cell.get("error", 0.0), cell.get("marginals", 0.0)
    cap = cell.get("cap", np.inf)
    for seed in seeds:
        planted = planted_block(
            cell["N"],
            cell["D"],
            k,
            m,
            cell["signal"],
            seed=seed,
            residuals=cell.get("residuals", "normal"),
            correlation=cell.get("correlation", 0.0),
            clip=cell.get("clip", np.inf),
        )
        chosen_samples = _members(cell["N"], planted.samples)
        chosen_features = _members(cell["D"], planted.features)
        inside = np.outer(chosen_samples, chosen_features)
        problem = SelectionProblem(
            coupling=np.clip(planted.weights + np.where(inside, -error, error), -cap, cap),
            sample_scores=np.where(chosen_samples, -bound, bound),
            feature_scores=np.where(chosen_features, -bound, bound),
            k=k,
            m=m,
        )
        joint = solve(problem, "exact", workers=1)
        pair = np.array_equal(joint.samples, planted.samples) and np.array_equal(joint.features, planted.features)
        by_sums = solve(problem, "feature-first", aggregate="sum")
        values["joint"].append(int(pair))
        values["columns"].append(int(np.array_equal(by_sums.features, planted.features)))
    return values


def _members(size: int, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
    flags = np.zeros(size, dtype=bool)
    flags[chosen] = True
    return flags
