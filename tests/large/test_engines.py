"""A real local cluster of Dask: the bytes of threads, whatever is killed, and errors as they were raised."""

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.large.tallies import Tally, cut

from biselect._version import __version__
from biselect.errors import InputError, MissingDependencyError
from biselect.large import engines as dask_cluster
from biselect.large.engines import PER_WORKER, engine_for, shares_of

RNG = np.random.default_rng(22)
TABLE = pa.table({"x": RNG.integers(0, 1000, size=5000).astype(float)})


def content(found):
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in found.items()}


@pytest.fixture(scope="module")
def there(cluster):
    with engine_for(cluster) as engine:
        yield engine


@pytest.fixture(scope="module")
def threads():
    with engine_for() as engine:
        yield engine


def test_any_division_gives_the_bytes_of_threads(there, threads):
    for parts in (1, 2, 7, 40):
        asked = Tally("x", 25)
        ends = RNG.integers(0, 5000, size=parts - 1).tolist()
        assert content(there.run(asked, cut(TABLE, ends))) == content(threads.run(asked, cut(TABLE, [])))


@dataclass(frozen=True)
class Deadly(Tally):
    """Ends the process of whoever takes one part, once."""

    flag: str = ""

    def of_part(self, part):
        if part.first == 2000:
            try:
                Path(self.flag).touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().of_part(part)


def test_a_worker_killed_in_the_middle_of_each_pass_changes_nothing(there, threads, tmp_path):
    for column, most in (("x", 10), ("x", 50)):
        flag = tmp_path / f"killed-{most}"
        found = there.run(Deadly(column, most, flag=str(flag)), cut(TABLE, range(0, 5000, 250)))
        assert flag.exists()
        assert content(found) == content(threads.run(Tally(column, most), cut(TABLE, [])))


@dataclass(frozen=True)
class Broken(Tally):
    def of_part(self, part):
        if part.first == 1000:
            raise InputError(f"{part.name}: cannot be read")
        return super().of_part(part)


def test_an_error_in_a_part_comes_back_as_it_was(there, threads):
    for engine in (there, threads):
        with pytest.raises(InputError, match=r"^rows 1000 to 1500: cannot be read$") as raised:
            engine.run(Broken("x", 3), cut(TABLE, range(0, 5000, 500)))
        assert type(raised.value) is InputError
    assert content(there.run(Tally("x", 3), cut(TABLE, []))) == content(threads.run(Tally("x", 3), cut(TABLE, [])))


@pytest.mark.parametrize(("version", "has"), [(None, "no biselect"), ("0.0", "biselect 0.0")])
def test_a_worker_with_another_version_is_refused(version, has):
    dask_cluster._check_versions({"tcp://host:1": __version__})
    with pytest.raises(InputError, match=f"the worker at tcp://host:2 has {has}; install {__version__}"):
        dask_cluster._check_versions({"tcp://host:1": __version__, "tcp://host:2": version})


@given(st.lists(st.integers(1, 5000), max_size=60), st.integers(1, 9))
def test_shares_are_neighbours_and_about_equal(ends, workers):
    parts = cut(TABLE, ends)
    shares = shares_of(parts, workers)
    assert tuple(part for share in shares for part in share) == parts and all(shares)
    most = max(part.rows for part in parts)
    assert len(shares) <= PER_WORKER * workers + 1
    assert all(sum(part.rows for part in share) <= 5000 / (PER_WORKER * workers) + 1 + most for share in shares)


@dataclass(frozen=True)
class Marking(Tally):
    """Leaves a file for each part, slowly."""

    folder: str = ""

    def of_part(self, part):
        Path(self.folder, str(part.first)).touch()
        time.sleep(0.05)
        return super().of_part(part)


def test_an_interrupt_takes_the_work_back(there, threads, tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        there.run(Marking("x", 3, folder=str(tmp_path)), cut(TABLE, range(0, 5000, 50)), interrupt)
    assert content(there.run(Tally("x", 3), cut(TABLE, []))) == content(threads.run(Tally("x", 3), cut(TABLE, [])))
    time.sleep(1)
    assert 0 < len(list(tmp_path.iterdir())) < 100


def test_progress_counts_parts(there):
    told = []
    there.run(Tally("x", 3), cut(TABLE, range(0, 5000, 100)), lambda share, _: told.append(share))
    assert told == sorted(told) and told[-1] == 1.0 and len(told) >= 4


def test_a_cluster_that_does_not_answer_is_named(monkeypatch):
    pytest.importorskip("distributed", reason="needs the cluster extra")
    monkeypatch.setattr(dask_cluster, "PATIENCE", 0.5)
    with pytest.raises(InputError, match="no Dask scheduler answers at localhost:9"), engine_for("dask://localhost:9"):
        pass


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"'\.\[cluster\]'"), engine_for("dask://localhost:1"):
        pass
