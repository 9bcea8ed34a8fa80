"""What the fuzzer damages: for each reader some whole files, the damage that fits them, and what reads them.

One target reads no damaged files: `simulators` draws circuits (`fuzz_simulators`).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import fuzz_mutations as damage
import fuzz_simulators as simulators
import numpy as np
import pyarrow as pa

import biselect as bs
from biselect.core.untrusted import content_hash, seal
from biselect.errors import BiselectError
from biselect.options import Kinds, Search
from biselect.sessions.exports import summarise
from biselect.tables.readers import read_table

IDS = [f"r{i}" for i in range(24)]
WHOLE_REVIEW = 25  # one table in so many goes through a whole review


@dataclass(frozen=True, kw_only=True)
class Target:
    """A reader under attack.

    Attributes:
        name: of the reader.
        file: the name of the damaged file, which may decide how it is read.
        seeds: whole files.
        mutate: damages one.
        use: reads the file and does with it what a user would.
        command: arguments that make the command line read it, `FILE` and `FOLDER` in place of its own.
        beside: files that must lie beside it.
        weight: how many inputs it gets, against others.
    """

    name: str
    file: str
    seeds: Callable[[], list[bytes]]
    mutate: damage.Mutate
    use: Callable[[Path, int], Any]
    command: tuple[str, ...] = ()
    beside: Callable[[], dict[str, bytes]] = dict
    weight: int = 1

    def input(self, seed: int, index: int) -> bytes:
        """The damaged file of this number; the same one every time."""
        rng = Random(f"{seed}/{self.name}/{index}")
        return self.mutate(rng.choice(_kept(self)), rng)


@cache
def _kept(target: Target) -> list[bytes]:
    return target.seeds()


# Tables


def table() -> pa.Table:
    """A small table with a column of every kind."""
    rng = np.random.default_rng(0)
    gaps = [None if i % 7 == 0 else float(i) for i in range(24)]
    return pa.table(
        {
            "id": IDS,
            "x": rng.normal(size=24),
            "n": list(range(24)),
            "gap": gaps,
            "kind": ["red" if i % 3 else "blue" for i in range(24)],
            "ok": [i % 2 == 0 for i in range(24)],
            "when": pa.array([1_700_000_000 + 3600 * i for i in range(24)], pa.timestamp("s")),
        }
    )


def csv_seeds() -> list[bytes]:
    """The table as people write it, in several countries."""
    rows = [[str(value) if value is not None else "" for value in row.values()] for row in table().to_pylist()]
    plain = [table().column_names, *rows]
    quoted = "\r\n".join(",".join(f'"{cell}"' for cell in row) for row in plain)
    european = "\n".join(";".join(cell.replace(".", ",") for cell in row) for row in plain)
    odd = 'id,"a ""b""","line\nbreak"\n1,"x,y","z\n\nz"\n\n2,"",3\n'
    texts = ["\n".join(map(",".join, plain)) + "\n", quoted, "\ufeff" + european + "\n", odd, "x,y\n1,2\n3,4\n"]
    return [*(text.encode() for text in texts), european.encode("utf-16"), "größe;x\n1,5;2\n".encode("latin-1")]


def packed(pack: str, seeds: Callable[[], list[bytes]]) -> list[bytes]:
    """The same files, packed."""
    if pack == "gzip":
        return [gzip.compress(seed, mtime=0) for seed in seeds()]
    found = []
    for seed in seeds():
        out = pa.BufferOutputStream()
        with pa.CompressedOutputStream(out, pack) as stream:
            stream.write(seed)
        found.append(out.getvalue().to_pybytes())
    return found


def line_seeds() -> list[bytes]:
    """JSON lines."""
    rows = "\n".join(json.dumps(row, default=str) for row in table().to_pylist())
    return [rows.encode(), b'{"a": 1, "b": [1, {"c": null}]}\n{"b": {}, "a": 2.5}\n', b'{"x": 1}\n{"x": 2}\n']


def parquet_seeds() -> list[bytes]:
    """Parquet with several encodings."""
    import pyarrow.parquet as pq

    found = []
    for given in ({}, {"compression": "none"}, {"use_dictionary": False, "compression": "zstd"}, {"row_group_size": 5}):
        out = io.BytesIO()
        pq.write_table(table(), out, **given)
        found.append(out.getvalue())
    return found


def arrow_seeds(kind: str) -> list[bytes]:
    """Arrow files, streams and Feather."""
    found = []
    nested = pa.table({"x": [1.5, 2.5], "l": [[1], None], "d": pa.array(["a", "b"]).dictionary_encode()})
    for content in (table(), nested, table().combine_chunks().slice(3, 9)):
        out = io.BytesIO()
        if kind == "feather":
            from pyarrow.feather import write_feather

            write_feather(content, out, compression="lz4")
        else:
            new = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
            with new(out, content.schema) as stream:
                stream.write_table(content)
        found.append(out.getvalue())
    return found


def workbook_seeds() -> list[bytes]:
    """Excel workbooks."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(table().column_names)
    for row in table().to_pylist():
        book.active.append(list(row.values()))
    out = io.BytesIO()
    book.save(out)
    return [out.getvalue()]


def database_seeds(kind: str) -> list[bytes]:
    """A database with one table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.db"
        if kind == "sqlite":
            with sqlite3.connect(path) as database:
                database.execute("create table t (id text primary key, x real, n integer, gap, kind text)")
                rows = [tuple(row.values())[:5] for row in table().to_pylist()]
                database.executemany("insert into t values (?, ?, ?, ?, ?)", rows)
            database.close()
        else:
            import duckdb

            with duckdb.connect(str(path)) as database:
                given = table()  # noqa: F841 (DuckDB finds it by its name)
                database.execute("create table t as select * from given")
        return [path.read_bytes()]


def use_table(path: Path, index: int) -> None:
    """Read it as weights and as a pool, and one in some through a whole review."""
    from biselect.large.engines import Threads
    from biselect.large.summaries import summed_up
    from biselect.options import Columns
    from biselect.progress import steps_of
    from biselect.tables import open_pool, provenance, table
    from biselect.tables.problem_files import read_problem

    parts: list[pa.Table] = []
    tried(lambda: parts.append(read_in_parts(path)))
    whole = read_table(path)
    assert parts and repr(parts[0].to_pydict()) == repr(whole.to_pydict()), "in parts it is another table"
    names = whole.column_names
    attempts: list[Callable[[], Any]] = [
        lambda: read_problem(path, k=1, m=1),
        lambda: read_problem(path, k=1, m=1, id_column=names[0]).digest,
        lambda: open_pool(table(path, id=names[0], columns=Columns(show=names[-1:])), path).matrices,
        lambda: provenance("", 0, [path]),
    ]
    if index % 5 == 0:
        attempts.append(lambda: summed_up(path, Threads(), steps_of(False)))
    if index % WHOLE_REVIEW == 0:
        attempts.append(
            lambda: bs.review(path, path, k=1, m=1, kinds=Kinds(kinds=1), search=Search(neighbours=(0, 0))).report()
        )
    for attempt in attempts:
        tried(attempt)


def read_in_parts(path: Path) -> pa.Table:
    """The table as it is read where no memory holds it."""
    from biselect.large.spool import Spool, partitions_of

    with Spool() as spool:
        found = partitions_of(path, spool=spool)
        return pa.concat_tables([block for part in found.parts for _, block in part.blocks(found.schema.names)])


def use_slow_table(path: Path, index: int) -> None:
    """Read it once only, where opening takes long."""
    read_table(path) if index % 5 else use_table(path, index)


def tried(attempt: Callable[[], Any]) -> None:
    """An answer or an error of ours: both are fine."""
    try:
        attempt()
    except BiselectError:
        pass


# What biselect writes itself


@cache
def problem() -> bs.SelectionProblem:
    """Small, with names and rules."""
    rng = np.random.default_rng(5)
    return bs.SelectionProblem(
        coupling=rng.random((5, 4)),
        k=2,
        m=2,
        sample_scores=rng.random(5),
        feature_scores=rng.random(4),
        sample_names=list("abcde"),
        sample_rules={"forced_in": [1], "groups": [{"members": [0, 2], "at_most": 1}]},
    )


def plain_problem() -> bs.SelectionProblem:
    """The same without rules, which circuits do not keep."""
    return bs.SelectionProblem(coupling=problem().coupling, k=2, m=2)


def stored_problem() -> bytes:
    """As `save` writes it."""
    out = io.BytesIO()
    problem().save(out)
    return out.getvalue()


def use_problem(path: Path, index: int) -> None:
    """Load and solve it."""
    from biselect.tables.problem_files import read_problem

    loaded = read_problem(path)
    if loaded.coupling.size <= 1000:
        bs.solve(loaded, "coordinate-ascent" if index % 5 else "auto", time_limit=1)


def summary_seeds() -> list[bytes]:
    """References without their rows."""
    from biselect.weights import Reference

    found = []
    with tempfile.TemporaryDirectory() as folder:
        for entries in (None, 24 * 2048):
            path = Path(folder) / "s.npz"
            Reference(knots=entries).add(table(), time_column="when").save(path)
            found.append(path.read_bytes())
    return found


def use_summary(path: Path, index: int) -> None:
    """Load it, merge it, calibrate with it."""
    from biselect.weights import Reference, Weigher

    summary = Reference.load(path)
    tried(lambda: Reference.merged([summary, summary]))
    tried(lambda: Weigher().fit(summary))
    tried(lambda: summary.save(path.with_name("again.npz")))
    if index % 5 == 0:
        tried(lambda: bs.monitor(bs.table(table(), id="id", time="when"), older=summary))


def calibration_seeds() -> list[bytes]:
    """What the rows of a large table are weighed with, as such and with a column that moved."""
    from biselect.large._survey import FeatureColumns
    from biselect.large._weighing import Weighing
    from biselect.tables import Roles
    from biselect.weights import Reference, Weigher
    from biselect.weights.alignment import Shift

    names = ("x", "n", "gap", "kind", "ok")
    one = np.ones(1)
    reference = Reference.of([table().select(names)])
    return [
        Weighing(
            features=FeatureColumns(names=names, kept=names),
            weigher=Weigher().fit(reference).for_weights(),
            reference=reference,
            shifts=shifts,
            roles=Roles(),
            question={"k": 2, "m": 2, "drift": "keep", "is_own_reference": False, "rules": {}},
        ).to_bytes()
        for shifts in (None, Shift(columns=(0,), middles=one, factors=one, targets=one))
    ]


def use_calibration(path: Path, index: int) -> None:
    """Load it, and weigh rows with it."""
    from biselect.large._weighing import Weighing

    weighing = Weighing.load(path)
    tried(lambda: weighing.weights(table(), 0))


@cache
def training() -> Any:
    """A short one."""
    from biselect_quantum.circuits import Ansatz

    return Ansatz(plain_problem(), depth=1).train(seed=0)


def use_angles(path: Path, index: int) -> None:
    """Angles from a file."""
    from biselect_quantum.circuits.training.records import load_angles

    found = load_angles(path)
    if not isinstance(found, list):
        found.to_json()


def threshold_seeds() -> list[bytes]:
    """A manifest of thresholds."""
    from biselect_quantum.circuits.thresholds import Threshold, save_thresholds

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.json"
        save_thresholds(path, [Threshold.from_selection(bs.solve(problem()))])
        return [path.read_bytes()]


def seal_thresholds(content: Any) -> Any:
    """With a hash that fits."""
    from biselect_quantum.circuits.thresholds import _hash

    return {**content, "hash": _hash(content["thresholds"])}


def use_thresholds(path: Path, index: int) -> None:
    """The threshold of one problem."""
    from biselect_quantum.circuits.thresholds import threshold_for

    asdict(threshold_for(problem(), path))


@cache
def session_tables() -> tuple[Any, Any]:
    """Pool and reference of a session."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 4)), rng.normal(size=(60, 4))


SESSION: dict[str, Any] = {"k": 3, "m": 2, "kinds": Kinds(kinds=1)}


def session_seeds() -> list[bytes]:
    """Two answers."""
    with tempfile.TemporaryDirectory() as folder:
        session = bs.ReviewSession(*session_tables(), folder=folder, **SESSION)
        session.answer({0: True, 5: False})
        session.next_rows(2)
        return [(Path(folder) / "review.sqlite").read_bytes()]


def use_session(path: Path, index: int) -> None:
    """Take it up and ask on."""
    session = bs.ReviewSession.open(path.parent, *session_tables())
    session.next_rows(3)
    summarise(session.file)


@cache
def answer() -> dict[str, bytes]:
    """All files of an answer with its proof."""
    with tempfile.TemporaryDirectory() as folder:
        content = table().drop(["when"])
        review = bs.review(bs.table(content, id="id", label="ok"), content, k=2, m=2, kinds=Kinds(kinds=2))
        review.save(folder, proof=True)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def use_report(path: Path, index: int) -> None:
    """The page, and the tables of a terminal."""
    from contextlib import redirect_stdout

    from biselect.cli.select import report

    with redirect_stdout(io.StringIO()):
        report(path.parent)


def use_start(path: Path, index: int) -> None:
    """The start of a circuit from a selection."""
    from biselect_quantum.circuits import AnsatzSpec
    from biselect_quantum.cli._readers import read_start

    problem = plain_problem()
    AnsatzSpec(problem, 1, start=read_start(str(path), problem))


def use_proof(path: Path, index: int) -> None:
    """Check it."""
    from biselect.solvers import check_proof

    try:
        check_proof.check(path.with_name("proof.json"), path.with_name("problem.npz"))
    except check_proof.ProofError:
        pass


def use_answer(path: Path, index: int) -> None:
    """Check all files of an answer."""
    from biselect.reviews.answer_check import check_answer

    check_answer(path.parent)


def checkpoint_seeds() -> list[bytes]:
    """An unfinished training."""
    from biselect_quantum.circuits.training.records import Checkpoint, Descent

    found = training()
    descent = Descent(angles=found.angles, value=1.5, evaluations=3, trace=((1, 2.0), (3, 1.5)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.json"
        checkpoint = Checkpoint(path, {"a": 1})
        checkpoint.add("one", descent, 1.0)
        checkpoint.write()
        return [path.read_bytes()]


def use_checkpoint(path: Path, index: int) -> None:
    """Take it up."""
    from biselect_quantum.circuits.training.records import Checkpoint

    Checkpoint(path, {"a": 1})


# Circuits and runs


@cache
def compiled() -> dict[str, bytes]:
    """What `compile` writes, and beside it the snapshot of the device."""
    from biselect_quantum.devices._from_problem import compile_problem
    from biselect_quantum.devices.circuit_files import circuit_contents

    made = compile_problem(plain_problem(), "iqm-54", [0.4, 0.3, 0.5, 0.6], depth=2, compare=False, seed=3)
    return circuit_contents(made)


def use_circuit(path: Path, index: int) -> None:
    """The circuit, the plan of a run, and some shots."""
    from biselect_quantum.devices.circuit_files import load_circuit
    from biselect_quantum.devices.execution.run import plan
    from biselect_quantum.devices.execution.runner import take_shots

    circuit = load_circuit(path.parent)
    plan(circuit, "sector", shots=10, repeats=1, seed=0)
    _ = take_shots(circuit, "sector", shots=10).samples


def use_sealed_circuit(path: Path, index: int) -> None:
    """The same after every hash was set right, as whoever changes a file can do."""
    manifest = json.loads(compiled()["manifest.json"])
    manifest["files"][path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    if path.name == "target.json":
        try:
            manifest["target"]["hash"] = json.loads(path.read_bytes())["hash"]
        except (ValueError, KeyError, TypeError, RecursionError):
            pass  # a file without one
    (path.parent / "manifest.json").write_text(json.dumps(seal(manifest)))
    use_circuit(path, index)


def damage_gates(data: bytes, rng: Random) -> bytes:
    """A circuit with a gate left out, doubled, moved or turned."""
    from qiskit import qpy

    from biselect_quantum.devices.qiskit_circuits import qpy_bytes

    (circuit,) = qpy.load(io.BytesIO(data))
    steps = list(circuit.data)
    for _ in range(rng.randint(1, 3)):
        place, other = rng.randrange(len(steps)), rng.randrange(len(steps))
        how = rng.randrange(5)
        if how == 0:
            del steps[place]
        elif how == 1:
            steps.insert(other, steps[place])
        elif how == 2:
            steps[place], steps[other] = steps[other], steps[place]
        elif how == 3 and steps[place].clbits:
            steps[place] = steps[place].replace(clbits=[rng.choice(circuit.clbits)])
        elif steps[place].operation.params:
            gate = steps[place].operation.to_mutable()
            gate.params = [rng.choice([0.0, -1.0, 1e-3, 4.0, 1e300]) for _ in gate.params]
            steps[place] = steps[place].replace(operation=gate)
    changed = circuit.copy_empty_like()
    changed.data = steps
    return qpy_bytes(changed)


@cache
def fixed_run() -> dict[str, bytes]:
    """A run with its results."""
    from biselect_quantum.devices.circuit_files import load_circuit
    from biselect_quantum.devices.execution.exact_shots import SectorSampling
    from biselect_quantum.devices.execution.run import freeze, plan
    from biselect_quantum.devices.execution.runner import execute

    with tempfile.TemporaryDirectory() as name:
        source, folder = Path(name) / "source", Path(name) / "run"
        source.mkdir()
        for file, content in compiled().items():
            (source / file).write_bytes(content)
        circuit = load_circuit(source)
        execute(freeze(circuit, source, folder, plan(circuit, "sector", shots=20, repeats=2, seed=1)), SectorSampling())
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def use_run(path: Path, index: int) -> None:
    """Take the run up: nothing is left to do in a whole one."""
    from biselect_quantum.devices.execution.exact_shots import SectorSampling
    from biselect_quantum.devices.execution.outcomes import conclude
    from biselect_quantum.devices.execution.run import load_run
    from biselect_quantum.devices.execution.runner import execute

    run = load_run(path.parent)
    conclude(run, execute(run, SectorSampling()))


def use_snapshot(path: Path, index: int) -> None:
    """The target and its calibration."""
    from biselect_quantum.devices.device_errors import device_errors
    from biselect_quantum.devices.targets import load_target

    device_errors(load_target(path))


# Studies


@cache
def task() -> Any:
    """One small cell of a study."""
    from biselect_studies.task import tasks_for

    cell = {"N": 8, "D": 6, "k": 2, "m": 2, "noise": 0.5, "methods": ("feature-first", "exact")}
    return tasks_for("benchmark", cell, 2, block=2)[0]


def cell_seeds() -> list[bytes]:
    """A finished cell."""
    from biselect_studies.runner import run

    with tempfile.TemporaryDirectory() as folder:
        run([task()], Path(folder), on="alone")
        return [path.read_bytes() for path in Path(folder).rglob("*.json")]


def use_cell(path: Path, index: int) -> None:
    """Collect it as its study does."""
    from biselect_studies.runner import collect

    place = path.parent / task().experiment
    place.mkdir(exist_ok=True)
    shutil.copy(path, place / f"{task().key}.json")
    collect([task()], path.parent)


def results_seeds() -> list[bytes]:
    """The results of a study."""
    from biselect_studies.results import Entry, Results

    cells = (Entry("a", "x", 1.0, 0.5, 1.5, 1.0, "equal"), Entry("b", "x", float("nan"), 0.0, 1.0))
    more = {"seeds": 3, "cells": cells, "notes": ("note",), "extra": {}}
    return [Results(study=STUDY, title="T", label="tab:x", quick=True, **more).to_json().encode()]


STUDY = "formulation-evidence-summary"


def use_results(path: Path, index: int) -> None:
    """The page of all studies, and what `reproduce` prints."""
    from biselect_studies.ledger import read_ledger
    from biselect_studies.page import _study
    from biselect_studies.study import load

    _study(load(STUDY), path.parent, read_ledger())


TABLE = ("select", "FILE", "--reference", "FILE", "-k", "1", "-m", "1", "--kinds", "1", "--null-draws", "0")
SOLVE = ("solve", "FILE", "-k", "1", "-m", "1")
sealed = partial(damage.sealed_json, "hash", content_hash)
by_text = damage.either(damage.damage_cells, damage.damage_cells, damage.damage_bytes)
by_json = damage.either(damage.damage_json, damage.damage_json, damage.damage_json, damage.damage_bytes)
by_line = damage.either(damage.damage_lines, damage.damage_lines, damage.damage_bytes)


def _targets() -> list[Target]:
    def of_table(name: str, file: str, seeds: Any, mutate: damage.Mutate, weight: int, command: Any = TABLE) -> Target:
        return Target(name=name, file=file, seeds=seeds, mutate=mutate, use=use_table, command=command, weight=weight)

    def of_answer(name: str, file: str, mutate: damage.Mutate, use: Any, command: Any, weight: int) -> Target:
        return Target(
            name=name,
            file=file,
            seeds=lambda: [answer()[file]],
            mutate=mutate,
            use=use,
            command=command,
            beside=answer,
            weight=weight,
        )

    sealed_or_not = damage.either(sealed(), sealed(), sealed(), damage.damage_bytes)
    proof = damage.sealed_json("sha256", damage.proof_digest)
    return [
        of_table("csv", "t.csv", csv_seeds, by_text, 12),
        of_table("tsv", "t.tsv", csv_seeds, by_text, 3, SOLVE),
        of_table("csv.gz", "t.csv.gz", lambda: packed("gzip", csv_seeds), damage.inside("gzip", by_text), 3),
        of_table("csv.zst", "t.csv.zst", lambda: packed("zstd", csv_seeds), damage.inside("zstd", by_text), 3, SOLVE),
        of_table("jsonl", "t.jsonl", line_seeds, by_line, 8),
        of_table("jsonl.gz", "t.jsonl.gz", lambda: packed("gzip", line_seeds), damage.inside("gzip", by_line), 2),
        of_table("jsonl.zst", "t.ndjson.zst", lambda: packed("zstd", line_seeds), damage.inside("zstd", by_line), 2),
        of_table("parquet", "t.parquet", parquet_seeds, damage.damage_bytes, 8),
        of_table("arrow", "t.arrow", lambda: arrow_seeds("file"), damage.damage_bytes, 5),
        of_table("stream", "t.ipc", lambda: arrow_seeds("stream"), damage.damage_bytes, 5),
        of_table("feather", "t.feather", lambda: arrow_seeds("feather"), damage.damage_bytes, 3),
        of_table("xlsx", "t.xlsx", workbook_seeds, damage.damage_zip, 5),
        of_table("sqlite", "t.db", lambda: database_seeds("sqlite"), damage.damage_bytes, 6),
        replace(
            of_table("duckdb", "t.duckdb", lambda: database_seeds("duckdb"), damage.damage_bytes, 2), use=use_slow_table
        ),
        Target(
            name="problem.npz",
            file="p.npz",
            seeds=lambda: [stored_problem()],
            mutate=damage.damage_zip,
            use=use_problem,
            command=("solve", "FILE"),
            weight=8,
        ),
        Target(
            name="problem.json",
            file="p.json",
            seeds=lambda: [json.dumps(problem().to_dict()).encode()],
            mutate=by_json,
            use=use_problem,
            command=("solve", "FILE"),
            weight=5,
        ),
        Target(
            name="summary",
            file="s.npz",
            seeds=summary_seeds,
            mutate=damage.damage_zip,
            use=use_summary,
            command=("summarise", "FILE", "--out", "FOLDER/out.npz"),
            weight=4,
        ),
        Target(
            name="calibration",
            file="calibration.npz",
            seeds=calibration_seeds,
            mutate=damage.damage_zip,
            use=use_calibration,
            weight=4,
        ),
        Target(
            name="angles",
            file="a.json",
            seeds=lambda: [training().to_json().encode(), b"[0.1, 0.2, 0.3, 0.4]"],
            mutate=by_json,
            use=use_angles,
            weight=3,
        ),
        Target(
            name="thresholds",
            file="t.json",
            seeds=threshold_seeds,
            mutate=lambda data, rng: damage.damage_json(data, rng, seal_thresholds),
            use=use_thresholds,
            weight=2,
        ),
        Target(name="session", file="review.sqlite", seeds=session_seeds, mutate=damage.damage_bytes, use=use_session),
        of_answer("report", "report.json", by_json, use_report, ("report", "FOLDER"), 2),
        of_answer("selection", "selection.json", by_json, use_start, (), 2),
        of_answer("proof", "proof.json", proof, use_proof, ("check", "FOLDER"), 3),
        of_answer("proof's problem", "problem.npz", damage.damage_zip, use_proof, ("check", "FOLDER"), 2),
        of_answer("proofs of kinds", "kinds.npz", damage.damage_zip, use_answer, ("check", "FOLDER"), 2),
        of_answer("report of a proof", "report.json", by_json, use_answer, ("check", "FOLDER"), 2),
        Target(
            name="checkpoint",
            file="c.json",
            seeds=checkpoint_seeds,
            mutate=sealed_or_not,
            use=use_checkpoint,
        ),
        Target(
            name="circuit",
            file="manifest.json",
            seeds=lambda: [compiled()["manifest.json"]],
            mutate=sealed_or_not,
            use=use_circuit,
            command=("run", "FOLDER", "--dry-run", "--on", "sector"),
            beside=compiled,
            weight=2,
        ),
        Target(
            name="circuit's gates",
            file="circuit.qpy",
            seeds=lambda: [compiled()["circuit.qpy"]],
            mutate=damage.either(damage.damage_bytes, damage_gates),
            use=use_sealed_circuit,
            beside=compiled,
        ),
        Target(
            name="circuit's device",
            file="target.json",
            seeds=lambda: [compiled()["target.json"]],
            mutate=sealed_or_not,
            use=use_sealed_circuit,
            beside=compiled,
        ),
        Target(
            name="run",
            file="manifest.json",
            seeds=lambda: [fixed_run()["manifest.json"]],
            mutate=sealed_or_not,
            use=use_run,
            beside=fixed_run,
        ),
        Target(
            name="results of a run",
            file="results.sqlite",
            seeds=lambda: [next(content for name, content in fixed_run().items() if "results" in name)],
            mutate=damage.damage_bytes,
            use=use_run,
            beside=fixed_run,
        ),
        Target(
            name="snapshot",
            file="target.json",
            seeds=lambda: [compiled()["target.json"]],
            mutate=sealed_or_not,
            use=use_snapshot,
            weight=2,
        ),
        Target(
            name="simulators",
            file="case.json",
            seeds=simulators.whole_cases,
            mutate=lambda data, rng: json.dumps(simulators.drawn(rng)).encode(),
            use=lambda path, index: simulators.run_case(path.read_bytes()),
            weight=7,
        ),
        Target(name="cell", file="c.json", seeds=cell_seeds, mutate=sealed_or_not, use=use_cell, weight=2),
        Target(
            name="results.json",
            file="results.json",
            seeds=results_seeds,
            mutate=sealed_or_not,
            use=use_results,
            weight=2,
        ),
    ]


TARGETS = {target.name: target for target in _targets()}
