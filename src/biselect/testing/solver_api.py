"""What every solver must do, whoever wrote it."""

from dataclasses import replace
from functools import partial

import numpy as np

from biselect.core import Group, Rules, SelectionProblem, groups_by
from biselect.errors import InputError
from biselect.solvers import solve
from biselect.testing.oracles import brute_force


def assert_solver_api(name: str) -> None:
    """Check a registered solver on small problems: budgets, bounds, determinism, deadline, progress, rules.

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
        shares: list[float] = []
        answer = solve(problem, name, seed=3, progress=partial(_note, shares), trajectory=True)
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
        assert all(0 <= share <= 1 for share in shares), "progress is a share"
        assert again.samples.size == k and again.features.size == m, "a struck deadline still gives an answer"
        repeat = solve(problem, name, seed=3)
        assert repeat.to_dict() == answer.to_dict(), "one seed, one answer"
        energies = [energy for _, energy in answer.info["trajectory"]]
        assert energies == sorted(energies, reverse=True), "a trajectory only falls"
        assert np.isclose(energies[-1], answer.energy), "a trajectory ends at the answer"
    _assert_rules_are_kept(name)


def _assert_rules_are_kept(name: str) -> None:
    """Forced choices hold for every solver; limits per group are kept or refused by name."""
    rng = np.random.default_rng(2)
    problem = SelectionProblem(
        coupling=rng.normal(size=(8, 6)),
        k=3,
        m=3,
        sample_rules=Rules(forced_in=(5,), forced_out=(0, 1)),
        feature_rules=Rules(forced_in=(2,), forced_out=(4,)),
    )
    answer = solve(problem, name, seed=3)
    assert problem.obeys(answer.samples, answer.features), "forced choices are kept"
    assert answer.bound <= brute_force(problem) + 1e-9, "the bound holds with forced choices"
    limited = replace(
        problem,
        sample_rules=Rules(forced_in=(5,), groups=groups_by([0, 1, 2, 0, 1, 0, 1, 2], at_most=1)),
        feature_rules=Rules(groups=(Group(members=(0, 1)), Group(members=(2, 3)))),
    )
    try:
        answer = solve(limited, name, seed=3)
    except InputError as error:
        assert "limits per group" in str(error), "a refusal names the reason"
    else:
        assert limited.obeys(answer.samples, answer.features), "limits per group are kept"
        assert answer.bound <= brute_force(limited) + 1e-9, "the bound holds with limits"


def _note(shares: list[float], share: float, energy: float) -> None:
    shares.append(share)
