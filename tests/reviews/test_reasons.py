"""Reasons are true of the values that they show, to the digit; parts are told for every column and add up."""

import re
from math import fsum

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reviews.own_tables import review_alone
from tests.weights.drawn_tables import pairs

import biselect as bs
from biselect.options import Kinds, RowRules, Search, Weighing
from biselect.pages.words import words_of
from biselect.reviews.reasons import (
    LEAST_SHARE,
    MOST_REASONS,
    RARE,
    Reasons,
    Usual,
    decimals_of,
    reasons_of,
    shown_value,
    values_of,
)
from biselect.weights import Weigher
from biselect.weights.scoring import Scoring

QUICK = {"kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0)), "progress": False}
NUMBER = r"-?[\d,]+(?:\.\d+)?(?:e[+-]\d+)?"
RANGE = re.compile(f"^({NUMBER})(?:–| to )({NUMBER})")
VALUES = st.lists(
    st.one_of(st.none(), st.integers(-3, 3).map(float), st.floats(-1e6, 1e6), st.sampled_from("abc")), max_size=30
)


def plain(values):
    """The values of a column as a person reads them: flags in words, and None for a gap."""
    if values.dtype == bool:
        return ["true" if value else "false" for value in values]
    return [None if pd.isna(value) else value if isinstance(value, str) else float(value) for value in values]


def is_few(value, others, few):
    """Whether at most so many of some others have this value, or lie as far out as it does."""
    if value is None or isinstance(value, str):
        return sum(other == value for other in others) <= few
    numbers = [other for other in others if isinstance(other, float)]
    return min(sum(other >= value for other in numbers), sum(other <= value for other in numbers)) <= few


def number(text):
    return float(text.replace(",", ""))


@settings(max_examples=40)
@given(pairs())
def test_every_reason_is_true_of_the_value_that_it_shows(pair):
    if pair.reference is None:
        review = review_alone(pair.pool, pair.k, pair.m)
    else:
        review = bs.review(pair.pool, pair.reference, k=pair.k, m=pair.m, **QUICK)
    scoring, answer = review.tables.scoring, review.selection
    moved = {review.tables.raw.names[one.position] for one in review.tables.moved}
    rows = review.summary["kinds"]["list"][0]["rows"]
    similar = scoring.similar(np.array([row["index"] for row in rows]), answer.features)
    sample = scoring.weigher.sample.rows
    for row, near in zip(rows, similar, strict=True):
        assert [part["column"] for part in row["parts"]] == list(scoring.features.names)
        for j, part in enumerate(row["parts"]):
            own = plain(pair.pool[part["column"]])[row["index"]]
            told = part["value"] if part["moved_from"] is None else part["moved_from"]
            assert told == own and (part["moved_from"] is None or part["column"] in moved)
            if not part["is_reason"]:
                continue
            assert part["part"] >= LEAST_SHARE * row["score"] > 0 or row["score"] == 0
            reference = plain(pair.normal[part["column"]])
            neighbours = values_of(sample, j, near)
            if part["like"]:
                assert is_few(part["value"], neighbours, len(neighbours) * RARE)
            elif isinstance(part["value"], float):
                numbers = [value for value in reference if value is not None]
                assert is_few(part["value"], numbers, len(numbers) * RARE) or len({*numbers}) == 1
            else:
                assert is_few(part["value"], reference, len(reference) * RARE)
            assert part["text"].startswith(f"{part['column']} ") and part["usual"] in part["text"]
            shown = part["text"].removeprefix(f"{part['column']} ").split(" ")[0].rstrip(",")
            if isinstance(part["value"], float) and (ends := RANGE.match(part["usual"])):
                low, high = map(number, ends.groups())
                assert not low <= number(shown) <= high, part["text"]
                assert number(shown) == pytest.approx(part["value"], rel=0.01, abs=0.01 * (high - low) + 1e-300)
            elif part["value"] is None:
                assert shown == "missing" and "missing" not in re.split(", | or ", part["usual"])


@settings(max_examples=60)
@given(pairs(alone=False))
def test_what_is_said_to_be_normal_is_what_nine_tenths_have(pair):
    weigher = Weigher().fit(pair.reference)
    reasons = Reasons(scoring=Scoring.of(weigher, weigher.cells(pair.pool), 1, 1))
    for j, (name, column) in enumerate(zip(weigher.feature_names, weigher.columns, strict=True)):
        values, usual = plain(pair.reference[name]), reasons.usual(j)
        for value in {*values}:
            numbers = [one for one in values if one is not None]
            among = numbers if isinstance(value, float) and column.type.is_ranked else values
            assert usual.holds(value) != is_few(value, among, len(among) * RARE) or not column.type.is_ranked
            if not column.type.is_ranked:
                assert usual.holds(value) == (values.count(value) > len(values) * RARE)
        if column.type.is_ranked:
            inside = [value for value in values if isinstance(value, float) and usual.holds(value)]
            assert len(inside) >= (1 - 2 * RARE) * len(numbers)


@given(VALUES)
def test_a_few_rows_tell_what_is_usual_among_them(values):
    usual, few = Usual.of(values), int(len(values) * RARE)
    for value in {*values, 0.5, None, "z"}:
        numbers = [one for one in values if isinstance(one, float)]
        if isinstance(value, float):
            assert usual.holds(value) == (len(numbers) > 2 * few and not is_few(value, numbers, few))
        else:
            assert usual.holds(value) == (values.count(value) > few)
    assert isinstance(usual.text(2), str) and (usual.text(2) != "") == (usual.ends is not None or usual.common != ())


def test_statements_in_words():
    assert Usual.of([float(i) for i in range(20)]).text(0) == "1–18"
    assert Usual.of([None] * 10 + [1.0, 2.0, 3.0] * 3).text(0) == "1–3 or missing"
    assert Usual.of([None] * 19 + [5.0]).text(0) == "missing"
    assert Usual.of(["a"] * 17 + ["b", "c", "d"]).text(0) == "a", "what one of twenty has is not usual"
    assert Usual.of(["a"] * 8 + ["b"] * 5 + ["c"] * 4 + ["d"] * 3).text(0) == "a, b or c"
    assert Usual.of([7.0] * 20).text(0) == "7" and Usual.of([]).text(0) == ""
    assert Usual.of(["missing"] * 10 + [None] * 10).text(0) in ("'missing' or missing", "missing or 'missing'")


def test_a_number_is_printed_so_that_it_differs_from_what_is_normal():
    usual = Usual(ends=(-1.62, 0.9031), common=())
    assert usual.decimals(0.9049, 2) == 3 and usual.decimals(2.0, 2) == 2 and usual.decimals(None, 2) == 2
    tiny = Usual(ends=(-1e-101, 2.0011e-101), common=())
    digits = tiny.decimals(2.0012e-101, 0)
    assert shown_value(2.0012e-101, digits) != shown_value(2.0011e-101, digits)


@given(st.floats(-1e300, 1e300), st.integers(0, 12))
def test_a_shown_number_is_the_number_as_far_as_it_is_shown(value, decimals):
    text = shown_value(value, decimals)
    assert number(text) == pytest.approx(value, rel=0.005, abs=0.5 * 10.0**-decimals)
    assert (number(text) == 0) == (value == 0) and text != "-0" and len(text) < 40


@pytest.mark.parametrize(
    ("values", "decimals", "shown"),
    [
        ([1.0, 2.0, 3.0], 0, "2"),
        ([0.25, 0.5], 2, "0.5"),
        ([12.5, 1234.25], 2, "1,234.25"),
        (np.linspace(0, 1, 101) / 7, 4, "0.0714"),
        (np.linspace(0, 1e6, 101) / 7, 0, "71,429"),
        (np.array([1.0, 2.0, 3.0]) * 1e-100, 0, "2e-100"),
        (np.array([1.0, 2.0, 3.0]) * 1e100, 0, "2e+100"),
        ([np.nan], 0, None),
        ([np.nan, 0.1 + 0.2], 1, "0.3"),
        ([1e-5, 2e-5, 4e-5], 5, "0.00002"),
    ],
)
def test_numbers_are_shown_as_a_person_needs_them(values, decimals, shown):
    values = np.asarray(values, dtype=float)
    assert decimals_of(values) == decimals
    if shown is not None:
        assert shown_value(float(values[len(values) // 2]), decimals) == shown


def test_reasons_are_the_largest_parts_that_are_unusual():
    rng = np.random.default_rng(0)
    pool, reference = rng.normal(size=(60, 8)), rng.normal(size=(300, 8))
    pool[:3] += 6
    weigher = Weigher().fit(reference)
    scoring = Scoring.of(weigher, weigher.cells(pool), 3, 2)
    features = bs.solve(scoring.problem()).features
    parts = Reasons(scoring=scoring).parts(np.arange(60), features)
    for own, score in zip(parts, scoring.pool_scores(features), strict=True):
        reasons = reasons_of(own)
        assert fsum(part.part for part in own) == pytest.approx(score)
        assert len(reasons) <= MOST_REASONS and all(part.is_reason for part in reasons)
        assert [part.part for part in reasons] == sorted((part.part for part in reasons), reverse=True)
        left_out = [part.part for part in own if part.is_reason and part not in reasons]
        assert not left_out or max(left_out) <= min(part.part for part in reasons)
    assert all(len(reasons_of(own)) == MOST_REASONS for own in parts[:3])
    chosen = {(scoring.features.names[scoring.features.columns[f]], scoring.features.directions[f]) for f in features}
    assert {(part.column, part.direction) for part in parts[0] if part.direction} == chosen


def test_values_that_were_moved_back_are_shown_as_weighed_and_say_where_they_stood():
    rng = np.random.default_rng(1)
    names = [*"abcd"]
    reference = pd.DataFrame(rng.normal(size=(500, 4)), columns=names)
    pool = pd.DataFrame(rng.normal(size=(200, 4)), columns=names)
    pool["b"] = 2 * pool["b"] + 2
    pool.loc[7, ["a", "b"]] = [7.0, 20.0]
    rules = RowRules(must=["7"], must_columns=["b"])
    review = bs.review(pool, reference, k=1, m=2, rules=rules, **QUICK)
    (row,) = review.summary["kinds"]["list"][0]["rows"]
    part = row["parts"][1]
    assert row["index"] == 7 and part["moved_from"] == 20.0 and part["is_reason"]
    weighed = review.tables.weighed.values[7, 1]
    assert part["value"] == weighed and weighed == pytest.approx(9, abs=1)
    assert part["text"].startswith(f"b {shown_value(weighed, 2)} (moved from 20; normal -1.")
    assert row["parts"][0]["moved_from"] is None
    kept = bs.review(pool, reference, k=1, m=2, rules=rules, weighing=Weighing(drift="keep"), **QUICK)
    (row,) = kept.summary["kinds"]["list"][0]["rows"]
    assert row["parts"][1]["value"] == 20.0 and row["parts"][1]["moved_from"] is None


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        (np.repeat(np.arange(10.0), 30), 25.0, "x 25 (normal 0–9)"),
        (np.round(np.linspace(0, 20, 300), 1), 74.0, "x 74 (normal 1–19)"),
        (np.where(np.arange(300) < 6, np.nan, np.arange(300) % 7), np.nan, "x missing (normal 0–6)"),
        (np.full(300, 7.0), 8.0, "x 8 (normal 7)"),
        (["card"] * 200 + ["cash"] * 94 + ["cheque"] * 6, "cheque", "x cheque (normal card or cash)"),
        (["card"] * 299 + [""], "", "x missing (normal card)"),
        (["card"] * 298 + [None] * 2, None, "x missing (normal card)"),
        ([True] + [False] * 299, True, "x true (normal false)"),
    ],
)
def test_a_reason_in_words(column, value, text):
    reference = pd.DataFrame({"x": column, "y": np.arange(300.0) % 11})
    rows = pd.DataFrame({"x": [*column[150:170], value], "y": 5.0})
    review = bs.review(rows, reference, k=1, m=1, weighing=Weighing(drift="keep"), **QUICK)
    (row,) = review.summary["kinds"]["list"][0]["rows"]
    assert row["index"] == 20
    assert row["parts"][row["reasons"][0]]["text"] == text
    assert review.to_frame()["reason"][0] == text


def test_what_is_unlike_its_neighbours_alone_is_said_so():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    reference = np.column_stack([x, x + 0.05 * rng.normal(size=500), rng.normal(size=(500, 2))])
    pool = reference[:50].copy()
    pool = np.clip(pool, -1.5, 1.5)
    pool[0, :2] = [1.2, -1.2]
    review = bs.review(pool, reference[50:], k=1, m=1, **QUICK)
    (row,) = review.summary["kinds"]["list"][0]["rows"]
    reasons = [row["parts"][at] for at in row["reasons"]]
    like = next(part for part in reasons if part["like"])
    assert row["index"] == 0 and like["column"] in "01"
    assert re.fullmatch(
        rf"{like['column']} {NUMBER}, where the rows most like it have {NUMBER}(–| to ){NUMBER}", like["text"]
    )


def test_a_row_without_a_reason_says_so():
    reference = np.random.default_rng(0).normal(size=(60, 2))
    review = bs.review(np.full((12, 2), 0.1), reference, k=1, m=1, **QUICK)
    (row,) = review.summary["kinds"]["list"][0]["rows"]
    assert row["reasons"] == [] and review.to_frame()["reason"][0] == words_of().phrase("reason.none")


def test_traits_cover_the_values_of_the_rows_that_count():
    rng = np.random.default_rng(0)
    reference = pd.DataFrame({"x": rng.normal(size=300), "y": rng.normal(size=300), "z": ["a"] * 290 + ["b"] * 10})
    pool = pd.DataFrame({"x": [5.0, 5.5, 6.0, 0.0], "y": [-9.0, -3.0, 7.0, 0.0], "z": ["b", "b", "b", "a"]})
    pool.loc[3, "y"] = np.nan
    weigher = Weigher().fit(reference)
    scoring = Scoring.of(weigher, weigher.cells(pool), 3, 2)
    place = {
        (scoring.features.names[j], direction): f
        for f, (j, direction) in enumerate(zip(scoring.features.columns, scoring.features.directions, strict=True))
    }
    told = {
        pair: Reasons(scoring=scoring).trait(np.arange(4), feature)
        for pair, feature in place.items()
        if pair != ("x", "low")
    }
    assert told["x", "high"] == {"column": "x", "direction": "high", "text": "x 5–6", "rows": 3}
    assert told["z", "b"]["text"] == "z = b" and told["y", "missing"]["text"] == "no y"
    assert told["y", "either"]["text"] == "y at most -3 or at least 7"
    assert told["y", "low"]["text"] == "y -3 or less", "so wide a range says nothing"
