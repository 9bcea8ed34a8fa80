import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.testing.strategies import problems
from biselect_studies.recovery import certify, estimate
from biselect_studies.recovery.certificate import Assumptions


def planted(signal, *, seed=0, shape=(30, 12), k=4, m=3, **more):
    W = np.random.default_rng(seed).normal(5.0, 1.0, size=shape)
    W[:k, :m] += signal
    return SelectionProblem(coupling=W, k=k, m=m, **more)


def assume(**given):
    return Assumptions(**{"signal": 5.0, "sigma": 1.0, "half_range": 3.0, **given})


def by_statement(certificate):
    return {(c.selector, c.noise, c.statement): c for c in certificate.conditions}


def test_margins_tolerances_and_words_agree():
    certificate = certify(planted(5.0), assume(signal=5.0))
    conditions = by_statement(certificate)
    best = conditions["joint", "sub-Gaussian", "class-wise"]
    assert best.holds and best.margin == pytest.approx(5.0 - best.needed)
    assert best.tolerated_error == pytest.approx(best.margin / 2)
    assert not conditions["feature-first", "sub-Gaussian", "cor:sequential-snr"].holds
    tight = conditions["feature-first", "sub-Gaussian", "tight"]
    assert conditions["feature-first", "sub-Gaussian", "cor:sequential-snr"].needed == pytest.approx(
        np.sqrt(2) * tight.needed
    )
    assert any(words.startswith("Joint: certified") for words in certificate.words)
    assert any(words.startswith("Feature-first: not certified") for words in certificate.words)


def test_an_error_costs_the_joint_margin_two_and_the_feature_first_margin_2n_over_k():
    problem = planted(5.0)
    clean, wrong = (by_statement(certify(problem, assume(error=error))) for error in (0.0, 0.1))
    for key, condition in clean.items():
        cost = 0.2 if key[0] == "joint" else 0.2 * 30 / 4
        assert condition.margin - wrong[key].margin == pytest.approx(cost)
        assert wrong[key].tolerated_error == condition.tolerated_error


def test_part_of_delta_can_be_kept_for_calibration():
    problem = planted(5.0)
    all_for_noise = by_statement(certify(problem, assume(delta=0.05)))
    split = by_statement(certify(problem, assume(delta=0.10, calibration_delta=0.05)))
    assert {key: c.needed for key, c in split.items()} == pytest.approx(
        {key: c.needed for key, c in all_for_noise.items()}
    )
    with pytest.raises(InputError, match="calibration_delta"):
        assume(delta=0.05, calibration_delta=0.05)


def test_marginals_bring_the_full_score_conditions_and_clipping_its_bias():
    bare = planted(5.0)
    full = planted(5.0, sample_scores=np.full(30, 0.5), coupling_weight=2.0)
    assert not any("full" in c.statement for c in certify(bare, assume()).conditions)
    conditions = by_statement(certify(full, assume()))
    core = conditions["joint", "sub-Gaussian", "thm:joint-noise-superiority"]
    whole = conditions["joint", "sub-Gaussian", "cor:bounded-marginal-full-score"]
    assert whole.needed == pytest.approx(core.needed + 2 * 0.5 / 2.0 / 3)
    key = ("joint", "bounded", "cor:clipped-residual-recovery")
    biased = by_statement(certify(bare, assume(clip_bias=0.3)))[key]
    assert biased.needed == pytest.approx(by_statement(certify(bare, assume()))[key].needed + 0.6)


@given(problems(), st.floats(-5, 50), st.floats(0.1, 3), st.floats(0, 2), st.floats(0, 1))
def test_every_problem_gets_a_certificate_that_agrees_with_itself(problem, signal, sigma, error, correlation):
    assumptions = assume(signal=signal, sigma=sigma, error=error, correlation=correlation)
    if problem.coupling_weight == 0 or problem.sector.size == 1:
        with pytest.raises(InputError, match="nothing to recover"):
            certify(problem, assumptions)
        return
    certificate = certify(problem, assumptions)
    json.dumps(certificate.to_dict(), allow_nan=False)
    conditions = by_statement(certificate)
    for (selector, noise, statement), condition in conditions.items():
        assert condition.holds == (signal >= condition.needed)
        bears = -1.0 if condition.tolerated_error is None else condition.tolerated_error
        # without a competitor (needed = 0) no error matters, and the one stated is on the safe side
        assert condition.holds == (bears >= error) or abs(condition.margin) < 1e-9 or condition.needed == 0
        if statement == "class-wise":
            others = [c for key, c in conditions.items() if key[:2] == (selector, noise) and "full" not in key[2]]
            assert condition.needed <= min(c.needed for c in others)
    assert certificate.words


def test_missing_separation_is_said():
    words = certify(planted(5.0), assume()).words
    assert any(sentence.startswith("No separation under Bernstein noise") for sentence in words)


def test_the_estimated_signal_allows_for_the_choice():
    rng = np.random.default_rng(3)
    for _ in range(20):
        W = rng.normal(size=(30, 12))
        problem = SelectionProblem(coupling=W, k=4, m=3)
        heaviest = np.argsort(-W[:, :3].sum(axis=1))[:4]
        seen = estimate(problem, heaviest, np.arange(3), delta=0.05)
        assert seen.observed_signal > 0 > seen.signal  # a block of pure noise, chosen for its weight
    strong = planted(8.0)
    seen = estimate(strong, np.arange(4), np.arange(3), delta=0.05)
    assert 0 < seen.signal < 8.0 and seen.deviation == pytest.approx(1.0, abs=0.1)


def test_a_background_of_its_own_is_used_and_checked():
    problem, rng = planted(8.0), np.random.default_rng(1)
    seen = estimate(problem, np.arange(4), np.arange(3), delta=0.05, background=rng.normal(5, 2, size=(500, 12)))
    assert seen.deviation == pytest.approx(2.0, abs=0.1) and "500 reference rows" in seen.source
    with pytest.raises(InputError, match="columns"):
        estimate(problem, np.arange(4), np.arange(3), delta=0.05, background=np.zeros((5, 2)))
    single = SelectionProblem(coupling=np.ones((1, 1)), k=1, m=1)
    with pytest.raises(InputError, match="one weight alone"):
        estimate(single, np.arange(1), np.arange(1), delta=0.05)
    with pytest.raises(InputError, match="one choice only"):
        certify(single, assume())


def test_what_is_not_known_is_estimated_from_the_best_block():
    problem = planted(6.0)
    found = certify(problem, error=0.1)
    assert found.assumptions.signal == found.estimate.signal and found.assumptions.error == 0.1
    assert "Signal: the best block stands" in found.words[0] and "Noise: σ" in found.words[1]
    told = certify(problem, signal=5.0, sigma=2.0)
    assert (told.assumptions.signal, told.assumptions.sigma) == (5.0, 2.0) and "Background means" in told.words[0]
    assert told.to_dict()["estimate"]["source"] == "the pool without the chosen block"


def test_pure_noise_is_not_mistaken_for_a_signal():
    """Large blocks and heavy tails alike: the lower bound on μ = 0 exceeds 0 no more often than δ allows."""
    rng = np.random.default_rng(0)
    for (n, d, k, m), noise in (
        ((4, 4, 3, 3), rng.normal),
        ((10, 8, 8, 7), rng.normal),
        ((20, 10, 5, 3), rng.normal),
        ((20, 10, 5, 3), rng.standard_cauchy),
        ((30, 10, 2, 2), rng.standard_cauchy),
    ):
        wrong = 0
        for _ in range(40):
            seen = certify(SelectionProblem(coupling=noise(size=(n, d)), k=k, m=m), delta=0.05)
            joint = [c for c in seen.conditions if c.selector == "joint"]
            wrong += seen.estimate.signal > 0 and any(c.holds for c in joint)
        assert wrong <= 2


def test_correlated_noise_gets_no_condition_for_independent_entries():
    noises = {c.noise for c in certify(planted(5.0), assume(correlation=0.9)).conditions}
    assert noises == {"sub-Gaussian"}
    assert {c.noise for c in certify(planted(5.0), assume(sigma=1000.0)).conditions} == {"sub-Gaussian"}
