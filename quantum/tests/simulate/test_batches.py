"""Batches in the lanes of a vector, against the plain backend one circuit at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits import SCHEDULES, Ansatz, Observable
from biselect_quantum.circuits.cost_groups import split_terms
from biselect_quantum.simulate.limits import OutOfTimeError

MIXERS = ["ring", "path", "complete"]


def some_problem(rng, n, d, k, m):
    return SelectionProblem(
        coupling=rng.normal(size=(n, d)), sample_scores=rng.normal(size=n), feature_scores=rng.normal(size=d), k=k, m=m
    )


@st.composite
def batches(draw):
    """A circuit, an observable, and a batch of angles."""
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    k, m = draw(st.integers(1, n)), draw(st.integers(1, d))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    problem = some_problem(rng, n, d, k, m)
    shape = (problem.sector.sample_subsets, problem.sector.feature_subsets)
    start = draw(st.sampled_from(["dicke", "canonical", "random", "state"]))
    if start == "state":
        start = rng.normal(size=shape) + 1j * rng.normal(size=shape)
        start /= np.linalg.norm(start)
    own = draw(st.booleans())
    groups = split_terms(problem, rng.integers(0, 2, size=n + d + n * d)) if own else None
    schedule = draw(st.sampled_from([name for name in SCHEDULES if not (own and name == "bilinear")]))
    circuit = {"depth": draw(st.integers(1, 4)), "schedule": schedule, "start": start, "groups": groups}
    circuit["mixer"] = draw(st.sampled_from(MIXERS)), draw(st.sampled_from(MIXERS))
    circuit["seed"] = draw(st.integers(0, 9))
    plain = Ansatz(problem, backend="plain", **circuit)
    levels = np.sort(plain.energies.ravel())
    threshold = float(levels[min(draw(st.sampled_from([0, 2, 20])), levels.size - 1)])
    observable = draw(
        st.sampled_from(
            [
                Observable(),
                Observable(kind="hit", threshold=threshold),
                Observable(kind="hit", threshold=float(levels[0]) - 1),  # nothing hits
                Observable(kind="excess", threshold=threshold),
                Observable(kind="cvar", share=0.3),
                Observable(kind="values", values=rng.normal(size=shape)),
            ]
        )
    )
    return problem, circuit, plain, observable, rng.normal(size=(draw(st.sampled_from([4, 9, 18])), plain.size))


@settings(max_examples=40, deadline=None)
@given(batches(), st.sampled_from([1, 2]))
def test_a_batch_gives_what_each_circuit_gives(batch, threads):
    problem, circuit, plain, observable, angles = batch
    expected = [plain.value_and_gradient(vector, observable) for vector in angles]
    values, gradients = np.array([value for value, _ in expected]), np.array([slope for _, slope in expected])
    scale = 1 + np.abs(plain.energies).max()
    for dtype, close in ((np.complex128, 1e-12), (np.complex64, 1e-5)):
        ansatz = Ansatz(problem, backend="compiled", dtype=dtype, threads=threads, **circuit)
        np.testing.assert_allclose(ansatz.many(angles, observable), values, atol=close * scale)
        found = ansatz.many_with_gradients(angles, observable)
        np.testing.assert_allclose(found[0], values, atol=close * scale)
        np.testing.assert_allclose(found[1], gradients, atol=10 * close * scale**2)  # derivatives by γ are of order E²


@pytest.mark.parametrize("start", ["canonical", "dicke"])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_a_sector_of_some_size(start, dtype):
    rng = np.random.default_rng(0)
    problem = some_problem(rng, 12, 8, 3, 5)
    one_by_one, at_once = (Ansatz(problem, 3, start=start, backend="compiled", dtype=dtype) for _ in range(2))
    angles = rng.normal(size=(19, one_by_one.size))
    best = float(one_by_one.energies.min())
    close = {"atol": 1e-12, "rtol": 1e-11} if dtype == np.complex128 else {"atol": 2e-5, "rtol": 1e-4}
    for observable in (Observable(), Observable(kind="hit", threshold=best), Observable(kind="cvar")):
        found = [one_by_one.value_and_gradient(vector, observable) for vector in angles]
        values, gradients = at_once.many_with_gradients(angles, observable)
        np.testing.assert_allclose(values, [value for value, _ in found], **close)
        np.testing.assert_allclose(gradients, [gradient for _, gradient in found], **close)


@pytest.mark.parametrize("start", ["random", "dicke"])
def test_a_batch_keeps_rules(start):
    rng = np.random.default_rng(5)
    rules = {"forced_in": [1], "groups": [{"members": [2, 3, 4], "exactly": 1}]}
    problem = SelectionProblem(coupling=rng.normal(size=(7, 5)), k=3, m=2, sample_rules=rules)
    plain, compiled = (Ansatz(problem, 3, start=start, backend=backend) for backend in ("plain", "compiled"))
    angles = rng.normal(size=(9, plain.size))
    best = Observable(kind="hit", threshold=float(plain.energies.min()))
    for observable in (Observable(), best, Observable(kind="cvar", share=0.3)):
        expected = [plain.value_and_gradient(vector, observable) for vector in angles]
        values, gradients = compiled.many_with_gradients(angles, observable)
        np.testing.assert_allclose(values, [value for value, _ in expected], atol=1e-12)
        np.testing.assert_allclose(gradients, [gradient for _, gradient in expected], atol=1e-11)


@pytest.mark.parametrize("start", ["canonical", "dicke"])
def test_amplitudes_of_hits_make_the_hit_rate_and_its_gradient(start):
    rng = np.random.default_rng(1)
    ansatz = Ansatz(some_problem(rng, 6, 5, 3, 2), 2, start=start, backend="compiled")
    hits = Observable(kind="hit", threshold=float(np.sort(ansatz.energies.ravel())[2]))
    angles = rng.normal(size=(3, ansatz.size))
    amplitudes, slopes = ansatz.hit_amplitudes_with_gradients(angles, hits)
    values, gradients = ansatz.many_with_gradients(angles, hits)
    np.testing.assert_allclose((np.abs(amplitudes) ** 2).sum(axis=1), values, atol=1e-14)
    np.testing.assert_allclose(2 * (amplitudes.conj()[..., None] * slopes).real.sum(axis=1), gradients, atol=1e-13)
    step = np.zeros(ansatz.size)
    step[1] = 1e-5
    sides = [ansatz.hit_amplitudes_with_gradients(angles + sign * step, hits)[0] for sign in (1, -1)]
    np.testing.assert_allclose((sides[0] - sides[1]) / 2e-5, slopes[:, :, 1], atol=1e-9)
    everything = Observable(kind="hit", threshold=float(ansatz.energies.max()))
    with pytest.raises(InputError, match="at most 8 hits"):
        ansatz.hit_amplitudes_with_gradients(angles, everything)


def test_observables_in_turn_and_empty_batches():
    ansatz = Ansatz(some_problem(np.random.default_rng(2), 5, 4, 2, 2), 2, backend="compiled")
    angles = np.random.default_rng(3).normal(size=(9, ansatz.size))
    first, second = np.ones(ansatz.energies.shape), np.eye(*ansatz.energies.shape)
    for _ in range(2):
        np.testing.assert_allclose(ansatz.many(angles, Observable(kind="values", values=first)), 1)
        found = ansatz.many(angles, Observable(kind="values", values=second))
        expected = [np.sum(ansatz.probabilities(vector) * second) for vector in angles]
        np.testing.assert_allclose(found, expected, atol=1e-12)
    values, gradients = ansatz.many_with_gradients(angles[:0])
    assert values.shape == (0,) and gradients.shape == (0, ansatz.size)


def test_a_batch_ends_when_it_is_stopped():
    stop = np.zeros(1, dtype=np.uint8)
    ansatz = Ansatz(some_problem(np.random.default_rng(4), 5, 4, 2, 2), 2, backend="compiled", stop=stop)
    angles = np.zeros((16, ansatz.size))
    ansatz.many(angles)
    stop[0] = 1
    with pytest.raises(OutOfTimeError):
        ansatz.many_with_gradients(angles)
    stop[0] = 0
    assert len(ansatz.many(angles)) == 16


def test_amplitudes_of_no_hits_or_no_circuits_are_refused():
    ansatz = Ansatz(some_problem(np.random.default_rng(1), 6, 5, 3, 2), 2, backend="compiled")
    angles, lowest = np.zeros((3, ansatz.size)), float(ansatz.energies.min())
    for batch, threshold in ((angles, lowest - 1), (angles[:0], lowest)):
        with pytest.raises(InputError, match="one hit at least"):
            ansatz.hit_amplitudes_with_gradients(batch, Observable(kind="hit", threshold=threshold))
