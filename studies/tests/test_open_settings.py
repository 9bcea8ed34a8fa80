import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.solvers import solve
from biselect_quantum.circuits import Ansatz
from biselect_studies.data.synthetic import benchmark, depth_problem
from biselect_studies.experiments.open_settings import walk
from biselect_studies.experiments.planted import IdealRing
from biselect_studies.ledger import read_ledger
from biselect_studies.runner import Records
from biselect_studies.studies.open_settings import APART, CHOSEN_ON, JUDGED_ON, PARTS, Part, Search, apart, mean, misfit

SOLVER = "solver-matched-compute"
ROW = "10 ms, Ring-local Kawasaki"


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_few_slices_are_nearly_the_continuous_mixer_inside_the_box(seed):
    rng = np.random.default_rng(seed)
    problem = depth_problem(2.0, "mixed", seed=rng, size=(6, 5, 2, 2))
    sliced, exact = IdealRing(problem, 2, "fully-grouped"), Ansatz(problem, 2, "fully-grouped", backend="continuous")
    angles = rng.uniform(-1, 1, size=sliced.size) * np.tile([0.3, 0.3, 0.3, 1.0], 2)
    assert sliced.expectation(angles) == pytest.approx(exact.expectation(angles), abs=0.02 * np.ptp(exact.energies))
    assert sliced.exact().expectation(angles) == pytest.approx(exact.expectation(angles))
    value, gradient = sliced.value_and_gradient(angles)
    assert value == pytest.approx(sliced.expectation(angles))
    for place in range(sliced.size):
        step = np.zeros(sliced.size)
        step[place] = 1e-5
        slope = (sliced.expectation(angles + step) - sliced.expectation(angles - step)) / 2e-5
        assert gradient[place] == pytest.approx(slope, abs=1e-4 * (1 + abs(slope)))


@pytest.mark.parametrize("temperature", [0.3, 30.0])
def test_a_walk_read_on_the_way_is_the_solvers_walk(temperature):
    problem = benchmark(20, 10, 3, 0.5, seed=1).problem(3, 5)
    energies = [problem.energy(*state) for state in walk(problem, 7, temperature, (50, 500, 2000))]
    assert energies == sorted(energies, reverse=True)
    for steps, energy in zip((50, 500, 2000), energies, strict=True):
        whole = solve(problem, "kawasaki", seed=7, steps=steps, temperature=temperature)
        assert whole.energy == pytest.approx(energy)


def test_distances_count_the_noise_of_both_sides():
    place = (SOLVER, ROW, "combined F1")
    printed = read_ledger().of(SOLVER)[ROW, "combined F1"]
    assert apart((printed.value, 0.01, 50), place) == 0
    both = 0.01 * np.sqrt(1 + 50 / printed.units) if printed.units else 0.01 * np.sqrt(2)
    assert apart((printed.value + both + printed.rounding, 0.01, 50), place) == pytest.approx(1)
    assert apart((printed.value + 0.02, 0.01, 10**6), place) < apart((printed.value + 0.02, 0.01, 50), place)
    assert misfit([0.0, 2.0]) == pytest.approx(np.sqrt(2))
    assert mean([1, 1, 1, 1])[1] > 0  # a share of all is not known for sure


def test_the_setting_is_chosen_by_the_numbers_that_choose_alone():
    """Setting 2 fits what chooses, setting 0 what judges; a number that no setting meets remains."""
    columns = ("combined F1", "optimum hit", "mean gap")
    printed = {column: read_ledger().of(SOLVER)[ROW, column].value for column in columns}
    off = {0: (0.5, 0.0, 9.0), 1: (0.4, 0.5, 9.0), 2: (0.0, 0.9, 9.0)}

    def measure(records, setting, quick):
        shifts = zip(columns, off[setting["axis"]], strict=True)
        return {(SOLVER, ROW, column): (printed[column] + shift, 0.01, 50) for column, shift in shifts}

    part = Part(
        name="toy",
        settings=tuple({"axis": value} for value in off),
        measure=measure,
        choosing=lambda place: place[2] == "combined F1",
        usual={"axis": 1},
    )
    search = Search.of(part, Records(), False)
    assert part.settings[search.chosen] == {"axis": 2}
    assert search.remaining == [(SOLVER, ROW, "mean gap")]
    scores = search.scores({"axis": 2})
    assert scores[CHOSEN_ON] == 0 and scores[APART] == 100 and scores[JUDGED_ON] > 1
    assert list(search.beside) == [
        "toy: chosen",
        "toy: as our tables had it",
        "toy: chosen, but axis 0",
        "toy: chosen, but axis 1",
    ]


def test_some_numbers_choose_and_others_judge_in_every_part():
    for part in PARTS:
        assert part.usual in part.settings and len(part.settings) > 1
        assert len({tuple(setting) for setting in part.settings}) == 1
