"""The formulas of docs/explanations/beyond-one-machine.md against what was measured, and the page against both."""

import json

import pytest

from benchmarks import cost_model


@pytest.fixture(scope="module")
def cases():
    kept = json.loads(cost_model.RESULTS.read_text(encoding="utf-8"))["cases"]
    return [case for case in kept.values() if case["on"] == "threads"]


def test_the_page_shows_what_the_command_computes():
    page = cost_model.PAGE.read_text(encoding="utf-8")
    for lines in cost_model.tables(cost_model.RESULTS).values():
        assert "\n".join(lines) in page


def test_no_worker_takes_ten_megabytes_in_a_pass_over_a_hundred_million_rows():
    for workers, looks in ((2, 0), (10, 2), (100, 2), (1000, 2)):
        passes = cost_model.plan(10**8, looks=looks)
        assert max(one.per_worker(workers) for one in passes) < 10e6


def test_bytes_that_travel_are_no_more_than_the_formulas_say(cases):
    for case in cases:
        formulas = {cost_model.PASSES[one.kind]: one for one in cost_model.plan(case["rows"])}
        for measured in case["ours"]["passes"]:
            if measured["pass"] == cost_model.PASSES["ids"]:  # which the driver itself reads now
                continue
            one = formulas[measured["pass"]]
            assert measured["sent"] <= one.sent * 1.1 + 1e5, (case["shape"], measured)
            assert measured["returned"] <= (one.returned + one.per_share) * 1.25 + 1e5, (case["shape"], measured)


def test_time_grows_with_the_rows_by_the_formulas(cases):
    rates = cost_model.Rates.of(next(case for case in cases if (case["shape"], case["rows"]) == cost_model.FITTED))
    for case in cases:
        if case["rows"] < 10**7:
            continue  # loading compiled kernels takes as long as the passes
        looks = sum(one["pass"] == cost_model.PASSES["closer look"] for one in case["ours"]["passes"])
        formula = rates.cpu(cost_model.plan(case["rows"], looks=looks))
        assert 0.5 < formula / sum(one["CPU s"] for one in case["ours"]["passes"]) < 2, (case["shape"], case["rows"])
