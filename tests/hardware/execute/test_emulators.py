"""Circuits for ion traps on simulators that their makers publish; each test is skipped where the package is missing."""

import numpy as np
import pytest

from biselect import SelectionProblem
from biselect.hardware.bundle import compile_problem
from biselect.hardware.circuits import cut, ideal_probabilities
from biselect.hardware.execute.ionq_gates import in_native_gates

ANGLES = [0.4, 0.3, -0.5, 0.6]


def made(name, start="random"):
    problem = SelectionProblem(coupling=np.random.default_rng(0).normal(size=(3, 3)), k=1, m=2)
    return compile_problem(problem, name, ANGLES, depth=2, start=start, compare=False, seed=1).compiled


@pytest.mark.parametrize("start", ["random", "dicke"])
@pytest.mark.parametrize("name", ["ionq-aria", "ionq-forte"])
def test_braket_runs_native_circuits_to_the_same_distribution(name, start):
    provider = pytest.importorskip("qiskit_braket_provider")
    simulators = pytest.importorskip("braket.devices")
    compiled = made(name, start)
    native = in_native_gates(compiled.circuit).remove_final_measurements(inplace=False)
    circuit = provider.to_braket(native, verbatim=True)
    names = {str(step.operator.name) for step in circuit.instructions}
    assert {"StartVerbatimBox", "GPi2", "EndVerbatimBox", "MS" if name == "ionq-aria" else "ZZ"} <= names
    result = simulators.LocalSimulator("braket_dm").run(circuit.probability(), shots=0).result()
    theirs = (
        np.array(result.values[0]).reshape((2,) * 6).transpose(range(5, -1, -1)).ravel()
    )  # qubit 0 comes first there
    ours = ideal_probabilities(compiled.circuit)
    assert 0.5 * np.abs(theirs - ours).sum() < 1e-9


def test_qiskit_ionq_hands_in_the_native_gates_and_reads_them_back():
    """Its own backend, with a client that never asks anybody: the job's JSON holds our gates, its counts our bits."""
    ionq = pytest.importorskip("qiskit_ionq")
    import json

    from qiskit_ionq.helpers import qiskit_to_ionq

    from biselect.hardware.execute.ionq import IonqSampling

    compiled = made("ionq-forte")
    backend = ionq.IonQProvider(token="a key").get_backend("qpu.forte-1", gateset="native")
    handed_in = {}

    class Client:
        _token = "a key"

        def submit_job(self, job):
            content = qiskit_to_ionq(
                job.circuit, job.backend(), job._passed_args, job.extra_query_params, job.extra_metadata
            )
            handed_in.update(json.loads(content))
            return {"id": "uuid"}

        def retrieve_job(self, job_id):
            urls = {"probabilities": {"url": "/v0.4/jobs/uuid/results/probabilities"}}
            answer = {"id": job_id, "status": "completed", "results": urls, "stats": {"qubits": 6, "circuits": 1}}
            return {**answer, "metadata": handed_in["metadata"], "type": "ionq.circuit.v1"}

        def get_results(self, results_url, sharpen=None, extra_query_params=None):
            return {str(0b000101): 0.75, str(0b100000): 0.25}

    backend._client = Client()
    sampling = IonqSampling(backend, "qpu.forte-1")
    job = sampling.submit(compiled, 400, "biselect-tag")
    gates = [step["gate"] for step in handed_in["input"]["circuit"]]
    assert gates.count("zz") == compiled.resources.two_qubit_gates and set(gates) <= {"gpi", "gpi2", "zz"}
    assert handed_in["input"]["gateset"] == "native" and handed_in["name"] == "biselect-tag"
    assert handed_in["metadata"]["biselect"] == "biselect-tag" and handed_in["backend"] == "qpu.forte-1"
    readout = sampling.collect(job, 5.0)
    found = {tuple(bits): int(count) for bits, count in zip(readout.bits.tolist(), readout.counts, strict=True)}
    assert found == {(1, 0, 1, 0, 0, 0): 300, (0, 0, 0, 0, 0, 1): 100}


def test_quantinuum_takes_the_gates_as_they_are_and_its_local_emulator_agrees():
    quantinuum = pytest.importorskip("pytket.extensions.quantinuum")
    convert = pytest.importorskip("pytket.extensions.qiskit").qiskit_to_tk
    pecos = pytest.importorskip("pytket_pecos")
    from pytket.circuit import OpType

    compiled = made("quantinuum-h1")
    circuit = convert(cut(compiled.circuit))
    backend = quantinuum.QuantinuumBackend("H1-1LE", api_handler=quantinuum.QuantinuumAPIOffline())
    assert circuit.n_gates_of_type(OpType.ZZPhase) == compiled.resources.two_qubit_gates
    assert backend.valid_circuit(circuit)
    emulator = pecos.Emulator(circuit, qsim="state-vector", seed=1)
    shots = emulator.engine.run(emulator.phir, shots=500)["c"]  # its own `run` stumbles over a bit too many
    counts = np.bincount([int(bits[-6:], 2) for bits in shots], minlength=64)
    ours = ideal_probabilities(compiled.circuit)
    assert counts[ours < 1e-12].sum() == 0  # budgets are kept in every shot
    seen = ours > 1e-12
    assert (
        (counts[seen] - 500 * ours[seen]) ** 2 / (500 * ours[seen])
    ).sum() < 40  # χ² of some eight degrees of freedom
