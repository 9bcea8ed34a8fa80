"""IBM's service without a network: Qiskit Runtime's own service, sampler and jobs, with their requests answered.

Everything of the client is real: account, backend, checks of circuits, encoding, polling, decoding. Only what would
leave the machine is answered here, request by request, in the service's format; a fate for each submission says what
goes wrong. Nothing was recorded: a lost connection, a gateway that fails after taking a job or half the shots cannot be
had from the service at will, and a recording would hold an account's instance and job ids and age with the client. So
the answers are made, and what they must hold is what the real client reads.
"""

import json
from urllib.parse import parse_qs, urlsplit

import numpy as np
from ibm_quantum_schemas.common import CompressedTensorModel
from ibm_quantum_schemas.executor import version_2_0 as executor
from requests import ConnectionError as NoConnection
from requests import Response

from biselect_quantum.devices.execution._ibm import IbmSampling

TOKEN = "planted-token-0123456789"
INSTANCE = "crn:v1:bluemix:public:quantum-computing:us-east:a/planted:instance::"
ADDRESS = f"https://ada:{TOKEN}@service.example/jobs"
DEVICE, DAY = "answering", "2026-01-01T00:00:00+00:00"
STATES = {  # what the service says of a job; a fate that is not here is that of a finished one
    "queued": {"status": "Queued"},
    "failed": {"status": "Failed", "reason": f"qubits were lost, see {ADDRESS}?token={TOKEN}", "reason_code": 9999},
    "too-long": {"status": "Cancelled", "reason": "Job cancelled: ran too long", "reason_code": 1305},
    "cancelled": {"status": "Cancelled"},
}


class AnsweringIbm:
    """Fates of submissions in order, then `done`.

    `lost-before`, `lost-after`, `gateway` and `refused` concern handing in; `queued`, `failed`, `too-long`,
    `cancelled`, `partial`, `empty`, `narrow`, `gone` and `lost-while-waiting` the job.
    """

    def __init__(self, monkeypatch, device, fates=()):
        self.configuration, self.properties = device
        self.fates = list(fates)
        self.reason = f"circuit not accepted, token={TOKEN}"
        self.submissions = 0
        self.queue = []
        self._patch = monkeypatch

    def install(self):
        """Stand where the client reaches for the network; the account is in the environment."""
        for name, value in {"QISKIT_IBM_TOKEN": TOKEN, "QISKIT_IBM_INSTANCE": INSTANCE}.items():
            self._patch.setenv(name, value)
        self._patch.setenv("QISKIT_FUNCTIONS_EXPERIMENTAL", "1")  # the instance is not looked up elsewhere
        client = "qiskit_ibm_runtime.api"
        self._patch.setattr(f"{client}.auth.CloudAuth.get_headers", lambda auth: {"Authorization": f"Bearer {TOKEN}"})
        self._patch.setattr(
            f"{client}.session.RetrySession.send", lambda session, request, **settings: self.answer(request)
        )
        return self

    def sampling(self):
        """Connect, as a user does."""
        self.install()
        return IbmSampling.connect(DEVICE)

    def finish(self):
        """All that is queued is done."""
        for job in self.queue:
            job["fate"] = job["fate"].replace("queued", "done")

    def answer(self, request):
        """Answer a request of the client."""
        parts = urlsplit(request.url)
        path = parts.path.rstrip("/").rpartition("/api/v1")[2] or parts.path
        kind, _, rest = path.strip("/").partition("/")
        if kind == "backends":
            return self._backend(rest)
        if kind == "instances":
            return answer({"usage_consumed_seconds": 0})
        if request.method == "POST":
            return self._submit(json.loads(request.body))
        if not rest:
            tags = parse_qs(parts.query).get("tags", [])
            found = [job for job in reversed(self.queue) if set(tags) <= set(job["tags"])]
            return answer({"jobs": [described(job) for job in found], "count": len(found)})
        name, _, what = rest.partition("/")
        return self._job(next(job for job in self.queue if job["id"] == name), what)

    def _backend(self, rest):
        if not rest:
            return answer({"devices": [{"name": DEVICE, "queue_length": 0, "status": {"name": "online"}}]})
        what = rest.rpartition("/")[2]
        status = {"state": True, "status": "active", "length_queue": 0}
        return answer({"configuration": self.configuration, "properties": self.properties, "status": status}[what])

    def _submit(self, content):
        fate = self.fates[self.submissions] if self.submissions < len(self.fates) else "done"
        self.submissions += 1
        if fate == "lost-before":
            raise NoConnection(f"POST {ADDRESS} failed for {TOKEN}")
        if fate == "refused":
            return answer({"error": {"message": self.reason, "code": 1217}}, 400)
        program = executor.ParamsModel.model_validate(content["params"]).quantum_program
        circuits = program.circuits.to_python()
        job = {
            "id": f"job-{len(self.queue)}",
            "number": len(self.queue),
            "tags": content["tags"],
            "fate": fate,
            "registers": [(circuit.cregs[0].name, circuit.num_clbits) for circuit in circuits],
            "program": program,
            "asked": 0,
        }
        self.queue.append(job)
        if fate == "lost-after":
            raise NoConnection(f"POST {ADDRESS} failed for {TOKEN}")
        if fate == "gateway":
            return answer({"error": "bad gateway"}, 502)
        return answer({"id": job["id"], "backend": DEVICE})

    def _job(self, job, what):
        if job["fate"] == "gone":
            return answer({"error": {"message": "Job not found", "code": 1291}}, 404)
        if job["fate"] == "lost-while-waiting":
            job["fate"] = "done"
            raise NoConnection(f"GET {ADDRESS}: connection reset, Authorization: Bearer {TOKEN}")
        if what == "results":
            job["asked"] += 1
            return answer(shots_of(job))
        return answer(described(job))


def shots_of(job):
    """What IBM's executor measured, as the service encodes it; the client makes a sampler's result of it."""
    program = job["program"]
    shots = {"partial": program.shots // 2, "empty": 0}.get(job["fate"], program.shots)
    random, measured = np.random.default_rng(job["number"]), []
    for register, width in job["registers"]:
        bits = random.integers(2, size=(shots, width - (job["fate"] == "narrow"))).astype(bool)
        measured.append({"results": {register: CompressedTensorModel.from_numpy(bits)}, "metadata": {}})
    result = executor.QuantumProgramResultModel(
        data=measured,
        metadata={"chunk_timing": []},
        passthrough_data=program.passthrough_data,
        semantic_role=program.semantic_role,
    )
    return result.model_dump(mode="json")


def described(job):
    """A job as the service lists it."""
    state = STATES.get(job["fate"], {"status": "Completed"})
    return {"id": job["id"], "backend": DEVICE, "program": {"id": "executor"}, "tags": job["tags"], "state": state}


def answer(content, status=200):
    """A response of the service."""
    response = Response()
    response.status_code = status
    response._content = json.dumps(content).encode()
    return response


def grid(rows, columns):
    """Configuration and properties of a small device with a Heron's gates."""
    qubits = rows * columns
    across = [(q, q + 1) for q in range(qubits) if (q + 1) % columns]
    down = [(q, q + columns) for q in range(qubits - columns)]
    pairs = sorted([*across, *down, *((j, i) for i, j in across + down)])
    single, double = {"rz": 0, "sx": 32, "x": 32, "rx": 32}, {"cz": 68, "rzz": 68}
    lengths = single | double
    ends = {"one": [[q] for q in range(qubits)], "two": [list(pair) for pair in pairs]}
    places = {name: ends["one" if name in single else "two"] for name in lengths}
    turns = ("rz", "rx", "rzz")
    gates = [
        {"name": name, "parameters": ["theta"] * (name in turns), "qasm_def": "", "coupling_map": where}
        for name, where in places.items()
    ]
    configuration = {
        "backend_name": DEVICE,
        "backend_version": "1.0.0",
        "n_qubits": qubits,
        "basis_gates": list(lengths),
        "gates": gates,
        "coupling_map": [list(pair) for pair in pairs],
        "simulator": False,
        "local": False,
        "conditional": False,
        "open_pulse": False,
        "memory": True,
        "max_shots": 100_000,
        "dt": 4.0,
        "dtm": 4.0,
        "supported_instructions": [*lengths, "measure", "delay"],
        "timing_constraints": {},
        "online_date": DAY,
    }

    def figure(name, value, unit=""):
        return {"name": name, "date": DAY, "unit": unit, "value": value}

    qubit = [figure("T1", 200, "us"), figure("T2", 150, "us"), figure("readout_error", 0.01)]
    qubit += [figure("readout_length", 2000, "ns")]
    properties = {
        "backend_name": DEVICE,
        "backend_version": "1.0.0",
        "last_update_date": DAY,
        "general": [],
        "qubits": [qubit] * qubits,
        "gates": [
            {
                "gate": name,
                "name": f"{name}{'_'.join(map(str, place))}",
                "qubits": place,
                "parameters": [figure("gate_error", 0.001), figure("gate_length", lengths[name], "ns")],
            }
            for name, where in places.items()
            for place in where
        ],
    }
    return configuration, properties
