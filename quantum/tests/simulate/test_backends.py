"""Every backend against the whole 2^n vector, and against each other."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits.mixers import mixer_classes
from biselect_quantum.conventions import feature_qubit
from biselect_quantum.simulate import limits as state_memory
from biselect_quantum.simulate.backends import make_simulator
from biselect_quantum.simulate.layers import ENERGY, Layers, Observable, Register, energy_table
from biselect_quantum.simulate.states import dense_vector

SPECIAL_ANGLES = [0.0, np.pi / 2, -np.pi / 2, np.pi, np.pi / 2 + 1e-9, 1.5 * np.pi, 0.3]


def run_dense(layers, samples, features, start):
    """The circuit on the full register, gate by gate from any vector: slow and obvious."""
    n, d = samples.n, features.n
    psi = start.astype(np.complex128).copy()
    bits = (np.arange(psi.size)[:, None] >> np.arange(n + d)) & 1
    s, f = bits[:, :n], bits[:, n:]
    for layer in range(layers.depth):
        angle = s @ layers.sample[layer] + f @ layers.feature[layer]
        angle = angle + np.einsum("xi,ij,xj->x", s, layers.pair[layer], f)
        psi *= np.exp(1j * angle)
        for edges in samples.classes:
            for i, j in edges:
                psi = hop(psi, i, j, layers.mixing[layer])
        for edges in features.classes:
            for i, j in edges:
                psi = hop(psi, feature_qubit(i, n), feature_qubit(j, n), layers.mixing[layer])
    return psi


def hop(psi, a, b, beta):
    """exp(-iβ(XX+YY)/2) on qubits a and b."""
    positions = np.arange(psi.size)
    one_of_two = ((positions >> a) & 1) != ((positions >> b) & 1)
    partner = positions ^ (1 << a) ^ (1 << b)
    rotated = np.cos(beta) * psi - 1j * np.sin(beta) * psi[partner]
    return np.where(one_of_two, rotated, psi)


@st.composite
def circuits(draw, most=5):
    """A problem, its registers, some layers and a start state."""
    n, d = draw(st.integers(1, most)), draw(st.integers(1, most))
    k, m = draw(st.integers(1, n)), draw(st.integers(1, d))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    problem = SelectionProblem(
        coupling=rng.normal(size=(n, d)), sample_scores=rng.normal(size=n), feature_scores=rng.normal(size=d), k=k, m=m
    )
    registers = []
    for size, chosen in ((n, k), (d, m)):
        pairs = [(i, j) for i in range(size) for j in range(i + 1, size)]
        graph = draw(st.sampled_from(["ring", "path", "complete", "random"]))
        edges = [pair for pair in pairs if rng.random() < 0.5] if graph == "random" else graph
        registers.append(Register(n=size, ones=chosen, classes=mixer_classes(edges, size)))
    p = draw(st.integers(1, 4))
    mixing = rng.uniform(-4, 4, size=p)
    mixing[0] = draw(st.sampled_from([*SPECIAL_ANGLES, mixing[0]]))
    layers = Layers(
        sample=rng.normal(size=(p, n)), feature=rng.normal(size=(p, d)), pair=rng.normal(size=(p, n, d)), mixing=mixing
    )
    start = None
    shape = energy_table(problem).shape
    if draw(st.booleans()):
        start = rng.normal(size=shape) + 1j * rng.normal(size=shape)
        start /= np.linalg.norm(start)
    return problem, *registers, layers, start


def uniform_or(start, shape):
    return np.full(shape, 1 / np.sqrt(np.prod(shape)), dtype=complex) if start is None else start


@settings(max_examples=150)
@given(circuits(), st.sampled_from(["plain", "compiled"]), st.sampled_from([1, 2]))
def test_states_are_those_of_the_whole_vector(circuit, backend, threads):
    problem, samples, features, layers, start = circuit
    simulator = make_simulator(problem, samples, features, backend=backend, threads=threads)
    state = simulator.state(layers, start)
    begin = dense_vector(uniform_or(start, state.shape), samples, features)
    expected = run_dense(layers, samples, features, begin)
    np.testing.assert_allclose(dense_vector(state, samples, features), expected, atol=1e-12)
    assert np.linalg.norm(state) == pytest.approx(1, abs=1e-12)  # nothing leaves the sector
    energy = simulator.expectation(layers, start, ENERGY)
    bits = (np.arange(expected.size)[:, None] >> np.arange(samples.n + features.n)) & 1
    assert energy == pytest.approx(float(np.abs(expected) ** 2 @ problem.bit_energies(bits)), abs=1e-10)


@settings(max_examples=60)
@given(circuits(most=4), st.sampled_from(["plain", "compiled", "continuous"]), st.data())
def test_gradients_are_central_differences(circuit, backend, data):
    problem, samples, features, layers, start = circuit
    simulator = make_simulator(problem, samples, features, backend=backend)
    table = energy_table(problem)
    observable = data.draw(
        st.sampled_from(
            [
                ENERGY,
                Observable(kind="hit", threshold=float(np.median(table))),
                Observable(kind="excess", threshold=float(np.median(table))),
                Observable(kind="values", values=np.cos(np.arange(table.size)).reshape(table.shape)),
            ]
        )
    )
    value, gradient = simulator.value_and_gradient(layers, start, observable)
    assert value == pytest.approx(simulator.expectation(layers, start, observable), abs=1e-11)
    step = 1e-5
    for name, found in (
        ("pair", gradient.pair),
        ("mixing", gradient.mixing),
        ("sample", gradient.pair.sum(axis=2) / problem.m),
        ("feature", gradient.pair.sum(axis=1) / problem.k),
    ):
        place = tuple(data.draw(st.integers(0, size - 1)) for size in found.shape)
        sides = []
        for sign in (1, -1):
            moved = {key: getattr(layers, key).copy() for key in ("sample", "feature", "pair", "mixing")}
            moved[name][place] += sign * step
            sides.append(simulator.expectation(Layers(**moved), start, observable))
        assert found[place] == pytest.approx((sides[0] - sides[1]) / (2 * step), abs=2e-7)


@settings(max_examples=60)
@given(circuits(), st.sampled_from([1, 2]))
def test_backends_agree_on_gradients_and_single_precision_is_close(circuit, threads):
    problem, samples, features, layers, start = circuit
    value, plain = make_simulator(problem, samples, features, backend="plain").value_and_gradient(layers, start, ENERGY)
    double = make_simulator(problem, samples, features, backend="compiled", threads=threads)
    compiled = double.value_and_gradient(layers, start, ENERGY)
    assert compiled[0] == pytest.approx(value, abs=1e-11)
    np.testing.assert_allclose(compiled[1].pair, plain.pair, atol=1e-10)
    np.testing.assert_allclose(compiled[1].mixing, plain.mixing, atol=1e-10)
    single = make_simulator(problem, samples, features, backend="compiled", dtype=np.complex64)
    scale = np.abs(energy_table(problem)).max()
    assert single.expectation(layers, start, ENERGY) == pytest.approx(value, abs=1e-4 * scale)
    np.testing.assert_allclose(single.value_and_gradient(layers, start, ENERGY)[1].pair, plain.pair, atol=1e-3 * scale)


def test_a_sector_of_many_tiles_agrees_between_backends():
    rng = np.random.default_rng(0)
    n, d, k, m, p = 9, 8, 4, 3, 3
    problem = SelectionProblem(coupling=rng.random((n, d)), k=k, m=m)
    registers = [
        Register(n=n, ones=k, classes=mixer_classes("ring", n)),
        Register(n=d, ones=m, classes=mixer_classes("complete", d)),
    ]
    layers = Layers(
        sample=rng.normal(size=(p, n)),
        feature=rng.normal(size=(p, d)),
        pair=rng.normal(size=(p, n, d)),
        mixing=rng.normal(size=p),
    )
    plain = make_simulator(problem, *registers, backend="plain")
    for threads in (1, 2, 3):
        compiled = make_simulator(problem, *registers, backend="compiled", threads=threads)
        np.testing.assert_allclose(compiled.state(layers, None), plain.state(layers, None), atol=1e-13)
        found, expected = (
            compiled.value_and_gradient(layers, None, ENERGY)[1],
            plain.value_and_gradient(layers, None, ENERGY)[1],
        )
        np.testing.assert_allclose(found.pair, expected.pair, atol=1e-12)
        again = compiled.value_and_gradient(layers, None, ENERGY)[1]
        np.testing.assert_array_equal(found.pair, again.pair)  # the same every time


def test_a_state_at_the_threshold_counts_as_a_hit():
    problem = SelectionProblem(coupling=np.random.default_rng(3).random((5, 5)) * 7, k=2, m=3)
    registers = [Register(n=5, ones=2, classes=()), Register(n=5, ones=3, classes=())]
    layers = Layers(sample=np.zeros((1, 5)), feature=np.zeros((1, 5)), pair=np.zeros((1, 5, 5)), mixing=np.zeros(1))
    lowest = Observable(kind="hit", threshold=float(energy_table(problem).min()))
    for backend in ("plain", "compiled"):
        for dtype in (np.complex64, np.complex128):
            simulator = make_simulator(problem, *registers, backend=backend, dtype=dtype)
            assert simulator.expectation(layers, None, lowest) == pytest.approx(1 / 100, rel=1e-5)


def test_without_edges_nothing_moves_and_the_continuous_mixer_agrees_on_one_edge():
    rng = np.random.default_rng(0)
    problem = SelectionProblem(coupling=rng.random((2, 1)), k=1, m=1)
    registers = [Register(n=2, ones=1, classes=(((0, 1),),)), Register(n=1, ones=1, classes=())]
    layers = Layers(
        sample=rng.random((2, 2)), feature=rng.random((2, 1)), pair=rng.random((2, 2, 1)), mixing=rng.random(2)
    )
    product = make_simulator(problem, *registers, backend="plain").state(layers, None)
    np.testing.assert_allclose(make_simulator(problem, *registers, backend="continuous").state(layers, None), product)


def test_what_does_not_fit_is_refused_with_the_figures(monkeypatch):
    monkeypatch.setattr(state_memory, "free_memory", lambda: 2**30)
    problem = SelectionProblem(coupling=np.ones((24, 16)), k=8, m=6)
    registers = [Register(n=24, ones=8, classes=()), Register(n=16, ones=6, classes=())]
    with pytest.raises(InputError, match=r"about 5\.8 × 10⁹, and its circuit needs 88\.1 GiB, but 1\.0 GiB are free"):
        make_simulator(problem, *registers, backend="compiled")
    for wrong in ({"backend": "magic"}, {"dtype": np.float64}, {"threads": 0}):
        with pytest.raises(InputError, match="must be"):
            make_simulator(problem, *registers, **{"backend": "compiled", **wrong})


@pytest.mark.parametrize("threads", [1, 2])
def test_long_runs_tell_how_far_they_are(monkeypatch, threads):
    from biselect_quantum.simulate import _compiled as compiled

    monkeypatch.setattr(compiled, "LOOK_EVERY", 1e-4)
    rng = np.random.default_rng(0)
    n, d, p = 14, 10, 60  # long enough for a look, however busy the machine is
    problem = SelectionProblem(coupling=rng.random((n, d)), k=5, m=4)
    registers = [Register(n=s, ones=c, classes=mixer_classes("ring", s)) for s, c in ((n, 5), (d, 4))]
    layers = Layers(sample=np.zeros((p, n)), feature=np.zeros((p, d)), pair=np.ones((p, n, d)), mixing=np.ones(p))
    seen: list[float] = []
    watched = make_simulator(problem, *registers, backend="compiled", threads=threads, progress=seen.append)
    quiet = make_simulator(problem, *registers, backend="compiled")
    assert watched.expectation(layers, None, ENERGY) == pytest.approx(quiet.expectation(layers, None, ENERGY))
    assert seen == sorted(seen) and 0 <= seen[0] < seen[-1] <= 1


@pytest.mark.parametrize("scale", [1e-15, 1e-7, 1.0, 1e9])
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_hits_are_judged_on_the_scale_of_the_energies(scale, offset, dtype):
    rng = np.random.default_rng(0)
    problem = SelectionProblem(coupling=scale * rng.random((6, 5)), sample_scores=np.full(6, scale * offset), k=3, m=2)
    registers = [Register(n=6, ones=3, classes=mixer_classes("ring", 6)), Register(n=5, ones=2, classes=())]
    layers = Layers(sample=np.zeros((1, 6)), feature=np.zeros((1, 5)), pair=np.ones((1, 6, 5)), mixing=np.zeros(1))
    best = Observable(kind="hit", threshold=float(energy_table(problem).min()))
    for backend in ("plain", "compiled"):
        simulator = make_simulator(problem, *registers, backend=backend, dtype=dtype)
        assert simulator.expectation(layers, None, best) == pytest.approx(1 / 200, rel=1e-4)


def test_one_simulator_serves_several_threads():
    rng = np.random.default_rng(0)
    problem = SelectionProblem(coupling=rng.random((12, 8)), k=5, m=4)
    registers = [Register(n=s, ones=c, classes=mixer_classes("ring", s)) for s, c in ((12, 5), (8, 4))]
    simulator = make_simulator(problem, *registers, backend="compiled")
    circuits_ = [
        Layers(sample=np.zeros((2, 12)), feature=np.zeros((2, 8)), pair=rng.random((2, 12, 8)), mixing=rng.random(2))
        for _ in range(20)
    ]
    alone = [simulator.expectation(layers, None, ENERGY) for layers in circuits_]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda layers: simulator.expectation(layers, None, ENERGY), circuits_))
    assert together == alone


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "Hit"}, {"kind": "hit", "threshold": np.nan}, {"kind": "values"}, {"values": np.ones((2, 2))}],
)
def test_wrong_observables_are_refused(wrong):
    with pytest.raises(InputError):
        Observable(**wrong)
