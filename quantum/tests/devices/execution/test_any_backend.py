"""Samplers and backends of other makers: the same shots for a seed, the right bits, one error."""

import numpy as np
import pytest
from qiskit import ClassicalRegister, QuantumCircuit
from qiskit.primitives import BackendSamplerV2, BaseSamplerV2, StatevectorSampler
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit_aer import AerSimulator
from qiskit_aer.noise import NoiseModel, depolarizing_error
from qiskit_aer.primitives import SamplerV2

from biselect.errors import BiselectError, InputError
from biselect_quantum.devices import compile_problem
from biselect_quantum.devices.execution._any_backend import bits_of, with_seed
from biselect_quantum.devices.execution.outcomes import forecast, outcome
from biselect_quantum.devices.execution.run import load_run
from biselect_quantum.devices.execution.runner import execute, take_shots
from biselect_quantum.devices.execution.samplers import EXACT, NOISE_MODEL, UNKNOWN, sampler_for
from biselect_quantum.devices.execution.sector_sampler import SectorSampler
from biselect_quantum.devices.qiskit_circuits import ideal_probabilities

EXACT_ONES = {
    "backend:aer_simulator": AerSimulator,
    "sampler:qiskit.StatevectorSampler": StatevectorSampler,
    "sampler:qiskit_aer.SamplerV2-on-aer_simulator": SamplerV2,
    "sampler:qiskit.BackendSamplerV2-on-aer_simulator": lambda: BackendSamplerV2(backend=AerSimulator()),
    "sampler:biselect_quantum.SectorSampler": SectorSampler,
}


class Stubborn(BaseSamplerV2):
    """Somebody's sampler that takes no seed."""

    def __init__(self, fails=None):
        self._inner = StatevectorSampler()
        self._fails = fails

    def run(self, pubs, *, shots=None):
        if self._fails:
            raise RuntimeError(self._fails)
        return self._inner.run(pubs, shots=shots)


@pytest.fixture(scope="module")
def noisy_device(problem):
    backend = GenericBackendV2(9, ["cz", "rz", "sx", "x"], coupling_map=[[q, q + 1] for q in range(8)], seed=1)
    return backend, compile_problem(problem, backend, [0.4, 0.3], depth=1, schedule="tied", compare=False)


@pytest.mark.parametrize("name", EXACT_ONES)
def test_exact_samplers_follow_the_circuit_and_their_seed(stored, problem, name):
    """The compiled circuit has more wires than it uses; each sampler gets what it can take."""
    given = EXACT_ONES[name]()
    assert (sampler_for(given).name, sampler_for(given).kind) == (name, EXACT)
    taken = [sampler_for(given).sample(stored, 4000, seed) for seed in (3, 3, 4)]
    assert np.array_equal(taken[0].counts, taken[1].counts) and not np.array_equal(taken[0].counts, taken[2].counts)
    chances = ideal_probabilities(stored.gates)
    seen = np.zeros(chances.size)
    seen[taken[0].bits @ (1 << np.arange(taken[0].bits.shape[1]))] = taken[0].counts / 4000
    assert np.abs(seen - chances).sum() / 2 < 0.06
    assert take_shots(stored, given, shots=50, seed=1).exact_budget_mass == 1


def test_a_run_is_fixed_for_the_object_and_goes_on_with_another_of_its_kind(stored, fixed, records, tmp_path):
    class Broken(StatevectorSampler):
        left = 1

        def run(self, pubs, *, shots=None):
            if not Broken.left:
                raise RuntimeError("token=abc123 expired")
            Broken.left -= 1
            return super().run(pubs, shots=shots)

    Broken.__name__, Broken.__module__ = "StatevectorSampler", "qiskit"
    run = fixed(tmp_path / "cut", StatevectorSampler())
    with pytest.raises(BiselectError, match=r"StatevectorSampler gave no shots: RuntimeError: token=\*\*\* expired$"):
        execute(run, Broken())
    assert len(records(run.folder)) == 1
    whole = fixed(tmp_path / "whole", StatevectorSampler(seed=7))
    execute(whole, StatevectorSampler(seed=7))
    execute(load_run(str(run.folder)), StatevectorSampler())
    assert records(run.folder) == records(whole.folder)
    assert len({str(record["counts"]) for record in records(whole.folder)}) == 3  # a seed of its own for each repeat
    assert outcome(run, execute(run)).kind == EXACT
    with pytest.raises(InputError, match=r"not for sampler:qiskit_aer\.SamplerV2"):
        execute(run, SamplerV2())
    unfinished = fixed(tmp_path / "new", StatevectorSampler())
    with pytest.raises(InputError, match="give the object itself"):
        execute(unfinished)
    assert forecast(stored, unfinished.content)["on"] == "sampler:qiskit.StatevectorSampler"


def test_backends_with_errors_say_so_and_get_their_own_qubits(noisy_device, stored, problem):
    backend, made = noisy_device
    for given in (backend, AerSimulator(noise_model=NoiseModel.from_backend(backend))):
        assert sampler_for(given).kind == NOISE_MODEL
        assert 0.6 < take_shots(made, given, shots=200).exact_budget_mass < 1
    with pytest.raises(InputError, match="give this backend to compile_problem instead"):
        take_shots(stored, backend)


def test_a_device_with_errors_is_not_taken_for_the_one_without(fixed, tmp_path):
    model = NoiseModel()
    model.add_all_qubit_quantum_error(depolarizing_error(0.2, 2), "cz")
    with pytest.raises(InputError, match="gives exact simulation, not hardware; this one gives noise model"):
        execute(fixed(tmp_path, AerSimulator()), AerSimulator(noise_model=model))


def test_a_sampler_without_a_seed_says_that_its_shots_do_not_come_again(fixed, tmp_path):
    said = []
    run = fixed(tmp_path, Stubborn(), repeats=1)
    execute(run, Stubborn(), say=said.append)
    assert run.kind == UNKNOWN and any("takes no seed" in text for text in said)


def test_the_callers_sampler_is_left_as_it_was():
    for make in EXACT_ONES.values():
        given = make()
        if isinstance(given, BaseSamplerV2):
            before = repr(vars(given))
            assert with_seed(given, 5) is not given and repr(vars(given)) == before


def test_bits_come_from_every_classical_register():
    circuit = QuantumCircuit(3)
    for name, size in (("b", 2), ("a", 1)):
        circuit.add_register(ClassicalRegister(size, name))
    circuit.x(0)
    circuit.measure([0, 1, 2], [2, 0, 1])
    result = StatevectorSampler().run([circuit], shots=5).result()[0]
    assert bits_of(result.data, circuit).tolist() == [[0, 0, 1]] * 5


def test_what_takes_no_shots_is_refused(stored):
    from qiskit_ibm_runtime.executor_estimator import EstimatorV2

    for other in (3, EstimatorV2(mode=AerSimulator())):
        with pytest.raises(InputError, match=f"a {type(other).__name__} takes no shots"):
            take_shots(stored, other)


@pytest.mark.filterwarnings("ignore:Qiskit backend .* has no QubitProperties")
@pytest.mark.parametrize("pair", ["rzz", "rxx", "cx", "ecr"])
def test_a_backend_that_joins_all_pairs_without_cz_is_taken_by_a_qiskit_path(problem, pair):
    """As ion traps do; our own paths refuse it before anything is placed or trained."""
    backend = GenericBackendV2(10, basis_gates=["rz", "sx", "x", pair], noise_info=False, seed=1)
    steps = []
    with pytest.raises(InputError, match=r"is made of CZ.*take complete-cz"):
        compile_problem(problem, backend, depth=1, progress=steps.append)
    assert not steps
    made = compile_problem(problem, backend, [0.4, 0.3], depth=1, schedule="tied", path="complete-cz")
    assert made.retained_share == 1.0 and next(iter(made.references)) == "Qiskit Opt-3"
    assert take_shots(made, backend, shots=20, seed=1).shots == 20
    assert take_shots(made, StatevectorSampler(), shots=200, seed=1).exact_budget_mass > 0.99
