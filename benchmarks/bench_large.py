"""A selection from a table that no memory holds, against reading the same files once with pyarrow.

    python benchmarks/bench_large.py                                              # 10⁶ and 10⁷ rows, all shapes
    python benchmarks/bench_large.py --rows 100_000_000 --shapes planted          # about 9 GB in a temporary folder
    python benchmarks/bench_large.py --rows 10_000_000 --on dask://localhost:8786 --folder /tmp/large --keep

Tables are those of scripts/large_tables.py, k = 20 and m = 5. Both sides run in a process of their own, one after the
other: pyarrow reads every column of pool and reference once, on all threads; ours is `biselect.review` whole, with
neighbouring budgets, kinds, page and proof, from the first import on. The files are in the page cache for both, unless
--cold drops them from it before each run. Memory is the most that the process itself held (RssAnon, read every 20 ms),
not what the system caches of its files; CPU time is that of all its threads. Bytes sent and returned are those that a
worker of a cluster would take in and give back in a pass. Each case replaces its own part of
benchmarks/results/large.json; growth is the time of a table against that of one a tenth as long.
"""

import argparse
import json
import os
import pickle
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from biselect import table
from biselect.options import Compute, Search

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "large.json"
SHAPES = ("planted", "twice-wide", "noise", "card-like")
K, M = 20, 5
TIMES, MEMORY, GROWTH, KEPT = 8.0, 2 << 30, 11.0, 100_000
LARGE = 100_000_000  # rows from which the promise about time holds; below, what is done once takes longer than reading
LOOK = 0.02  # seconds between two looks at the memory of a process


def read(folder: Path) -> dict:
    """Every column of all files once, on all threads."""
    import pyarrow as pa
    from pyarrow import dataset

    begin, used, rows = time.perf_counter(), time.process_time(), 0
    for role in ("reference", "pool"):
        for batch in dataset.dataset(folder / role).to_batches(batch_size=1 << 16):
            rows += batch.num_rows
    taken = {"s": time.perf_counter() - begin, "CPU s": time.process_time() - used}
    return {**taken, "rows": rows, "threads": pa.cpu_count()}


class Watched:
    """An engine that says what each pass took, and what would travel if its workers were elsewhere."""

    def __init__(self, engine, passes):
        self.engine, self.passes = engine, passes
        self.name = engine.name

    def run(self, asked, parts, told=None):
        """As the engine does."""
        start = time.perf_counter(), time.process_time()
        found = self.engine.run(asked, parts, told)
        taken = {"s": time.perf_counter() - start[0], "CPU s": time.process_time() - start[1]}
        self.passes.append(
            {
                "pass": asked.name,
                "rows": sum(part.rows for part in parts),
                "parts": len(parts),
                **taken,
                "sent": len(pickle.dumps(asked)),
                "returned": sum(array.nbytes for array in found.values()),
            }
        )
        return found


def ours(folder: Path, on: str | None, memory: str, limit: float | None) -> dict:
    """A whole review, written to a folder."""
    begin, steps, passes = time.perf_counter(), [], []
    import biselect as bs
    from biselect.large import sides

    @contextmanager
    def step(name):
        start = time.perf_counter(), time.process_time()
        yield None
        steps.append({"step": name, "s": time.perf_counter() - start[0], "CPU s": time.process_time() - start[1]})

    @contextmanager
    def watched(*given):
        with plain(*given) as engine:
            yield Watched(engine, passes)

    plain, sides.engine_for = sides.engine_for, watched

    review = bs.review(
        table(str(folder / "pool"), id="id", time="time"),
        str(folder / "reference"),
        k=K,
        m=M,
        progress=step,
        search=Search(time_limit=limit),
        compute=Compute(on=on, memory=memory),
    )
    with tempfile.TemporaryDirectory() as answer:
        review.save(answer, proof=True)
        proof = (Path(answer) / "proof.json").exists()
    taken, found = time.perf_counter() - begin, review.selection
    return {
        "s": taken,
        "CPU s": time.process_time(),
        "passes": passes,
        "steps": [one for one in steps if one["s"] >= 0.01],
        "searched": review.summary.get("searched"),
        "score": found.score,
        "gap": found.gap,
        "proven": found.proven_optimal,
        "proof file": proof,
        "ids": [int(name) for name in found.sample_names],
        "columns": found.feature_names,
    }


def child(*arguments: str) -> dict:
    """What one side says of itself, and the most memory of its own that it held, in bytes."""
    command = [sys.executable, __file__, "--child", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        most = [0]

        def look() -> None:
            while process.poll() is None:
                try:
                    status = Path(f"/proc/{process.pid}/status").read_text()
                except OSError:
                    return
                held = [int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("RssAnon:")]
                most[0] = max(most[0], *held, 0)
                time.sleep(LOOK)

        watch = threading.Thread(target=look)
        watch.start()
        text, _ = process.communicate()
        watch.join()
    if process.returncode:
        sys.exit(f"{' '.join(command)}: ended with {process.returncode}")
    return json.loads(text.splitlines()[-1]) | {"memory": most[0]}


def cached(folder: Path, *, cold: bool) -> int:
    """Bring all files into the page cache, or drop them from it; their size."""
    size = 0
    for path in sorted(folder.glob("*/*.parquet")):
        size += path.stat().st_size
        with path.open("rb") as file:
            if cold:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            else:
                while file.read(1 << 24):
                    pass
    return size


def compare(folder: Path, shape: str, rows: int, args) -> dict:
    """Both sides on one table."""
    from _large_tables import LargeTable

    load = os.getloadavg()[0]
    size = cached(folder, cold=args.cold)
    theirs = child("read", str(folder))
    cached(folder, cold=args.cold)
    limit = "" if args.time_limit is None else str(args.time_limit)
    found = child("ours", str(folder), args.on or "", args.memory, limit)
    table = LargeTable(shape=shape, role="pool", rows=rows, seed=args.seed, k=K, m=M)
    ids = found.pop("ids")
    searched = found["searched"] or {}
    return {
        "shape": shape,
        "rows": rows,
        "bytes": size,
        "on": args.on or "threads",
        "cache": "cold" if args.cold else "warm",
        "load before": load,
        "pyarrow": theirs,
        "ours": found,
        "ratio": found["s"] / theirs["s"],
        "ratio of CPU s": found["CPU s"] / theirs["CPU s"],
        "rows kept": searched.get("kept"),
        "planted rows found": None if shape == "noise" else int(table.unusual(ids).sum()),
    }


def growth_of(cases: dict) -> None:
    """Add to each case how much longer it took than the table a tenth as long."""
    for one in cases.values():
        smaller = cases.get(name_of(one["shape"], one["rows"] // 10, one["on"], one["cache"]))
        one["growth"] = None if smaller is None else one["ours"]["s"] / smaller["ours"]["s"]


def name_of(shape: str, rows: int, on: str, cache: str) -> str:
    """Which case this is."""
    return f"{shape}, {rows:,} rows, {on}, {cache}"


def told(name: str, one: dict) -> str:
    """A case in one line."""
    found, state = one["ours"], "proven" if one["ours"]["proven"] else f"gap {one['ours']['gap']:.2%}"
    planted = "" if one["planted rows found"] is None else f", {one['planted rows found']} of {K} planted or frauds"
    growth = "" if one.get("growth") is None else f", {one['growth']:.1f}× the time of a tenth of the rows"
    missed = [
        what
        for what, met in (
            (f"{TIMES:g}×", one["ratio"] <= TIMES or one["rows"] < LARGE),
            ("2 GiB", found["memory"] <= MEMORY),
            (f"{GROWTH:g}× growth", (one.get("growth") or 0) <= GROWTH),
            (f"{KEPT:,} rows", (one["rows kept"] or 0) < KEPT),
        )
        if not met
    ]
    return (
        f"{name}: {one['bytes'] / 1e9:.2f} GB, ours {found['s']:.1f} s, pyarrow {one['pyarrow']['s']:.1f} s, "
        f"{one['ratio']:.1f}× (of CPU time {one['ratio of CPU s']:.1f}×), {found['memory'] / 2**30:.2f} GiB, "
        f"{len(found['passes'])} passes, {one['rows kept'] or 0:,} rows kept, {state}{planted}{growth}; "
        f"load {one['load before']:.1f}{'; MISSED: ' + ', '.join(missed) if missed else ''}"
    )


def main() -> None:
    """Measure, print and keep."""
    if sys.argv[1:2] == ["--child"]:
        side, folder, *rest = sys.argv[2:]
        if side == "read":
            found = read(Path(folder))
        else:
            on, memory, limit = rest
            found = ours(Path(folder), on or None, memory, float(limit) if limit else None)
        print(json.dumps(found))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--folder", type=Path, help="where tables are written; default: a temporary one")
    parser.add_argument("--keep", action="store_true", help="leave the tables there, and use those that are")
    parser.add_argument("--on", help="dask://HOST:PORT; default: threads")
    parser.add_argument("--memory", default="2 GiB")
    parser.add_argument("--time-limit", type=float, help="seconds for each solution; default: none")
    parser.add_argument("--cold", action="store_true", help="drop the files from the page cache before each run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures go (default: %(default)s)")
    args = parser.parse_args()
    kept = json.loads(args.results.read_text()) if args.results.exists() else {}
    cases = kept.get("cases", {})
    machine = {"processors": os.cpu_count(), "architecture": platform.machine(), "python": platform.python_version()}
    with tempfile.TemporaryDirectory() as temporary:
        for rows in sorted(args.rows):
            for shape in args.shapes:
                folder = (args.folder or Path(temporary)) / f"{shape}-{rows}-{args.seed}"
                if not folder.exists():
                    command = [sys.executable, str(ROOT / "scripts" / "large_tables.py"), shape, str(folder)]
                    subprocess.run([*command, "--rows", str(rows), "--seed", str(args.seed)], check=True)
                one = compare(folder, shape, rows, args)
                name = name_of(shape, rows, one["on"], one["cache"])
                cases[name] = one
                growth_of(cases)
                print(told(name, one), flush=True)
                args.results.write_text(json.dumps({"machine": machine, "cases": cases}, indent=1) + "\n")
                if not args.keep:
                    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
