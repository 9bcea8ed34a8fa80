"""Figures of shots against their definitions, and repair against one string at a time."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from biselect import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.devices.analysis import (
    analyse,
    analyse_repaired,
    closed_gap,
    exact_interval,
    within_one_of_budget,
)
from biselect_quantum.shots import Shots
from biselect_quantum.uniform import uniform_energy


def drawn(seed, n=4, d=3, shots=60, repeats=3):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, n + 1)), int(rng.integers(1, d + 1))
    problem = SelectionProblem(
        coupling=rng.normal(size=(n, d)),
        sample_scores=rng.normal(size=n),
        feature_scores=rng.normal(size=d),
        coupling_weight=0.7,
        k=int(rng.integers(1, n + 1)),
        m=int(rng.integers(1, d + 1)),
    )
    found = []
    for _ in range(repeats):
        bits, counts = np.unique(rng.integers(2, size=(shots, n + d)), axis=0, return_counts=True)
        found.append(Shots(bits=bits.astype(np.uint8), counts=counts, problem=problem))
    return problem, found


def energy(problem, bits):
    n = problem.n_samples
    return problem.energy(np.flatnonzero(bits[:n]).tolist(), np.flatnonzero(bits[n:]).tolist())


def feasible_energies(problem, shots):
    """Energies of the feasible shots, one by one."""
    n = problem.n_samples
    return [
        energy(problem, row)
        for row, count in zip(shots.bits, shots.counts, strict=True)
        for _ in range(count)
        if row[:n].sum() == problem.k and row[n:].sum() == problem.m
    ]


@given(st.integers(0, 1 << 30))
@settings(max_examples=60)
def test_figures_follow_their_definitions(seed):
    problem, repeats = drawn(seed)
    n, d = problem.n_samples, problem.n_features
    everyone = [
        problem.energy(s, f) for s in combinations(range(n), problem.k) for f in combinations(range(d), problem.m)
    ]
    threshold = sorted(everyone)[len(everyone) // 3]
    found = analyse(repeats, threshold=threshold, reference=min(everyone))
    energies = [feasible_energies(problem, shots) for shots in repeats]
    flat = sorted(value for part in energies for value in part)
    rates = [len(part) / 60 for part in energies]
    hits = [sum(value <= threshold + 1e-9 for value in part) for part in energies]
    assert (found.shots, found.feasible, found.hits) == (180, len(flat), sum(hits))
    assert found.feasible_rate == pytest.approx((np.mean(rates), min(rates), max(rates)))
    assert found.chance == pytest.approx(len(everyone) / 2 ** (n + d))
    assert found.over_chance == pytest.approx(np.mean(rates) / found.chance)
    assert found.hit_rate.value == pytest.approx(sum(hits) / 180)
    assert found.hit_rate_by_repeat == pytest.approx((np.median(hits) / 60, min(hits) / 60, max(hits) / 60))
    if not flat:
        assert found.best_energy is found.tail_energy is found.dense_gap is found.z_rand is None
        return
    assert found.best_energy == pytest.approx(flat[0])
    assert found.dense_gap == pytest.approx(flat[0] - min(everyone))
    assert found.tail_energy == pytest.approx(np.mean(flat[: int(np.ceil(0.05 * len(flat)))]))
    if np.std(everyone) > 1e-9:
        assert found.z_rand == pytest.approx((np.mean(flat) - np.mean(everyone)) / np.std(everyone), abs=1e-6)


@given(st.integers(0, 1 << 30))
@settings(max_examples=60)
def test_uniform_energies_have_this_mean_and_spread(seed):
    problem, _ = drawn(seed, n=6, d=5, shots=1, repeats=1)
    n, d = problem.n_samples, problem.n_features
    everyone = [
        problem.energy(s, f) for s in combinations(range(n), problem.k) for f in combinations(range(d), problem.m)
    ]
    assert uniform_energy(problem) == pytest.approx((np.mean(everyone), np.std(everyone)), abs=1e-9)


@given(st.integers(1, 500), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
@settings(max_examples=40)
def test_intervals_are_scipys_exact_ones(trials, share, level):
    hits = round(share * trials)
    expected = binomtest(hits, trials).proportion_ci(level, method="exact")
    assert exact_interval(hits, trials, level) == pytest.approx((hits / trials, expected.low, expected.high))


def test_an_energy_that_is_the_threshold_counts():
    problem = SelectionProblem(coupling=[[0.1, 0.2], [0.3, 0.0]], k=2, m=2)
    shots = Shots(bits=np.array([[1, 1, 1, 1]], dtype=np.uint8), counts=np.array([5]), problem=problem)
    threshold = problem.energy([1, 0], [1, 0])
    assert analyse([shots], threshold=threshold, reference=threshold).hits == 5


def test_repair_never_touches_strict_figures():
    """One feasible string with a high energy, one near miss with a low one."""
    problem = SelectionProblem(coupling=np.zeros((3, 1)), sample_scores=[1.0, 2.0, 5.0], k=1, m=1)
    shots = Shots(
        bits=np.array([[1, 0, 0, 1], [1, 0, 1, 1], [1, 1, 1, 0]], dtype=np.uint8),
        counts=np.array([3, 2, 4]),
        problem=problem,
    )
    strict = analyse([shots], threshold=-5.0, reference=-5.0)
    assert (strict.feasible, strict.hits, strict.best_energy, strict.dense_gap) == (3, 0, -1.0, 4.0)
    mended = analyse_repaired([shots], reference=-5.0)
    assert (mended.best_energy, mended.band_1_gap, mended.strict_gap) == (-5.0, 0.0, 4.0)
    assert mended.accepted_rate == pytest.approx(5 / 9)


def test_nothing_to_repair_is_said():
    problem = SelectionProblem(coupling=np.zeros((4, 1)), k=1, m=1)
    shots = Shots(bits=np.array([[1, 1, 1, 1, 1]], dtype=np.uint8), counts=np.array([2]), problem=problem)
    mended = analyse_repaired([shots], reference=-1.0)
    assert (mended.accepted_rate, mended.best_energy, mended.band_1_gap) == (0.0, None, None)


def test_the_papers_closed_gaps():
    """Table cgxy_fixed_angle_condition_details: gaps +19.9 and +1.3, +103.8 and +18.0, +84.9 and +18.6."""
    gaps = [closed_gap(fixed, warm, 0.0) for fixed, warm in ((19.9, 1.3), (103.8, 18.0), (84.9, 18.6))]
    assert [round(100 * gap, 1) for gap in gaps] == [93.5, 82.7, 78.1]
    assert closed_gap(-3.0, -3.0, -3.0) is None


def test_without_repeats_there_are_no_figures():
    with pytest.raises(InputError, match="no repeats"):
        analyse([], threshold=0.0, reference=0.0)


def test_no_repeats_have_no_figures():
    with pytest.raises(InputError, match="no repeats"):
        analyse_repaired([], reference=0.0)


def repaired_slowly(problem, bits):
    """One string: None if it is too far off, else flip by flip."""
    n, bits = problem.n_samples, bits.astype(int).copy()

    def off():
        return bits[:n].sum() - problem.k, bits[n:].sum() - problem.m

    if max(map(abs, off())) > 1:
        return None
    while any(off()):
        choices = []
        for place in range(len(bits)):
            missed = off()[0 if place < n else 1]
            if (missed == 1 and bits[place]) or (missed == -1 and not bits[place]):
                flipped = bits.copy()
                flipped[place] ^= 1
                choices.append((round(energy(problem, flipped) - energy(problem, bits), 9), place))
        bits[min(choices)[1]] ^= 1
    return tuple(bits.tolist())


@given(st.integers(0, 1 << 30))
@settings(max_examples=60)
def test_repair_flips_the_best_bit_first(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    scores = {"sample_scores": rng.normal(size=n), "feature_scores": rng.normal(size=d), "coupling_weight": 0.7}
    k, m = int(rng.integers(1, n + 1)), int(rng.integers(1, d + 1))
    problem = SelectionProblem(coupling=rng.normal(size=(n, d)), k=k, m=m, **scores)
    shots = Shots.of_table(rng.integers(2, size=(60, n + d)), problem=problem)
    found = within_one_of_budget(shots)
    expected = {}
    for row, count in zip(shots.bits, shots.counts, strict=True):
        mended = repaired_slowly(problem, row)
        if mended is not None:
            expected[mended] = expected.get(mended, 0) + int(count)
    got = dict(zip(map(tuple, found.bits.tolist()), found.counts.tolist(), strict=True))
    assert found.inside.all()
    assert got == expected
