"""The charge-block matrix product state against the whole vector, and against the sector simulator."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from threadpoolctl import threadpool_info, threadpool_limits

from biselect.core import SelectionProblem
from biselect.errors import InputError, MissingDependencyError
from biselect_quantum.circuits import Ansatz, AnsatzSpec, surrogate
from biselect_quantum.simulate.program import Op, Program
from biselect_quantum.simulate.wide import BondLimitError, WideSampler
from biselect_quantum.simulate.wide._chain import Chain, TooMuchWorkError, split
from biselect_quantum.simulate.wide.order import annealed_order, candidate_orders, commuting_levels


def whole_vector(circuit: Program) -> np.ndarray:
    """All 2^(N+D) amplitudes, qubit q the bit q of the position: slow and obvious."""
    n = circuit.qubits
    positions = np.arange(1 << n)
    psi = np.zeros(1 << n, dtype=complex)
    psi[sum(bit << q for q, bit in enumerate(circuit.bits))] = 1
    for op in circuit.ops:
        kind, qubits, angle = op.kind, op.qubits, op.angle
        z = [1 - 2 * ((positions >> q) & 1) for q in qubits]
        if kind == "xy":
            partner = positions ^ (1 << qubits[0]) ^ (1 << qubits[1])
            psi = np.where(z[0] != z[1], np.cos(angle) * psi - 1j * np.sin(angle) * psi[partner], psi)
        else:
            psi = psi * np.exp(-0.5j * angle * np.prod(z, axis=0))
    return psi


def op(kind: str, *qubits: int, angle: float) -> Op:
    return Op(kind=kind, qubits=qubits, angle=angle)


def program_of(n: int, d: int, bits: list[int], *ops: Op) -> Program:
    return Program(n_samples=n, n_features=d, k=sum(bits[:n]), m=sum(bits[n:]), bits=tuple(bits), layers=(ops,))


def all_bits(n: int) -> np.ndarray:
    return (np.arange(1 << n)[:, None] >> np.arange(n)) & 1


def any_problem(circuit: Program) -> SelectionProblem:
    rng = np.random.default_rng(0)
    shape = (circuit.n_samples, circuit.n_features)
    return SelectionProblem(coupling=rng.normal(size=shape), k=circuit.k, m=circuit.m)


@st.composite
def gate_circuits(draw, most=4):
    n, d = draw(st.integers(1, most)), draw(st.integers(1, most))
    k, m = draw(st.integers(1, n)), draw(st.integers(1, d))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    samples, features = rng.choice(n, k, replace=False), rng.choice(d, m, replace=False)
    pairs = [(q, r) for q in range(n + d) for r in range(n + d) if q != r]
    hops = [(q, r) for q, r in pairs if (q < n) == (r < n)]
    gates = []
    for kind in draw(st.lists(st.sampled_from(["rz", "rzz", "xy", "xy"]), max_size=25)):
        angle = float(rng.choice([0.0, np.pi / 2, np.pi, rng.uniform(-4, 4)]))
        if kind == "rz":
            gates.append(op(kind, int(rng.integers(n + d)), angle=angle))
        elif kind == "rzz":
            gates.append(op(kind, *pairs[rng.integers(len(pairs))], angle=angle))
        elif hops:
            gates.append(op(kind, *hops[rng.integers(len(hops))], angle=angle))
    bits = np.zeros(n + d, dtype=int)
    bits[[*samples, *(n + features)]] = 1
    return program_of(n, d, bits.tolist(), *gates)


@settings(max_examples=60)
@given(gate_circuits(), st.data())
def test_amplitudes_are_those_of_the_whole_vector(circuit, data):
    order = tuple(data.draw(st.permutations(range(circuit.qubits))))
    expected, bits = whole_vector(circuit), all_bits(circuit.qubits)
    double = WideSampler(any_problem(circuit), circuit, dtype=np.complex128, order=order)
    np.testing.assert_allclose(double.amplitudes(bits), expected, atol=1e-12)
    assert double.report.norm_error < 1e-12 and double.report.discarded_weight < 1e-24
    single = WideSampler(any_problem(circuit), circuit, order=order)
    assert single.amplitudes(bits).dtype == np.complex64
    np.testing.assert_allclose(single.amplitudes(bits), expected, atol=1e-5)
    np.testing.assert_allclose(single.probabilities(bits), np.abs(expected) ** 2, atol=1e-5)
    drawn, counts = single.draw(200, seed=1)
    assert counts.sum() == 200
    assert (single.probabilities(drawn) > 0).all()
    assert (drawn[:, : circuit.n_samples].sum(axis=1) == circuit.k).all()
    assert (drawn[:, circuit.n_samples :].sum(axis=1) == circuit.m).all()


def sparse_case(n, d, k, m, p, seed=0, start="random"):
    """A problem with a few cost edges, and its circuit; and the Ansatz of the same circuit."""
    rng = np.random.default_rng(seed)
    problem = SelectionProblem(
        coupling=rng.exponential(size=(n, d)),
        sample_scores=rng.random(n),
        feature_scores=rng.random(d),
        k=k,
        m=m,
        coupling_weight=0.7,
    )
    edges = [(int(rng.integers(n)), int(rng.integers(d))) for _ in range(4)]
    groups = surrogate(problem, edges)
    trees = tuple([(int(rng.integers(i)), i) for i in range(1, size)] for size in (n, d))
    if start == "warm":  # ones at the ends of the cost edges
        ends = [list(dict.fromkeys([*(edge[side] for edge in edges), *range(size)])) for side, size in ((0, n), (1, d))]
        start = (ends[0][:k], ends[1][:m])
    angles = rng.uniform(-1, 1, size=4 * p)
    options = {"schedule": "fully-grouped", "mixer": trees, "start": start, "groups": groups, "seed": seed}
    return problem, AnsatzSpec(problem, p, **options).program(angles), (options, angles)


@pytest.mark.parametrize("start", ["canonical", "random", "warm"])
@pytest.mark.parametrize("size", [(6, 5, 2, 3, 2), (5, 4, 1, 4, 3), (7, 1, 3, 1, 2), (4, 4, 4, 1, 2), (8, 6, 4, 3, 1)])
def test_a_wide_circuit_is_the_ansatz(size, start):
    problem, circuit, (options, angles) = sparse_case(*size, start=start)
    expected = Ansatz(problem, size[-1], **options).dense_state(angles)
    found = WideSampler(problem, circuit, dtype=np.complex128).amplitudes(all_bits(circuit.qubits))
    largest = np.abs(expected).argmax()
    global_phase = expected[largest] / found[largest]
    assert abs(global_phase) == pytest.approx(1, abs=1e-11)
    np.testing.assert_allclose(found * global_phase, expected, atol=1e-12)
    single = WideSampler(problem, circuit).probabilities(all_bits(circuit.qubits))
    np.testing.assert_allclose(single, np.abs(expected) ** 2, atol=1e-5, rtol=0)


def test_shots_follow_the_probabilities():
    problem, circuit, _ = sparse_case(6, 5, 2, 2, 2)
    bits = all_bits(circuit.qubits)
    exact = np.abs(whole_vector(circuit)) ** 2
    drawn, counts = WideSampler(problem, circuit).draw(20_000, seed=5)
    observed = np.zeros(len(bits))
    observed[(drawn.astype(np.int64) << np.arange(circuit.qubits)).sum(axis=1)] = counts
    common = exact > 5 / 20_000
    expected = np.append(exact[common], exact[~common].sum()) * 20_000
    assert common.sum() > 30
    assert chisquare(np.append(observed[common], observed[~common].sum()), expected).pvalue > 1e-3


def test_samples_carry_the_energies_of_the_problem_lowest_first():
    problem, circuit, _ = sparse_case(6, 5, 2, 3, 2)
    found = WideSampler(problem, circuit).sample(300, seed=2)
    assert found.shots == 300
    assert found.samples.shape[1] == 2 and found.features.shape[1] == 3
    assert (np.diff(found.energies) >= 0).all()
    for samples, features, energy in zip(found.samples, found.features, found.energies, strict=True):
        assert energy == pytest.approx(problem.energy(samples, features))
    assert len({(*s, -1, *f) for s, f in zip(found.samples.tolist(), found.features.tolist(), strict=True)}) == len(
        found.counts
    )


def test_one_seed_one_answer():
    problem, circuit, _ = sparse_case(7, 6, 3, 2, 2)
    first, again, other = (WideSampler(problem, circuit).sample(500, seed=seed) for seed in (7, 7, 8))
    for part in ("samples", "features", "counts"):
        np.testing.assert_array_equal(getattr(first, part), getattr(again, part))
    assert first.counts.tolist() != other.counts.tolist()


def test_the_bond_limit_fails_loudly_and_says_what_to_do():
    problem, circuit, _ = sparse_case(8, 6, 4, 3, 3)
    needed = WideSampler(problem, circuit).report.largest_bond
    assert WideSampler(problem, circuit, max_bond=needed).report.largest_bond == needed
    with pytest.raises(BondLimitError, match=r"max_bond is 3; raise max_bond, or take fewer layers"):
        WideSampler(problem, circuit, max_bond=3)


@pytest.mark.parametrize(("rungs", "winner"), [(8, "label"), pytest.param(10, "annealed", marks=pytest.mark.slow)])
def test_the_cheaper_order_is_kept(rungs, winner):
    """A ladder: sample i couples to feature i only, which the label order puts N places apart."""
    problem = SelectionProblem(coupling=np.eye(rungs), k=rungs // 2, m=rungs // 2)
    start = (range(0, rungs, 2), range(1, rungs, 2))
    groups = surrogate(problem, [(i, i) for i in range(rungs)])
    circuit = AnsatzSpec(problem, 2, "tied", "path", start, groups=groups).program([0.8, 0.9])
    chosen = WideSampler(problem, circuit).report
    assert chosen.order_name == winner
    work = {}
    for name, order in candidate_orders(circuit).items():
        chain = Chain(circuit, order, max_bond=1000)
        chain.run()
        work[name] = chain.work
        with pytest.raises(TooMuchWorkError):
            Chain(circuit, order, max_bond=1000, max_work=chain.work - 1).run()
    assert winner == min(work, key=work.__getitem__)
    again = WideSampler(problem, circuit, order=chosen.order).report
    assert (again.order_name, again.order, again.largest_bond) == ("given", chosen.order, chosen.largest_bond)


def test_annealing_recovers_a_shuffled_path():
    rng = np.random.default_rng(3)
    labels = rng.permutation(20)
    edges = tuple((int(labels[i]), int(labels[i + 1])) for i in range(19))
    order = annealed_order(20, edges, (2,) * 19)
    places = {qubit: place for place, qubit in enumerate(order)}
    assert all(abs(places[a] - places[b]) == 1 for a, b in edges)


@settings(max_examples=100)
@given(gate_circuits())
def test_levels_keep_what_does_not_commute_in_order(circuit):
    gates = [op(gate.kind, *gate.qubits, angle=float(number)) for number, gate in enumerate(circuit.ops)]
    levels = commuting_levels(gates, circuit.qubits)
    assert sorted((gate for level in levels for gate in level), key=lambda gate: gate.angle) == gates
    place = {gate: number for number, level in enumerate(levels) for gate in level}
    for later, gate in enumerate(gates):
        for earlier in gates[:later]:
            if set(gate.qubits) & set(earlier.qubits) and "xy" in (gate.kind, earlier.kind):
                assert place[earlier] < place[gate]


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (5, 8), (8, 5)])
@pytest.mark.parametrize("isometry_left", [True, False])
def test_a_split_keeps_the_matrix_at_its_rank(shape, isometry_left):
    rng = np.random.default_rng(1)
    rank = min(2, *shape)
    matrix = (rng.normal(size=(shape[0], rank)) + 1j) @ (rng.normal(size=(rank, shape[1])) + 0.5j)
    left, right, dropped = split(matrix, 1e-12, isometry_left=isometry_left)
    assert left.shape[1] == right.shape[0] == rank
    np.testing.assert_allclose(left @ right, matrix, atol=1e-12)
    isometry = left.conj().T @ left if isometry_left else right @ right.conj().T
    np.testing.assert_allclose(isometry, np.eye(rank), atol=1e-12)
    assert dropped < 1e-24


def test_what_a_split_drops_is_counted():
    matrix = np.diag([1.0, 1e-3, 1e-5]).astype(complex)
    for isometry_left in (True, False):
        left, right, dropped = split(matrix, 1e-2, isometry_left=isometry_left)
        assert left.shape == (3, 1)
        assert dropped == pytest.approx(np.linalg.norm(matrix - left @ right) ** 2)
        assert split(1e-3 * matrix, 1e-2, isometry_left=isometry_left).left.shape == (3, 0)


def test_a_circuit_without_moves_measures_its_start():
    circuit = program_of(3, 2, [1, 0, 1, 0, 1], op("rz", 0, angle=0.3), op("rzz", 0, 4, angle=1.0))
    sampler = WideSampler(any_problem(circuit), circuit)
    bits, counts = sampler.draw(10)
    assert bits.tolist() == [[1, 0, 1, 0, 1]] and counts.tolist() == [10]
    assert sampler.report.largest_bond == 1
    assert sampler.amplitudes(np.zeros((1, 5)))[0] == 0  # outside the sector


def test_blas_keeps_to_one_thread(monkeypatch):
    seen = []
    plain = Chain.apply

    def watched(chain, gate):
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        plain(chain, gate)

    monkeypatch.setattr(Chain, "apply", watched)
    problem, circuit, _ = sparse_case(3, 2, 1, 1, 1)
    with threadpool_limits(limits=2, user_api="blas"):
        before = threadpool_info()
        WideSampler(problem, circuit)
        assert threadpool_info() == before
    assert set(seen) == {1}


class DeviceArray(np.ndarray):
    """Stands in for an array on a GPU: it works with its like and refuses NumPy's, as CuPy does."""

    def get(self):
        return self.view(np.ndarray)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if any(type(given) is np.ndarray and given.ndim for given in inputs):
            raise TypeError("an array of the host meets one of the device")
        hosts = [given.get() if isinstance(given, DeviceArray) else given for given in inputs]
        return on_device(getattr(ufunc, method)(*hosts, **kwargs))

    def __getitem__(self, key):
        if type(key) is np.ndarray:
            raise TypeError("indices of the host for an array of the device")
        return super().__getitem__(key)


def on_device(array, dtype=None):
    return np.asarray(array, dtype=dtype).view(DeviceArray)


def test_a_device_reads_the_same_state_and_draws_the_same_shots(monkeypatch):
    device = SimpleNamespace(
        asarray=on_device,
        ones=lambda shape, dtype: on_device(np.ones(shape, dtype)),
        abs=np.abs,
        concatenate=lambda arrays: on_device(np.concatenate([array.get() for array in arrays])),
    )
    monkeypatch.setattr("biselect_quantum.simulate._gpu.require_cupy", lambda: device)
    problem, circuit, _ = sparse_case(7, 6, 3, 2, 2)
    cpu, gpu = WideSampler(problem, circuit), WideSampler(problem, circuit, device="gpu")
    for found, expected in zip(gpu.draw(400, seed=4), cpu.draw(400, seed=4), strict=True):
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, expected)
    bits = all_bits(circuit.qubits)
    assert type(gpu.amplitudes(bits)) is np.ndarray
    np.testing.assert_array_equal(gpu.amplitudes(bits), cpu.amplitudes(bits))


def test_a_gpu_without_cupy_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    problem, circuit, _ = sparse_case(3, 2, 1, 1, 1)
    with pytest.raises(MissingDependencyError, match=r"\./quantum\[gpu\]"):
        WideSampler(problem, circuit, device="gpu")


def test_bad_input_is_named():
    circuit = program_of(2, 2, [1, 0, 0, 1], op("xy", 0, 1, angle=0.4))
    problem = any_problem(circuit)
    for options, message in [
        ({"order": (0, 1, 2, 2)}, "each of the qubits 0..3 once"),
        ({"dtype": np.float64}, "complex64 or complex128"),
        ({"max_bond": 0}, "max_bond must be at least 1"),
        ({"device": "tpu"}, "device must be one of cpu, gpu"),
    ]:
        with pytest.raises(InputError, match=message):
            WideSampler(problem, circuit, **options)
    sampler = WideSampler(problem, circuit)
    with pytest.raises(InputError, match="shots must be at least 1"):
        sampler.sample(0)
    for bits in ([0, 1, 1, 0], [[0, 1, 1]], [[0, 1, 2, 0]]):
        with pytest.raises(InputError, match="rows of 4 zeros and ones"):
            sampler.amplitudes(bits)
    for other in (replace(problem, k=2), SelectionProblem(coupling=np.ones((3, 2)), k=1, m=1)):
        with pytest.raises(InputError, match=r"for the problem and \(2, 2, 1, 1\) for the circuit"):
            WideSampler(other, circuit)
    with pytest.raises(InputError, match="angles are needed for γ, β"):
        WideSampler(problem, AnsatzSpec(problem, 1, "tied", start="canonical").program())
    with pytest.raises(InputError, match="starts from a basis state"):
        WideSampler(problem, AnsatzSpec(problem, 1, "tied").program([0.1, 0.2]))


@pytest.mark.slow
@pytest.mark.parametrize("start", ["random", "warm"])
def test_36_qubits_against_the_sector(start):
    problem, circuit, (options, angles) = sparse_case(22, 14, 6, 5, 2, start=start)
    ansatz = Ansatz(problem, 2, backend="compiled", dtype=np.complex64, **options)
    state = ansatz.state(angles)
    sampler = WideSampler(problem, circuit)
    bits, _ = sampler.draw(2000, seed=1)
    from biselect.core.sector import rank

    rows = rank(np.nonzero(bits[:, :22])[1].reshape(-1, 6), 22)
    columns = rank(np.nonzero(bits[:, 22:])[1].reshape(-1, 5), 14)
    expected = np.abs(state[rows, columns].astype(np.complex128)) ** 2
    found = sampler.probabilities(bits)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-12)  # the sector's own rounding is 1e-6 of the norm
    assert found.sum() == pytest.approx(expected.sum(), rel=1e-5)


@pytest.mark.parametrize("shots", [2.5, 0, "3"])
def test_shots_are_a_whole_number(shots):
    circuit = program_of(2, 1, [1, 0, 1])
    sampler = WideSampler(SelectionProblem(coupling=np.ones((2, 1)), k=1, m=1), circuit)
    with pytest.raises(InputError, match="and whole"):
        sampler.draw(shots)
