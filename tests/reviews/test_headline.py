import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biselect as bs
from biselect.core import SelectionProblem
from biselect.options import Kinds, RowRules, Search
from biselect.pages.words import words_of
from biselect.reviews._chance import Chance, _step, carries, find, null_for
from biselect.tables._frames import as_matrix
from biselect.weights import Weigher

QUICK = {"kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0), solver="coordinate-ascent")}


def payments(frauds=11, *, rows=300, seed=0):
    """Card payments of which some are large, at night and from a country that was never seen."""
    rng = np.random.default_rng(seed)

    def draw(size):
        table = {"amount": np.exp(rng.normal(3, 1, size)), "hour": rng.normal(14, 3, size)}
        table |= {"country": rng.choice(["DE", "FR", "NL"], size, p=[0.7, 0.2, 0.1])}
        return pd.DataFrame(table | {f"signal {i}": rng.normal(size=size) for i in range(5)})

    reference, pool = draw(3000), draw(rows)
    pool.loc[: frauds - 1, "amount"] = rng.uniform(900, 1500, frauds)
    pool.loc[: frauds - 1, "hour"] = rng.uniform(1, 2, frauds)
    pool.loc[: frauds - 1, "country"] = "BT"
    return pool, reference


def finding_of(problem, **more):
    selection = bs.solve(problem)
    return find(selection, null_for(problem, None, None, seed=0), **more)


def test_a_step_is_found_and_said_in_the_table_s_own_words():
    pool, reference = payments()
    finding = bs.review(pool, reference, k=20, m=4, **QUICK).summary["finding"]
    assert finding["words"] == (
        "11 of these 20 stand out together, with high amount, rare country and low hour; 9 are ordinary extremes."
    )
    assert sorted(finding["rows"]) == list(range(11)) and finding["step"] is not None
    assert finding["weighs"][0] > finding["next"] == finding["step"]["below"] and finding["chance"]["rows"] == 0
    assert json.loads(json.dumps(finding, allow_nan=False)) == finding


def test_more_of_them_than_the_budget_are_told():
    pool, reference = payments(30)
    finding = bs.review(pool, reference, k=20, m=3, **QUICK).summary["finding"]
    assert finding["words"].startswith("All 20 stand out together, with ") and finding["left_out"] == 10
    behind = " ".join(words_of().behind(finding, str))
    assert "10 more rows like them are left out." in behind


def test_groups_that_share_no_reason_are_told_apart():
    pool, reference = payments(8)
    pool.loc[:3, ["hour"]] = 14.0
    pool.loc[:3, "country"] = "DE"
    pool.loc[:3, "signal 0"] = -9.0
    pool.loc[4:7, "amount"] = 20.0
    finding = bs.review(pool, reference, k=8, m=4, **QUICK).summary["finding"]
    groups = [sorted(group["rows"]) for group in finding["groups"]]
    assert sorted(groups) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert "4 together with " in finding["words"] and "low signal 0" in finding["words"]


@pytest.mark.parametrize("k", [1, 10])
def test_noise_has_ordinary_extremes_alone(k):
    claimed = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        reference, pool = rng.normal(size=(1000, 6)), rng.normal(size=(100, 6))
        calibrator = Weigher().fit(reference)
        problem = calibrator.problem(pool, k, 3, marginals="none")
        chance = null_for(problem, calibrator, as_matrix(reference), seed=seed)
        found = find(bs.solve(problem, "coordinate-ascent"), chance)
        claimed += found["stand_out"] > 0
        if not found["stand_out"]:
            said = words_of().finding(found)
            assert said.startswith(("Nothing stands out beyond chance", "All 10 are unusual"))
    assert claimed <= 1


def test_a_single_row_that_stands_out():
    pool, reference = payments(1)
    words = bs.review(pool, reference, k=1, m=3, **QUICK).summary["finding"]["words"]
    assert words == "This row stands out, with high amount, rare country and low hour."


def test_where_all_is_equal_nothing_stands_out_and_ties_are_counted():
    finding = finding_of(SelectionProblem(coupling=np.ones((9, 5)), k=3, m=2))
    assert finding["stand_out"] == 0 and finding["all_equal"] and finding["ties"] == 6
    assert words_of().finding(finding).startswith("Nothing stands out: every row weighs the same")


def test_few_different_weights_make_no_step():
    rng = np.random.default_rng(0)
    coupling = rng.integers(0, 2, (80, 6)).astype(float)
    finding = finding_of(SelectionProblem(coupling=coupling, k=6, m=3))
    assert finding["stand_out"] == 0 and finding["ties"] > 0


def test_weights_without_a_table_are_compared_with_shuffled_columns():
    coupling = np.random.default_rng(0).random((60, 8))
    coupling[:6, :3] += 2
    names = tuple(f"target {j}" for j in range(8))
    finding = finding_of(SelectionProblem(coupling=coupling, k=10, m=4, feature_names=names))
    assert sorted(finding["rows"]) == [0, 1, 2, 3, 4, 5] and finding["chance"]["shuffled"]
    assert words_of().finding(finding).startswith("6 of these 10 stand out together, in target ")


def test_a_pool_too_large_to_compare_says_so(monkeypatch):
    from biselect.reviews import _chance as module

    monkeypatch.setattr(module, "MOST_CELLS", 10)
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((30, 4)), k=3, m=2)
    finding = finding_of(problem)
    assert finding["chance"] is None and "no clear step sets some of them apart" in words_of().finding(finding)


def test_kinds_beyond_chance_whose_rows_are_others_are_named():
    selection = bs.solve(SelectionProblem(coupling=np.eye(4), k=2, m=2))
    kinds = [
        {"number": number, "name": f"kind {number}", "chance": chance, "in_answer": shared}
        for number, chance, shared in ((1, 0.05, 2), (2, 0.05, 0), (3, 0.4, 0), (4, None, 0))
    ]
    finding = find(selection, None, kinds={"found": kinds})
    assert finding["other_kinds"] == [{"number": 2, "name": "kind 2"}]


@given(st.integers(2, 40), st.integers(0, 2**16))
def test_a_step_is_as_wide_however_weights_are_scaled(size, seed):
    rng = np.random.default_rng(seed)
    top = np.sort(rng.exponential(size=size))[::-1]
    top[: size // 3] += 50 * (seed % 2)
    step, scaled = _step(top, None), _step(8 * top, None)
    assert (step is None) == (scaled is None)
    if step is not None:
        assert scaled == pytest.approx((8 * step[0], 8 * step[1])) and step[0] > step[1]
    assert _step(np.ones(size), None) is None


def test_chance_counts_rows_of_all_draws():
    chance = Chance(weights=np.array([[3.0, 1.0], [2.0, 2.0]]), scores=np.array([4.0, 4.0]))
    assert chance.rows_at(2.0) == 1.5 and chance.rows_at(3.5) == 0
    assert not chance.is_clear(4.0, 3.0) and chance.is_clear(4.1, 0.0) and chance.is_clear(0.0, 9.0)


def test_a_cell_is_a_reason_from_half_of_an_even_share_on():
    cells = np.array([[6.0, 1.0, 0.9, 0.1], [0.0, 0.0, 0.0, 0.0], [-5.0, 2.0, 0.0, 0.0]])
    assert carries(cells).tolist() == [[True, True, False, False], [False] * 4, [False, True, False, False]]


def test_heavy_rows_that_a_rule_keeps_out_make_no_others_stand_out():
    pool, reference = payments(frauds=6)
    found = bs.review(pool, reference, k=6, m=3, **QUICK, rules=RowRules(never=[str(row) for row in range(6)])).summary[
        "finding"
    ]
    assert found["stand_out"] == 0 and found["weighs"] is None and found["step"] is None
