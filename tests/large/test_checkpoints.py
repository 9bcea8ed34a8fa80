"""A run that was killed goes on after the last pass that was done, and only where that is the same pass."""

import os
import subprocess
import sys
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.large.tallies import Tally, cut

from biselect.errors import AlteredWarning
from biselect.large import _checkpoints as kept_passes
from biselect.large._checkpoints import FOLDER, Resuming, digest, resuming
from biselect.large._sources import HeldRows
from biselect.large.engines import Threads
from biselect.large.spool import partitions_of

TABLE = pa.table({"x": np.random.default_rng(3).normal(size=300)})
PARTS = cut(TABLE, [100, 200])


class Counted(Threads):
    """Threads that tell which passes they ran."""

    def __init__(self):
        super().__init__()
        self.ran = []

    def run(self, asked, parts, told=None):
        self.ran.append(asked)
        return super().run(asked, parts, told)


def content(found):
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in found.items()}


def killed(engine, folder, *passes, parts=PARTS):
    with pytest.raises(KeyboardInterrupt), resuming(engine, folder) as kept:
        for asked in passes:
            kept.run(asked, parts)
        raise KeyboardInterrupt


def test_finished_passes_are_taken_from_the_run_before(tmp_path):
    first, second = Tally("x", 3), Tally("x", 5)
    killed(Counted(), tmp_path, first)
    again, said, told = Counted(), [], []
    with resuming(again, tmp_path, said.append) as engine:
        found = engine.run(first, cut(TABLE, [100, 200]), lambda share, _: told.append(share))
        other = engine.run(second, PARTS)
    assert again.ran == [second] and len(said) == 1 and said[0].startswith("Counting: taken") and told == [1.0]
    assert content(found) == content(Threads().run(first, PARTS))
    assert content(other) == content(Threads().run(second, PARTS))
    assert not (tmp_path / FOLDER).exists()


def test_another_pass_another_table_and_another_version_are_computed(tmp_path, monkeypatch):
    asked = Tally("x", 3)
    killed(Counted(), tmp_path, asked)
    other = cut(TABLE.slice(0, 299), [100, 200])
    for given_pass, parts in ((replace(asked, most=4), PARTS), (asked, other), (asked, cut(TABLE, [100]))):
        again = Counted()
        killed(again, tmp_path, given_pass, parts=parts)
        assert again.ran == [given_pass]
    monkeypatch.setattr(kept_passes, "__version__", "0.0")
    again = Counted()
    killed(again, tmp_path, asked)
    assert again.ran == [asked]


def test_a_file_that_changed_is_read_again(tmp_path):
    path = tmp_path / "table.parquet"
    pq.write_table(TABLE, path)
    killed(Counted(), tmp_path, Tally("x", 3), parts=partitions_of(path).parts)
    same = Counted()
    killed(same, tmp_path, Tally("x", 3), parts=partitions_of(path).parts)
    assert same.ran == []
    pq.write_table(pa.table({"x": TABLE["x"].to_numpy()[::-1]}), path)
    changed = Counted()
    killed(changed, tmp_path, Tally("x", 3), parts=partitions_of(path).parts)
    assert len(changed.ran) == 1


@pytest.mark.parametrize("damage", ["cut", "flip", "foreign", "other"])
def test_a_damaged_or_foreign_file_is_told_and_computed_again(tmp_path, damage):
    asked = Tally("x", 3)
    killed(Counted(), tmp_path, asked)
    (path,) = (tmp_path / FOLDER).glob("*.npz")
    raw = bytearray(path.read_bytes())
    if damage == "other":  # a whole file, but of another pass
        killed(Counted(), tmp_path, replace(asked, most=7))
        raw = next(one for one in (tmp_path / FOLDER).glob("*.npz") if one != path).read_bytes()
    elif damage == "flip":
        raw[raw.index(b"descr") + 300] ^= 1
    path.write_bytes({"cut": raw[:-30], "foreign": b"not ours"}.get(damage, bytes(raw)))
    again = Counted()
    with pytest.warns(AlteredWarning, match="the pass is done again"), resuming(again, tmp_path) as engine:
        assert content(engine.run(asked, PARTS)) == content(Threads().run(asked, PARTS))
    assert again.ran == [asked]


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    engine = Threads()
    with resuming(engine, None) as same:
        assert same is engine
    assert not list(tmp_path.iterdir())


KINDS = st.sampled_from([np.bool_, np.uint8, np.int64, np.float64, np.dtype("S5"), np.dtype("U3")])


@dataclass(frozen=True)
class Given:
    """Finds these arrays, whatever the part."""

    arrays: dict
    name: str = "Given"

    def of_part(self, part):
        return self.arrays

    merged = None


@given(st.dictionaries(st.text(max_size=5), hnp.arrays(KINDS, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))))
def test_any_arrays_come_back_as_they_were(tmp_path_factory, arrays):
    home = tmp_path_factory.mktemp("kept")
    first = Resuming(Threads(), home).run(Given(arrays), PARTS[:1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = Resuming(None or _Never(), home).run(Given(arrays), PARTS[:1])
    assert content(first) == content(again) == content(arrays)


class _Never(Threads):
    def run(self, *_):
        raise AssertionError("it was kept")


@dataclass(frozen=True)
class Held:
    """Any value, and another one."""

    value: object
    more: object = None


def test_what_is_the_same_has_the_same_digest():
    def make(last):
        return Held({"a": np.arange(3.0), "b": (1, None, "x")}, more={"p", "q", last})

    assert digest(make("r")) == digest(make("r")) != digest(make("s"))
    assert digest(HeldRows(table=TABLE.slice(5, 10))) == digest(HeldRows(table=TABLE.slice(5, 10)))
    assert digest(HeldRows(table=TABLE.slice(5, 10))) != digest(HeldRows(table=TABLE.slice(6, 10)))


REVIEW = """
import sys
from contextlib import nullcontext
from pathlib import Path
import numpy as np
import pyarrow as pa
import biselect as bs
from biselect.large import gathering, opening, sides
from biselect.large import _checkpoints as checkpoints
from biselect.options import RowRules, Search
opening.POOL_CELLS, gathering.EXACT_CELLS = 100, 100
sides.resuming = lambda engine, folder: nullcontext(checkpoints.Resuming(engine, Path(folder), print))
x = np.random.default_rng(0).normal(size=(2000, 2))
table = pa.table({"x": x[:, 0], "y": x[:, 1], "text": np.array([*"abc"])[(x > 1).sum(axis=1)]})
rules, search = RowRules(must=["7", "8", "9"]), Search(neighbours=(0, 0))
compute = bs.options.Compute(resume=sys.argv[1])
bs.review(table, table.slice(0, 500), k=4, m=1, rules=rules, search=search, compute=compute, progress=False)
"""


def test_another_process_takes_all_passes_of_a_review(tmp_path):
    first, second = (
        subprocess.check_output(
            [sys.executable, "-c", REVIEW, tmp_path], env={**os.environ, "PYTHONHASHSEED": seed}, text=True
        ).splitlines()
        for seed in ("1", "2")
    )
    assert first == [] and len(second) == len(list(tmp_path.glob("*.npz"))) >= 4


def test_what_nobody_can_compare_is_never_the_same():
    assert digest(Held(print)) == digest(Held(print))
    unknown = Held(lambda: None)
    assert digest(unknown) != digest(unknown)
