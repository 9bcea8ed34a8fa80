"""A whole review and a summary on a real local cluster, a worker killed in the middle of every pass: the same bytes."""

import json
import os
import signal
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import biselect as bs
from biselect.large import sides
from biselect.large.engines import engine_for
from biselect.large.spool import partitions_of
from biselect.large.summaries import sum_up
from biselect.options import Columns, Compute, Kinds, Search
from biselect.progress import steps_of


@dataclass(frozen=True)
class KillsOnce:
    """A pass that ends the process of whoever begins with one of its parts, once."""

    asked: Any
    flag: str
    first: int

    @property
    def name(self):
        return self.asked.name

    def of_part(self, part):
        found = self.asked.of_part(part)
        if part.first == self.first:
            try:
                Path(self.flag).touch(exist_ok=False)
            except FileExistsError:
                return found
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    def merged(self, before, after):
        return self.asked.merged(before, after)


class Killing:
    """An engine of which every pass loses a worker."""

    def __init__(self, engine, folder):
        self.engine, self.folder, self.flags = engine, folder, []
        self.name = engine.name

    def run(self, asked, parts, told=None):
        flag = self.folder / f"killed-{len(self.flags)}"
        self.flags.append(flag)
        return self.engine.run(KillsOnce(asked, str(flag), parts[len(parts) // 2].first), parts, told)


COLUMNS = Columns(id="id", exclude=["group", "when"])
ASKED = {"k": 8, "m": 2, "kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0)), "progress": False}


def answer(found):
    return json.dumps(found.summary["selection"]), found.selection.proof_json()


def test_a_review_loses_a_worker_in_every_pass(cluster, tables, tiny_memory, split_up, tmp_path, monkeypatch):
    pool, reference = tables(mixed=True)
    at_home = answer(bs.review(bs.table(pool, columns=COLUMNS), reference, **ASKED))
    given = [split_up(table, name, 2) for table, name in ((pool, "pool"), (reference, "reference"))]
    used = []

    @contextmanager
    def killing(on, memory):
        with engine_for(on, memory) as engine:
            used.append(Killing(engine, tmp_path))
            yield used[0]

    monkeypatch.setattr(sides, "engine_for", killing)
    table = bs.table(given[0], columns=COLUMNS)
    found = bs.review(table, given[1], **ASKED, compute=Compute(on=cluster))
    assert answer(found) == at_home
    flags = used[0].flags
    assert len(flags) >= 4 and all(flag.exists() for flag in flags)


def test_a_summary_loses_a_worker_in_every_pass(cluster, tables, split_up, tmp_path):
    table, columns, quiet = tables(mixed=True)[0], ["x0", "x1", "land", "open"], steps_of(False)
    with engine_for() as threads, engine_for(cluster) as engine:
        here = sum_up(partitions_of(table), columns, threads, quiet).summary.state()
        there = sum_up(partitions_of(split_up(table, "pool", 5)), columns, Killing(engine, tmp_path), quiet)
    assert str(there.summary.state()[0]) == str(here[0])
    assert {name: array.tobytes() for name, array in there.summary.state()[1].items()} == {
        name: array.tobytes() for name, array in here[1].items()
    }
    assert len(list(tmp_path.glob("killed-*"))) == 2


def test_the_command_line_runs_on_a_cluster(cluster, run, tables, tiny_memory, split_up, tmp_path, monkeypatch):
    from biselect.large import summaries

    monkeypatch.setattr(summaries, "POOL_CELLS", 1000)
    folder = split_up(tables()[0], "pool", 4)
    roles = ("--features", "x0,x1,x2", "--quiet")
    for name, where in (("here", ()), ("there", ("--on", cluster))):
        outcome = run("summarise", folder, "--out", tmp_path / f"{name}.npz", *roles, *where)
        assert outcome.code == 0, outcome.err
    assert (tmp_path / "here.npz").read_bytes() == (tmp_path / "there.npz").read_bytes()
