"""The workbench: seconds from the last tick to the next rows, hits beside the library's, and memory over many rounds.

    python benchmarks/bench_workbench.py --speed                 # 100,000 × 50
    python benchmarks/bench_workbench.py --tables FOLDER         # 5 rounds of 20 on labelled tables
    python benchmarks/bench_workbench.py --second FOLDER         # a second export, alone and after the first
    python benchmarks/bench_workbench.py --memory                # 500 rounds

The application is asked as a browser asks it, and chooses in a process of its own.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import biselect as bs
from benchmarks.needs import need
from benchmarks.review_cases import table_cases

TOKEN, PORT = "token", 8000
HOME = f"http://127.0.0.1:{PORT}"
ROUNDS, ROWS = 5, 20
ASKED = {"seconds": 3.0}


class Workbench:
    """A folder with pool.parquet and normal.parquet, reviewed through the application."""

    def __init__(self, client, worker) -> None:
        self.client, self.worker = client, worker
        client.headers["X-Biselect-Token"] = TOKEN

    def post(self, address: str, **form) -> None:
        """Send a form as a page does."""
        answer = self.client.post(address, data=form, headers={"Origin": HOME})
        assert answer.status_code < 400, answer.text

    def done(self) -> None:
        """Wait for the job under way."""
        while not (told := self.client.get("/job").json())["finished"]:
            time.sleep(0.01)
        assert told["error"] is None, told["error"]

    def begin(self, rows: int) -> None:
        """Choose the first round, with all guesses as they are."""
        self.post("/look", table="pool.parquet", then="/table")
        self.done()
        page = self.client.get("/table?name=pool.parquet").text
        usual = page.partition('name="usual-m" value="')[2].partition('"')[0]
        form = {
            "table": "pool.parquet",
            "against": "file",
            "which": "normal.parquet",
            "k": rows,
            "m": usual,
            "usual-m": usual,
        }
        self.post("/choose", **form)
        self.done()

    def answer(self, truth) -> list[int]:
        """Answer the present round; gives its rows."""
        from biselect.sessions.store import SessionFile

        rows = [asked.row for asked in SessionFile(self.worker.folder).standing(0).rounds[-1].rows]
        for row in rows:
            self.post("/answer", row=row, choice=0, verdict="not fine" if truth(row) else "fine")
        return rows

    def next(self, count: int) -> None:
        """Ask for the next round."""
        self.post("/next", choice=0, seen=self.client.get("/standing").json()["round"], count=count)
        self.done()


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
    """From the last tick to the next 20 rows."""
    rng = np.random.default_rng(0)
    reference, pool = rng.standard_t(5, size=(20_000, 50)), rng.standard_t(5, size=(100_000, 50))
    pool[:300, :4] -= 6
    with workbench(reference, pool) as bench:
        start = time.perf_counter()
        bench.begin(ROWS)
        print(f"first rows of 100,000 × 50: {time.perf_counter() - start:.1f} s", flush=True)
        for number in range(1, 4):
            bench.answer(lambda row: row < 300 and row % 4 > 0)  # both answers, so that the learner is fitted
            start = time.perf_counter()
            bench.next(ROWS)
            page = bench.client.get("/review").text
            seconds = time.perf_counter() - start
            assert f"Round {number + 1}" in page
            missed = "" if seconds <= ASKED["seconds"] else " MISSED"
            print(
                f"from the last tick to round {number + 1}: {seconds:.2f} s, asked {ASKED['seconds']}{missed}",
                flush=True,
            )


def tables(folder: Path, only: list[str]) -> None:
    """Hits in 5 rounds of 20, by the application and by the library alone."""
    differing, total = [], 0
    for name, _, (reference, pool, y) in table_cases(folder, range(1)):
        if only and name not in only:
            continue
        with workbench(reference, pool) as bench:
            bench.begin(ROWS)
            ours = []
            for number in range(ROUNDS):
                ours.append(bench.answer(y.__getitem__))
                if number + 1 < ROUNDS:
                    bench.next(ROWS)
            replay = bs.ReviewSession.open(bench.worker.folder).replay(progress=False)
        session = bs.ReviewSession(pool, reference)
        theirs = []
        for _ in range(ROUNDS):
            rows = [asked.row for asked in session.next_rows(ROWS)]
            session.answer({row: bool(y[row]) for row in rows})
            theirs.append(rows)
        hits = [int(sum(y[row] for rows in found for row in rows)) for found in (ours, theirs)]
        total += hits[0]
        if ours != theirs:
            differing.append(name)
        told = f"{name:18s} workbench {hits[0]:3d}, library {hits[1]:3d}{'' if ours == theirs else ' OTHER ROWS'}"
        told += "" if replay.same else " REPLAY DIFFERS"
        told += f"; {len(replay.taken)} kinds not proven in their time" if replay.taken else ""
        print(told, flush=True)
    print(f"all: {total} hits; {'other rows on ' + ', '.join(differing) if differing else 'the same rows everywhere'}")


def second(folder: Path, only: list[str]) -> None:
    """Hits of each round on one half of a pool: alone, and after the other half was reviewed in the same session."""
    total = np.zeros((2, ROUNDS), dtype=int)
    for name, _, (reference, pool, y) in table_cases(folder, range(1)):
        if only and name not in only:
            continue
        half = len(pool) // 2
        hits = [_hits(bs.ReviewSession(pool[half:], reference), y[half:])]
        with tempfile.TemporaryDirectory() as place:
            _hits(bs.ReviewSession(pool[:half], reference, folder=place), y[:half])
            hits.append(_hits(bs.ReviewSession(pool[half:], reference, folder=place), y[half:]))
        total += hits
        print(f"{name:18s} alone {hits[0]}, taught {hits[1]} of {int(y[half:].sum())}", flush=True)
    alone, taught = total.tolist()
    print(f"all: alone {alone}, together {sum(alone)}; taught {taught}, together {sum(taught)}")


def _hits(session: bs.ReviewSession, y: np.ndarray) -> list[int]:
    """Hits of each round, answered by the labels."""
    found = []
    for _ in range(ROUNDS):
        rows = [asked.row for asked in session.next_rows(ROWS)]
        session.answer({row: bool(y[row]) for row in rows})
        found.append(int(sum(y[row] for row in rows)))
    return found


def memory(rounds: int) -> None:
    """Resident memory of the server and of its worker over many rounds."""
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(1000, 10)), rng.normal(size=(rounds * 4 + 100, 10))
    with workbench(reference, pool) as bench:
        bench.begin(3)
        for number in range(1, rounds + 1):
            bench.answer(lambda row: row % 7 == 0)
            bench.next(3)
            bench.client.get("/review")
            if number in (1, 50) or number % 100 == 0:
                both = [_resident("self"), _resident(str(bench.worker._process.pid))]
                print(f"round {number}: server {both[0]:.0f} MiB, worker {both[1]:.0f} MiB", flush=True)


def _resident(process: str) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--second", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="names of tables; all unless given")
    parser.add_argument("--memory", type=int, nargs="?", const=500)
    args = parser.parse_args()
    if args.second:
        second(args.second, args.only)
        return
    need("starlette", "httpx2")
    if args.speed:
        speed()
    if args.tables:
        tables(args.tables, args.only)
    if args.memory:
        memory(args.memory)


if __name__ == "__main__":
    main()
