"""Samplers by name, and what their shots are."""

import pytest

from biselect.errors import InputError
from biselect.hardware.execute.devices import kind_of, sampler_for
from biselect.hardware.execute.scrub import plain_address


@pytest.mark.parametrize("on", ["", "sector:x", "noisy", "ibm:", "cloud:x", "iqm:ftp://x", "Sector"])
def test_places_that_do_not_exist_are_refused(on):
    with pytest.raises(InputError):
        sampler_for(on)


def test_noise_models_say_what_they_are():
    assert kind_of("noisy:FakeBoston") == kind_of("local:FakeBoston") == "noise model, not hardware"


@pytest.mark.parametrize("kind", ["ibm", "noisy", "local"])
def test_a_device_is_named_by_a_name_alone(kind, secret, secret_address):
    for where in (secret_address, f"boston?token={secret}", f"boston {secret}"):
        with pytest.raises(InputError, match="by its name") as caught:
            kind_of(f"{kind}:{where}")
        assert secret not in str(caught.value)
    assert kind_of(f"{kind}:ibm_boston-2.x")


def test_an_address_with_a_credential_is_refused_without_being_repeated(secret, secret_address):
    for address in (secret_address, f"https://iqm.example/?token={secret}"):
        with pytest.raises(InputError) as caught:
            sampler_for(f"iqm:{address}")
        assert secret not in str(caught.value)
    assert plain_address("https://iqm.example/cocos") == "https://iqm.example/cocos"
