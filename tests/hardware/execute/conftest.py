"""A compiled circuit on a small device, and a recorded service that behaves as badly as real ones do."""

from dataclasses import dataclass, field

import numpy as np
import pytest

pytest.importorskip("qiskit_ibm_runtime")

from qiskit.primitives import BitArray, DataBin, PrimitiveResult, SamplerPubResult
from qiskit.transpiler import Target
from qiskit_ibm_runtime.exceptions import RuntimeJobFailureError, RuntimeJobNotFound, RuntimeJobTimeoutError
from requests import ConnectionError as NoConnection

from biselect import SelectionProblem
from biselect.hardware.bundle import compile_problem
from biselect.hardware.execute.circuit_files import load_circuit
from biselect.hardware.execute.ibm import IbmSampling
from biselect.hardware.execute.manifest import freeze, plan
from biselect.report.circuit import write_circuit

TOKEN = "planted-token-0123456789"
ADDRESS = f"https://ada:{TOKEN}@service.example/jobs"
GRID = [(3 * r + c, 3 * r + c + 1) for r in range(4) for c in range(2)] + [(q, q + 3) for q in range(9)]


@pytest.fixture(scope="session")
def problem():
    rng = np.random.default_rng(5)
    scores = {"sample_scores": rng.random(5), "feature_scores": rng.random(4)}
    return SelectionProblem(coupling=rng.random((5, 4)), k=2, m=2, **scores)


@pytest.fixture(scope="session")
def circuit_folder(problem, small, tmp_path_factory):
    """What `biselect compile --out` leaves behind."""
    target = small.device("fractional", GRID, 12)
    made = compile_problem(problem, target, [0.4, 0.3, 0.5, 0.6], depth=2, compare=False, seed=3)
    folder = tmp_path_factory.mktemp("compiled")
    write_circuit(folder, made)
    return folder


@pytest.fixture(scope="session")
def stored(circuit_folder):
    return load_circuit(circuit_folder)


@pytest.fixture
def fixed(stored, circuit_folder):
    """Fix a run in a folder."""

    def fix(folder, on="sector", shots=40, repeats=3, seed=1, threshold=None):
        asked = plan(stored, on, shots=shots, repeats=repeats, seed=seed, threshold=threshold)
        return freeze(stored, circuit_folder, folder, asked)

    return fix


@dataclass
class RecordedJob:
    """A job as Qiskit Runtime shows it.

    `fate` is one of done, queued, failed, partial, empty, narrow, gone, lost-while-waiting.
    """

    number: int
    tags: list
    shots: int
    width: int
    fate: str
    asked: int = 0

    def job_id(self):
        return f"job-{self.number}"

    def result(self, timeout=None):
        self.asked += 1
        if self.fate == "failed":
            raise RuntimeJobFailureError(f"Unable to retrieve job result. See {ADDRESS}?token={TOKEN}")
        if self.fate == "queued" and self.asked == 1:
            raise RuntimeJobTimeoutError(f"Timed out waiting for job to complete after {timeout} secs.")
        if self.fate == "lost-while-waiting" and self.asked == 1:
            raise NoConnection(f"GET {ADDRESS}: connection reset, Authorization: Bearer {TOKEN}")
        shots = self.shots // 2 if self.fate == "partial" else self.shots
        shots = 0 if self.fate == "empty" else shots
        if self.fate == "narrow":
            self.width -= 1
        bits = np.random.default_rng(self.number).integers(2, size=(shots, self.width)).astype(bool)
        data = DataBin(c=BitArray.from_bool_array(bits, order="little"))
        return PrimitiveResult([SamplerPubResult(data)])


class Backend:
    """A device of a few qubits."""

    name = "recorded"
    target = Target(num_qubits=12)


@dataclass
class RecordedService:
    """Fates of submissions in order, then `done`; `lost-before`, `lost-after` and `refused` concern handing in."""

    fates: list = field(default_factory=list)
    queue: list = field(default_factory=list)
    submissions: int = 0
    reason: str = f"circuit not accepted, token={TOKEN}"

    def active_account(self):
        return {"token": TOKEN, "url": "https://service.example", "instance": "crn:planted-instance"}

    def job(self, job_id):
        found = next(job for job in self.queue if job.job_id() == job_id)
        if found.fate == "gone":
            raise RuntimeJobNotFound(f"Job not found: {job_id}")
        return found

    def jobs(self, job_tags, limit):
        return [job for job in reversed(self.queue) if set(job_tags) <= set(job.tags)][:limit]

    def make_sampler(self, mode, options):
        service = self

        class Sampler:
            def run(self, circuits, *, shots):
                fate = service.fates[service.submissions] if service.submissions < len(service.fates) else "done"
                service.submissions += 1
                lost = NoConnection(f"POST {ADDRESS} failed for {TOKEN}")
                if fate == "lost-before":
                    raise lost
                if fate == "refused":
                    raise ValueError(service.reason)
                tags = options["environment"]["job_tags"]
                job = RecordedJob(len(service.queue), tags, shots, circuits[0].num_clbits, fate)
                service.queue.append(job)
                if fate == "lost-after":
                    raise lost
                return job

        return Sampler()

    def sampling(self):
        return IbmSampling(Backend(), self, self.make_sampler)


@pytest.fixture
def service():
    return RecordedService


@pytest.fixture
def backend():
    return Backend()


@pytest.fixture
def secret():
    return TOKEN


@pytest.fixture
def secret_address():
    return ADDRESS
