"""The rule by which a printed number is held against ours."""

from dataclasses import replace
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect_studies.ledger import Claim, Printed, read_ledger
from biselect_studies.results import Entry
from biselect_studies.rule import (
    CANNOT_TELL,
    DIFFERS,
    MATCHES,
    NOT_JUDGED,
    hold,
    judge,
    judge_claim,
    judge_range,
    judge_spread,
    judged,
)


def printed(text, **more):
    return Printed(place="tab:x", section="S", line=1, text=text, study="s", row="r", column="c", **more)


def ours(value, low=None, high=None, **more):
    return Entry("r", "c", value, value if low is None else low, value if high is None else high, **more)


def verdicts(text, found, **more):
    return [one.verdict for one in judged(printed(text, **more), found)]


@pytest.mark.parametrize(
    ("text", "value", "low", "high", "expected"),
    [
        ("0.833", 0.8334, 0.8334, 0.8334, MATCHES),  # exact, and the same digits
        ("0.833", 0.8336, 0.8336, 0.8336, DIFFERS),  # exact, and another digit
        ("0.833", 0.845, 0.83, 0.86, MATCHES),
        ("0.833", 0.845, 0.84, 0.85, DIFFERS),
        ("0.45", 0.40, 0.20, 0.60, CANNOT_TELL),  # a fifth more or less would not be seen
        ("0.0", 0.0, 0.0, 0.0, MATCHES),
        ("0.000", 0.0, -0.1, 0.1, CANNOT_TELL),
        ("<0.05%", 0.02, 0.01, 0.03, MATCHES),
        ("<0.05%", 0.07, 0.06, 0.08, DIFFERS),
    ],
)
def test_a_value_matches_differs_or_cannot_be_told(text, value, low, high, expected):
    assert verdicts(text, ours(value, low, high)) == [expected]


def test_the_side_of_our_interval_that_faces_the_paper_counts():
    assert judge(0.5, 0.1, 0.51, 0.6, rounding=0)[0] == DIFFERS
    assert judge(0.5, 0.1, 0.51, 0.4, rounding=0)[0] == CANNOT_TELL


def test_the_papers_own_uncertainty_counts():
    found = ours(0.70, 0.68, 0.72, units=25)
    assert verdicts("0.800", found, units=25)[0] == DIFFERS
    assert verdicts("0.800 ± 0.120", found, units=25)[0] == CANNOT_TELL
    assert verdicts("0.800", found, units=1)[0] == CANNOT_TELL  # a single instance scatters five times as much as 25
    assert verdicts("0.720 ± 0.020", found, units=25)[0] == MATCHES


def test_a_median_is_never_held_against_a_range():
    """25.9 lies inside our 10 to 40, which says nothing: our median is 16.7, and well known."""
    found = ours(16.7, 15.9, 17.4, range=(10.0, 40.0), units=156)
    value, ends = judged(printed("25.9 [10.8, 36.3]", brackets="range", units=26), found)
    assert (value.part, value.verdict, ends.part, ends.verdict) == ("value", DIFFERS, "range", MATCHES)
    assert (value.numbers, ends.numbers, ends.ours) == (1, 2, (10.0, 40.0))


def test_ranges_are_held_against_ranges():
    assert judge_range((12.0, 55.0), (10.0, 60.0), rounding=0.05) == (MATCHES, 10.05)
    assert judge_range((12.0, 45.0), (10.0, 60.0), rounding=0.05)[0] == DIFFERS
    assert judge_range((12.0, 45.0), (10.0, 60.0), rounding=0.05, units=(5, 40))[0] == CANNOT_TELL
    assert judge_range((0.0, 45.0), (10.0, 60.0), rounding=0.05, units=(5, 40))[0] == DIFFERS
    assert verdicts("10.0–60.0", ours(30.0)) == [NOT_JUDGED]  # no range of ours


def test_a_half_width_is_held_against_ours_at_their_number_of_units():
    assert judge_spread(0.0, -0.05, 0.05, 0.10, rounding=0.0005, units=(100, 25))[0] == CANNOT_TELL
    assert judge_spread(0.0, -0.05, 0.05, 0.10, rounding=0.0005, units=(10_000, 2_500))[0] == MATCHES
    assert judge_spread(0.0, -0.05, 0.05, 0.20, rounding=0.0005, units=(100, 25))[0] == DIFFERS
    interval = judged(printed("0.5 [0.4, 0.6]", units=2_500), ours(0.5, 0.45, 0.55, units=10_000))[1]
    assert (interval.part, interval.numbers, interval.verdict) == ("interval", 2, MATCHES)


def test_what_cannot_be_judged_says_why():
    assert judged(printed("1.0", why="On a device."), ours(1.0))[0].why == "On a device."
    assert judged(printed("1.0"), ours(1.0, aside="Simulated."))[0].why == "Simulated."
    assert judged(printed("1.0"), None, "Quick.")[0].why == "Quick."
    assert "no such number" in judged(printed("1.0"), None)[0].why
    assert judged(printed("1.0"), ours(nan, verdict="pending"))[0].why == "pending"
    assert judged(printed("1.0"), ours(1.0, nan, nan))[0].why == "too few units for an interval"
    for one in (judged(printed("1.0"), None), judged(printed("1.0", why="x"), ours(1.0))):
        assert one[0].verdict == NOT_JUDGED and one[0].seen is None


@given(
    st.floats(-100, 100),
    st.floats(0, 50),
    st.floats(-100, 100),
    st.floats(0, 50) | st.none(),
    st.sampled_from([0.5, 0.05, 0.0005]),
)
def test_what_would_have_been_seen_is_where_the_verdict_turns(value, half, paper, theirs, rounding):
    verdict, seen = judge(value, value - half, value + half, paper, rounding=rounding, theirs=theirs)
    assert (verdict == DIFFERS) == (abs(value - paper) > seen + 1e-9 * rounding) or abs(
        abs(value - paper) - seen
    ) < 1e-6
    further = judge(value, value - half, value + half, value + 1.01 * seen + 1e-6, rounding=rounding, theirs=theirs)
    assert further[0] == DIFFERS


@given(st.integers(0, len(read_ledger().numbers) - 1))
def test_a_changed_value_in_the_ledger_changes_its_verdict(place):
    """Any judged number of the ledger: ours as printed matches or cannot be told, the value moved far off differs."""
    one = replace(read_ledger().numbers[place], why="")
    if one.below or one.is_range:
        return
    found = Entry(one.row, one.column, one.value, one.value, one.value, units=one.units)
    half = one.half or 0.0
    moved = replace(
        one, text=one.text.replace(one.parts[0][2], str(one.value / one.scale + 3 * half / one.scale + 1), 1)
    )
    assert judged(one, found)[0].verdict in (MATCHES, CANNOT_TELL)
    assert judged(moved, found)[0].verdict == DIFFERS


def test_a_study_is_held_against_the_ledger_and_devices_stand_beside():
    study = "creditcard-bilinear-cg-best-known-replay"
    cell = Entry("p = 3, XY-QAOA", "BK %, noise model", 0.05, 0.04, 0.06)
    device = replace(cell, column="BK % on ibm:x (hardware)")
    own = replace(cell, column="BK %, ideal")
    held = hold(study, [cell, device, own])
    assert [(one.paper, one.verdict) for one in held] == [(0.046, NOT_JUDGED), (0.046, NOT_JUDGED), (None, "-")]
    (match,) = hold("joint-vs-sequential-practical", [Entry("Exact opt", "50%", 1.0, 1.0, 1.0, units=200)])
    assert (match.paper, match.verdict) == (1.0, MATCHES)


def claim(says, **more):
    return Claim(place="tab:x", section="S", line=1, words="w", study="s", says=says, **more)


@pytest.mark.parametrize(
    ("says", "cells", "expected"),
    [
        ("> 0", [(1.0, 0.5, 1.5), (2.0, 1.0, 3.0)], MATCHES),
        ("> 0", [(1.0, 0.5, 1.5), (0.1, -1.0, 1.0)], CANNOT_TELL),
        ("> 0", [(1.0, 0.5, 1.5), (-1.0, -2.0, 0.0)], DIFFERS),
        ("< 1", [(0.5, 0.4, 0.6)], MATCHES),
        ("≥ 0.9", [(0.9, 0.9, 0.9)], MATCHES),
        ("= 0", [(0.0, 0.0, 0.0)], MATCHES),
        ("= 0", [(0.0, -1.0, 1.0)], CANNOT_TELL),
        ("rises", [(1.0, 0.9, 1.1), (2.0, 1.9, 2.1), (3.0, 2.9, 3.1)], MATCHES),
        ("rises", [(1.0, 0.9, 1.1), (0.5, 0.4, 0.6)], DIFFERS),
    ],
)
def test_a_claim_holds_where_every_interval_does(says, cells, expected):
    found = judge_claim(claim(says), [Entry(f"{n}", "c", *each) for n, each in enumerate(cells)])
    assert (found.verdict, len(found.about)) == (expected, len(cells))


def test_a_claim_may_be_said_against_a_row_or_a_column():
    cells = [Entry("a", "x", 2.0, 1.8, 2.2), Entry("b", "x", 1.0, 0.9, 1.1), Entry("a", "y", 3.0, 2.9, 3.1)]
    assert judge_claim(claim("> row b", rows=("a",), columns=("x",)), cells).verdict == MATCHES
    assert judge_claim(claim("> column y", rows=("a",), columns=("x",)), cells).verdict == DIFFERS
    assert judge_claim(claim("> row c", rows=("a",), columns=("x",)), cells).verdict == NOT_JUDGED
    assert judge_claim(claim("> 0", rows=("z",)), cells).verdict == NOT_JUDGED
