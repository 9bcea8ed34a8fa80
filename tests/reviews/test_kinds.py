"""Kinds of unusual: exact blocks that share nothing, named by their columns and directions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect import Rules, SelectionProblem
from biselect.errors import InputError
from biselect.reviews.kinds import SIDES, by_side, find_kinds, null_scores
from biselect.tables._frames import NamedMatrix
from biselect.weights import Weigher


def planted(seed=0):
    """Twelve rows low in columns 0 to 2, ten others high in 4 to 6."""
    rng = np.random.default_rng(seed)
    reference, pool = rng.normal(size=(800, 9)), rng.normal(size=(300, 9))
    pool[:12, 0:3] -= 4
    pool[20:30, 4:7] += 3.5
    calibrator = Weigher().fit(reference)
    return calibrator, reference, pool, calibrator.problem(pool, k=10, m=3, marginals="none")


def sides(low):
    return np.where(low, SIDES.index("low"), SIDES.index("high"))


def low_cells(reference, pool):
    return sides(pool < np.median(reference, axis=0))


def test_two_planted_kinds_are_found_and_named_by_direction():
    _, reference, pool, problem = planted()
    kinds = find_kinds(problem, low_cells(reference, pool), kinds=2)
    assert [set(kind.columns) for kind in kinds] == [{0, 1, 2}, {4, 5, 6}]
    assert set(kinds[0].sides) == {"low"} and set(kinds[1].sides) == {"high"}
    assert kinds[0].name.startswith("low ") and kinds[0].name.endswith(" together")
    assert set(kinds[0].selection.samples) < set(range(12))
    assert all(kind.selection.proven_optimal for kind in kinds)


def test_a_name_lists_each_direction_once():
    coupling = np.array([[5.0, 4.0, 0.0], [5.0, 4.0, 0.0]])
    problem = SelectionProblem(coupling=coupling, k=2, m=2, feature_names=["a", "b", "c"])
    kind = find_kinds(problem, sides([[True, False, False]] * 2), kinds=1)[0]
    assert kind.name == "low a and high b together"
    assert find_kinds(problem, kinds=1)[0].name == "a, b together"


def best_by_hand(W, low, k, m, banned):
    """Every set of columns, every choice of sides, the k best rows."""
    best = -np.inf
    for columns in combinations([j for j in range(W.shape[1]) if j not in banned], m):
        for sides in np.ndindex(*(2,) * m):
            cells = [np.where(low[:, j] == (side == 0), W[:, j], 0) for j, side in zip(columns, sides, strict=True)]
            best = max(best, np.sort(np.sum(cells, axis=0))[::-1][:k].sum())
    return best


@given(seed=st.integers(0, 10_000), k=st.integers(1, 3), m=st.integers(1, 2))
def test_each_kind_is_the_best_that_shares_no_column_with_those_before(seed, k, m):
    rng = np.random.default_rng(seed)
    W, low = rng.exponential(size=(6, 5)), rng.random((6, 5)) < 0.5
    kinds = find_kinds(SelectionProblem(coupling=W, k=k, m=m), sides(low), kinds=2)
    banned = set()
    for kind in kinds:
        assert len(set(kind.columns)) == m and not banned & set(kind.columns)
        assert kind.selection.samples.size == k
        assert kind.selection.score == pytest.approx(best_by_hand(W, low, k, m, banned))
        banned |= set(kind.columns)


def test_kinds_share_no_column():
    rng = np.random.default_rng(3)
    W = rng.exponential(size=(40, 9))
    W[0] += 5
    kinds = find_kinds(SelectionProblem(coupling=W, k=4, m=2), kinds=3)
    assert len(kinds) == 3 and not kinds.shared_columns[~np.eye(3, dtype=bool)].any()
    assert (np.diag(kinds.shared_rows) == 4).all() and (np.diag(kinds.shared_columns) == 2).all()


def test_kinds_end_where_the_table_is_used_up_and_say_so():
    problem = SelectionProblem(coupling=np.ones((4, 5)), k=2, m=2)
    kinds = find_kinds(problem, kinds=5)
    assert len(kinds) == 2 and "use up the table" in kinds.stopped


def test_close_kinds_are_said_to_be_close():
    coupling = np.zeros((6, 3))
    coupling[:2, 0], coupling[2:4, 1], coupling[4:, 2] = 10, 9.8, 5
    kinds = find_kinds(SelectionProblem(coupling=coupling, k=2, m=1), kinds=3)
    assert kinds.close == 2 and "first 2 kinds" in kinds.words
    assert kinds.nearness == pytest.approx([1, 0.98, 0.5])
    alone = find_kinds(SelectionProblem(coupling=coupling[:, [0, 2]], k=2, m=1), kinds=2)
    assert alone.close == 1 and "stands clear" in alone.words


def test_rules_on_rows_hold_in_every_kind():
    _, _, _, problem = planted()
    from dataclasses import replace

    ruled = replace(problem, sample_rules=Rules(forced_in=[100], forced_out=[0, 1]))
    for kind in find_kinds(ruled, kinds=2):
        chosen = set(kind.selection.samples.tolist())
        assert 100 in chosen and not chosen & {0, 1}


def test_a_planted_kind_stands_above_draws_from_the_reference_and_noise_does_not():
    _, reference, pool, problem = planted()
    table = NamedMatrix(values=reference, names=tuple(map(str, range(9))))
    named = Weigher().fit(table)
    null = null_scores(named, table, problem, draws=19, seed=0)
    assert null.shape == (19,)
    assert (null == null_scores(named, table, problem, draws=19, seed=0)).all()
    kinds = find_kinds(problem, low_cells(reference, pool), kinds=3, null_scores=null)
    assert kinds[0].chance == pytest.approx(0.05)
    assert kinds[2].chance > 0.05
    assert find_kinds(problem, kinds=1)[0].chance is None


def test_by_side_refuses_columns_that_must_be_chosen():
    problem = SelectionProblem(coupling=np.ones((3, 3)), k=1, m=1, feature_rules=Rules(forced_in=[1]))
    with pytest.raises(InputError, match="must be chosen"):
        by_side(problem, sides(np.ones((3, 3))))


def test_what_cannot_be_is_refused():
    problem = SelectionProblem(coupling=np.ones((3, 3)), k=1, m=2)
    with pytest.raises(InputError, match="1 or more"):
        find_kinds(problem, kinds=0)


def test_rare_categories_and_gaps_are_sides_of_their_own():
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=(400, 2)), rng.integers(0, 2, size=400)])
    reference = NamedMatrix(values=values, names=("a", "b", "colour"), labels={2: ("red", "blue", "green")})
    pool = values[:40].copy()
    pool[:4, 0], pool[:4, 2] = np.nan, 2
    pool[4:8, 1] = 9
    table = NamedMatrix(values=pool, names=reference.names, labels=reference.labels)
    calibrator = Weigher().fit(reference)
    found = calibrator.directions(table)
    assert set(found[:, 2]) == {SIDES.index("rare")} and (found[:4, 0] == SIDES.index("missing")).all()
    problem = calibrator.problem(table, k=4, m=2, marginals="none")
    told = by_side(problem, found)
    assert told.feature_names == ("low a", "low b", "high a", "high b", "rare colour", "missing a")
    assert told.coupling.sum() == pytest.approx(problem.coupling.sum()), "every cell stands on one side"
    first = find_kinds(problem, found, kinds=2)[0]
    assert first.name in ("missing a and rare colour together", "rare colour and missing a together")
    assert null_scores(calibrator, reference, problem, draws=3, seed=0).shape == (3,)
