"""Paid shots survive: queues, time-outs, failed and partial jobs, lost connections before and after handing in."""

import json
import logging
import sys
from types import SimpleNamespace

import pytest
from qiskit.transpiler import Target
from qiskit_ibm_runtime import Batch, SamplerV2

from biselect.errors import InputError, MissingDependencyError
from biselect.hardware.execute.devices import kind_of, sampler_for
from biselect.hardware.execute.findings import outcome
from biselect.hardware.execute.ibm import IbmSampling
from biselect.hardware.execute.iqm import IqmSampling
from biselect.hardware.execute.remote import (
    ConnectionLostError,
    JobFailedError,
    Service,
    ServiceError,
    StillWaitingError,
)
from biselect.hardware.execute.runner import execute
from biselect.hardware.execute.scrub import account_secrets, plain_address, scrubbed
from biselect.hardware.execute.store import JOBS, RESULTS

ON = "ibm:answering"


def events(folder):
    return [(record["repeat"], record["event"]) for record in map(json.loads, (folder / JOBS).read_text().splitlines())]


def uninterrupted(fixed, service, folder):
    execute(fixed(folder, ON), service().sampling())
    return (folder / RESULTS).read_bytes()


def test_every_repeat_is_a_job_whose_id_is_kept_before_anyone_waits(fixed, service, tmp_path):
    busy = service(["queued"])
    with pytest.raises(StillWaitingError, match="job-0"):
        execute(fixed(tmp_path / "run", ON), busy.sampling(), wait=0.0)
    assert events(tmp_path / "run") == [(r, e) for r in range(3) for e in ("submitting", "submitted")]
    busy.finish()
    assert len(execute(fixed(tmp_path / "run", ON), busy.sampling())) == 3
    assert busy.submissions == 3
    assert (tmp_path / "run" / RESULTS).read_bytes() == uninterrupted(fixed, service, tmp_path / "other")


@pytest.mark.parametrize("fate", ["lost-after", "lost-before", "lost-while-waiting", "gateway"])
@pytest.mark.parametrize("place", [0, 2])
def test_a_lost_connection_loses_and_repeats_nothing(fixed, service, tmp_path, fate, place):
    shaky = service([*["done"] * place, fate])
    with pytest.raises(ConnectionLostError):
        execute(fixed(tmp_path / "run", ON), shaky.sampling())
    execute(fixed(tmp_path / "run", ON), shaky.sampling())
    assert len(shaky.queue) == 3  # no job was paid for twice
    assert (tmp_path / "run" / RESULTS).read_bytes() == uninterrupted(fixed, service, tmp_path / "other")


def test_the_calibration_of_the_moment_is_kept(fixed, service, tmp_path):
    said = []
    execute(fixed(tmp_path, ON), service().sampling(), say=said.append)
    (kept,) = tmp_path.glob("calibration-*.json")
    content = json.loads(kept.read_text())
    submitted = [record for record in map(json.loads, (tmp_path / JOBS).read_text().splitlines()) if "job" in record]
    assert {record["calibration"] for record in submitted} == {content["hash"]}
    assert any("not the one that the circuit was compiled for" in line for line in said)


def test_a_torn_calibration_is_written_again(fixed, service, tmp_path):
    unlucky = service(["failed"])
    with pytest.raises(JobFailedError):
        execute(fixed(tmp_path, ON), unlucky.sampling())
    (kept,) = tmp_path.glob("calibration-*.json")
    whole = kept.read_bytes()
    kept.write_bytes(whole[:20])
    execute(fixed(tmp_path, ON), unlucky.sampling())
    assert kept.read_bytes() == whole


@pytest.mark.parametrize("fate", ["failed", "too-long", "cancelled"])
def test_a_failed_job_is_submitted_anew_and_the_others_are_kept(fixed, service, tmp_path, fate):
    unlucky = service(["done", fate])
    run = fixed(tmp_path, ON)
    with pytest.raises(JobFailedError, match="repeat 2: job job-1 failed"):
        execute(run, unlucky.sampling())
    assert len((tmp_path / RESULTS).read_text().splitlines()) == 1
    assert len(execute(run, unlucky.sampling())) == 3
    assert [job["id"] for job in unlucky.queue] == [f"job-{number}" for number in range(4)]


@pytest.mark.parametrize("fate", ["gone", "narrow"])
def test_a_job_that_never_gives_its_shots_is_handed_in_again_only_when_told_to(fixed, service, tmp_path, fate):
    odd = service(["done", fate])
    run = fixed(tmp_path, ON)
    for _ in range(2):
        with pytest.raises(ServiceError, match=r"repeat 2: job job-1 gives no shots: .*--resubmit"):
            execute(run, odd.sampling())
    assert len((tmp_path / RESULTS).read_text().splitlines()) == 1 and odd.submissions == 3
    assert len(execute(run, odd.sampling(), resubmit=True)) == 3
    assert odd.submissions == 4


def test_a_job_without_shots_has_failed_and_is_submitted_anew(fixed, service, tmp_path):
    odd = service(["empty"])
    run = fixed(tmp_path, ON)
    with pytest.raises(JobFailedError, match="job-0 ended without shots"):
        execute(run, odd.sampling())
    assert len(execute(run, odd.sampling())) == 3


def test_an_iqm_job_that_the_server_does_not_know_can_be_given_up(fixed, tmp_path):
    """The client says so by an HTTP error, which is an answer and no lost connection."""
    backend = Iqm("done")
    run = fixed(tmp_path, "iqm:https://iqm.example", repeats=1)
    known, missing = backend.retrieve_job, OSError("404 Not Found")
    missing.response = SimpleNamespace(status_code=404)

    def refuse(name):
        raise missing

    backend.retrieve_job = refuse
    with pytest.raises(ServiceError, match="--resubmit"):
        execute(run, IqmSampling(backend, "https://iqm.example"))
    backend.retrieve_job = known
    assert len(execute(run, IqmSampling(backend, "https://iqm.example"), resubmit=True)) == 1
    assert len(backend.jobs) == 2


def test_a_refused_circuit_is_said_and_can_be_tried_again(fixed, service, tmp_path):
    strict = service(["refused"])
    with pytest.raises(ServiceError, match="not accepted"):
        execute(fixed(tmp_path, ON), strict.sampling())
    assert events(tmp_path)[-1] == (0, "refused")
    assert len(execute(fixed(tmp_path, ON), strict.sampling())) == 3


def test_a_partial_result_is_kept_and_counted_as_what_it_is(fixed, service, tmp_path):
    said = []
    run = fixed(tmp_path, ON)
    readouts = execute(run, service(["done", "partial"]).sampling(), say=said.append)
    assert [readout.shots for readout in readouts] == [40, 20, 40]
    assert any("20 shots of 40" in line for line in said)
    assert outcome(run, readouts).strict.shots == 100


def test_the_callers_session_is_used_and_none_is_opened(service, stored):
    connected = service().sampling()
    backend = connected._backend

    class Mine(Batch):
        def __init__(self):
            self._backend = backend

    seen = []

    def make(mode, options):
        seen.append(mode)
        return SamplerV2(mode=backend, options=options)

    session = Mine()
    sampling = IbmSampling(session, connected._service, make)
    assert isinstance(sampling, Service) and sampling.name == ON
    assert sampling.sample(stored.compiled, 10, 0).shots == 10
    assert seen == [session]


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


def test_iqm_tells_what_its_device_can_do():
    content = IqmSampling(Iqm("done"), "https://iqm.example").snapshot()
    assert (content["name"], content["qubits"]) == ("recorded", 12)


def test_iqm_jobs_run_and_fail(stored):
    good = IqmSampling(Iqm("done"), "https://iqm.example")
    assert good.sample(stored.compiled, 7, 0).counts.tolist() == [7]
    with pytest.raises(JobFailedError, match="too warm"):
        IqmSampling(Iqm("failed"), "https://iqm.example").sample(stored.compiled, 7, 0)


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


@pytest.mark.parametrize("error", [*REFUSALS, *LOSSES], ids=repr)
def test_only_no_answer_leaves_a_doubt_whether_iqm_took_a_job(fixed, tmp_path, error):
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
        assert events(tmp_path)[-1] == (0, "refused")
        assert len(execute(run, sampling)) == 1
    else:
        with pytest.raises(ServiceError, match="--resubmit"):
            execute(run, sampling)


def test_without_tags_a_doubtful_submission_is_not_repeated_silently(fixed, tmp_path):
    sampling = IqmSampling(Iqm("lost"), "https://iqm.example")
    run = fixed(tmp_path, "iqm:https://iqm.example")
    with pytest.raises(ConnectionLostError):
        execute(run, sampling)
    with pytest.raises(ServiceError, match="cannot say whether it arrived"):
        execute(run, sampling)
    assert len(execute(run, sampling, resubmit=True)) == 3


@pytest.mark.parametrize("left", [0, 1, 40])
def test_a_job_whose_id_was_being_written_is_found_again(fixed, service, tmp_path, left):
    """Killed after the last job was handed in, with none or only part of its id on disk."""
    busy = service(["queued"])
    with pytest.raises(StillWaitingError):
        execute(fixed(tmp_path, ON), busy.sampling(), wait=0.0)
    busy.finish()
    *lines, last = (tmp_path / JOBS).read_bytes().splitlines(keepends=True)
    (tmp_path / JOBS).write_bytes(b"".join(lines) + last[:left])
    assert len(execute(fixed(tmp_path, ON), busy.sampling())) == 3
    assert busy.submissions == 3


def test_equal_runs_in_two_folders_do_not_take_each_others_jobs(fixed, service, tmp_path):
    shared = service(["done", "done", "done", "lost-before"])
    first = fixed(tmp_path / "a", ON)
    execute(first, shared.sampling())
    second = fixed(tmp_path / "b", ON)
    assert first.hash == second.hash
    with pytest.raises(ConnectionLostError):
        execute(second, shared.sampling())
    execute(second, shared.sampling())
    assert len(shared.queue) == 6


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


# Nothing secret is written or shown


@pytest.mark.parametrize("fate", ["lost-before", "lost-after", "lost-while-waiting", "failed", "refused", "queued"])
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


def test_an_address_with_a_credential_is_refused_without_being_repeated(secret, secret_address):
    for address in (secret_address, f"https://iqm.example/?token={secret}"):
        with pytest.raises(InputError) as caught:
            sampler_for(f"iqm:{address}")
        assert secret not in str(caught.value)
    assert plain_address("https://iqm.example/cocos") == "https://iqm.example/cocos"


@pytest.mark.parametrize(
    "text",
    [
        "Bearer {}",
        "Authorization: Bearer {}",
        '{{"token": "{}"}}',
        "api_key={}&x=1",
        "https://u:{}@h/",
        "https://{}@h/",
        "access_token: {}",
        "{{'Authorization': 'apikey {}'}}",
        "Authorization: Basic {}",
        "Authorization: Digest u, response={}, x",
        "('Authorization', 'Bearer {}')",
        '{{\\"token\\": \\"{}\\"}}',
        "Invalid token {}",
        "API key '{}' is not known",
        "https://u:p@{}@host/x",
        "https://u:p/{}@host/x",
        "password='my {} pass'",
        'password="a\\"{}"',
        "password: a,{}",
        "token: apikey {}",
    ],
)
def test_known_shapes_of_secrets_are_masked(text):
    assert "sEcr3t-value" not in scrubbed(text.format("sEcr3t-value"))


def test_stored_tokens_are_masked_when_the_account_is_refused(monkeypatch, secret):
    """Whatever the shape of the message."""

    class Refusing:
        def __init__(self):
            raise RuntimeError(f"401 <{secret}>")

        @staticmethod
        def saved_accounts():
            return {"default": {"token": secret}}

    monkeypatch.setattr("biselect.hardware.execute.ibm.QiskitRuntimeService", Refusing)
    with pytest.raises(InputError, match="no access to ibm:boston: 401") as caught:
        sampler_for("ibm:boston")
    assert secret not in str(caught.value)


@pytest.mark.parametrize("kind", ["ibm", "noisy", "local"])
def test_a_device_is_named_by_a_name_alone(kind, secret, secret_address):
    for where in (secret_address, f"boston?token={secret}", f"boston {secret}"):
        with pytest.raises(InputError, match="by its name") as caught:
            kind_of(f"{kind}:{where}")
        assert secret not in str(caught.value)
    assert kind_of(f"{kind}:ibm_boston-2.x")


def test_plain_words_are_left_alone():
    said = "the token expired; no such key 'depth'; see https://docs.example/login@home; a basic gate"
    assert scrubbed(said) == said


def test_secrets_of_the_environment_are_masked_wherever_they_stand(monkeypatch):
    monkeypatch.setenv("IQM_TOKEN", "abcdefgh")
    assert scrubbed("xxabcdefghyy, and a plain word") == "xx***yy, and a plain word"


@pytest.mark.parametrize("name", ["IQM_TOKEN", "QISKIT_IBM_TOKEN", "QISKIT_IBM_INSTANCE"])
def test_a_services_own_variable_is_masked_however_short_and_plain(monkeypatch, name):
    monkeypatch.setenv(name, "tok")
    assert scrubbed("refused: tok, token=sEcr3t") == "refused: ***, ***en=***"
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "true")  # a variable that only looks like one
    assert "true" in scrubbed("true")


@pytest.mark.parametrize("spelt", ["{}", "{!r}", "https://h/?q=a%2Fb%2Bc%26%22d+e", "https://h/a%2Fb%2Bc%26%22d%20e"])
def test_a_known_secret_is_masked_as_addresses_and_json_spell_it(spelt):
    secret = 'a/b+c&"d e'
    text = spelt.format(secret)
    for said in (text, json.dumps(text)):
        left = scrubbed(said, [secret])
        assert "b+c" not in left and "%2Bc" not in left and "d e" not in left


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


ACCOUNT = {
    "channel": "ibm_cloud",
    "token": "tok-en",
    "proxies": {"username_ntlm": "corp\\ada", "password_ntlm": "hunter22", "urls": {"https": "http://ada:pa5s@proxy"}},
}


def test_all_of_an_account_is_secret_but_its_channel():
    said = scrubbed("ibm_cloud: NTLM of corp\\ada with hunter22 or pa5s", account_secrets({"tags": ACCOUNT}))
    assert said == "ibm_cloud: NTLM of *** with *** or ***"


@pytest.mark.parametrize(
    "content",
    [
        "abcdefgh\nijklmnop\n",
        "\ufeff" + json.dumps({"access_token": "abcdefgh", "refresh_token": "ijklmnop"}),
        json.dumps({"a": {"b": [{"c": "abcdefgh"}]}, "token": ["ijklmnop"]}),
        json.dumps(["abcdefgh", "ijklmnop"]),
        json.dumps({"token": {"x": "abcdefgh"}, "secret": " ijklmnop "}),
    ],
)
def test_all_of_a_file_of_tokens_is_masked_whatever_its_form(monkeypatch, tmp_path, content):
    path = tmp_path / "tokens"
    path.write_text(content, encoding="utf-8")
    monkeypatch.setenv("IQM_TOKENS_FILE", str(path))
    assert scrubbed("sent abcdefgh, then ijklmnop") == "sent ***, then ***"


def test_a_token_of_digits_alone_is_masked(monkeypatch, tmp_path):
    (tmp_path / "tokens").write_text("12345678\n")
    monkeypatch.setenv("IQM_TOKENS_FILE", str(tmp_path / "tokens"))
    assert scrubbed("sent 12345678") == "sent ***"


def test_a_token_is_masked_without_the_blanks_around_it(monkeypatch):
    monkeypatch.setenv("QISKIT_IBM_TOKEN", " tok\n")
    assert scrubbed("value tok.") == "value ***."


@pytest.mark.parametrize("mark", [" ", "|", "<img>", "\x1b[31m", "$x$", "'", "&", "\n", "ü"])
def test_an_address_has_the_marks_of_addresses_alone(mark):
    with pytest.raises(InputError, match=r"https://…|alone") as caught:
        plain_address(f"https://iqm.example/a{mark}b")
    assert mark.strip() == "" or mark not in str(caught.value)
    assert plain_address("https://[::1]:8080/a_b~%20") == "https://[::1]:8080/a_b~%20"


def test_a_web_token_is_masked_wherever_it_stands():
    assert scrubbed("got eyJhbGciOi.eyJzdWIiOiI.c2ln-nature; a key") == "got ***; a key"


def test_all_stored_accounts_are_masked_while_a_job_is_asked_for(fixed, service, tmp_path, monkeypatch):
    """Short lower-case tokens of an account that is not even the active one."""
    stored = {"old": {"token": "swan", "instance": "lake"}, "empty": {"token": "reed"}}
    monkeypatch.setattr("biselect.hardware.execute.ibm.QiskitRuntimeService.saved_accounts", lambda: stored)
    strict = service(["refused"])
    with pytest.raises(ServiceError) as caught:
        strict.reason = "swan of lake, reed"
        execute(fixed(tmp_path, ON), strict.sampling())
    assert "*** of ***, ***" in str(caught.value)
    assert "swan" not in (tmp_path / JOBS).read_text()
