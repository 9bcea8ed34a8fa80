"""Kinds of unusual: the same question again without a row of an earlier kind and with other directed columns."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import escape

import biselect as bs
from biselect import Rules, SelectionProblem, solve
from biselect.core import Group
from biselect.core.untrusted import read_arrays
from biselect.errors import InfeasibleError, InputError
from biselect.options import Kinds, Search
from biselect.pages.words import words_of
from biselect.reviews._null import DEEPER, LEVEL, Null, scan
from biselect.reviews.kinds import (
    FORMAT,
    Kind,
    find_kinds,
    following_question,
    kind_seconds,
    kinds_bytes,
    only,
    refuse_kinds,
)
from biselect.testing import brute_force
from biselect.testing.strategies import ruled_problems
from biselect.weights import Weigher
from biselect.weights.scoring import Scoring

NOTHING = np.array([], dtype=int)


def planted(seed=0):
    """Twelve rows low in columns 0 to 2, ten others high in 4 to 6."""
    rng = np.random.default_rng(seed)
    reference, pool = rng.normal(size=(800, 9)), rng.normal(size=(300, 9))
    pool[:12, 0:3] -= 6
    pool[20:30, 4:7] += 4.5
    weigher = Weigher().fit(reference)
    return Scoring.of(weigher, weigher.cells(pool), 10, 3)


def directed(seed, n=7, columns=4, k=2, m=2, **options):
    """A small problem of three directions a column."""
    rng = np.random.default_rng(seed)
    return SelectionProblem(
        coupling=rng.exponential(size=(n, 3 * columns)).round(2),
        sample_scores=rng.exponential(size=n).round(2),
        k=k,
        m=m,
        feature_names=np.repeat([*"abcdefgh"][:columns], 3).tolist(),
        directions=["low", "high", "either"] * columns,
        feature_rules=Rules(groups=[Group(members=(3 * j, 3 * j + 1, 3 * j + 2)) for j in range(columns)]),
        **options,
    )


def pairs_of(kind):
    return {*zip(kind.column_names, kind.directions, strict=True)}


def best_by_hand(problem, earlier):
    """Every block that shares no row with those before it, and at most half of each one's directed columns."""
    used = {int(i) for one in earlier for i in one.samples}
    rows = [i for i in range(problem.n_samples) if i not in used]
    best = -np.inf
    for features in combinations(range(problem.n_features), problem.m):
        if len({*problem.column_of[list(features)]}) < problem.m:
            continue
        if any(len({*features} & {*one.features.tolist()}) > problem.m // 2 for one in earlier):
            continue
        for samples in combinations(rows, problem.k):
            best = max(best, problem.score(samples, features))
    return best


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 2), m=st.integers(1, 3))
def test_each_kind_is_the_best_of_its_question(seed, k, m):
    problem = directed(seed, k=k, m=m, n=6, columns=3)
    answer = solve(problem, "exact")
    kinds = find_kinds(answer, kinds=3)
    assert kinds[0].selection is answer
    earlier = []
    for kind in kinds:
        assert kind.selection.score == pytest.approx(best_by_hand(problem, earlier))
        assert kind.selection.proven_optimal and kind.selection.samples.size == k
        earlier.append(kind.selection)
    assert len(kinds) == 3 or kinds.stopped


@settings(max_examples=60)
@given(ruled_problems(), st.integers(1, 4))
def test_kinds_keep_every_rule_and_share_no_row(problem, number):
    """Rules of rows and columns hold in every kind; what must be comes again, so it limits nothing."""
    answer = solve(problem, "exact")
    kinds = find_kinds(answer, kinds=number)
    assert kinds[0].selection is answer and 1 <= len(kinds) <= number
    assert (len(kinds) < number) == bool(kinds.stopped)
    forced = {*problem.feature_rules.forced_in}
    for at, kind in enumerate(kinds):
        samples, features = ({*items.tolist()} for items in (kind.selection.samples, kind.selection.features))
        assert problem.obeys(sorted(samples), sorted(features)) or at
        assert problem.feature_rules.allow(sorted(features)) and len(samples) == problem.k
        assert not samples & {*problem.sample_rules.forced_out}
        for earlier in kinds[:at]:
            assert not samples & {*earlier.selection.samples.tolist()}
            assert len((features & {*earlier.selection.features.tolist()}) - forced) <= problem.m // 2
        if at and kind.selection.proven_optimal:
            question = following_question(problem, [one.selection for one in kinds[:at]])
            assert kind.selection.energy == pytest.approx(brute_force(question))


def test_a_row_that_must_be_chosen_is_in_the_answer_alone():
    problem = replace(directed(1), sample_rules=Rules(forced_in=[3], forced_out=[0]))
    kinds = find_kinds(solve(problem), kinds=3)
    assert 3 in kinds[0].selection.samples
    assert all(not {0, 3} & {*kind.selection.samples.tolist()} for kind in kinds[1:])


def test_columns_that_must_be_chosen_are_in_every_kind():
    problem = directed(2)
    problem = replace(problem, feature_rules=replace(problem.feature_rules, forced_in=(5,)))
    kinds = find_kinds(solve(problem), kinds=3)
    assert len(kinds) == 3 and all(5 in kind.selection.features for kind in kinds)
    assert all(len(pairs_of(kind) & pairs_of(kinds[0])) <= 2 for kind in kinds[1:])


def test_planted_kinds_are_found_and_named_by_direction():
    kinds = find_kinds(solve(planted().problem()), kinds=2)
    low, high = sorted(kinds, key=lambda kind: sorted(kind.column_names))
    assert {*low.column_names} == {"0", "1", "2"} and {*high.column_names} == {"4", "5", "6"}
    assert {*low.directions} == {"low"} and {*high.directions} == {"high"}
    assert low.name.startswith("low ") and low.name.endswith(" together")
    assert {*low.selection.samples} < {*range(12)} and {*high.selection.samples} == {*range(20, 30)}
    assert all(kind.selection.proven_optimal for kind in kinds)
    assert kinds[0].selection.score >= kinds[1].selection.score


def test_a_name_lists_each_direction_once_strongest_column_first():
    problem = SelectionProblem(
        coupling=np.array([[5.0, 4.0, 0.0, 6.0], [5.0, 4.0, 0.0, 6.0]]),
        k=2,
        m=3,
        feature_names=["a", "b", "c", "d"],
        directions=["low", "high", "either", "low"],
    )
    kind = only(solve(problem))[0]
    assert kind.column_names == ("d", "a", "b") and kind.directions == ("low", "low", "high")
    assert kind.name == "low d, a and high b together"
    assert kind.features.tolist() == [3, 0, 1]
    assert only(solve(replace(problem, directions=None)))[0].name == "d, a, b together"


def test_rows_have_the_score_of_the_block():
    problem = directed(3, coupling_weight=0.5)
    kind = only(solve(problem))[0]
    expected = [problem.score([i], kind.selection.features) for i in range(problem.n_samples)]
    np.testing.assert_allclose(kind.row_scores, expected)
    assert kind.row_scores[kind.selection.samples].sum() == pytest.approx(kind.selection.score)


def test_kinds_end_where_the_table_is_used_up_and_say_so():
    kinds = find_kinds(solve(directed(4, n=5, k=2)), kinds=5)
    assert len(kinds) == 2 and kinds.stopped == "no further kind fits into the table"
    with pytest.raises(InfeasibleError, match="1 rows are left for a further kind of 2"):
        following_question(kinds[0].selection.problem, [kind.selection for kind in kinds])
    single = find_kinds(solve(directed(4, columns=1, m=1)), kinds=5)
    assert len(single) == 3, "each direction of the only column"
    weightless = SelectionProblem(coupling=np.diag([3.0, 0.0, 0.0]), k=1, m=1)
    found = find_kinds(solve(weightless), kinds=3)
    assert len(found) == 1 and found.stopped


def test_close_kinds_are_said_to_be_close():
    coupling = np.zeros((6, 3))
    coupling[:2, 0], coupling[2:4, 1], coupling[4:, 2] = 10, 9.8, 5
    kinds = find_kinds(solve(SelectionProblem(coupling=coupling, k=2, m=1)), kinds=3)
    assert kinds.close == 2 and "first 2 kinds" in kinds.words
    assert kinds.nearness == pytest.approx([1, 0.98, 0.5])
    alone = find_kinds(solve(SelectionProblem(coupling=coupling[:, [0, 2]], k=2, m=1)), kinds=2)
    assert alone.close == 1 and "stands clear" in alone.words
    one = only(solve(SelectionProblem(coupling=coupling, k=2, m=1)))
    assert len(one) == 1 and one.close == 1 and one.words and [*one] == [one[0]]


def test_a_solver_that_cannot_keep_limits_answers_only_where_there_are_none():
    plain = SelectionProblem(coupling=np.random.default_rng(0).random((12, 6)), k=2, m=2)
    kinds = find_kinds(solve(plain, "greedy"), kinds=3, solver="greedy")
    assert len(kinds) == 3 and kinds[0].selection.solver == "greedy"
    assert all(kind.selection.solver == "auto" and kind.selection.proven_optimal for kind in kinds[1:])


def with_p(scoring, number=4, seed=0):
    null = Null.of(scoring, NOTHING, seed=seed)
    return find_kinds(solve(scoring.problem()), kinds=number).tested(scoring, null), null


def test_a_kind_is_tested_without_the_rows_of_those_before_it():
    """The slow twin: masks instead of what is left, and no p after the first kind that may be chance."""
    scoring = planted()
    kinds, null = with_p(scoring)
    pool, reference = np.ones(300, dtype=bool), np.ones(800, dtype=bool)
    for at, kind in enumerate(kinds):
        if kind.p is None:
            assert kinds[at - 1].p is None or kinds[at - 1].p > LEVEL
            continue
        scores, others = (own(kind.selection.features) for own in (scoring.pool_scores, scoring.reference_scores))
        z = scan(scores[pool], others[reference], DEEPER * 10, int(pool.sum())).z
        assert kind.p == null.p(z)
        pool[kind.selection.samples] = False
        reference &= others < scores[kind.selection.samples].min()
    assert kinds[0].p <= LEVEL and kinds[1].p <= LEVEL and kinds[2].p > LEVEL and kinds[3].p is None


@pytest.mark.parametrize("seed", range(4))
def test_noise_has_no_second_p(seed):
    rng = np.random.default_rng(seed)
    weigher = Weigher().fit(rng.normal(size=(300, 5)))
    scoring = Scoring.of(weigher, weigher.cells(rng.normal(size=(100, 5))), 5, 2)
    kinds, _ = with_p(scoring)
    assert kinds[0].p is not None and kinds[0].p > LEVEL and all(kind.p is None for kind in kinds[1:])


def test_a_reference_that_is_used_up_ends_the_tests():
    """All of the reference scores as high as the rows of the first kind: nothing is left to compare with."""
    rng = np.random.default_rng(0)
    weigher = Weigher().fit(rng.integers(0, 2, size=(12, 3)).astype(float))
    scoring = Scoring.of(weigher, weigher.cells(np.full((4, 3), 0.5)), 1, 1)
    kinds, _ = with_p(scoring)
    assert all(kind.p is None or 0 < kind.p <= 1 for kind in kinds)


def test_the_review_and_its_summary_hold_the_same_kinds():
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(120, 8))
    pool[:6, :3] -= 5
    pool[10:16, 4:7] += 5
    quick = {"search": Search(neighbours=(0, 0)), "progress": False}
    review = bs.review(pool, rng.normal(size=(400, 8)), k=5, m=3, kinds=Kinds(kinds=3), **quick)
    told = review.summary["kinds"]
    assert told["words"] == review.kinds.words and told["stopped"] == review.kinds.stopped
    assert review.kinds[0].selection.samples.tolist() == review.selection.samples.tolist()
    for number, (kind, data) in enumerate(zip(review.kinds, told["list"], strict=True), 1):
        assert (data["number"], data["name"], data["p"]) == (number, kind.name, kind.p)
        assert {row["index"] for row in data["rows"]} == {*kind.selection.samples.tolist()}
        assert [*zip(data["columns"], data["directions"], strict=True)] == [
            *zip(kind.column_names, kind.directions, strict=True)
        ]
        assert data["selection"] == kind.selection.to_dict()
        for row in data["rows"]:
            chosen = {part["column"]: part["direction"] for part in row["parts"] if part["direction"]}
            assert chosen == dict(zip(kind.column_names, kind.directions, strict=True))
    page = review.report()
    words = words_of()
    for data in told["list"][1:]:
        assert str(escape(words.kind_headline(data, review.summary["noun"]))) in page
    assert review.kinds[0].p == review.kinds[1].p == 0.01


def test_proofs_of_further_kinds_are_stored(tmp_path):
    kinds = find_kinds(solve(directed(5)), kinds=3)
    (tmp_path / "kinds.npz").write_bytes(kinds_bytes(kinds))
    header, _ = read_arrays(tmp_path / "kinds.npz", "proofs")
    assert header["format"] == FORMAT and len(header["proofs"]) == len(header["others"]) == 2
    for kind, proof in zip(kinds[1:], header["proofs"], strict=True):
        assert proof["samples"] == kind.selection.samples.tolist()


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="kinds must be 1 or more, got 0"):
        refuse_kinds(0)
    with pytest.raises(InputError, match="1 or more"):
        find_kinds(solve(directed(0)), kinds=0)
    assert (kind_seconds(Search()), kind_seconds(Search(time_limit=2)), kind_seconds(Search(time_limit=900))) == (
        60,
        2,
        60,
    )
    assert Kind(selection=solve(directed(0)), solved=solve(directed(0))).p is None
