import io
import os
import sys
import time

import numpy as np
import pytest

from biselect.progress import say_to_whoever_watches, shown_elsewhere
from biselect.simulate import backends, first_use
from biselect.simulate.backends import PLAIN_AMPLITUDES, TINY, choose_backend


class Terminal(io.StringIO):
    def isatty(self):
        return True


class OfSize:
    """A problem as far as its sector matters."""

    sample_rules = feature_rules = None

    def __init__(self, size):
        self.sector = type("Sector", (), {"size": size})


def test_auto_takes_compiled_code_where_it_lies_ready_or_pays(monkeypatch):
    for ready, expected in ((False, "plain"), (True, "compiled")):
        monkeypatch.setattr(backends, "is_compiled", lambda ready=ready: ready)
        assert choose_backend(OfSize(TINY - 1), np.complex128) == "plain"
        assert choose_backend(OfSize(PLAIN_AMPLITUDES - 1), np.complex128) == expected
        assert choose_backend(OfSize(PLAIN_AMPLITUDES), np.complex128) == "compiled"


def test_code_older_than_its_source_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not first_use.is_compiled()
    index = tmp_path / "simulate_0" / "passes.run-1.py311.nbi"
    index.parent.mkdir()
    index.touch()
    os.utime(index, (1, 1))
    assert not first_use.is_compiled()
    os.utime(index, (2e10, 2e10))
    assert first_use.is_compiled()


def test_the_index_is_named_as_numba_names_it(monkeypatch):
    from biselect.simulate import passes

    assert passes.run.py_func.__name__ == "run" and passes.run._cache.cache_path  # it is cached, under this name
    (start, _) = first_use.KERNEL.split("-")
    assert passes.run._cache._impl.filename_base.startswith(start)


@pytest.mark.parametrize("watched", [True, False])
def test_a_person_is_told_and_nobody_else(monkeypatch, watched):
    stream = Terminal() if watched else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    say_to_whoever_watches("compiling")
    assert ("compiling" in stream.getvalue()) == watched
    with shown_elsewhere(silent=True):
        say_to_whoever_watches("not this")
    assert "not this" not in stream.getvalue()


def test_compiling_that_takes_long_is_told_once(monkeypatch):
    import numba
    from numba.core import event

    monkeypatch.setitem(event._registered, "numba:compile", [])  # the listener of this process may have spoken already
    said = []
    monkeypatch.setattr(first_use, "say_to_whoever_watches", said.append)
    monkeypatch.setattr(first_use, "PATIENCE", 0.0)
    first_use.tell_when_compiling.__wrapped__()
    for step in range(5):
        numba.njit(lambda x, step=step: x + step)(1.0)
    for _ in range(500):
        if said:
            break
        time.sleep(0.01)
    assert said == [first_use.WORDS]
