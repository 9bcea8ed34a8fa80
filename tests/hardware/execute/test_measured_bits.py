"""Readouts and their file form."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.hardware.execute.measured_bits import Readout


@given(st.integers(1, 70), st.integers(1, 30), st.integers(0, 1 << 30))
@settings(max_examples=30, deadline=None)
def test_readouts_survive_their_file_form(width, shots, seed):
    table = np.random.default_rng(seed).integers(2, size=(shots, width))
    readout = Readout.of(table)
    again = Readout.from_dict(json.loads(json.dumps(readout.to_dict())))
    assert np.array_equal(again.bits, readout.bits) and np.array_equal(again.counts, readout.counts)
    everyone = np.repeat(again.bits, again.counts, axis=0)
    assert sorted(map(tuple, everyone.tolist())) == sorted(map(tuple, table.tolist()))
