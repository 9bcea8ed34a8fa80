"""IBM's devices through Qiskit Runtime's own client; no token reaches a file, a log or an error."""

import logging
import warnings

import pytest
from qiskit_ibm_runtime import Batch

from biselect.errors import InputError
from biselect_quantum.devices.execution._ibm import IbmSampling, runtime_sampler
from biselect_quantum.devices.execution.remote import Service, ServiceError
from biselect_quantum.devices.execution.runner import execute
from biselect_quantum.devices.execution.samplers import sampler_for

ON = "ibm:answering"


def test_the_callers_session_is_used_and_none_is_opened(service, stored):
    connected = service().sampling()
    backend = connected._backend

    class Mine(Batch):
        def __init__(self):
            self._backend = backend

    seen = []

    def make(mode, options):
        seen.append(mode)
        return runtime_sampler(backend, options)

    session = Mine()
    sampling = IbmSampling(session, connected._service, make)
    assert isinstance(sampling, Service) and sampling.name == ON
    assert sampling.sample(stored, 10, 0).shots == 10
    assert seen == [session]


def test_stored_tokens_are_masked_when_the_account_is_refused(monkeypatch, secret):
    """Whatever the shape of the message."""

    class Refusing:
        def __init__(self):
            raise RuntimeError(f"401 <{secret}>")

        @staticmethod
        def saved_accounts():
            return {"default": {"token": secret}}

    monkeypatch.setattr("biselect_quantum.devices.execution._ibm.QiskitRuntimeService", Refusing)
    with pytest.raises(InputError, match="no access to ibm:boston: 401") as caught:
        sampler_for("ibm:boston")
    assert secret not in str(caught.value)


def test_all_stored_accounts_are_masked_while_a_job_is_asked_for(fixed, service, records, tmp_path, monkeypatch):
    """Short lower-case tokens of an account that is not even the active one."""
    stored = {"old": {"token": "swan", "instance": "lake"}, "empty": {"token": "reed"}}
    monkeypatch.setattr("biselect_quantum.devices.execution._ibm.QiskitRuntimeService.saved_accounts", lambda: stored)
    strict = service(["refused"])
    with pytest.raises(ServiceError) as caught:
        strict.reason = "swan of lake, reed"
        execute(fixed(tmp_path, ON), strict.sampling())
    assert "*** of ***, ***" in str(caught.value)
    assert "swan" not in str(records(tmp_path, "jobs"))


SELDOM = [pytest.param(fate, marks=pytest.mark.slow) for fate in ("lost-before", "lost-while-waiting", "queued")]


@pytest.mark.parametrize("fate", ["lost-after", "failed", "refused", *SELDOM])
def test_no_token_reaches_a_file_a_log_or_an_error(fixed, service, tmp_path, secret, caplog, fate):
    caplog.set_level(logging.INFO)  # below that Qiskit Runtime logs all that the service says, for who asks for it
    caplog.set_level(logging.DEBUG, logger="biselect")
    said = []
    shaky = service([fate])
    with pytest.raises(ServiceError) as caught:
        execute(fixed(tmp_path, ON), shaky.sampling(), wait=0.0, say=said.append)
    shaky.finish()
    execute(fixed(tmp_path, ON), shaky.sampling(), say=said.append)
    seen = [str(caught.value), repr(caught.value.__cause__), caplog.text, *said]
    seen += [path.read_bytes().decode("utf-8", "replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert len(seen) > 6
    for text in seen:
        assert secret not in text and "ada:" not in text


def test_a_sampler_is_made_without_a_warning(service):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sampler = runtime_sampler(service().sampling()._backend, {})
    assert type(sampler).__module__ == "qiskit_ibm_runtime.executor_sampler.sampler"


def test_the_callers_device_session_and_sampler_are_submitted_to_as_a_service(service, stored, fixed, tmp_path):
    """A sampler keeps its own options, and its jobs carry our tag beside the caller's."""
    answering = service()
    backend = answering.sampling()._backend
    assert sampler_for(backend).name == ON and isinstance(sampler_for(backend), Service)
    mine = runtime_sampler(backend, {"environment": {"job_tags": ["mine"]}, "dynamical_decoupling": {"enable": False}})
    name = "sampler:qiskit_ibm_runtime.Sampler-on-answering"
    run = fixed(tmp_path, mine)
    assert (run.on, run.kind) == (name, "hardware")
    assert [readout.shots for readout in execute(run, mine)] == [40, 40, 40]
    assert all(job["tags"][0] == "mine" and job["tags"][1].startswith("biselect-") for job in answering.queue)
    assert mine.options.environment.job_tags == ["mine"]


def test_a_circuit_for_another_device_is_refused_before_a_job_is_handed_in(fixed, ibm, tmp_path):
    smaller = ibm.make(ibm.module.grid(2, 3))
    with pytest.raises(InputError, match=r"ibm:answering has no .* it was compiled for"):
        execute(fixed(tmp_path, ON), smaller.sampling())
    assert smaller.submissions == 0
