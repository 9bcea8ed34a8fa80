import numpy as np
import pytest

import biselect as bs
from biselect.options import Kinds, Search, Weighing
from biselect.reviews.caveats import budget_caveats, filled_caveats, table_caveats
from biselect.tables._frames import NamedMatrix
from biselect.weights import Weigher

RNG = np.random.default_rng(0)


def found(before, now, **options):
    """What is said of a table of one doubtful column beside two plain ones."""
    plain = RNG.normal(size=(len(before), 2)), RNG.normal(size=(len(now), 2))
    reference, pool = (
        NamedMatrix(values=np.column_stack([side, values]), names=("a", "b", "q"))
        for side, values in zip(plain, (before, now), strict=True)
    )
    weigher = Weigher(**options).fit(reference)
    return list(table_caveats(weigher, weigher.weights(pool), reference, pool))


@pytest.mark.parametrize(
    ("before", "now", "kind"),
    [
        (np.arange(50.0), np.arange(60.0, 80.0), "clock"),
        (np.sort(RNG.random(50)), 5 + np.sort(RNG.random(20)), "clock"),
        (RNG.permutation(50.0 + np.arange(50)), RNG.permutation(np.arange(20.0)), "id"),
        (RNG.normal(size=50), 50 + RNG.normal(size=20), "mostly-beyond"),
    ],
)
def test_columns_beyond_the_reference_are_told_apart(before, now, kind):
    (caveat,) = found(before, now)
    assert (caveat.kind, caveat.columns, caveat.share) == (kind, ("q",), 1.0)
    assert "Column 'q' lies beyond the reference in 100 % of the pool" in caveat.text and not caveat.serious


def test_a_plain_column_is_not_mentioned():
    assert found(RNG.normal(size=50), RNG.normal(size=20)) == []


def test_constants_that_change_are_told():
    assert found(np.ones(50), np.ones(20)) == []
    (changed,) = found(np.ones(50), np.r_[np.ones(18), 2, 2])
    assert (changed.kind, changed.share, changed.serious) == ("changed-constant", 0.1, False)
    assert "constant (1) in the reference, differs in 2 pool rows; what was never seen" in changed.text


def test_columns_that_are_mostly_new_or_mostly_missing_are_told():
    assert [caveat.kind for caveat in found(np.ones(50), np.full(20, 2.0))] == ["mostly-new", "changed-constant"]
    (caveat,) = found(RNG.normal(size=50), np.full(20, np.nan))
    assert caveat.kind == "mostly-missing" and "Column 'q' is missing in 100 % of the pool" in caveat.text


@pytest.mark.parametrize(
    ("k", "m", "kinds"), [(20, 3, ["all-rows", "all-columns"]), (19, 3, ["all-columns"]), (1, 2, [])]
)
def test_whole_budgets_are_told(k, m, kinds):
    """Of columns, not of their directions."""
    problem = Weigher().fit(RNG.normal(size=(50, 3))).problem(RNG.normal(size=(20, 3)), k, m)
    assert problem.n_features == 9
    assert [caveat.kind for caveat in budget_caveats(problem, 20)] == kinds


def test_filled_cells_of_the_chosen_block_are_counted():
    reference, pool = RNG.normal(size=(60, 3)), RNG.normal(size=(20, 3))
    pool[4, :2], pool[9, :2], pool[11, 2] = 9.0, [9.0, np.nan], np.nan
    weighing = Weighing(missing="median")
    quick = {"kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0)), "progress": False}
    review = bs.review(pool, reference, k=2, m=2, weighing=weighing, **quick)
    assert review.selection.samples.tolist() == [4, 9] and {*review.selection.feature_names} >= {"0"}
    absent = np.isnan(pool[[4, 9]][:, [int(name) for name in review.selection.feature_names]]).sum()
    told = [caveat for caveat in review.warnings if caveat.kind == "filled"]
    assert len(told) == (absent > 0)
    matrix = NamedMatrix(values=pool, names=("0", "1", "2"))
    for caveat in filled_caveats(matrix, review.selection):
        assert (caveat.share, caveat.serious) == (absent / 4, True)
        assert f"{absent} of the 4 chosen cells is missing" in caveat.text
    whole = NamedMatrix(values=np.nan_to_num(pool), names=("0", "1", "2"))
    assert list(filled_caveats(whole, review.selection)) == []


def test_directions_are_no_columns_of_their_own():
    """A chosen direction belongs to its column: gaps are counted there."""
    problem = bs.SelectionProblem(
        coupling=np.array([[0.0, 1, 0, 0, 2, 0], [0, 1, 0, 0, 1, 0]]),
        k=2,
        m=2,
        feature_names=["a"] * 3 + ["b"] * 3,
        directions=["low", "high", "either"] * 2,
    )
    pool = NamedMatrix(values=np.array([[1.0, np.nan], [1.0, 2.0]]), names=("a", "b"))
    (caveat,) = filled_caveats(pool, bs.solve(problem))
    assert caveat.share == 0.25
