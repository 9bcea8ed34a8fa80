"""The examples run, and the answer each prints is the best there is, by listing every choice of one side."""

import re
import runpy
import textwrap
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from biselect import solve

FOLDER = Path(__file__).parents[1] / "examples"
SCRIPTS = ("sensors_and_events", "drugs_and_targets", "facilities_and_customers", "extractive_summary")


@pytest.fixture(params=SCRIPTS)
def example(request):
    return runpy.run_path(str(FOLDER / f"{request.param}.py"))


def printed(script, capsys):
    runpy.run_path(str(FOLDER / f"{script}.py"), run_name="__main__")
    return capsys.readouterr().out


def by_listing(problem):
    """Every allowed choice of samples, each with its best features."""
    return max(
        np.sort(problem.feature_scores + problem.coupling[list(samples)].sum(axis=0))[-problem.m :].sum()
        + problem.sample_scores[list(samples)].sum()
        for samples in combinations(range(problem.n_samples), problem.k)
        if problem.sample_rules.allow(samples)
    )


def test_no_choice_scores_higher(example):
    problem = example["problem"]()
    best = solve(problem)
    assert best.proven_optimal and best.score == pytest.approx(by_listing(problem))


@pytest.mark.parametrize("script", SCRIPTS)
def test_it_is_short_and_prints_a_proof(script, capsys):
    assert len((FOLDER / f"{script}.py").read_text().splitlines()) < 60
    out = printed(script, capsys)
    assert "proven optimal: True" in out and "proven optimal: False" not in out


def test_the_docs_show_what_the_scripts_print(capsys):
    page = (FOLDER.parent / "docs" / "how-to" / "examples.md").read_text()
    shown = re.findall(r"\$ python examples/(\w+)\.py\n((?:    .*\n)+)", page)
    assert len(shown) == 2
    for script, lines in shown:
        assert textwrap.dedent(lines) == printed(script, capsys)


def test_stations_crowd_and_the_rule_spreads_them(capsys):
    out = printed("sensors_and_events", capsys)
    crowded, spread = map(int, re.findall(r"(\d+) events have a good record", out))
    most = int(out.split(":")[-1])
    assert crowded < spread <= most


def test_sticky_compounds_win_until_harm_has_a_price(capsys):
    free, priced = (line for line in printed("drugs_and_targets", capsys).splitlines() if line.startswith("price"))
    sticky, family = ({f"C{i:02d}" for i in numbers} for numbers in (range(6, 12), range(6)))
    assert sum(name in free for name in sticky) == 4 and sum(name in priced for name in family) == 4
    assert "T02, T03, T04" in priced and "T10" not in free + priced


def test_warehouses_stand_near_the_cities_they_serve(capsys):
    out = printed("facilities_and_customers", capsys)
    warehouses, cities = (part.split(": ")[1].split(", ") for part in out.splitlines()[0].split("; "))
    assert set(warehouses) <= set(cities)
    shared, alone, best = map(float, re.findall(r"\d+\.\d+", out))
    assert 0 < shared <= alone < best  # the nearest alone never costs more; other sites do even better then


def test_the_summary_does_not_repeat_itself(capsys):
    free, ruled = (line for line in printed("extractive_summary", capsys).splitlines() if line.startswith("about"))
    assert free.count("forty million") == 2 and ruled.count("forty million") == 1
    assert "ferry" in ruled and "baker" not in ruled
