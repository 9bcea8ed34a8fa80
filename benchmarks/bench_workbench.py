"""The workbench: seconds to the first row and from a tick to the next, and memory over many answers.

    python -m benchmarks.bench_workbench --speed                 # 100,000 × 50
    python -m benchmarks.bench_workbench --second FOLDER         # a second export, alone and after the first
    python -m benchmarks.bench_workbench --memory                # 2,000 answers

The application is asked as a browser asks it, and its session lives in a process of its own.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import biselect as bs
from benchmarks.needs import need
from benchmarks.review_cases import table_cases

TOKEN, PORT = "token", 8000
HOME = f"http://127.0.0.1:{PORT}"
ROWS = 40
ASKED = {"first row": 8.0, "next row": 0.3}  # seconds


class Workbench:
    """A folder with pool.parquet and normal.parquet, reviewed through the application."""

    def __init__(self, client, worker) -> None:
        self.client, self.worker, self.window = client, worker, str(uuid4())
        client.headers["X-Biselect-Token"] = TOKEN

    def post(self, address: str, **form):
        """Send a form as a page does."""
        answer = self.client.post(address, data=form, headers={"Origin": HOME})
        assert answer.status_code < 400, answer.text
        return answer

    def done(self) -> None:
        """Wait for the job under way."""
        while not (told := self.client.get("/job").json())["finished"]:
            time.sleep(0.01)
        assert told["error"] is None, told["error"]

    def begin(self) -> None:
        """Begin a review, with all guesses as they are."""
        self.post("/look", table="pool.parquet", then="/table")
        self.done()
        page = self.client.get("/table?name=pool.parquet").text
        usual = page.partition('name="usual-m" value="')[2].partition('"')[0]
        form = {"table": "pool.parquet", "against": "file", "which": "normal.parquet", "m": usual, "usual-m": usual}
        self.post("/choose", **form)
        self.done()

    def next(self) -> dict:
        """The row that the page shows now."""
        return self.post("/next", window=self.window).json()

    def answer(self, row: dict, verdict: str) -> None:
        """Answer it."""
        self.post("/answer", row=row["row"], choice=row["choice"], after=row["last"], verdict=verdict)


@contextmanager
def workbench(reference, pool) -> Iterator[Workbench]:
    """The application over a folder with these two tables."""
    from starlette.testclient import TestClient

    from biselect.app.server import application

    with tempfile.TemporaryDirectory() as name:
        for file, values in (("normal", reference), ("pool", pool)):
            columns = {f"c{j}": values[:, j] for j in range(values.shape[1])}
            pq.write_table(pa.table(columns), Path(name) / f"{file}.parquet")
        app, bench, _ = application(Path(name), token=TOKEN, port=PORT)
        with TestClient(app, base_url=HOME, follow_redirects=False) as client:
            yield Workbench(client, bench.worker)
        bench.worker.stop()


def speed() -> None:
    """To the first row, and from a tick to the next row."""
    rng = np.random.default_rng(0)
    reference, pool = rng.standard_t(5, size=(20_000, 50)), rng.standard_t(5, size=(100_000, 50))
    pool[:300, :4] -= 6
    with workbench(reference, pool) as bench:
        start = time.perf_counter()
        bench.begin()
        row = bench.next()
        print(f"first row of 100,000 × 50: {time.perf_counter() - start:.1f} s, asked {ASKED['first row']}", flush=True)
        took = []
        for _ in range(ROWS):
            start = time.perf_counter()
            bench.answer(row, "not fine" if row["row"] < 300 and row["row"] % 4 else "fine")
            row = bench.next()
            took.append(time.perf_counter() - start)
        print(
            f"from a tick to the next row: {np.median(took):.3f} s, at most {max(took):.3f}, asked {ASKED['next row']}"
        )


def second(folder: Path) -> None:
    """Hits among 40 rows of one half of a pool: alone, and after 40 of the other half were reviewed in the session."""
    total = np.zeros(2, dtype=int)
    for name, _, (reference, pool, y) in table_cases(folder, range(1)):
        half = len(pool) // 2
        hits = [_hits(bs.ReviewSession(pool[half:], reference), y[half:])]
        with tempfile.TemporaryDirectory() as place:
            _hits(bs.ReviewSession(pool[:half], reference, folder=place), y[:half])
            hits.append(_hits(bs.ReviewSession(pool[half:], reference, folder=place), y[half:]))
        total += hits
        print(f"{name:18s} alone {hits[0]}, taught {hits[1]} of {int(y[half:].sum())}", flush=True)
    print(f"all: alone {total[0]}, taught {total[1]}")


def _hits(session: bs.ReviewSession, y: np.ndarray) -> int:
    for _ in range(min(ROWS, len(y) // 4)):
        queued = session.next_row()
        session.answer(queued, bool(y[queued.row]))
    return session.hits


def memory(answers: int) -> None:
    """Resident memory of the server and of its worker over many answers."""
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(1000, 10)), rng.normal(size=(answers + 100, 10))
    with workbench(reference, pool) as bench:
        bench.begin()
        for number in range(1, answers + 1):
            bench.answer(row := bench.next(), "not fine" if row["row"] % 7 == 0 else "fine")
            if number in (1, 100) or number % 500 == 0:
                both = [_resident("self"), _resident(str(bench.worker._process.pid))]
                print(f"answer {number}: server {both[0]:.0f} MiB, worker {both[1]:.0f} MiB", flush=True)


def _resident(process: str) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--second", type=Path)
    parser.add_argument("--memory", type=int, nargs="?", const=2000)
    args = parser.parse_args()
    if args.second:
        second(args.second)
        return
    need("starlette", "httpx2")
    if args.speed:
        speed()
    if args.memory:
        memory(args.memory)


if __name__ == "__main__":
    main()
