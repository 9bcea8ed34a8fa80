import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect import solve
from biselect.errors import InputError
from biselect.weights import Weigher
from biselect_studies.extensions.drift import Question, compare, decompose, label_free_maps, measure, perturb


def test_nothing_drifts_between_equal_references(table, question):
    rng = np.random.default_rng(0)
    reference, pool = table(rng, 300), table(rng, 20)
    for drift in compare(reference, reference, question(pool)):
        assert drift.feature_drift == drift.relative == 0 and not drift.changes_selection
        assert drift.feature_first.eaten == drift.joint.eaten == 0
        json.dumps(drift.to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", label_free_maps())
def test_a_shifted_feature_is_named_and_can_turn_the_selection(table, question, name):
    rng = np.random.default_rng(1)
    older, newer, pool = table(rng, 2000), table(rng, 2000, shift=3.0), table(rng, 40, shift=3.0)
    pool.loc[:2, ["a", "b"]] = 2.5  # what the newer reference finds
    (drift,) = compare(older, newer, question(pool, marginals="none"), maps=[name])
    features = {row["feature"]: row for row in drift.per_feature()}
    assert max(features, key=lambda one: abs(features[one]["drift"])) == "d"
    assert features["d"]["share"] > 0.6 and features["d"]["drift"] > 0
    assert sum(row["share"] for row in features.values()) == pytest.approx(1)
    assert drift.parts.shares["feature"] > drift.parts.shares["row"]
    assert drift.feature_first.eaten > 1 and drift.changes_selection
    assert "d" in drift.older.feature_names and drift.newer.feature_names == ["a", "b"]
    assert drift.tilt > 0.5 * drift.feature_drift


def test_margins_by_hand(table, question):
    rng = np.random.default_rng(2)
    older, newer, pool = table(rng, 300), table(rng, 300, shift=0.5), table(rng, 12)
    (drift,) = compare(older, newer, question(pool, marginals="none"), maps=["mad-z"])
    before, after = (Weigher(map="mad-z").fit(reference).weights(pool) for reference in (older, newer))
    eta = np.abs((before - after).mean(axis=0) - (before - after).mean()).max()
    sums = np.sort(after.sum(axis=0))
    assert drift.feature_drift == pytest.approx(eta)
    assert drift.feature_first.lead == pytest.approx(sums[2] - sums[1])
    assert drift.feature_first.loss == pytest.approx(2 * 12 * eta) and drift.joint.loss == pytest.approx(2 * eta)
    chosen = after[drift.newer.samples].mean(axis=0)
    lead = chosen[drift.newer.features].min() - np.delete(chosen, drift.newer.features).max()
    assert drift.joint.lead == pytest.approx(lead) and lead >= 0
    assert drift.joint.eaten == pytest.approx(2 * eta / lead)
    assert drift.relative == pytest.approx(eta / after.std())


def test_the_joint_lead_is_what_the_cheapest_exchange_of_a_feature_costs(table, question):
    rng = np.random.default_rng(8)
    older, newer, pool = table(rng, 300), table(rng, 300), table(rng, 12)
    (drift,) = compare(older, newer, question(pool, coupling_weight=0.5), maps=["ecdf"])
    cheapest = drift.newer.explain().feature_swaps[0].cost
    assert drift.joint.lead == pytest.approx(cheapest / (0.5 * 3)) and cheapest >= 0
    (without,) = compare(older, newer, question(pool, coupling_weight=0.0), maps=["ecdf"])
    assert without.joint.eaten == 0, "without a coupling its drift changes nothing"


def test_drift_within_the_margin_cannot_turn_the_chosen_features(table, question):
    """A pure feature bias below the joint lead leaves the features of a fixed sample set where they are."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        older, newer, pool = table(rng, 400), table(rng, 400, shift=rng.uniform(0, 0.3)), table(rng, 15)
        (drift,) = compare(older, newer, question(pool, marginals="none"), maps=["laplace"])
        W = Weigher(map="laplace").fit(newer).weights(pool)
        biased = W + drift.parts.feature
        if drift.joint.eaten < 1:
            values = biased[drift.newer.samples].sum(axis=0)
            assert set(np.argsort(-values)[:2]) == set(drift.newer.features)
        if drift.feature_first.eaten < 1:
            assert set(np.argsort(-biased.sum(axis=0))[:2]) == set(np.argsort(-W.sum(axis=0))[:2])


def test_all_features_chosen_leave_no_margin_to_eat(table):
    rng = np.random.default_rng(4)
    pool = table(rng, 10)
    ask = Question(pool=pool, k=2, m=4, select=solve)
    drift = measure(Weigher().fit(table(rng, 50)), Weigher().fit(table(rng, 50, shift=1)), ask)
    assert drift.feature_first.eaten == drift.joint.eaten == 0 and drift.to_dict()["joint"]["lead"] is None


def test_a_feature_that_is_constant_on_one_side_is_left_out(table, question):
    rng = np.random.default_rng(5)
    older, newer, pool = table(rng, 50).assign(b=1.0), table(rng, 50), table(rng, 10)
    (drift,) = compare(older, newer, question(pool), maps=["ecdf"])
    assert drift.features == ("a", "c", "d")
    with pytest.raises(InputError, match="only 1 features vary in both references, 2 are to be chosen"):
        compare(older.assign(a=1.0, c=1.0), newer, question(pool), maps=["ecdf"])
    with pytest.raises(InputError, match="references, not maps"):
        measure(Weigher().fit(newer), Weigher(map="laplace").fit(newer), question(pool))


WIDE = 1e9  # a cap that never binds
FIELDS = arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(-10, 10, allow_subnormal=False)
)


@given(FIELDS)
def test_the_parts_add_up_and_are_orthogonal(delta):
    parts = decompose(delta)
    rebuilt = parts.mean + parts.row[:, None] + parts.feature + parts.residual
    np.testing.assert_allclose(rebuilt, delta, atol=1e-9)
    shares = parts.shares
    assert sum(shares.values()) == pytest.approx(1.0 if (delta**2).any() else 0.0)
    assert min(shares.values()) >= 0
    norm = (delta**2).sum()
    assert shares["feature"] * norm == pytest.approx(delta.shape[0] * (parts.feature**2).sum(), abs=1e-9)
    assert abs(parts.row.sum()) < 1e-9 and abs(parts.feature.sum()) < 1e-9
    assert np.abs(parts.residual.sum(axis=0)).max() < 1e-9 and np.abs(parts.residual.sum(axis=1)).max() < 1e-9


@pytest.mark.parametrize(("mode", "part"), [("row", "row"), ("feature", "feature"), ("centred-rank-one", "residual")])
def test_a_mode_is_found_where_it_belongs(mode, part):
    W = np.full((200, 40), 50.0)
    shares = decompose(perturb(W, mode, 1.0, cap=WIDE, seed=1) - W).shares
    assert shares[part] > 0.9
    largest = decompose(perturb(W, mode, 1.0, cap=WIDE, seed=1) - W).largest
    assert max(largest, key=largest.__getitem__) == part
