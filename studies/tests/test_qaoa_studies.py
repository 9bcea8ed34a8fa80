import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect_quantum.circuits import split_terms
from biselect_studies import reproduce
from biselect_studies.data.synthetic import panel_problem, planted_block
from biselect_studies.experiments import planted
from biselect_studies.quantum.small_angle import grouping_gain, responses
from biselect_studies.studies import penalty as penalty

SMALL = {"N": 5, "D": 4, "k": 2, "m": 2, "signal": 2.0, "mode": "mixed"}


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(planted.CONTROLS))
def test_gains_of_many_splits_are_those_of_their_groups(seed, control):
    rng = np.random.default_rng(seed)
    problem = planted_block(4, 3, 2, 1, 1.0, seed=rng).problem(2, 1, marginals="paper")
    types = np.repeat([0, 1, 2], (4, 3, 12))
    splits = planted.random_splits(control, types, rng)[:5]
    by_term = responses(problem, split_terms(problem, np.arange(19)))
    slow = []
    for split in splits:
        found = responses(problem, split_terms(problem, split))
        slow.append(grouping_gain(np.pad(found, (0, 3 - len(found)))))  # the last group may be empty
    np.testing.assert_allclose(planted.gains(by_term, splits), slow, atol=1e-12)


def test_random_splits_keep_sizes_or_types():
    types = np.repeat([0, 1, 2], (4, 3, 12))
    kept = planted.random_splits("same-size", types, np.random.default_rng(0))
    assert kept.shape == (planted.DRAWS, 19)
    assert all(np.bincount(split).tolist() == [4, 3, 12] for split in kept)
    dealt = planted.random_splits("type-preserving", types, np.random.default_rng(0))
    for kind, least in enumerate((1, 1, 4)):  # a third of 4, of 3 and of 12 terms, or one more
        counts = np.array([np.bincount(split[types == kind], minlength=3) for split in dealt])
        assert counts.min() == least and counts.max() <= least + 1
    assert len({tuple(split) for split in dealt}) == planted.DRAWS


def test_the_ladder_never_falls_and_grouping_never_loses():
    values = planted.depth_ladder({**SMALL, "tied": 4, "grouped": 3}, range(3))
    tied, grouped = np.array(values["tied alpha"]), np.array(values["grouped alpha"])
    assert tied.shape == (3, 4) and grouped.shape == (3, 3)
    assert (grouped >= tied[:, :3] - 1e-9).all()
    assert (np.diff(tied, axis=1) >= -1e-9).all() and (np.diff(grouped, axis=1) >= -1e-9).all()
    np.testing.assert_allclose(values["uniform alpha"], 0, atol=1e-12)
    np.testing.assert_allclose(values["classical"], 1)
    assert (np.array(values["tied best"]) <= 1 + 1e-9).all()
    again = planted.depth_ladder({**SMALL, "tied": 4, "grouped": 3}, range(2, 3))
    assert again["grouped alpha"] == values["grouped alpha"][2:]  # an instance does not depend on its block


def test_no_two_cells_share_their_noise():
    """Cells are pooled as independent cases, so an instance must not come back at another signal or in another mode."""
    cells = [{**SMALL, "signal": signal, "mode": mode} for signal in (2.0, 2.75) for mode in ("residual", "mixed")]
    last = [planted.instance(cell, 0).coupling[-1] for cell in cells]  # no part of the planted block
    assert all(abs(np.corrcoef(a, b)[0, 1]) < 0.999 for place, a in enumerate(last) for b in last[:place])
    assert len({planted.own_noise(cell, seed).random() for cell in cells for seed in range(3)}) == 12
    again = planted.instance(cells[0], 0).coupling[-1]
    np.testing.assert_array_equal(again, last[0])


def test_every_schedule_is_a_fully_grouped_circuit():
    values = planted.parameterizations({**SMALL, "p": 2}, range(2))
    assert max(max(values[f"{name} distance"]) for name in ("tied", "layerwise", "bilinear", "fixed-transport")) < 1e-12
    for inner, outer in (("tied", "layerwise"), ("layerwise", "fully-grouped"), ("fixed-transport", "fully-grouped")):
        assert (np.array(values[f"{outer} alpha"]) >= np.array(values[f"{inner} alpha"]) - 1e-9).all()


def test_the_threshold_is_fixed_by_the_instance_alone_and_reached_by_some_choice():
    problem = panel_problem(seed=0)
    first, again = (planted.evidence_threshold(problem, 3, 0) for _ in range(2))
    assert first == again and first.recipe["shots"] == 27_443
    assert first.of(problem) >= planted.energy_table(problem).min()


def test_gate_counts_are_pairs_and_edges():
    assert penalty.gate_ratio(4, 4) == pytest.approx(28 / 24)


@pytest.mark.slow
def test_the_control_stands_where_the_papers_does(tmp_path):
    results = reproduce("cgxy-grouping-randomization-control", tmp_path)
    for control, paper in (("type-preserving", 97.0), ("same-size", 30.5)):
        assert abs(results.find(control, "median percentile (%)").ours - paper) <= 2


@pytest.mark.slow
def test_grouping_loses_no_case_of_264(tmp_path):
    results = reproduce("qaoa-calibration-grouped-multiangle", tmp_path)
    assert [results.find(f"p = {p}", "> tied p (%)").ours for p in (1, 2, 3, 4)] == [100] * 4
    assert any("264 of 264 cases" in note for note in results.notes)


@pytest.mark.slow
def test_our_search_hits_the_threshold_far_more_often_at_equal_cost(tmp_path):
    results = reproduce("cgxy-best-known-threshold-summary-p3", tmp_path)
    theirs = results.find("Fully grouped, paper's search", "10⁴ p_BK").ours
    assert results.find("Fully grouped, our search", "10⁴ p_BK").ours >= 2.5 * theirs
