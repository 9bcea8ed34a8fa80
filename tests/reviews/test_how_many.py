"""How many columns: as many as stand out together, and a word where none do."""

from dataclasses import replace

import numpy as np
import pytest

import biselect as bs
from biselect.options import Kinds, RowRules, Search, Weighing
from biselect.reviews import _chance as module
from biselect.reviews._chance import coverage, how_many
from biselect.reviews.kinds import reference_draws
from biselect.weights import Weigher


def compared(planted, asked=None, seed=0, rows=60, reference=300, columns=6, **rules):
    """What is said of four rows that stand out in the first `planted` columns of normal noise."""
    rng = np.random.default_rng(seed)
    before, pool = rng.normal(size=(reference, columns)), rng.normal(size=(rows, columns))
    pool[:4, :planted] += 4
    calibrator = Weigher("ecdf").fit(before)
    problem = calibrator.problem(pool, 4, columns if asked is None else asked, marginals="none")
    problem = replace(problem, **rules)
    return how_many(problem, calibrator, before, columns=asked, seed=seed), problem, calibrator, before


def test_a_block_of_three_columns_gives_three():
    told, *_ = compared(3)
    assert told["m"] == told["knee"] == 3 and told["auto"]
    excess = [one["excess"] for one in told["by_m"]]
    words = (
        f"3 columns: they hold {100 * excess[2] / max(excess):.0f} % of what 6 would add beyond chance; one more adds"
    )
    assert told["words"].startswith(words)


def test_each_number_is_the_best_block_less_the_mean_of_the_draws():
    told, problem, calibrator, before = compared(2, columns=4)
    assert [one["m"] for one in told["by_m"]] == [1, 2, 3, 4]
    draws = list(reference_draws(calibrator, before, problem, draws=5, sided=False, seed=0))
    for one in told["by_m"]:
        best = bs.solve(replace(problem, m=one["m"]), "exact")
        chance = np.mean([bs.solve(replace(draw, m=one["m"]), "exact").score for draw in draws])
        assert one["score"] == pytest.approx(best.score) and one["share"] == pytest.approx(coverage(best)["share"])
        assert one["chance"] == pytest.approx(chance, rel=0.01)  # a climb may miss a little
        assert one["excess"] == pytest.approx(one["score"] - one["chance"])


@pytest.mark.parametrize(("columns", "taken"), [(6, 5), (3, 3)])
def test_noise_gives_five_columns_or_all(columns, taken):
    told, *_ = compared(0, columns=columns)
    assert (told["m"], told["knee"]) == (taken, None)
    assert told["words"].startswith(
        f"{taken} columns: the best block does not score clearly above 19 equally large draws from the reference; "
        "auto then takes 5"
    )


def test_noise_seldom_passes_for_more_even_where_the_pool_is_the_size_of_the_reference():
    assert sum(compared(0, seed=seed, rows=60, reference=60)[0]["knee"] is not None for seed in range(6)) <= 1


def test_a_number_that_was_asked_for_stays_and_is_told_of_the_knee():
    told, *_ = compared(3, asked=1)
    assert (told["m"], told["knee"], told["auto"]) == (1, 3, False)
    assert told["words"].startswith("1 column, as asked: it holds ") and told["words"].endswith("; auto would take 3")
    assert compared(0, asked=2)[0]["words"].startswith("2 columns, as asked: the best block does not score")


def test_a_large_pool_is_compared_only_if_auto_asks(monkeypatch):
    monkeypatch.setattr(module, "CHEAP_CELLS", 100)
    told, *_ = compared(3, asked=2)
    assert told["m"] == 2 and told["by_m"] == [] and "more than 100 cells" in told["words"]
    assert compared(3)[0]["m"] == 3


def test_rules_about_columns_bind_pool_and_draws():
    told, problem, calibrator, before = compared(3, feature_rules={"forced_in": [4, 5]})
    assert [one["m"] for one in told["by_m"]] == [2, 3, 4, 5, 6] and told["m"] == 5  # two that must be, and the block
    draws = reference_draws(calibrator, before, problem, draws=5, sided=False, seed=0)
    forced = [draw.coupling[:, 4:].sum(axis=1) for draw in draws]  # two columns leave the rows alone to choose
    assert told["by_m"][0]["chance"] == pytest.approx(np.mean([np.sort(sums)[-4:].sum() for sums in forced]))


def test_no_more_than_twelve_columns_are_compared():
    told, *_ = compared(3, asked=14, columns=15)
    assert len(told["by_m"]) == 12 and told["words"].startswith("14 columns, as asked; auto would take ")


def test_weights_of_nothing_are_no_excess():
    calibrator = Weigher("ecdf").fit(np.random.default_rng(0).normal(size=(50, 2)))
    problem = bs.SelectionProblem(coupling=np.zeros((5, 2)), k=2, m=1)
    told = how_many(problem, calibrator, np.random.default_rng(0).normal(size=(50, 2)), columns=None, seed=0)
    assert told["knee"] is None and [one["share"] for one in told["by_m"]] == [0.0, 0.0]


def test_a_review_takes_the_knee_and_says_so_everywhere():
    rng = np.random.default_rng(0)
    before, pool = rng.normal(size=(300, 6)), rng.normal(size=(60, 6))
    pool[:4, :3] += 4
    found = bs.review(
        pool,
        before,
        k=4,
        m="auto",
        weighing=Weighing(map="ecdf"),
        kinds=Kinds(kinds=1),
        search=Search(neighbours=(0, 0)),
    )
    assert found.selection.feature_names == ["0", "1", "2"] and found.problem.m == 3
    assert found.summary["how_many"]["words"] in found.report() and "How many columns?" in found.report()
    given = bs.review(
        pool, before, k=4, m=3, weighing=Weighing(map="ecdf"), kinds=Kinds(kinds=1), search=Search(neighbours=(0, 0))
    )
    assert given.selection.score == found.selection.score
    assert given.summary["how_many"]["by_m"] == found.summary["how_many"]["by_m"]
    must = bs.review(
        pool,
        before,
        k=4,
        m="auto",
        weighing=Weighing(map="ecdf"),
        rules=RowRules(must_columns=["5"]),
        kinds=Kinds(kinds=1),
        search=Search(neighbours=(0, 0)),
    )
    assert must.selection.feature_names == ["0", "1", "2", "5"]
    with pytest.raises(bs.errors.InputError, match="m must be a number or 'auto', got 'few'"):
        bs.review(pool, before, k=4, m="few")
