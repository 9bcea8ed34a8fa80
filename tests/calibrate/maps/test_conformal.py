import numpy as np

from biselect.calibrate import Calibrator


def test_conformal_in_words():
    rng = np.random.default_rng(2)
    reference, pool = rng.integers(0, 9, size=(41, 1)).astype(float), np.arange(-2.0, 14.0)[:, None]
    calibrator = Calibrator(map="conformal", seed=5).fit(reference)
    aside = np.random.default_rng(5).permuted(np.tile(np.arange(20) < 10, (3, 1)), axis=1)
    aside = aside.ravel()[:41]
    fit, ranked = reference[~aside, 0], reference[aside, 0]
    middle = np.median(fit)
    mad = 1.4826 * np.median(np.abs(fit - middle))
    scores = np.abs(ranked - middle) / mad
    p = [(1 + (scores >= abs(x - middle) / mad - 1e-12).sum()) / (aside.sum() + 1) for x in pool[:, 0]]
    np.testing.assert_allclose(calibrator.weights(pool)[:, 0], -np.log(p), atol=1e-12)
    assert calibrator.facts.calibration_rows == aside.sum() and calibrator.facts.reference_rows == 41


def test_conformal_p_values_are_super_uniform_with_and_without_ties():
    rng = np.random.default_rng(3)
    for round_to in (None, 0):
        p = []
        for repeat in range(3000):
            draw = rng.standard_t(2, size=(41, 1)) * 3
            draw = draw if round_to is None else draw.round(round_to)
            calibrator = Calibrator(map="conformal", cap=100, seed=repeat).fit(draw[:40])
            p.append(np.exp(-calibrator.weights(draw[40:])[0, 0]))
        for alpha in (0.05, 0.1, 0.2, 0.5, 0.9):
            tolerance = 3 * np.sqrt(alpha * (1 - alpha) / 3000)
            assert np.mean(np.array(p) <= alpha + 1e-12) <= alpha + tolerance
