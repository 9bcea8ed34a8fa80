from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.testing.strategies import blocked_problems, problems
from biselect_quantum.devices.masks import hardware_mask
from biselect_quantum.devices.patches import Patch, choose_patch
from biselect_quantum.devices.placement import _compress_outliers, _fits, mass_on_edges, place
from biselect_quantum.devices.targets import load_target


def patch_with(n, d, cross):
    """A patch by its cross edges alone; mixers are paths."""
    return Patch(
        samples=tuple(range(n)),
        features=tuple(range(n, n + d)),
        sample_edges=tuple((i, i + 1) for i in range(n - 1)),
        feature_edges=tuple((i, i + 1) for i in range(d - 1)),
        cross_edges=tuple(cross),
    )


def brute_mass(problem, patch):
    """The most mass of all placements that keep groups on their own positions; settled items need no edges."""
    weights = np.abs(problem.coupling)
    sides = []
    for fits, blocks in zip(_fits(problem, patch), problem.sector.blocks, strict=True):
        items = range(len(fits))
        sides.append([order for order in permutations(items) if fits[items, order].all()])
        if problem.sample_rules or problem.feature_rules:
            settled = np.setdiff1d(items, blocks.moving)
            weights = np.where(np.isin(items, settled)[:, None], 0.0, weights)
        weights = weights.T  # the other side
    return max(mass_on_edges(weights, patch.cross_edges, s, f) for s in sides[0] for f in sides[1])


@st.composite
def placed_problems(draw):
    problem = draw(st.one_of(problems(4, 3), blocked_problems(4, 3)))
    pairs = [(u, v) for u in range(problem.n_samples) for v in range(problem.n_features)]
    cross = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    return problem, patch_with(problem.n_samples, problem.n_features, sorted(cross))


@settings(max_examples=60)
@given(placed_problems())
def test_no_placement_has_more_mass(case):
    problem, patch = case
    found = place(problem, patch)
    best = brute_mass(problem, patch)
    assert found.mass == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert found.proven_optimal and found.gap == 0
    if not (problem.sample_rules or problem.feature_rules):
        kept = np.abs(problem.coupling)[hardware_mask(found.patch)].sum()
        assert kept == pytest.approx(found.mass, rel=1e-9, abs=1e-12)


@settings(max_examples=60)
@given(placed_problems())
def test_a_placed_patch_is_the_same_patch_under_the_items_that_sit_there(case):
    problem, patch = case
    found = place(problem, patch).patch
    assert sorted(found.samples) == list(patch.samples) and sorted(found.features) == list(patch.features)
    n = problem.n_samples
    for of_samples, of_features in ((0, 0), (n, n), (0, n)):  # both mixers and the cross edges, by their qubits
        name = {(0, 0): "sample_edges", (n, n): "feature_edges", (0, n): "cross_edges"}[of_samples, of_features]
        qubits = [
            {frozenset((each.layout[of_samples + u], each.layout[of_features + v])) for u, v in getattr(each, name)}
            for each in (patch, found)
        ]
        assert qubits[0] == qubits[1] and len(getattr(found, name)) == len(getattr(patch, name))


@pytest.mark.parametrize("name", ["boston", "pittsburgh"])
def test_64_qubits_are_placed_with_a_proof(name):
    patch = choose_patch(load_target(name), 38, 26, seed=0)
    rng = np.random.default_rng(0)
    problem = SelectionProblem(coupling=rng.exponential(size=(38, 26)), k=10, m=10)
    found = place(problem, patch)
    assert found.proven_optimal
    heaviest = np.sort(problem.coupling, axis=None)[-len(patch.cross_edges) :].sum()
    assert mass_on_edges(problem.coupling, patch.cross_edges, range(38), range(26)) < found.mass <= heaviest


def test_a_placement_cut_short_still_has_a_bound():
    rng = np.random.default_rng(1)
    problem = SelectionProblem(coupling=rng.exponential(size=(14, 12)), k=2, m=2)
    cross = sorted({(int(u), int(v)) for u, v in zip(rng.integers(0, 14, 40), rng.integers(0, 12, 40), strict=True)})
    found = place(problem, patch_with(14, 12, cross), time_limit=0.2)
    assert found.mass == pytest.approx(problem.coupling[hardware_mask(found.patch)].sum())
    assert found.bound > found.mass and 0 < found.gap < 1 and not found.proven_optimal


@pytest.mark.parametrize("outliers", [[1e7], [1e12, 1e5], [1e7, 9.9e6]])
def test_an_outlier_does_not_hide_what_the_others_lose(outliers):
    rng = np.random.default_rng(4)
    cross = [(0, 0), (0, 1), (1, 1), (2, 2), (3, 2), (4, 3)]
    for _ in range(4):
        weights = rng.random((5, 4))
        weights.flat[rng.choice(20, len(outliers), replace=False)] = outliers
        found = place(SelectionProblem(coupling=weights, k=1, m=1), patch_with(5, 4, cross), seed=rng)
        best = brute_mass(SelectionProblem(coupling=weights, k=1, m=1), patch_with(*weights.shape, cross))
        assert found.mass == pytest.approx(best, rel=0, abs=1e-6)
        assert found.bound >= best * (1 - 1e-15)


@given(seed=st.integers(0, 1 << 30), scale=st.floats(0, 20))
@settings(max_examples=40)
def test_tamed_weights_rank_placements_as_the_given_ones_do(seed, scale):
    rng = np.random.default_rng(seed)
    weights = np.round(10 ** (scale * rng.random((3, 2))))
    tamed = _compress_outliers(weights, 3)
    cross = [(0, 0), (1, 0), (1, 1)]
    orders = [(s, f) for s in permutations(range(3)) for f in permutations(range(2))]
    exact = [sum(int(weights[s[u], f[v]]) for u, v in cross) for s, f in orders]
    ours = [mass_on_edges(tamed, cross, *order) for order in orders]
    assert exact[int(np.argmax(ours))] == max(exact)
    assert (tamed <= weights).all()


def test_wrong_sizes_are_refused():
    problem = SelectionProblem(coupling=np.ones((3, 2)), k=1, m=1)
    with pytest.raises(InputError, match="holds 2 samples"):
        place(problem, patch_with(2, 2, [(0, 0)]))
    for samples, features in (([0, 1], [2]), ([1, 1], [2, 3]), ([2, 3], [0, 1])):
        with pytest.raises(InputError, match="keep the qubits of both registers"):
            patch_with(2, 2, [(0, 0)]).reordered(samples, features)
