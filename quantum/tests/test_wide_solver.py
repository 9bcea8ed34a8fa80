import numpy as np
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.solvers.registry import Run
from biselect.testing.oracles import planted_problem
from biselect_quantum._wide_solver import _chance, _heaviest_products, by_wide_sampler
from biselect_quantum.simulate.layers import energy_table
from biselect_quantum.simulate.limits import OutOfTimeError


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


def test_wherever_time_is_up_the_best_choice_until_then_is_the_answer():
    problem = planted_problem((8, 6, 3, 2), 2.0, seed=1)
    whole = by_wide_sampler(problem, Run(seed=4), **HOW)

    def over():
        raise OutOfTimeError

    late = by_wide_sampler(problem, Run(seed=4, deadline=0.0), over, **HOW)
    assert late.info["evaluations"] == late.info["shots"] == 0 and "time was up" in late.info["notes"][1]
    tried = set()
    for most in (1, 300, 1000, 1200, 1500, 10_000):
        looks = iter(range(most))

        def look(looks=looks):
            if next(looks, None) is None:
                raise OutOfTimeError

        answer = by_wide_sampler(problem, Run(seed=4), look, **HOW)
        assert whole.info["start_energy"] >= problem.energy(answer.samples, answer.features)
        assert ("time was up before all was measured" in answer.info["notes"]) == ("random_energy" not in answer.info)
        tried.add(answer.info["evaluations"])
    assert min(tried) == 0 and max(tried) == 12 and len(tried) > 3


def test_layers_that_need_too_many_bond_states_are_left_out_with_a_note(monkeypatch):
    problem = planted_problem((8, 6, 3, 2), 2.0, seed=1)
    monkeypatch.setattr("biselect_quantum._wide_solver.MAX_BOND", 4)
    answer = by_wide_sampler(problem, Run(seed=4), **HOW)
    assert answer.info["depth"] == 1 and answer.info["largest_bond"] <= 4
    assert any("more than 4 bond states" in note for note in answer.info["notes"])
    monkeypatch.setattr("biselect_quantum._wide_solver.MAX_BOND", 1)
    with pytest.raises(InputError, match="take solver='auto'"):
        by_wide_sampler(problem, Run(seed=4), **HOW)


def test_the_products_that_are_kept_are_the_largest_of_rows_and_columns_still_free():
    rng = np.random.default_rng(0)
    for shape in ((30, 7), (7, 30), (4, 3)):
        problem = bs.SelectionProblem(coupling=rng.integers(-9, 10, size=shape) * 1.0, k=2, m=2)
        left, slow = np.abs(problem.coupling), []
        for _ in range(min(10, *shape)):
            i, j = divmod(int(left.argmax()), shape[1])
            slow.append((i, j))
            left[i], left[:, j] = -1.0, -1.0
        assert _heaviest_products(problem) == slow


def test_chance_is_the_best_of_uniform_choices():
    problem = planted_problem((8, 6, 3, 2), 2.0, seed=1)
    rng = np.random.default_rng(0)
    drawn = [_chance(problem, 20, rng) for _ in range(300)]
    energies = energy_table(problem).ravel()
    expected = rng.choice(energies, size=(20_000, 20)).min(axis=1)
    assert np.mean(drawn) == pytest.approx(expected.mean(), abs=5 * expected.std() / 300**0.5)
