import pytest

import biselect as bs
from biselect.data.synthetic import planted_problem
from biselect.errors import InputError
from biselect.qaoa.wide_solver import by_wide_sampler
from biselect.solvers.registry import Run


@pytest.fixture(scope="module")
def answer():
    return bs.solve(planted_problem((6, 5, 2, 2), 2.0, seed=0), "qaoa", depth=2, seed=0, evaluations=120, shots=200)


def test_registers_too_wide_for_a_state_are_sampled_and_said_to_be():
    problem = planted_problem((60, 40, 10, 8), 2.0, seed=0, absolute=True)
    answer = bs.solve(problem, "qaoa", depth=1, evaluations=2, shots=64, seed=0, mixer="path")
    info = answer.info
    assert len(answer.samples) == 10 and len(answer.features) == 8
    assert answer.energy <= info["start_energy"] < info["random_energy"]
    assert info["method"] == "wide sampler" and info["evaluations"] == 2 and info["shots"] == 64 + 2 * 384
    assert "10 of 2400 products" in info["notes"][0] and "greedy" in info["notes"][0]
    assert "classical solver is the better choice" in info["advice"]
    with pytest.raises(InputError, match="no option 'colour'"):
        bs.solve(problem, "qaoa", colour="red")


HOW = {"depth": 2, "schedule": "fully-grouped", "mixer": "path", "start": "random", "shots": 200, "evaluations": 12}


def test_the_wide_way_keeps_the_best_shot_and_repeats():
    problem = planted_problem((8, 6, 3, 2), 2.0, seed=1)
    first, again = (by_wide_sampler(problem, Run(seed=4), **HOW) for _ in range(2))
    assert first.info == again.info and first.samples.tolist() == again.samples.tolist()
    energy = problem.energy(first.samples, first.features)
    assert energy < first.info["start_energy"]
    assert first.info["shots"] == 12 * 384 + 200
    late = by_wide_sampler(problem, Run(seed=4, deadline=0.0), **HOW)
    assert late.info["evaluations"] == 1 and late.info["depth"] == 1


def test_layers_that_need_too_many_bond_states_are_left_out_with_a_note(monkeypatch):
    problem = planted_problem((8, 6, 3, 2), 2.0, seed=1)
    monkeypatch.setattr("biselect.qaoa.wide_solver.MAX_BOND", 4)
    answer = by_wide_sampler(problem, Run(seed=4), **HOW)
    assert answer.info["depth"] == 1 and answer.info["largest_bond"] <= 4
    assert any("more than 4 bond states" in note for note in answer.info["notes"])
    monkeypatch.setattr("biselect.qaoa.wide_solver.MAX_BOND", 1)
    with pytest.raises(InputError, match="solver 'auto'"):
        by_wide_sampler(problem, Run(seed=4), **HOW)
