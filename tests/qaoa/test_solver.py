import numpy as np
import pytest

import biselect as bs
from biselect.data.planted import planted_problem
from biselect.errors import InputError
from biselect.qaoa.solver import _advice, _by_chance
from biselect.qaoa.training import backend_for
from biselect.solvers import Run


@pytest.fixture(scope="module")
def answer():
    return bs.solve(planted_problem((6, 5, 2, 2), 2.0, seed=0), "qaoa", depth=2, seed=0, evaluations=120, shots=200)


def test_the_answer_says_how_it_came_about(answer):
    info = answer.info
    assert info["depth"] == 2 and info["schedule"] == "fully-grouped" and info["shots"] == 200
    assert len(info["angles"]) == 8 and info["evaluations"] <= 120
    optimum = bs.solve(answer.problem).energy
    assert info["above_optimum"] == pytest.approx(answer.energy - optimum, abs=1e-12)
    assert info["hit_rate"] > 5 * info["random_hit_rate"] > 0
    assert "classical solver is the better choice" in info["advice"] and "proved the optimum" in info["advice"]
    assert not answer.proven_optimal


def test_advice_is_what_was_measured(answer):
    run, optimum = Run(), bs.solve(answer.problem).energy
    assert "better than this one by 1, in" in _advice(answer.problem, run, optimum + 1, 1.0)
    assert "nothing as good" in _advice(answer.problem, run, optimum - 1, 1.0)  # an energy that cannot be


def test_what_chance_would_do_agrees_with_trying():
    rng = np.random.default_rng(0)
    energies = rng.normal(size=(10, 12))
    energy = float(np.sort(energies, axis=None)[4])
    facts = _by_chance(energies, energy, shots=20)
    best = rng.choice(energies.ravel(), size=(20_000, 20)).min(axis=1)
    assert facts["random_hit_rate"] == pytest.approx(5 / 120)
    assert facts["random_finds_it"] == pytest.approx(np.mean(best <= energy), abs=0.02)
    assert facts["random_above_optimum"] == pytest.approx(best.mean() - energies.min(), abs=0.02)


def test_too_large_a_sector_is_refused_with_a_figure():
    problem = bs.SelectionProblem(coupling=np.ones((100, 60)), k=20, m=10)
    with pytest.raises(InputError, match=r"every choice.* GiB.*'auto'"):
        bs.solve(problem, "qaoa")
    with pytest.raises(InputError, match="no option 'colour'"):
        bs.solve(problem, "qaoa", colour="red")


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
    assert backend_for(small, 3, 300) == "auto" == backend_for(large, 3, 300)
    assert backend_for(large, 3, 3000) == "compiled"
