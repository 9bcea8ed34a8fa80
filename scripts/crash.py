"""Kill every writer between any two of its steps, and commands at random: `python scripts/crash.py`, or `make crash`.

First part: each writer runs in a process of its own, over an older answer, and is killed with SIGKILL right before its
first call to the file system (rename, exchange, link, unlink, mkdir, rmdir, fsync), then before its second, and so on.
Nothing of ours runs between the kill and the look at the folder. Second part: `select`, `train`, `run` and `reproduce`
are killed at random moments, again and again in the same folder.

Always: files are of one answer, old or new, never of both; the user's own file is there; the next run leaves the bytes
of a run that nobody killed, and nothing else. Prints counts, and exits with 1 if anything was wrong.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import biselect as bs
from biselect.core import files
from biselect.core.files import STAGING, write_folder
from biselect.errors import InputError
from biselect.plot.style import panels
from biselect.reviews.result import review_problem
from biselect.weights import Reference
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.thresholds import Threshold, save_thresholds
from biselect_quantum.circuits.training.records import Checkpoint
from biselect_quantum.devices._from_problem import compile_problem
from biselect_quantum.devices.circuit_files import load_circuit, write_circuit
from biselect_quantum.devices.execution.outcomes import conclude
from biselect_quantum.devices.execution.run import freeze, plan
from biselect_quantum.devices.execution.runner import execute
from biselect_quantum.plot.circuit_figures import training_picture
from biselect_studies import load
from biselect_studies.page import write_reproduction
from biselect_studies.render import write as write_study
from biselect_studies.results import Results, entry
from biselect_studies.runner import keep as write_cell
from biselect_studies.task import tasks_for

CALLS = ("replace", "rename", "link", "unlink", "remove", "mkdir", "rmdir", "fsync")
OLD, NEW = 0, 1
MINE = "notes.txt"  # the user's own file beside an answer
CLOCKS = ("run.json", "results.sqlite")  # say when or how long
STUDY = "solver-matched-compute"


def writers(room):
    """By name: a function of a folder and a version that writes an answer, and whether the folder has folders."""
    rng = np.random.default_rng(0)
    problems = [bs.SelectionProblem(coupling=rng.random((6, 5)), k=k, m=2) for k in (2, 3)]
    reviews = [review_problem(problem) for problem in problems]
    summaries = [Reference(), Reference()]
    for summary in summaries:
        summary.add(pa.table(dict(zip("abc", rng.normal(size=(3, 50)), strict=True))))
    ansatz = Ansatz(problems[0], depth=1)
    trained = [ansatz.train(evaluations=count, seed=0) for count in (5, 30)]
    pictures = [training_picture(ansatz, one) for one in trained]
    made = [compile_problem(problems[0], "boston", [angle, 0.3, 0.2], depth=1, compare=False) for angle in (0.2, 0.4)]
    for version in (OLD, NEW):
        write_circuit(room / f"circuit{version}", made[version])
    circuit = load_circuit(room / "circuit1")
    task = tasks_for("benchmark", {"N": 8}, 2, block=2)[0]
    study = replace(load("theory-gaussian"), draw=lambda results: panels(1, 1)[0])
    heading = {"study": study.name, "title": study.title, "label": study.label, "quick": True}
    found = [Results(**heading, seeds=2, cells=(entry("row", "column", [value, 0.5]),)) for value in (0.25, 0.75)]

    def fix(folder, version):
        if version == NEW:  # a run is fixed once
            freeze(circuit, room / "circuit1", folder, plan(circuit, "sector", shots=20, repeats=1, seed=0))

    def checkpoint(folder, version):
        kept = Checkpoint(None, {"seed": version})
        kept.path = folder / "training"
        kept.write()

    def thresholds(folder, version):
        if version == NEW:
            with suppress(InputError):  # they are fixed once
                save_thresholds(folder / "thresholds.json", [Threshold.from_selection(reviews[NEW].selection)])

    def answer(folder, version):
        reviews[version].save(folder, proof=version == OLD)

    def angles(folder, version):
        contents = {"angles.svg": pictures[version], "angles.json": trained[version].to_json()}
        write_folder(folder, contents, shared=True)

    fix(room / "measured", NEW)
    measured = freeze(
        circuit, room / "circuit1", room / "measured", plan(circuit, "sector", shots=20, repeats=1, seed=0)
    )
    readouts = execute(measured)
    plain = {
        "select, solve, demo": answer,
        "compile": lambda folder, v: write_circuit(folder, made[v]),
        "monitor": lambda folder, v: write_folder(folder, {"monitor.json": f"{v}", "monitor.html": f"<p>{v}"}),
        "train: angles and picture": angles,
        "train: checkpoint": checkpoint,
        "run: manifest": fix,
        "run: analysis": lambda folder, v: v == NEW and conclude(replace(measured, folder=folder), readouts),
        "summarise": lambda folder, v: summaries[v].save(folder / "reference.npz"),
        "a problem": lambda folder, v: problems[v].save(folder / "problem.npz"),
        "a proof": lambda folder, v: reviews[v].selection.save_proof(folder / "proof.json"),
        "thresholds": thresholds,
        "reproduce: cell": lambda folder, v: write_cell(task, {"exact": [float(v)]}, folder),
        "reproduce: study": lambda folder, v: write_study(study, found[v], folder),
        "reproduce: page": lambda folder, v: v == NEW and write_reproduction(folder),
    }
    nested = ("select, solve, demo", "compile", "reproduce: study")
    return {**{name: (one, False) for name, one in plain.items()}} | {
        f"{name}, beside folders": (plain[name], True) for name in nested
    }


def seen(folder):
    """What a person sees: every file that is not hidden as being written, by its path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(STAGING) for part in parts):
            found["/".join(parts)] = b"" if path.name in CLOCKS else path.read_bytes()
    return found


def in_child(work):
    """Run it in a process of its own; gives whether it was killed."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit("a writer failed by itself")
    return os.WIFSIGNALED(status)


def killed_at(when, work):
    """`work`, with a kill right before the call to the file system of that number."""
    count = 0

    def counted(original):
        def call(*arguments, **options):
            nonlocal count
            count += 1
            if count == when:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments, **options)

        return call

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
    files._exchange = counted(files._exchange)
    work()


def judged(found, old, new):
    """Which answer the files are of; the new one's absence counts as the old state."""
    if found == new:
        return "new"
    if found == old:
        return "old"
    part = any(found.items() <= whole.items() for whole in (old, new))
    return "part of one" if part else "MIXED"


def kill_writers(room, only):
    """The first part; gives counts of what was found."""
    counts = Counter()
    for number, (name, (write, nested)) in enumerate(writers(room).items()):
        if only not in name:
            continue
        found = kill_writer(room / str(number), write, nested)
        print(f"{name}: {dict(found)}", flush=True)
        counts += found
    return counts


def kill_writer(room, write, nested):
    """One writer, killed before each of its calls in turn."""

    def written(name, *versions):
        folder = room / name / "out"
        prepare(folder, nested)
        for version in versions:
            in_child(lambda: write(folder, version))  # noqa: B023
        return folder

    old, new = seen(written("old", OLD)), seen(written("new", OLD, NEW))
    counts = Counter()
    for when in range(1, 1000):
        folder = written(str(when), OLD)
        if not in_child(lambda: killed_at(when, lambda: write(folder, NEW))):  # noqa: B023
            return counts
        counts[judged(seen(folder), old, new)] += 1
        in_child(lambda: write(folder, NEW))  # noqa: B023
        if seen(folder) != new or list(folder.parent.rglob(f"{STAGING}*")):
            counts["NOT AS IF NEVER KILLED"] += 1


def prepare(folder, nested):
    """A folder with a file of the user, and perhaps a folder."""
    folder.mkdir(parents=True)
    (folder / MINE).write_text("mine")
    if nested:
        (folder / "deeper").mkdir()


def commands(room):
    """By name: the command for a version, and the folder that it writes to."""
    rng = np.random.default_rng(1)
    pq.write_table(pa.table(dict(zip("abcdef", rng.normal(size=(6, 3000)), strict=True))), room / "reference.parquet")
    pq.write_table(pa.table(dict(zip("abcdef", rng.normal(size=(6, 200)) * 2, strict=True))), room / "pool.parquet")
    bs.SelectionProblem(coupling=rng.random((7, 5)), k=3, m=2).save(room / "p.npz")
    select = ["select", room / "pool.parquet", "--reference", room / "reference.parquet", "-m", 2]
    train = ["train", room / "p.npz", "--depth", 3, "--evaluations"]
    run = ["run", room / "circuit1", "--on", "sector", "--shots", 2000, "--repeats", 30]
    return {
        "select": lambda out, v: [*select, "-k", 4 + 2 * v, "--out", out],
        "train": lambda out, v: [*train, 2000 + 1000 * v, "--fresh", "--out", out / "angles.json"],
        "run": lambda out, v: [*run, "--out", out],
        "reproduce": lambda out, v: ["reproduce", STUDY, "--quick", "--out", out],
    }


def kill_commands(room, kills, rng):
    """The second part; gives counts of what was found."""
    counts = Counter()
    for name, command in commands(room).items():

        def start(out, version, command=command):
            line = [sys.executable, "-m", "biselect", *map(str, command(Path("out"), version)), "--quiet"]
            return subprocess.Popen(line, stdout=subprocess.DEVNULL, start_new_session=True, cwd=out.parent)

        mine, states, took = Counter(), [], 0.0
        two = name in ("select", "train")  # the others take up what is there
        for version in (OLD, NEW):
            out = room / name / f"state{version}" / "out"  # reports name their place: it is always `out`
            prepare(out, False)
            for step in range(version + 1) if two else [NEW] * version:
                begin = time.monotonic()
                if start(out, step).wait():
                    raise SystemExit(f"{name} failed by itself")
                took = time.monotonic() - begin
            states.append(seen(out))
        out = room / name / "killed" / "out"
        prepare(out, False)
        for _ in range(kills):
            if two and start(out, OLD).wait():
                raise SystemExit(f"{name} failed by itself")
            running = start(out, NEW)
            time.sleep(rng.uniform(0.3 * took, took))
            try:
                os.killpg(running.pid, signal.SIGKILL)
            except ProcessLookupError:
                mine["(ended before)"] += 1
            running.wait()
            found = seen(out) if two else {key: data for key, data in seen(out).items() if "sqlite" not in key}
            hidden = {key for key in found if Path(key).name.startswith(".")}  # a training's own checkpoint
            mine[judged({key: data for key, data in found.items() if key not in hidden}, *states)] += 1
        if start(out, NEW).wait() or seen(out) != states[NEW] or list(out.parent.rglob(f"{STAGING}*")):
            mine["NOT AS IF NEVER KILLED"] += 1
        print(f"{name}, killed {kills} times at random: {dict(mine)}", flush=True)
        counts += mine
    return counts


def main():
    """Both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50, help="random kills of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="writers with this in their name alone")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="biselect-crash-") as place:
        room = Path(place)
        injected = kill_writers(room, arguments.only)
        at_random = (
            kill_commands(room, arguments.kills, random.Random(arguments.seed)) if arguments.kills else Counter()
        )
    bad = {name: count for name, count in (injected + at_random).items() if name.isupper()}
    kills = sum(count for name, count in injected.items() if not name.isupper())
    print(f"{kills} injected kills: {dict(injected)}; seed {arguments.seed}, random kills: {dict(at_random)}")
    print("wrong: " + (str(bad) if bad else "none"))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
