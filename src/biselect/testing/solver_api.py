"""What every solver must do, whoever wrote it."""

from functools import partial

import numpy as np

from biselect.core import SelectionProblem
from biselect.solvers import solve
from biselect.testing.oracles import brute_force


def assert_solver_api(name: str) -> None:
    """Check a registered solver on small problems: budgets, bounds, determinism, deadline, progress.

    >>> assert_solver_api("exact")
    """
    rng = np.random.default_rng(1)
    for n, d, k, m in [(1, 1, 1, 1), (5, 4, 2, 2), (4, 3, 4, 3), (6, 5, 1, 3), (7, 4, 3, 1)]:
        problem = SelectionProblem(
            coupling=rng.normal(size=(n, d)),
            sample_scores=rng.normal(size=n),
            feature_scores=rng.normal(size=d),
            k=k,
            m=m,
            coupling_weight=0.5,
        )
        seen: list[float] = []
        answer = solve(problem, name, seed=3, progress=partial(_note, seen))
        again = solve(problem, name, seed=3, time_limit=1e-6)
        optimum = brute_force(problem)
        size = 1e-9 * (1 + abs(optimum))

        assert answer.samples.size == k and np.unique(answer.samples).size == k, "exactly k distinct samples"
        assert answer.features.size == m and np.unique(answer.features).size == m, "exactly m distinct features"
        assert (np.diff(answer.samples) > 0).all() and (np.diff(answer.features) > 0).all(), "ascending"
        assert np.isclose(answer.energy, problem.energy(answer.samples, answer.features)), "energy of the choice"
        assert answer.bound <= optimum + size, "the bound is never above the optimum"
        assert answer.energy >= optimum - size, "nobody beats the optimum"
        if answer.proven_optimal:
            assert abs(answer.energy - optimum) <= size and answer.gap == 0, "proven means optimal"
        assert all(0 <= done <= 1 for done in seen), "progress is a share"
        assert again.samples.size == k and again.features.size == m, "a struck deadline still gives an answer"
        repeat = solve(problem, name, seed=3)
        assert repeat.to_dict() == answer.to_dict(), "one seed, one answer"


def _note(seen: list[float], done: float, energy: float) -> None:
    seen.append(done)
