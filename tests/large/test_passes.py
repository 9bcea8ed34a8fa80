"""Threads: the same bytes for any division of the rows, errors at once, few parts at a time."""

import threading
import time
from dataclasses import dataclass, replace
from math import isnan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.large.tallies import Tally, cut

from biselect.errors import InputError
from biselect.large.engines import AHEAD, PER_THREAD, Threads, bytes_of, engine_for
from biselect.large.passes import over

TABLE = pa.table({"x": np.random.default_rng(0).integers(0, 40, size=500).astype(float)})


def content(found):
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in found.items()}


@given(ends=st.lists(st.integers(0, 500), max_size=30), most=st.integers(1, 20))
def test_any_division_gives_the_same_bytes(ends, most):
    asked = Tally("x", most)
    with engine_for() as engine:
        assert content(engine.run(asked, cut(TABLE, ends))) == content(over(asked, cut(TABLE, [])))


def test_progress_counts_parts():
    told = []
    Threads().run(Tally("x", 3), cut(TABLE, range(0, 500, 100)), lambda *seen: told.append(seen))
    assert [share for share, _ in told] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert all(isnan(energy) for _, energy in told)


@dataclass(frozen=True)
class Failing(Tally):
    seen: tuple[list[int], ...] = ()

    def of_part(self, part):
        self.seen[0].append(part.first)
        if part.first == 20:
            raise InputError(f"{part.name}: cannot be read")
        return super().of_part(part)


def test_an_error_in_a_part_comes_back_and_ends_the_others():
    seen = []
    with pytest.raises(InputError, match="rows 20 to 30: cannot be read"):
        Threads().run(Failing("x", 3, seen=(seen,)), cut(TABLE, range(0, 500, 10)))
    assert len(seen) < 50


class Slow:
    """Rows that take ten seconds to read."""

    def read(self, columns):
        for at in range(500):
            time.sleep(0.02)
            yield TABLE.slice(at, 1)


def test_an_interrupt_ends_the_parts_between_two_blocks():
    class Interrupted(Tally):
        def merged(self, before, after):
            raise KeyboardInterrupt

    first, second, third = cut(TABLE, [10, 20])
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Threads().run(Interrupted("x", 3), (first, second, replace(third, source=Slow())))
    assert time.monotonic() - start < 5


def test_memory_bounds_the_parts_in_flight():
    held, most, lock = [0], [0], threading.Lock()

    class Watched(Tally):
        def of_part(self, part):
            with lock:
                held[0] += 1
                most[0] = max(most[0], held[0])
            return super().of_part(part)

        def merged(self, before, after):
            with lock:
                held[0] -= 1
            return super().merged(before, after)

    engine = Threads(memory=PER_THREAD)
    engine.run(Watched("x", 3), cut(TABLE, range(500)))
    assert engine.threads == 1
    assert most[0] <= AHEAD + 2  # those handed out, the fold so far and the next


def test_a_table_without_rows_is_refused():
    with pytest.raises(InputError, match="no rows"):
        Threads().run(Tally("x", 1), ())


@pytest.mark.parametrize("memory", ["much", "2 parsecs", "-1 GB", "", 0, True, "0 MB", "nan"])
def test_memory_that_is_no_size_is_refused(memory):
    with pytest.raises(InputError, match="memory="):
        bytes_of(memory)


@pytest.mark.parametrize(
    ("text", "size"), [("2GiB", 2 << 30), ("512 mb", 512_000_000), ("4096", 4096), (" 1 TiB ", 1 << 40)]
)
def test_memory_as_people_write_it(text, size):
    assert bytes_of(text) == size


@pytest.mark.parametrize("on", ["spark", "ray", "", "dask", "dask:host", "tcp://localhost:1"])
def test_an_unknown_engine_is_refused(on):
    with pytest.raises(InputError, match="give threads or dask://HOST:PORT"), engine_for(on):
        pass
