"""Damaged files for every reader: `python scripts/fuzz.py --count 100000 --seed 1`, or `--only csv,parquet`.

An answer or one of biselect's own errors is fine; any other exception, a crash, a hang, or more than the memory limit
is a failure, and its input is saved. Inputs follow from seed, reader and number alone, so `--start` goes on where an
earlier run was stopped, and `--show csv:1234` repeats one. One input in some goes through the real command line too,
which must end with one line and an exit code, without a traceback and without control characters. The target
`simulators` gets random circuits instead of files.
"""

from __future__ import annotations

import argparse
import ctypes.util
import faulthandler
import multiprocessing as mp
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS", "POLARS_MAX_THREADS")
os.environ.update(dict.fromkeys(ONE_THREAD, "1"))

from rich.console import Console  # noqa: E402 (the threads are counted at import)
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: E402

LIMIT = 1 << 30  # bytes beyond what the process takes with all libraries loaded
SECONDS = 30.0  # for one input; the slowest whole files take about one, on a busy machine several
START = 300.0  # more for one that starts a process
LINE = 5000  # inputs between two lines where nobody watches a bar
COMMANDS = 1000  # one input in so many goes through the command line
ALLOCATOR = {"MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165", "PYTHONMALLOC": "debug"}  # looks for damage at every call
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass
class Failure:
    """An input that got neither an answer nor an error of ours."""

    target: str
    index: int
    kind: str
    story: str = field(repr=False)


def plan(names: list[str], start: int, count: int) -> list[tuple[str, int]]:
    """Which inputs, readers in turn by their weight."""
    from fuzz_targets import TARGETS

    turn = [name for name in names for _ in range(TARGETS[name].weight)]
    return [(turn[number % len(turn)], number) for number in range(start, start + count)]


def attempt(name: str, seed: int, index: int, folder: Path) -> Failure | None:
    """Read one damaged file in this process."""
    from fuzz_targets import TARGETS

    from biselect.errors import BiselectError

    target = TARGETS[name]
    path = _prepared(target, target.input(seed, index), folder)
    try:
        target.use(path, index)
    except BiselectError as error:
        if not str(error):
            return Failure(name, index, "empty error", "")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Failure(name, index, type(error).__name__, traceback.format_exc())
    return None


def _prepared(target: Any, content: bytes, folder: Path) -> Path:
    for old in folder.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    for name, beside in target.beside().items():
        (folder / name).write_bytes(beside)
    path = folder / target.file
    path.write_bytes(content)
    return path


def command(name: str, seed: int, index: int, folder: Path) -> Failure | None:
    """Read one damaged file through the command line."""
    from fuzz_targets import TARGETS

    target = TARGETS[name]
    path = _prepared(target, target.input(seed, index), folder)
    arguments = [part.replace("FILE", str(path)).replace("FOLDER", str(path.parent)) for part in target.command]
    done = subprocess.run([sys.executable, "-m", "biselect", *arguments], capture_output=True)
    told = (done.stdout + done.stderr).decode(errors="replace")
    wrong = [
        *(["exit code"] if done.returncode not in (0, 1, 2, 3) else []),
        *(["traceback"] if "Traceback" in told else []),
        *(["control characters"] if CONTROLS.search(told) else []),
    ]
    story = f"{' '.join(arguments)}\nexit code {done.returncode}\n{told!r}"
    return Failure(target.name, index, f"command line: {', '.join(wrong)}", story) if wrong else None


def allocator_checks() -> dict[str, str]:
    """What a process must find in its environment so that its allocator ends it where memory was damaged."""
    debug = ctypes.util.find_library("c_malloc_debug")  # since glibc 2.34 the checks lie in a library of their own
    return ALLOCATOR if debug is None else {**ALLOCATOR, "LD_PRELOAD": debug}


def work(inputs: list[tuple[str, int]], seed: int, place: Any, since: Any, results: Any) -> None:
    """A worker: its inputs one after the other, from `place` on."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    story = tempfile.NamedTemporaryFile("w+", prefix=f"fuzz-{os.getpid()}-", delete=False)
    os.dup2(story.fileno(), 2)
    faulthandler.enable(story.file)
    import pyarrow as pa
    from fuzz_targets import TARGETS

    from biselect.errors import BiselectError

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        for target in {TARGETS[name] for name, _ in inputs}:
            for content in target.seeds():  # load every library before the limit is set
                since.value = time.monotonic() + START
                try:
                    target.use(_prepared(target, content, folder), 0)
                except BiselectError:  # an export of another country needs to be told how it is written
                    pass
                except Exception as error:
                    results.put(Failure(target.name, -1, f"whole file: {error}", traceback.format_exc()))
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + LIMIT, held + LIMIT))
        while place.value < len(inputs):
            since.value = time.monotonic()
            target, index = inputs[place.value]
            failure = attempt(target, seed, index, folder)
            if failure is None and index % COMMANDS == 0 and TARGETS[target].command:
                since.value = time.monotonic() + START
                failure = command(target, seed, index, folder)
            results.put(failure or target)
            place.value += 1
    results.put(None)


class Worker:
    """A process that can be ended and replaced."""

    def __init__(self, inputs: list[tuple[str, int]], seed: int, environment: dict[str, str]) -> None:
        self.context, self.environment = mp.get_context("spawn"), environment
        self.inputs, self.seed = inputs, seed
        self.place, self.since = self.context.Value("q", 0), self.context.Value("d", 0.0)
        self.results: Any = None
        self.done = not inputs
        self._begin()

    def _begin(self) -> None:
        self.since.value = time.monotonic() + START
        self.results = self.context.SimpleQueue()
        given = (self.inputs, self.seed, self.place, self.since, self.results)
        self.process = self.context.Process(target=work, args=given, daemon=True)
        if not self.done:
            before = dict(os.environ)
            os.environ.update(self.environment)
            self.process.start()
            os.environ.clear()
            os.environ.update(before)

    def news(self) -> list[Any]:
        """What it has told; a crash or a hang is told for it, and a new process goes on behind it."""
        told = []
        while not self.results.empty():
            found = self.results.get()
            if found is None:
                self.done = True
            else:
                told.append(found)
        if self.done:
            return told
        hangs = time.monotonic() - self.since.value > SECONDS
        if hangs:
            self.process.kill()
            self.process.join()
        if hangs or not self.process.is_alive():
            while not self.results.empty():
                told.append(self.results.get())
            at = self.place.value
            if None in told or at >= len(self.inputs):
                self.done = True
                return [one for one in told if one is not None]
            target, index = self.inputs[at]
            kind = "hang" if hangs else f"crash (exit code {self.process.exitcode})"
            told.append(Failure(target, index, kind, _story(self.process.pid)))
            self.place.value = at + 1
            self.done = self.place.value >= len(self.inputs)
            self._begin()
        return told


def _story(pid: int | None) -> str:
    found = list(Path(tempfile.gettempdir()).glob(f"fuzz-{pid}-*"))
    return found[0].read_text(errors="replace")[-5000:] if found else ""


def main() -> int:
    """Run, print the counts, save what failed."""
    from fuzz_targets import TARGETS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="how many inputs")
    parser.add_argument("--seed", type=int, default=1, help="fixes all inputs")
    parser.add_argument("--start", type=int, default=0, help="number of the first input, to go on with an earlier run")
    parser.add_argument("--only", default="", help=f"readers, separated by commas: {', '.join(TARGETS)}")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("fuzz-failures"), help="folder for inputs that failed")
    parser.add_argument("--show", default="", help="READER:NUMBER, to read one input here and print what happens")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else list(TARGETS)
    if unknown := [name for name in names if name not in TARGETS]:
        parser.error(f"no reader {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    if given.show:
        name, index = given.show.rsplit(":", 1)
        with tempfile.TemporaryDirectory() as folder:
            failure = attempt(name, given.seed, int(index), Path(folder))
            if failure is None and TARGETS[name].command:
                failure = command(name, given.seed, int(index), Path(folder))
        print(failure.story if failure else "fine")
        return int(failure is not None)
    inputs = plan(names, given.start, given.count)
    checks = allocator_checks()
    with tempfile.TemporaryDirectory(prefix="fuzz-kernels-") as kernels:
        bounded = {**checks, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": kernels}  # every other worker's
        workers = [
            Worker(inputs[number :: given.workers], given.seed, bounded if number % 2 else checks)
            for number in range(given.workers)
        ]
        counts, failures, seconds = watch(workers, len(inputs), given)
    for name in names:
        wrong = [failure for failure in failures if failure.target == name]
        kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(one.kind for one in wrong).items())
        print(f"{name:18} {counts[name]:>8,} inputs  {len(wrong):>4} failures  {kinds}")
    rate = counts.total() / seconds
    first, last = given.start, given.start + given.count - 1
    print(
        f"{counts.total():,} inputs, seed {given.seed}, numbers {first} to {last}: {len(failures)} failures; ", end=""
    )
    print(f"{seconds:.0f} s, {rate:.0f} inputs a second, {LIMIT >> 20} MiB and {SECONDS:g} s each at most")
    return int(bool(failures))


def watch(workers: list[Worker], total: int, given: argparse.Namespace) -> tuple[Counter[str], list[Failure], float]:
    """Inputs of each target that the workers have done, what failed (saved at once), and the seconds that it took."""
    console = Console(stderr=True)
    counts, failures, begun = Counter[str](), list[Failure](), time.monotonic()
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("0 failures", total=total)
        while not all(worker.done for worker in workers):
            time.sleep(0.1)
            told_now = [one for worker in workers for one in worker.news()]
            news = len(told_now)
            for told in told_now:
                counts[told.target if isinstance(told, Failure) else told] += 1
                if isinstance(told, Failure):
                    failures.append(told)
                    _save(told, given.seed, given.out)
            progress.update(bar, completed=counts.total(), description=f"{len(failures)} failures")
            if not console.is_terminal and counts.total() // LINE > (counts.total() - news) // LINE:
                print(f"{counts.total():,} of {total:,}, {len(failures)} failures", flush=True)
    return counts, failures, time.monotonic() - begun


def _save(failure: Failure, seed: int, folder: Path) -> None:
    from fuzz_targets import TARGETS

    folder.mkdir(exist_ok=True)
    stem = folder / f"{failure.target.replace(' ', '-')}-{seed}-{failure.index}"
    if failure.index >= 0:
        content = TARGETS[failure.target].input(seed, failure.index)
        stem.with_name(f"{stem.name}-{TARGETS[failure.target].file}").write_bytes(content)
    stem.with_name(f"{stem.name}.txt").write_text(f"{failure.kind}\n{failure.story}")


if __name__ == "__main__":
    sys.exit(main())
