"""Samplers by name, what their shots are, and readouts with their file form."""

import json
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.errors import InputError
from biselect_quantum.devices.execution.samplers import PLACES, RawShots, kind_of, sampler_for


@pytest.mark.parametrize("on", ["", "sector:x", "noisy", "ibm:", "cloud:x", "local:boston", "Sector"])
def test_places_that_do_not_exist_are_refused(on):
    with pytest.raises(InputError):
        sampler_for(on)


def test_the_command_line_offers_every_place():
    run = import_module("biselect_quantum.cli.run")

    assert {name.partition(":")[0] for name in run.PLACES} == set(PLACES)
    assert all(bool(PLACES[name.partition(":")[0]].takes) == (":" in name) for name in run.PLACES)


def test_noise_models_say_what_they_are():
    assert kind_of("noisy:FakeBoston") == "noise model, not hardware"


@pytest.mark.parametrize("kind", ["ibm", "noisy"])
def test_a_device_is_named_by_a_name_alone(kind, secret, secret_address):
    for where in (secret_address, f"boston?token={secret}", f"boston {secret}"):
        with pytest.raises(InputError, match="by its name") as caught:
            kind_of(f"{kind}:{where}")
        assert secret not in str(caught.value)
    assert kind_of(f"{kind}:ibm_boston-2.x")


@given(st.integers(1, 70), st.integers(1, 30), st.integers(0, 1 << 30))
@settings(max_examples=30)
def test_readouts_survive_their_file_form(width, shots, seed):
    table = np.random.default_rng(seed).integers(2, size=(shots, width))
    readout = RawShots.of(table)
    again = RawShots.from_dict(json.loads(json.dumps(readout.to_dict())))
    assert np.array_equal(again.bits, readout.bits) and np.array_equal(again.counts, readout.counts)
    everyone = np.repeat(again.bits, again.counts, axis=0)
    assert sorted(map(tuple, everyone.tolist())) == sorted(map(tuple, table.tolist()))
