import numpy as np
import pytest

from biselect.testing.oracles import planted_problem
from biselect_quantum.circuits import Ansatz
from biselect_quantum.simulate.layers import energy_table
from biselect_quantum.simulate.limits import NEVER, PART, OutOfTimeError, parts
from biselect_quantum.simulate.states import quantile, sample_state

OVER = np.ones(1, dtype=np.uint8)


def test_parts_cover_all_rows_once_and_end_when_the_byte_turns():
    for rows, width in ((0, 5), (1, 5), (7, PART // 3), (3, 2 * PART)):
        assert [row for part in parts(rows, width, NEVER) for row in range(part.start, part.stop)] == list(range(rows))
    stop = np.zeros(1, dtype=np.uint8)
    begun = parts(5, PART, stop)
    assert next(begun) == slice(0, 1)
    stop[0] = 1
    with pytest.raises(OutOfTimeError):
        next(begun)


def test_all_that_takes_long_can_be_ended():
    problem = planted_problem((6, 5, 2, 2), 2.0, seed=0)
    with pytest.raises(OutOfTimeError):
        energy_table(problem, OVER)
    with pytest.raises(OutOfTimeError):
        sample_state(np.full((3, 2), 6**-0.5), 5, 0, OVER)
    with pytest.raises(OutOfTimeError):
        quantile(np.arange(10_000.0), np.ones(10_000), 0.5, OVER)


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_a_run_that_is_ended_gives_nothing(backend):
    problem = planted_problem((6, 5, 2, 2), 2.0, seed=0)
    stop = np.zeros(1, dtype=np.uint8)
    ansatz = Ansatz(problem, 2, backend=backend, stop=stop)
    angles = np.full(ansatz.size, 0.3)
    whole = ansatz.expectation(angles)
    stop[0] = 1
    for run in (ansatz.expectation, ansatz.value_and_gradient, ansatz.state, ansatz.cvar):
        with pytest.raises(OutOfTimeError):
            run(angles)
    stop[0] = 0
    assert ansatz.expectation(angles) == whole


def test_a_compiled_run_passes_over_its_tiles_once_the_byte_has_turned():
    problem = planted_problem((6, 5, 2, 2), 2.0, seed=0)
    simulator = Ansatz(problem, 2, backend="compiled").ended_by(OVER)._simulator
    layers = Ansatz(problem, 2).layers(np.full(8, 0.3))
    with pytest.raises(OutOfTimeError):
        simulator.state(layers, None)
    assert not simulator._state.any()  # not even the uniform start was written


def test_a_quantile_found_bin_by_bin_is_that_of_the_sorted_values(monkeypatch):
    monkeypatch.setattr("biselect_quantum.simulate.states.FEW", 4)
    monkeypatch.setattr("biselect_quantum.simulate.states.BINS", 4)
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=500), rng.integers(0, 5, 500) * 1.0, np.r_[-1e14, rng.normal(size=499)], np.ones(500)]
    for values in tables:
        weights = rng.integers(0, 16, 500) / 16  # sums of these are exact in any order
        order = np.argsort(values, kind="stable")
        for share in (1 / 64, 0.25, 1.0):
            reached = np.cumsum(weights[order])
            place = np.searchsorted(reached, share * reached[-1])
            assert quantile(values, weights, share) == values[order[place]]


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_an_ansatz_ended_by_a_byte_leaves_the_other_alone(backend):
    problem = planted_problem((6, 5, 2, 2), 2.0, seed=0)
    ansatz, angles = Ansatz(problem, 2, backend=backend), np.full(8, 0.3)
    stop = np.zeros(1, dtype=np.uint8)
    ended = ansatz.ended_by(stop)
    assert ended.expectation(angles) == ansatz.expectation(angles)
    stop[0] = 1
    for run in (ended.expectation, ended.value_and_gradient, ended.with_own_simulator, ended.at_depth(2).state):
        with pytest.raises(OutOfTimeError):
            run(*(() if run == ended.with_own_simulator else (angles,)))
    assert ansatz.expectation(angles) == ansatz.expectation(angles)
