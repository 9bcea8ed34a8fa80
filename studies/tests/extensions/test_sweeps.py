from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

from biselect import solve
from biselect.errors import InputError
from biselect.weights import Weigher, map_names
from biselect_studies.extensions.drift import CANDIDATES, Question, choose_map, lag_sweep, shrink_sweep


@pytest.mark.parametrize("make", [pd.DataFrame, lambda frame: pl.DataFrame(frame.to_dict("list"))])
def test_older_windows_drift_more(table, question, make):
    rng = np.random.default_rng(6)
    history = pd.concat([table(rng, 500, shift=shift) for shift in (3.0, 2.0, 1.0, 0.0)], ignore_index=True)
    points = lag_sweep(make(history), question(make(table(rng, 30))), window=500, maps=["ecdf", "gaussian"])
    assert [(point.start, point.end) for point in points] == [(0, 500), (500, 1000), (1000, 1500)]
    for one in range(2):
        drifts = [point.drifts[one].feature_drift for point in points]
        assert drifts[0] > drifts[2] > 0
    overlapping = lag_sweep(make(history), question(make(table(rng, 30))), window=1000, step=250, maps=["ecdf"])
    assert [point.end for point in overlapping] == [1000, 1250, 1500, 1750]


def test_smaller_parts_of_a_reference_differ_more_and_mostly_by_residual(table, question):
    rng = np.random.default_rng(7)
    found = list(shrink_sweep(table(rng, 4000), question(table(rng, 30)), maps=["ecdf"], repeats=3))
    assert [fraction for fraction, _ in found[::3]] == [0.5, 0.25, 0.1, 0.05]
    norm = [np.sqrt((drifts[0].parts.residual ** 2).mean()) for _, drifts in found]
    assert np.mean(norm[-3:]) > np.mean(norm[:3])
    assert np.mean([drifts[0].parts.shares["residual"] for _, drifts in found]) > 0.5


def test_sweeps_that_cannot_be_are_refused(table, question):
    rng = np.random.default_rng(0)
    frame = table(rng, 100)
    with pytest.raises(InputError, match="no older window of 60 rows"):
        lag_sweep(frame, question(frame), window=60)
    with pytest.raises(InputError, match="positive numbers of rows"):
        lag_sweep(frame, question(frame), window=0)


@pytest.mark.slow
def test_credit_card_lags_are_more_feature_aligned_than_shrinkage(credit_card):
    """The mechanism of the paper's Section S4, on the real table, with one pool of each size."""
    frame = pd.read_parquet(credit_card / "creditcard.parquet")
    names = [f"V{j}" for j in range(1, 13)]
    reference, test = frame[names].iloc[:227845], frame.iloc[227845:]
    rng = np.random.default_rng(0)
    lag, shrink, relative = [], [], []
    for size, k in ((20, 3), (50, 5), (80, 8)):
        frauds = rng.choice(np.flatnonzero(test["Class"] == 1), k, replace=False)
        normals = rng.choice(np.flatnonzero(test["Class"] == 0), size - k, replace=False)
        pool = test[names].iloc[np.concatenate([frauds, normals])]
        ask = Question(pool=pool, k=k, m=4, select=partial(solve, solver="coordinate-ascent"), marginals="none")
        oldest = lag_sweep(reference, ask, window=40_000, maps=["conformal", "gaussian"])[0]
        lag.append(oldest.drifts[0].parts.shares)
        relative.append([drift.relative for drift in oldest.drifts])
        shrink += [drifts[0].parts.shares for _, drifts in shrink_sweep(reference, ask, maps=["conformal"], repeats=1)]
    mean = {name: np.mean([shares[name] for shares in lag]) for name in lag[0]}
    assert mean["feature"] > mean["row"]
    assert mean["feature"] > np.mean([shares["feature"] for shares in shrink])
    assert np.mean([shares["residual"] for shares in shrink]) > 0.5
    conformal, gaussian = np.mean(relative, axis=0)
    assert gaussian < conformal


def heavy_with_wandering_scale(seed):
    """Tails too heavy for moments, a spread that doubles: ranks forget the spread, distances do not."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, size=(2500, 5))
    X[:, 0] *= np.linspace(1, 4, 2500)
    return X


def test_the_map_is_chosen_that_drifts_least_and_says_why():
    reference = heavy_with_wandering_scale(0)
    choice = choose_map(reference)
    assert choice.relative_drift[choice.map] == min(choice.relative_drift.values())
    assert set(choice.relative_drift) == set(CANDIDATES) < set(map_names())
    assert f"{choice.relative_drift[choice.map]:.2f} of the spread" in choice.why
    assert choose_map(reference, seed=0) == choice


def test_its_scores_are_the_mean_relative_drift_of_the_older_fifths():
    reference = heavy_with_wandering_scale(1)[:1000]
    fifths = np.split(reference, 5)
    pool = fifths[4]
    newest = Weigher(map="gaussian").fit(fifths[3]).weights(pool)
    expected = []
    for older in fifths[:3]:
        delta = Weigher(map="gaussian").fit(older).weights(pool) - newest
        expected.append(np.abs(delta.mean(axis=0) - delta.mean()).max() / newest.std())
    assert choose_map(reference).relative_drift["gaussian"] == pytest.approx(np.mean(expected))


def test_the_choice_needs_rows():
    with pytest.raises(InputError, match="needs 200 rows, not 100"):
        choose_map(np.random.default_rng(0).normal(size=(100, 2)))
