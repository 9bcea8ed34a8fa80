import time

import numpy as np
import pytest

from biselect.errors import BiselectError, InputError
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.training._search import Search
from biselect_quantum.circuits.training.strategies import STRATEGIES
from biselect_quantum.simulate.limits import check_stop

OPTIONS = {"polish": {"start_from": [np.full(8, 0.3)]}}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_workers_change_nothing(ansatz, strategy):
    options = OPTIONS.get(strategy, {})
    alone = ansatz.train(strategy=strategy, objective="cvar", evaluations=60, seed=5, **options)
    crew = ansatz.train(strategy=strategy, objective="cvar", evaluations=60, seed=5, workers=3, **options)
    assert alone.to_json() == crew.to_json()


def test_seconds_end_a_training(ansatz):
    trained = ansatz.train(seconds=0.3, workers=2)
    assert trained.seconds < 5 and trained.evaluations >= 1
    short = ansatz.train(strategy="ladder", seconds=1e-6)
    assert short.depth == 2 and len(short.angles) == 8


def test_seconds_end_an_evaluation_that_takes_longer(ansatz, monkeypatch):
    original = Ansatz.value_and_gradient
    slow = []

    def sometimes(self, *arguments):
        slow.append(self)
        while len(slow) == 101 or sometimes.from_the_first:
            check_stop(self.stop)
        return original(self, *arguments)

    sometimes.from_the_first = False
    monkeypatch.setattr(Ansatz, "value_and_gradient", sometimes)
    trained = ansatz.train(seconds=0.5)
    assert 32 <= trained.evaluations <= 200 and trained.seconds < 5 and np.isfinite(trained.energy)
    sometimes.from_the_first = True
    with pytest.raises(InputError, match=r"0\.3 s are too few to evaluate this circuit once; give more"):
        ansatz.train(seconds=0.3)
    assert ansatz.stop[0] == 0  # and the ansatz works as before
    monkeypatch.undo()
    assert ansatz.train(evaluations=3).evaluations <= 3


def test_what_was_found_outlives_an_evaluation_that_nothing_can_stop(ansatz, monkeypatch):
    original, calls = Ansatz.value_and_gradient, []

    def stuck(self, *arguments):
        calls.append(self)
        if len(calls) == 101:
            time.sleep(1.5)  # as the compiler would, deaf to the byte
        return original(self, *arguments)

    monkeypatch.setattr(Ansatz, "value_and_gradient", stuck)
    trained = ansatz.train(seconds=0.5)
    assert trained.seconds < 1.4 and 1 <= trained.evaluations <= 101
    assert trained.energy == pytest.approx(ansatz.expectation(trained.angles))


def test_a_crew_that_runs_out_of_time_brings_what_it_has(ansatz, monkeypatch):
    """A descent that ran ahead is followed again with less room; by then the time may be up."""
    original, cut = Search.room, []

    def room(self, share=1.0):
        left = original(self, share)
        if self.spent and not self._over and left > 5:  # as if the elders had spent almost everything, and all the time
            self.seconds = 1e-9
            cut.append(left)
            return 5
        return left

    monkeypatch.setattr(Search, "room", room)
    trained = ansatz.train(evaluations=200, seconds=60, workers=3)
    assert cut and np.isfinite(trained.value)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_progress_goes_on_without_a_budget(problem, strategy):
    told = []
    options = {"polish": {"start_from": [np.full(4, 0.3)] * 2}}.get(strategy, {})
    Ansatz(problem, 1).train(strategy=strategy, progress=lambda done, _: told.append(done), **options)
    assert told == sorted(told) and 0 < told[0] < told[-1] <= 1
    if strategy != "multistart":  # which sets itself a budget and may stop below
        assert told[-1] == pytest.approx(1)


def test_values_that_are_no_numbers_end_a_descent_not_the_training(ansatz, monkeypatch):
    original = Ansatz.value_and_gradient
    calls = [0]

    def sometimes(self, *arguments):
        calls[0] += 1
        value, slope = original(self, *arguments)
        return (np.nan if calls[0] % 7 == 0 else value), slope

    monkeypatch.setattr(Ansatz, "value_and_gradient", sometimes)
    trained = ansatz.train(objective="energy", evaluations=60)
    assert trained.value < ansatz.energies.mean() and "no finite number" in trained.notes[0]
    monkeypatch.setattr(Ansatz, "value_and_gradient", lambda self, *_: (np.nan, np.zeros(self.size)))
    with pytest.raises(BiselectError, match="no evaluation gave a finite number"):
        ansatz.train(evaluations=60)
