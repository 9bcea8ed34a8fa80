"""Angle selection: the shots it may spend, what decides, and that a seed fixes it all."""

import numpy as np
import pytest

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits import Ansatz, AnsatzSpec, Schedule, surrogate
from biselect_quantum.circuits.angle_selection import (
    WideShots,
    fixed_angles,
    select_by_paper,
    select_by_rounds,
    warm_starts,
)
from biselect_quantum.circuits.starts import start_choice
from biselect_quantum.shots import Samples

PROTOCOLS = (select_by_paper, select_by_rounds)


EDGES = [(0, 1), (3, 2), (5, 4)]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    return SelectionProblem(
        coupling=rng.gamma(1.0, 1.0, (7, 5)),
        sample_scores=rng.random(7),
        feature_scores=rng.random(5),
        k=3,
        m=2,
    )


@pytest.fixture
def wide(problem):
    return WideShots(AnsatzSpec(problem, 2, "bilinear", "path", groups=surrogate(problem, EDGES)))


@pytest.mark.parametrize("select", PROTOCOLS)
def test_both_protocols_spend_the_papers_shots(problem, wide, select):
    found = select(problem, wide, warm_starts(problem), fixed_angles(wide.spec.schedule), seed=1)
    assert found.shots == 2 * 6 * 384 + 2 * 4096
    assert found.confirmed[0].rank == min(trial.rank for trial in found.confirmed)
    assert np.array_equal(found.angles, found.confirmed[0].angles)
    assert all(trial.best <= trial.cvar <= trial.mean for trial in (*found.tried, *found.confirmed))
    again = select(problem, wide, warm_starts(problem), fixed_angles(wide.spec.schedule), seed=1)
    assert np.array_equal(found.angles, again.angles)
    assert [trial.cvar for trial in found.tried] == [trial.cvar for trial in again.tried]
    other = select(problem, wide, warm_starts(problem), fixed_angles(wide.spec.schedule), seed=2)
    assert [trial.cvar for trial in found.tried] != [trial.cvar for trial in other.tried]


def test_the_papers_candidates_are_the_inherited_angles_and_five_near_them(problem, wide):
    inherited = fixed_angles(wide.spec.schedule)
    found = select_by_paper(problem, wide, warm_starts(problem), inherited)
    assert len(found.tried) == 12
    assert [np.array_equal(trial.angles, inherited) for trial in found.tried] == ([True] + [False] * 5) * 2
    moves = np.array([trial.angles - inherited for trial in found.tried if not np.array_equal(trial.angles, inherited)])
    assert 0.1 < moves.std() < 0.3


@pytest.mark.parametrize("select", PROTOCOLS)
def test_ties_go_to_the_first(problem, select):
    """Where every candidate looks the same, the inherited angles and the first start are taken."""

    def flat(start, angles, shots, seed):
        samples, features = (np.array([side]) for side in start_choice(problem, "canonical"))
        return Samples(samples=samples, features=features, energies=np.array([-1.0]), counts=np.array([shots]))

    starts = [start_choice(problem, "random", 0), start_choice(problem, "canonical")]
    found = select(problem, flat, starts, [0.3, 0.2])
    assert found.angles.tolist() == [0.3, 0.2]
    assert found.start is starts[0]


def test_confirmed_trials_are_ranked_by_cvar_then_mean_then_best(problem):
    energies = {0: [-3.0, -1.0], 1: [-3.0, -2.0]}  # equal tails, the second start has the lower mean
    starts = [start_choice(problem, "random", 0), start_choice(problem, "canonical")]

    def draw(start, angles, shots, seed):
        rank = 0 if start is starts[0] else 1
        rows = [np.array([side, side]) for side in start]
        counts = np.array([shots // 2, shots - shots // 2])
        return Samples(samples=rows[0], features=rows[1], energies=np.array(energies[rank]), counts=counts)

    assert select_by_paper(problem, draw, starts, [0.0]).start is starts[1]


def test_wide_shots_are_those_of_the_ansatz(problem, wide):
    start, angles = start_choice(problem, "random", 3), np.array([0.4, 0.0, 0.9, 0.5])
    ansatz = Ansatz(problem, 2, "bilinear", "path", start, groups=surrogate(problem, EDGES))
    shots = wide(start, angles, 20_000, 0)
    assert shots.shots == 20_000
    assert shots.samples.shape[1] == problem.k and shots.features.shape[1] == problem.m
    assert shots.mean_energy() == pytest.approx(ansatz.expectation(angles), abs=0.05)
    assert shots.cvar(0.05) == pytest.approx(ansatz.cvar(angles), abs=0.1)


def test_standing_still_improves_nothing(problem, wide):
    start = start_choice(problem, "random", 3)
    still = select_by_paper(problem, lambda s, _, n, seed: wide(s, np.zeros(4), n, seed), [start], np.zeros(4))
    assert still.confirmed[0].improved == 0
    assert still.confirmed[0].cvar == pytest.approx(problem.energy(*start))
    moved = select_by_paper(problem, wide, [start], fixed_angles(wide.spec.schedule))
    assert moved.confirmed[0].improved > 0


@pytest.mark.slow
def test_rounds_find_lower_tails_in_the_same_shots(problem, wide):
    """By exact CVaR of what is chosen, over seeds: the rounds are better in the mean."""
    starts = [start_choice(problem, "random", seed) for seed in (1, 2)]
    gains = []
    for seed in range(6):
        chosen = []
        for select in PROTOCOLS:
            found = select(problem, wide, starts, fixed_angles(wide.spec.schedule), seed=seed)
            ansatz = Ansatz(problem, 2, "bilinear", "path", found.start, groups=surrogate(problem, EDGES))
            chosen.append(ansatz.cvar(found.angles))
        gains.append(chosen[0] - chosen[1])
    assert np.mean(gains) > 0


@pytest.mark.parametrize("starts, angles", [([], [0.1]), ([([0], [0])], [np.nan])])
def test_bad_input_is_refused(problem, wide, starts, angles):
    with pytest.raises(InputError):
        select_by_paper(problem, wide, starts, angles)


def test_warm_starts_are_distinct_and_in_order(problem):
    starts = warm_starts(problem, 2)
    energies = [problem.energy(*start) for start in starts]
    assert energies == sorted(energies)
    assert len({tuple(map(tuple, start)) for start in starts}) == len(starts)
    assert all(len(s) == problem.k and len(f) == problem.m for s, f in starts)


def test_fixed_angles_do_not_know_the_problem():
    assert fixed_angles(Schedule.named("bilinear", 3)).tolist() == [np.pi / 4] * 5
