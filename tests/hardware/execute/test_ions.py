"""IonQ and Amazon Braket: the compiled gates as native ones, jobs, lost connections, and no key in any message.

The services' own packages are not needed here: stand-ins answer as their classes do. Where the packages are installed,
the same tests run against their real gates.
"""

import sys
from datetime import UTC, datetime, timedelta
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from qiskit.circuit import Gate
from qiskit.providers import JobStatus

from biselect import SelectionProblem
from biselect.errors import InputError, MissingDependencyError
from biselect.hardware.bundle import compile_problem
from biselect.hardware.circuits import ideal_probabilities
from biselect.hardware.execute.braket import BraketSampling
from biselect.hardware.execute.circuit_files import load_circuit
from biselect.hardware.execute.ionq import IonqSampling
from biselect.hardware.execute.ionq_gates import in_native_gates
from biselect.hardware.execute.manifest import freeze, plan
from biselect.hardware.execute.remote import (
    ConnectionLostError,
    DoubtfulJobError,
    JobFailedError,
    ServiceError,
    StillWaitingError,
)
from biselect.hardware.execute.runner import execute
from biselect.hardware.execute.samplers import kind_of, sampler_for
from biselect.report.circuit import write_circuit

FORTE = "arn:aws:braket:us-east-1::device/qpu/ionq/Forte-1"
KEY = "opensesame123"


@pytest.fixture(autouse=True)
def ionq_package(monkeypatch):
    """qiskit-ionq, or gates of the same names and parameters."""
    try:
        import qiskit_ionq
    except ImportError:
        qiskit_ionq = ModuleType("qiskit_ionq")

        def gate(name, width):
            return lambda *turns: Gate(name, width, list(turns))

        qiskit_ionq.GPIGate, qiskit_ionq.GPI2Gate = gate("gpi", 1), gate("gpi2", 1)
        qiskit_ionq.MSGate, qiskit_ionq.ZZGate = gate("ms", 2), gate("zz", 2)
        qiskit_ionq.ErrorMitigation = SimpleNamespace(NO_DEBIASING={"debiasing": False})
        monkeypatch.setitem(sys.modules, "qiskit_ionq", qiskit_ionq)
    return qiskit_ionq


@pytest.fixture(scope="module")
def folders(problem, tmp_path_factory):
    """Compiled circuits for both of IonQ's families."""
    found = {}
    for name in ("ionq-aria", "ionq-forte"):
        made = compile_problem(problem, name, [0.4, 0.3, -0.5, 0.6], depth=2, compare=False, seed=3)
        found[name] = tmp_path_factory.mktemp(name)
        write_circuit(found[name], made)
    return found


@pytest.fixture
def fixed(folders, tmp_path):
    """A run of the circuit that fits where it is to run."""

    def fix(on, repeats=2):
        folder = folders["ionq-aria" if "aria" in on else "ionq-forte"]
        stored = load_circuit(folder)
        return freeze(stored, folder, tmp_path / "run", plan(stored, on, shots=20, repeats=repeats, seed=1))

    return fix


def matrix(operation):
    """IonQ's gates as its documentation defines them; angles in turns."""
    turns = [2 * np.pi * float(value) for value in operation.params]
    if operation.name == "zz":
        return np.diag(np.exp(-0.5j * turns[0] * np.array([1, -1, -1, 1])))
    axes = [np.array([[0, np.exp(-1j * phi)], [np.exp(1j * phi), 0]]) for phi in turns[:2]]
    if operation.name == "ms":
        return np.cos(turns[2] / 2) * np.eye(4) - 1j * np.sin(turns[2] / 2) * np.kron(*axes)
    return axes[0] if operation.name == "gpi" else (np.eye(2) - 1j * axes[0]) / np.sqrt(2)


def chances(native):
    """Probabilities of the classical bits, entry Σ_c 2^c bit_c."""
    n = native.num_qubits
    state = np.zeros((2,) * n, dtype=complex)
    state[(0,) * n] = 1
    read = {}
    for step in native.data:
        at = [native.find_bit(qubit).index for qubit in step.qubits]
        if step.operation.name == "measure":
            read[native.find_bit(step.clbits[0]).index] = at[0]
            continue
        gate = matrix(step.operation).reshape((2,) * (2 * len(at)))
        moved = np.tensordot(gate, state, axes=(range(len(at), 2 * len(at)), at))
        state = np.moveaxis(moved, range(len(at)), at)
    return (np.abs(state) ** 2).transpose([read[bit] for bit in reversed(range(n))]).ravel()


@pytest.mark.parametrize("name", ["ionq-aria", "ionq-forte"])
def test_native_gates_are_the_compiled_ones(name):
    rng = np.random.default_rng(2)
    for _ in range(5):
        problem = SelectionProblem(coupling=rng.normal(size=(3, 3)), k=1, m=2, sample_scores=rng.normal(size=3))
        made = compile_problem(problem, name, 3 * rng.normal(size=4), depth=2, compare=False, seed=rng.integers(9))
        native = in_native_gates(made.compiled.circuit)
        ours, theirs = made.compiled.circuit.count_ops(), native.count_ops()
        pair, named = ("rxx", "ms") if name == "ionq-aria" else ("rzz", "zz")
        assert theirs[named] == ours[pair] and theirs.get("gpi2", 0) == ours.get("sx", 0)
        assert set(theirs) <= {"gpi", "gpi2", named, "measure"} and native.num_qubits == 6
        assert np.abs(chances(native) - ideal_probabilities(made.compiled.circuit)).max() < 1e-12
        if named == "ms":  # what Braket takes
            angles = [step.operation.params[2] for step in native.data if step.operation.name == "ms"]
            assert all(0 <= angle <= 0.25 for angle in angles)


# IonQ


class Ionq:
    """What IonqSampling uses of qiskit_ionq's backend."""

    def __init__(self, fate="done"):
        self.fate = fate
        self.client = SimpleNamespace(_token=KEY)
        self.jobs = {}
        self.asked = []

    def run(self, circuit, **options):
        self.asked.append((circuit, options))
        if isinstance(self.fate, Exception):
            error, self.fate = self.fate, "done"
            raise error
        name = f"uuid-{len(self.jobs)}"
        self.jobs[name] = {"0" * circuit.num_clbits: options["shots"]}
        return SimpleNamespace(job_id=lambda: name)

    def retrieve_job(self, job):
        def result(timeout=None):
            if isinstance(self.fate, Exception):
                raise self.fate
            return SimpleNamespace(get_counts=lambda: self.jobs[job])

        return SimpleNamespace(result=result)

    def calibration(self):
        fidelity = {"spam": {"median": 0.99}, "1q": {"mean": 0.999}, "2q": {"median": 0.98, "stderr": 0}}
        return SimpleNamespace(qubits=30, fidelity=fidelity, timing={"readout": 0, "1q": 0, "2q": 1e-3, "t2": 0.5})


def of_ionq(name, status=None):
    error = type(name, (RuntimeError,), {})(f"headers: Authorization: apiKey {KEY}")
    if status is not None:
        error.status_code = status
    return error


def test_ionq_runs_the_native_circuit_as_it_is(fixed):
    backend = Ionq()
    run = fixed("ionq:qpu.forte-1")
    assert len(execute(run, IonqSampling(backend, "qpu.forte-1"))) == 2
    circuit, options = backend.asked[0]
    assert "gpi2" in circuit.count_ops() and circuit.num_qubits == 9 and options["shots"] == 20
    assert options["extra_metadata"] == {"biselect": options["name"]}
    assert options["name"].startswith("biselect")
    assert getattr(options["error_mitigation"], "value", options["error_mitigation"]) == {"debiasing": False}
    assert kind_of("ionq:qpu.forte-1") == "hardware"


def test_ionq_tells_its_latest_characterization():
    content = IonqSampling(Ionq(), "qpu.forte-1").snapshot()
    assert content["qubits"] == 30 and content["t2"][0] == 0.5 and content["t1"][0] == 100.0
    assert content["gates"]["rzz"]["error"][0] == pytest.approx(0.02)
    assert content["gates"]["rzz"]["duration"][0] == 1e-3 and content["gates"]["sx"]["duration"][0] == 130e-6
    assert content["gates"]["measure"]["error"][0] == pytest.approx(0.01)


def test_a_circuit_of_another_gate_set_is_refused(fixed, stored):
    sampling = IonqSampling(Ionq(), "qpu.aria-1")
    with pytest.raises(InputError, match=r"no rzz.*ionq-aria"):
        sampling.check(fixed("ionq:qpu.forte-1").circuit.compiled)
    with pytest.raises(InputError, match="compile it for ionq-forte"):
        IonqSampling(Ionq(), "qpu.forte-1").check(stored.compiled)
    for device in ("simulator", "qpu.harmony"):
        with pytest.raises(InputError, match="none of IonQ's devices"):
            IonqSampling.connect(device)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (of_ionq("IonQAPIError", 400), ServiceError),
        (of_ionq("IonQCredentialsError"), ServiceError),
        (of_ionq("IonQAPIError", 500), ConnectionLostError),
        (of_ionq("IonQRetriableError"), ConnectionLostError),
        (ConnectionResetError(KEY), ConnectionLostError),
    ],
    ids=repr,
)
def test_only_no_answer_leaves_a_doubt_whether_ionq_took_a_job(fixed, error, kind):
    sampling = IonqSampling(Ionq(error), "qpu.forte-1")
    run = fixed("ionq:qpu.forte-1")
    with pytest.raises(ServiceError) as caught:
        execute(run, sampling)
    assert type(caught.value) is kind and KEY not in str(caught.value)
    if kind is ServiceError:
        assert len(execute(run, sampling)) == 2
    else:
        with pytest.raises(DoubtfulJobError):  # its client lists no jobs
            execute(run, sampling)


def test_ionq_jobs_wait_and_fail(fixed):
    backend = Ionq()
    sampling = IonqSampling(backend, "qpu.forte-1")
    job = sampling.submit(fixed("ionq:qpu.forte-1").circuit.compiled, 5, "tag")
    backend.fate = of_ionq("IonQJobTimeoutError")
    with pytest.raises(StillWaitingError):
        sampling.collect(job, 0.0)
    for name in ("IonQJobFailureError", "IonQJobStateError"):
        backend.fate = of_ionq(name)
        with pytest.raises(JobFailedError) as caught:
            sampling.collect(job, None)
        assert KEY not in str(caught.value)
    backend.fate = "done"
    assert sampling.collect(job, None).counts.tolist() == [5]


# Amazon Braket


class Braket:
    """What BraketSampling uses of the provider's backend and of Braket's device."""

    arn = FORTE
    provider_name = "IonQ"
    type = SimpleNamespace(value="QPU")
    properties = SimpleNamespace(
        paradigm=SimpleNamespace(nativeGateSet=["GPI", "GPI2", "ZZ"], qubitCount=36),
        provider=SimpleNamespace(
            fidelity={"1Q": {"mean": 0.9998}, "2Q": {"mean": 0.9941}, "spam": {"mean": 0.9962}},
            timing={"T1": 100.0, "T2": 1.0, "1Q": 0.00013, "2Q": 0.00097, "readout": 0.00015},
        ),
    )

    def __init__(self, states=("QUEUED", "DONE"), fate=None, arrives=False):
        self.states = states
        self.fate = fate
        self.arrives = arrives  # whether a job arrives although the answer is lost
        self.tasks = []
        self.asked = []
        credentials = SimpleNamespace(access_key="AKIAsecretive", secret_key=KEY, token=None)
        boto = SimpleNamespace(get_credentials=lambda: credentials)
        self.aws_session = SimpleNamespace(braket_client=self, boto_session=boto)

    def run(self, circuit, **options):
        self.asked.append((circuit, options))
        failing, self.fate = self.fate, None
        if failing is None or self.arrives:
            arn = f"arn:aws:braket:us-east-1:123456789012:quantum-task/{len(self.tasks)}"
            when = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=len(self.tasks))
            counts = {"0" * circuit.num_clbits: options["shots"]}
            self.tasks.append({"quantumTaskArn": arn, "tags": options["tags"], "createdAt": when, "counts": counts})
        if failing is not None:
            raise failing
        return SimpleNamespace(job_id=lambda: arn)

    def retrieve_job(self, arn):
        left = list(self.states)
        (task,) = (task for task in self.tasks if task["quantumTaskArn"] == arn)
        return SimpleNamespace(
            status=lambda: JobStatus[left.pop(0) if len(left) > 1 else left[0]],
            result=lambda: SimpleNamespace(get_counts=lambda: task["counts"]),
        )

    def search_quantum_tasks(self, filters, maxResults, nextToken="0"):
        assert filters == [{"name": "deviceArn", "operator": "EQUAL", "values": [FORTE]}] and maxResults == 100
        page = int(nextToken)
        more = {"nextToken": str(page + 1)} if page + 1 < len(self.tasks) else {}
        return {"quantumTasks": self.tasks[page : page + 1], **more}


def of_aws(status):
    error = type("ClientError", (Exception,), {})(f"signature of AKIAsecretive with {KEY} does not match")
    error.response = {"ResponseMetadata": {"HTTPStatusCode": status}}
    return error


@pytest.fixture
def no_pause(monkeypatch):
    monkeypatch.setattr("biselect.hardware.execute.braket.PAUSE", 0.0)


def braket(device):
    return BraketSampling(device, device, FORTE)


def test_braket_runs_the_native_circuit_verbatim(fixed, no_pause):
    device = Braket()
    run = fixed(f"braket:{FORTE}")
    assert len(execute(run, braket(device))) == 2 and run.content["on"] == f"braket:{FORTE}"
    circuit, options = device.asked[0]
    assert set(circuit.count_ops()) <= {"gpi", "gpi2", "zz", "measure"}
    assert options["verbatim"] and options["disable_qubit_rewiring"] and options["shots"] == 20
    assert list(options["tags"]) == ["biselect"]


def test_braket_tells_the_figures_of_its_device():
    content = braket(Braket()).snapshot()
    assert content["gates"]["rzz"]["error"][0] == pytest.approx(0.0059) and content["qubits"] == 36
    assert content["gates"]["measure"]["duration"][0] == 0.00015


def test_a_lost_answer_is_found_again_by_its_tag(fixed, no_pause):
    lost = type("EndpointConnectionError", (Exception,), {})(KEY)
    device = Braket(fate=lost, arrives=True)
    run = fixed(f"braket:{FORTE}")
    with pytest.raises(ConnectionLostError) as caught:
        execute(run, braket(device))
    assert KEY not in str(caught.value)
    assert len(execute(run, braket(device))) == 2
    assert len(device.tasks) == 2  # nothing was paid for twice
    assert braket(device).find("biselect-none") is None


@pytest.mark.parametrize(("status", "kind"), [(403, ServiceError), (400, ServiceError), (503, ConnectionLostError)])
def test_braket_errors_say_whether_it_answered(fixed, status, kind):
    with pytest.raises(ServiceError) as caught:
        execute(fixed(f"braket:{FORTE}"), braket(Braket(fate=of_aws(status))))
    assert type(caught.value) is kind
    assert KEY not in str(caught.value) and "AKIAsecretive" not in str(caught.value)


def test_braket_tasks_wait_and_fail(fixed, no_pause):
    compiled = fixed(f"braket:{FORTE}").circuit.compiled
    for states, kind in ((("QUEUED",), StillWaitingError), (("RUNNING", "ERROR"), JobFailedError)):
        sampling = braket(Braket(states))
        job = sampling.submit(compiled, 5, "tag")
        with pytest.raises(kind):
            sampling.collect(job, 0.0 if kind is StillWaitingError else 60.0)


def test_braket_refuses_what_its_device_does_not_run(fixed):
    device = Braket()
    braket(device).check(fixed(f"braket:{FORTE}").circuit.compiled)
    device.properties = SimpleNamespace(paradigm=SimpleNamespace(nativeGateSet=["GPI", "GPI2", "MS"]))
    with pytest.raises(InputError, match="compile it for ionq-aria"):
        braket(device).check(fixed(f"braket:{FORTE}").circuit.compiled)
    for where in ("arn:aws:s3:::bucket", "a:b", "x/y"):
        with pytest.raises(InputError, match="by its ARN"):
            kind_of(f"braket:{where}")
    assert kind_of("braket:Forte 1") == "hardware"


@pytest.mark.parametrize(("on", "package"), [("ionq:qpu.forte-1", "qiskit_ionq"), (f"braket:{FORTE}", "braket.aws")])
def test_a_missing_package_is_named(monkeypatch, on, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match="pip install"):
        sampler_for(on)
