import numpy as np
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.solvers.registry import Run
from biselect.testing.oracles import planted_problem
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.training.trainer import backend_for
from biselect_quantum.simulate.layers import energy_scale, rounding_slack
from biselect_quantum.simulate.limits import OutOfTimeError
from biselect_quantum.solver import _advice, _by_chance, qaoa


def scaled(problem, unit):
    """The same problem with energies in another unit."""
    return bs.SelectionProblem(
        coupling=unit * problem.coupling,
        sample_scores=unit * problem.sample_scores,
        feature_scores=unit * problem.feature_scores,
        k=problem.k,
        m=problem.m,
    )


@pytest.fixture(scope="module")
def answer():
    return bs.solve(planted_problem((6, 5, 2, 2), 2.0, seed=0), "qaoa", depth=2, seed=0, evaluations=120, shots=200)


def test_the_answer_says_how_it_came_about(answer):
    info = answer.info
    assert info["depth"] == 2 and info["schedule"] == "fully-grouped" and info["shots"] == 4296
    assert len(info["angles"]) == 8 and info["evaluations"] <= 120
    optimum = bs.solve(answer.problem).energy
    assert info["above_optimum"] == pytest.approx(answer.energy - optimum, abs=1e-12)
    assert info["hit_rate"] > 5 * info["random_hit_rate"] > 0
    assert "classical solver is the better choice" in info["advice"] and "proved the optimum" in info["advice"]
    assert not answer.proven_optimal


def test_advice_is_what_was_measured(answer):
    run, optimum = Run(), bs.solve(answer.problem).energy
    assert "better than this one by 1, in" in _advice(answer.problem, run, optimum + 1, 1.0)["advice"]
    assert "nothing as good" in _advice(answer.problem, run, optimum - 1, 1.0)["advice"]  # an energy that cannot be


def test_what_chance_would_do_agrees_with_trying():
    rng = np.random.default_rng(0)
    energies = rng.normal(size=(10, 12))
    energy = float(np.sort(energies, axis=None)[4])
    facts = _by_chance(energies, energy, shots=20, slack=0.0)
    best = rng.choice(energies.ravel(), size=(20_000, 20)).min(axis=1)
    assert facts["random_hit_rate"] == pytest.approx(5 / 120)
    assert facts["random_finds_it"] == pytest.approx(np.mean(best <= energy), abs=0.02)
    assert facts["random_above_optimum"] == pytest.approx(best.mean() - energies.min(), abs=0.02)


def test_the_best_of_all_shots_is_kept(monkeypatch):
    problem = planted_problem((5, 4, 2, 2), 1.0, seed=3)
    original, seen = Ansatz.sample, []

    def noted(self, *arguments):
        seen.append(original(self, *arguments))
        return seen[-1]

    monkeypatch.setattr(Ansatz, "sample", noted)
    for seed in range(4):
        seen.clear()
        answer = bs.solve(problem, "qaoa", depth=1, evaluations=4, shots=1, seed=seed)
        assert len(seen) == 2 and answer.info["shots"] == sum(found.shots for found in seen) == 4097
        assert answer.energy == pytest.approx(min(found.best[2] for found in seen))


def test_facts_hold_in_any_unit_of_energy():
    for unit in (1e-12, 1.0, 1e9):
        problem = scaled(planted_problem((5, 4, 2, 2), 2.0, seed=0), unit)
        energies = np.sort(Ansatz(problem, 1).energies, axis=None)
        slack = rounding_slack(energy_scale(problem), np.float64)
        assert _by_chance(energies, energies[2], 5, slack)["random_hit_rate"] == pytest.approx(3 / 60)
        assert "better than this one" in _advice(problem, Run(), float(energies[1]), 1.0)["advice"]
        assert "better than this one" not in _advice(problem, Run(), float(energies[0]), 1.0)["advice"]


@pytest.mark.parametrize(
    "wrong", [{"depth": "3"}, {"depth": 2.5}, {"depth": 0}, {"shots": 2.5}, {"evaluations": 0}, {"workers": "many"}]
)
def test_options_that_are_no_whole_numbers_are_refused(wrong):
    problem = planted_problem((5, 4, 2, 2), 2.0, seed=0)
    with pytest.raises(InputError, match=f"{next(iter(wrong))} must be a whole number"):
        bs.solve(problem, "qaoa", **wrong)


def test_forced_choices_are_kept_and_seeds_of_any_kind_work():
    problem = bs.SelectionProblem(
        coupling=np.random.default_rng(1).random((5, 4)),
        k=2,
        m=2,
        sample_rules=bs.Rules(forced_in=(0,)),
    )
    answer = bs.solve(problem, "qaoa", depth=1, evaluations=20, seed=np.random.default_rng(0), start="random")
    assert 0 in answer.samples
    assert bs.solve(problem, "qaoa", depth=1, evaluations=20, seed=None).samples.size == 2


def test_many_evaluations_of_large_sectors_are_compiled():
    small, large = planted_problem((5, 4, 2, 2), 1.0, seed=0), planted_problem((12, 8, 3, 5), 1.0, seed=0)
    assert backend_for(small, 3, 300) == "plain" == backend_for(large, 1, 300)
    assert backend_for(large, 3, 300) == "compiled"


def test_where_time_is_up_the_best_that_was_measured_is_the_answer(monkeypatch):
    problem = planted_problem((6, 5, 2, 2), 2.0, seed=0)
    late = qaoa(problem, Run(seed=0, deadline=0.0), shots=50)
    assert late.info["shots"] == 50 and late.info["evaluations"] == 0 and "angles" not in late.info
    assert "no time to train" in late.info["notes"][0] and problem.obeys(late.samples, late.features)
    again = qaoa(problem, Run(seed=0, deadline=0.0), shots=50)
    assert again.samples.tolist() == late.samples.tolist()
    fixed = qaoa(problem, Run(seed=0, deadline=0.0), start="canonical")
    assert fixed.samples.tolist() == [0, 1] and fixed.features.tolist() == [0, 1]

    original, seen = Ansatz.sample, []

    def once(self, *arguments):
        if len(seen) == 1:
            raise OutOfTimeError
        seen.append(original(self, *arguments))
        return seen[-1]

    monkeypatch.setattr(Ansatz, "sample", once)
    half = qaoa(problem, Run(seed=0), depth=1, evaluations=20, shots=64)
    assert half.info["shots"] == 4096 and half.info["notes"][-1] == "time was up before all was measured"
    assert problem.energy(half.samples, half.features) == pytest.approx(seen[0].best[2])
    assert len(half.info["angles"]) == 4 and "hit_rate" not in half.info


def test_a_register_of_thousands_is_refused_at_once():
    problem = bs.SelectionProblem(coupling=np.ones((6000, 2)), k=1, m=1)
    with pytest.raises(InputError, match=r"6002 of them.*take solver='auto'"):
        bs.solve(problem, "qaoa")
