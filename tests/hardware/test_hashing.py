"""Sealed data tells whether it was changed."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.errors import InputError
from biselect.hardware.hashing import check_seal, content_hash, seal

PLAIN = st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers()))


@given(PLAIN)
def test_a_seal_survives_json_and_no_change(content):
    sealed = seal({**content, "n": 1})
    check_seal(json.loads(json.dumps(sealed)), "here")
    assert content_hash(sealed) == sealed["hash"]
    with pytest.raises(InputError, match="here: was changed after it was written"):
        check_seal({**sealed, "n": 2}, "here")


def test_a_known_hash():
    """As stored manifests have it: over sorted JSON in Python's own spacing."""
    assert content_hash({"b": [2], "a": 1}) == hashlib.sha256(b'{"a": 1, "b": [2]}').hexdigest()
