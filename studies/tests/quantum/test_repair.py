"""Repair: the nearest choice of lowest energy, strict shots untouched, random strings beside it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from biselect import SelectionProblem
from biselect.core.sector import subsets
from biselect_quantum.shots import Shots
from biselect_studies.quantum.repair import mend, repair


def problem_of(rng, n=5, d=4, **more):
    scores = {"sample_scores": rng.normal(size=n), "feature_scores": rng.normal(size=d), "coupling_weight": 0.7}
    return SelectionProblem(coupling=rng.normal(size=(n, d)), k=2, m=2, **scores, **more)


def choices(problem):
    n, d = problem.n_samples, problem.n_features
    rows = []
    for samples in subsets(n, problem.k):
        for features in subsets(d, problem.m):
            row = np.zeros(n + d, dtype=np.int64)
            row[samples], row[n + features] = 1, 1
            rows.append(row)
    return np.array(rows)


@given(st.integers(0, 1 << 30))
def test_the_nearest_choice_of_lowest_energy_is_taken(seed):
    """The slow twin looks at every choice."""
    rng = np.random.default_rng(seed)
    problem = problem_of(rng)
    shots = Shots.of_table(rng.integers(2, size=(12, 9)), rng.integers(1, 4, size=12), problem=problem)
    every = choices(problem)
    wanted = {}
    for row, count in zip(shots.bits.astype(np.int64), shots.counts, strict=True):
        if abs(row[:5].sum() - 2) > 1 or abs(row[5:].sum() - 2) > 1:
            continue
        far = np.abs(every - row).sum(axis=1)
        near = every[far == far.min()]
        best = tuple(near[problem.bit_energies(near).argmin()].tolist())
        wanted[best] = wanted.get(best, 0) + int(count)
    found = repair(shots)
    assert {tuple(row): int(count) for row, count in zip(found.bits.tolist(), found.counts, strict=True)} == wanted


def test_rules_hold_after_repair():
    rng = np.random.default_rng(0)
    problem = problem_of(rng, sample_rules={"forced_in": [0]})
    found = repair(Shots.of_table(rng.integers(2, size=(200, 9)), problem=problem))
    assert found.inside.all() and found.bits[:, 0].all()


def test_random_strings_stand_beside_what_was_measured():
    """Shots that are random strings gain what random strings gain; shots at the optimum do not."""
    rng = np.random.default_rng(1)
    problem = problem_of(rng)
    every = choices(problem)
    energies = problem.bit_energies(every)
    goal = float(energies.min())
    noise = Shots.of_table(rng.integers(2, size=(20_000, 9)), problem=problem)
    found = mend([noise, noise], goal=goal, taken=50_000)
    assert found.hits > 2 * round(50_000 * found.strict_hit_rate.value) > 0
    assert found.hit_rate.value * 50_000 / 40_000 < 1.1 * found.uniform_hit_rate.value
    assert found.hit_rate.low < found.hit_rate.value < found.hit_rate.high
    best = Shots.of_table(every[[energies.argmin()]], np.array([100]), problem=problem)
    found = mend([best], goal=goal, taken=200)
    assert (found.hits, found.hit_rate.value, found.best_energy) == (100, 0.5, goal)
    assert found.shuffled_hit_rate.low <= 1 / len(every) <= found.shuffled_hit_rate.high
