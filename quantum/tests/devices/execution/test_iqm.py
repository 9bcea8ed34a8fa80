"""IQM's devices: jobs without tags, errors by their names, and no token in any message."""

import sys
from types import SimpleNamespace

import pytest
from qiskit.transpiler import Target

from biselect.errors import InputError, MissingDependencyError
from biselect_quantum.devices.execution.iqm import IqmSampling
from biselect_quantum.devices.execution.remote import (
    ConnectionLostError,
    DoubtfulJobError,
    JobFailedError,
    ServiceError,
)
from biselect_quantum.devices.execution.runner import execute
from biselect_quantum.devices.execution.samplers import sampler_for
from biselect_quantum.devices.execution.scrub import scrubbed


class Iqm:
    """IQM's backend: jobs without tags."""

    name = "recorded"
    target = Target(num_qubits=12)

    def __init__(self, fate):
        self.fate = fate
        self.jobs = {}

    def run(self, circuit, shots):
        if self.fate == "lost":
            self.fate = "done"
            raise ConnectionResetError("no route")
        job = type("Job", (), {})()
        job.job_id = lambda: f"iqm-{len(self.jobs) - 1}"
        done = self.fate == "done"
        result = type("Result", (), {"success": done, "get_counts": lambda self: {"0" * circuit.num_clbits: shots}})()
        job.result = lambda timeout: result
        job.error_message = lambda: "too warm"
        self.jobs[f"iqm-{len(self.jobs)}"] = job
        return job

    def retrieve_job(self, name):
        return self.jobs[name]


def answered(status):
    """As `requests` says it: an OSError with the answer in it."""
    error = OSError(f"{status} of the server")
    error.response = SimpleNamespace(status_code=status)
    return error


def of_iqm(name):
    """An error of IQM's client, which is not installed here."""
    return type(name, (RuntimeError,), {})("the server said so")


REFUSALS = [*map(answered, (400, 401, 403, 404, 422, 429)), of_iqm("AuthenticationError"), PermissionError("tokens")]
LOSSES = [*map(answered, (500, 503)), of_iqm("BadGatewayError"), of_iqm("OperationTimeoutError"), OSError("no route")]


def test_iqm_tells_what_its_device_can_do():
    content = IqmSampling(Iqm("done"), "https://iqm.example").snapshot()
    assert (content["name"], content["qubits"]) == ("recorded", 12)


def test_iqm_jobs_run_and_fail(stored):
    good = IqmSampling(Iqm("done"), "https://iqm.example")
    assert good.sample(stored.compiled, 7, 0).counts.tolist() == [7]
    with pytest.raises(JobFailedError, match="too warm"):
        IqmSampling(Iqm("failed"), "https://iqm.example").sample(stored.compiled, 7, 0)


def test_an_iqm_job_that_the_server_does_not_know_can_be_given_up(fixed, tmp_path):
    """The client says so by an HTTP error, which is an answer and no lost connection."""
    backend = Iqm("done")
    run = fixed(tmp_path, "iqm:https://iqm.example", repeats=1)
    known, missing = backend.retrieve_job, OSError("404 Not Found")
    missing.response = SimpleNamespace(status_code=404)

    def refuse(name):
        raise missing

    backend.retrieve_job = refuse
    with pytest.raises(DoubtfulJobError, match="resubmit=True"):
        execute(run, IqmSampling(backend, "https://iqm.example"))
    backend.retrieve_job = known
    assert len(execute(run, IqmSampling(backend, "https://iqm.example"), resubmit=True)) == 1
    assert len(backend.jobs) == 2


@pytest.mark.parametrize("error", [*REFUSALS, *LOSSES], ids=repr)
def test_only_no_answer_leaves_a_doubt_whether_iqm_took_a_job(fixed, records, tmp_path, error):
    """A refusal is recorded as one, and the next attempt hands in again; after a loss the user must say so."""
    backend = Iqm("done")
    take = backend.run

    def fail(circuit, shots):
        backend.run = take
        raise error

    backend.run = fail
    run = fixed(tmp_path, "iqm:https://iqm.example", repeats=1)
    sampling = IqmSampling(backend, "https://iqm.example")
    with pytest.raises(ServiceError) as caught:
        execute(run, sampling)
    assert (type(caught.value) is ConnectionLostError) == (error in LOSSES)
    if error in REFUSALS:
        assert records(tmp_path, "jobs")[-1]["event"] == "refused"
        assert len(execute(run, sampling)) == 1
    else:
        with pytest.raises(DoubtfulJobError, match="resubmit=True"):
            execute(run, sampling)


def test_without_tags_a_doubtful_submission_is_not_repeated_silently(fixed, tmp_path):
    sampling = IqmSampling(Iqm("lost"), "https://iqm.example")
    run = fixed(tmp_path, "iqm:https://iqm.example")
    with pytest.raises(ConnectionLostError):
        execute(run, sampling)
    with pytest.raises(DoubtfulJobError, match="cannot say whether it arrived"):
        execute(run, sampling)
    assert len(execute(run, sampling, resubmit=True)) == 3


def test_iqm_needs_its_own_environment_and_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "iqm", None)  # as if it were not installed
    with pytest.raises(MissingDependencyError, match=r"biselect\[iqm\].*environment of its own"):
        sampler_for("iqm:https://iqm.example")


def test_an_iqm_device_is_named_by_its_address(monkeypatch, secret):
    """The client wants the server and the device apart; its errors are scrubbed."""
    asked = []

    class Provider:
        def __init__(self, server, quantum_computer):
            asked.append((server, quantum_computer))

        def get_backend(self):
            if len(asked) > 2:
                raise RuntimeError(f"401 for token={secret}")
            return Iqm("done")

    for name in ("iqm", "iqm.qiskit_iqm"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(IQMProvider=Provider))
    assert sampler_for("iqm:https://iqm.example/garnet").name == "iqm:https://iqm.example/garnet"
    sampler_for("iqm:https://iqm.example")
    assert asked == [("https://iqm.example", "garnet"), ("https://iqm.example", None)]
    with pytest.raises(InputError, match="no access") as caught:
        sampler_for("iqm:https://iqm.example")
    assert secret not in str(caught.value)


@pytest.mark.parametrize(
    "content", ['{"access_token": "open", "refresh_token": "again", "auth_server_url": "https://a.example"}', "open\n"]
)
def test_the_tokens_of_iqms_file_are_masked(monkeypatch, tmp_path, stored, content):
    path = tmp_path / "tokens.json"
    path.write_text(content)
    monkeypatch.setenv("IQM_TOKENS_FILE", str(path))

    class Talkative(Iqm):
        def run(self, circuit, shots):
            raise RuntimeError("401 for open at https://a.example")

    with pytest.raises(ServiceError, match=r"401 for \*\*\* at https://a.example"):
        IqmSampling(Talkative("done"), "https://iqm.example").sample(stored.compiled, 7, 0)
    path.unlink()
    assert scrubbed("open") == "open"  # nothing is known any more
