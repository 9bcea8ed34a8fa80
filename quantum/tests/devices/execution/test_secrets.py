"""Nothing secret is written or shown: what a service says is scrubbed first."""

import json

import pytest

from biselect_quantum.devices.execution.remote import account_secrets, mask_secrets

ACCOUNT = {
    "channel": "ibm_cloud",
    "token": "tok-en",
    "proxies": {"username_ntlm": "corp\\ada", "password_ntlm": "hunter22", "urls": {"https": "http://ada:pa5s@proxy"}},
}


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
    assert "sEcr3t-value" not in mask_secrets(text.format("sEcr3t-value"))


def test_plain_words_are_left_alone():
    said = "the token expired; no such key 'depth'; see https://docs.example/login@home; a basic gate"
    assert mask_secrets(said) == said


def test_secrets_of_the_environment_are_masked_wherever_they_stand(monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "abcdefgh")
    assert mask_secrets("xxabcdefghyy, and a plain word") == "xx***yy, and a plain word"


@pytest.mark.parametrize("name", ["QISKIT_IBM_TOKEN", "QISKIT_IBM_INSTANCE"])
def test_a_services_own_variable_is_masked_however_short_and_plain(monkeypatch, name):
    monkeypatch.setenv(name, "tok")
    assert mask_secrets("refused: tok, token=sEcr3t") == "refused: ***, ***en=***"
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "true")  # a variable that only looks like one
    assert "true" in mask_secrets("true")


@pytest.mark.parametrize("spelt", ["{}", "{!r}", "https://h/?q=a%2Fb%2Bc%26%22d+e", "https://h/a%2Fb%2Bc%26%22d%20e"])
def test_a_known_secret_is_masked_as_addresses_and_json_spell_it(spelt):
    secret = 'a/b+c&"d e'
    text = spelt.format(secret)
    for said in (text, json.dumps(text)):
        left = mask_secrets(said, [secret])
        assert "b+c" not in left and "%2Bc" not in left and "d e" not in left


def test_all_of_an_account_is_secret_but_its_channel():
    said = mask_secrets("ibm_cloud: NTLM of corp\\ada with hunter22 or pa5s", account_secrets({"tags": ACCOUNT}))
    assert said == "ibm_cloud: NTLM of *** with *** or ***"


def test_a_token_is_masked_without_the_blanks_around_it(monkeypatch):
    monkeypatch.setenv("QISKIT_IBM_TOKEN", " tok\n")
    assert mask_secrets("value tok.") == "value ***."


def test_a_web_token_is_masked_wherever_it_stands():
    assert mask_secrets("got eyJhbGciOi.eyJzdWIiOiI.c2ln-nature; a key") == "got ***; a key"
