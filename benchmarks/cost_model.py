"""What a selection from a large table costs, by formula: passes, bytes read, bytes over the network, memory, time.

    python benchmarks/cost_model.py            # print the tables
    python benchmarks/cost_model.py --write    # write them into docs/explanations/beyond-one-machine.md

The constants of the plan (how large samples are, how many rows are kept, how finely a column is counted) are read from
the code. What a row costs in each pass comes from one measured table, that of 10⁷ planted rows in
benchmarks/results/large.json; the other measured tables then show whether the formulas hold.
"""

import argparse
import json
import re
from dataclasses import dataclass
from pathlib import Path

from biselect.columns.counts import EDGES, TAIL
from biselect.core.files import write_file
from biselect.large._survey import sample_share
from biselect.large.engines import MOST_ROWS as SHARE_ROWS
from biselect.large.engines import PER_WORKER
from biselect.large.gathering import KEPT_ROWS, LOOKED_UP, MOST_KEPT
from biselect.large.sides import MOST_COMPARED

RESULTS = Path(__file__).parent / "results" / "large.json"
PAGE = Path(__file__).parents[1] / "docs" / "explanations" / "beyond-one-machine.md"
COLUMNS, NUMBER, BESIDE = 20, 4, 16  # of numbers, bytes of one, and of id and time
FITTED = ("planted", 10_000_000)  # the measured table that rates are taken from
DISK = 200e6  # bytes a second that a worker reads from storage
DRIVER = 1.25e9  # bytes a second into and out of the driver: 10 Gbit/s
TASK = 0.001  # seconds that a scheduler takes to hand out a share
SAMPLE_COPIES = 5  # float64 arrays that the driver holds of a sample: as read, as weighed, weights, sorted, ranks
PASSES = {  # as the passes call themselves
    "ids": "comparing ids",
    "survey of the reference": "Looking at the reference",
    "survey of the pool": "Looking at the pool",
    "count": "Calibrating on the reference",
    "collect": "Collecting heavy rows of the pool",
    "closer look": "Looking closer at the pool",
}


@dataclass(frozen=True)
class PassCost:
    """One pass, by formula.

    Attributes:
        kind: one of PASSES.
        rows: that are read.
        read: bytes of them.
        sent: bytes to each worker.
        returned: bytes from all workers together, whatever their number.
        per_share: bytes from each share of a worker beside them.
    """

    kind: str
    rows: int
    read: float
    sent: float
    returned: float
    per_share: float = 0.0

    def per_worker(self, workers: int) -> float:
        """Bytes to and from one worker."""
        return self.sent + (self.returned + self.shares(workers) * self.per_share) / workers

    def shares(self, workers: int) -> float:
        """Into how many shares the rows are divided."""
        return max(PER_WORKER * workers, self.rows / SHARE_ROWS)


def plan(rows: int, *, columns: int = COLUMNS, looks: int = 1, ids: bool = True) -> list[PassCost]:
    """The passes over a pool of so many rows and a reference a tenth as long.

    Args:
        rows: of the pool.
        columns: of numbers.
        looks: how often the pool is looked at again, because rows that were not kept could matter.
        ids: whether rows have ids, which are compared in tables up to a size.
    """
    reference = max(100_000, rows // 10)
    row = NUMBER * columns + BESIDE
    counted = 8 * columns * (2 * EDGES + 2 * TAIL)  # both edges and tails
    weighing = 8 * columns * 2 * (2 * EDGES + 2 * TAIL) * 2  # steps: a knot and a level, twice where values are tied
    kept = KEPT_ROWS + LOOKED_UP
    found = [PassCost("ids", rows, 8 * rows, 0, 0)] if ids and rows <= MOST_COMPARED else []
    for kind, size in (("survey of the reference", reference), ("survey of the pool", rows)):
        found.append(PassCost(kind, size, row * size, 0, sample_share(size) * size * row))
    found.append(PassCost("count", reference, row * reference, 8 * columns * EDGES, 0, counted))
    found.append(PassCost("collect", rows, row * rows, weighing, kept * row))
    return found + [PassCost("closer look", rows, row * rows, weighing, MOST_KEPT * row)] * looks


@dataclass(frozen=True)
class Rates:
    """What was measured on one table.

    Attributes:
        per_row: CPU seconds a row, by pass.
        driver: CPU seconds for all that is done once: solving, kinds, neighbouring budgets, the page.
        memory: bytes held at most.
    """

    per_row: dict[str, float]
    driver: float
    memory: float

    @classmethod
    def of(cls, case: dict) -> "Rates":
        """From a case of bench_large.py."""
        measured = {one["pass"]: one["CPU s"] / one["rows"] for one in case["ours"]["passes"]}
        per_row = {kind: measured[name] for kind, name in PASSES.items() if name in measured}
        per_row.setdefault("closer look", per_row["collect"])
        own = case["ours"]["CPU s"] - sum(one["CPU s"] for one in case["ours"]["passes"])
        return cls(per_row, own, case["ours"]["memory"])

    def cpu(self, passes: list[PassCost]) -> float:
        """CPU seconds of all passes together."""
        return sum(one.rows * self.per_row.get(one.kind, 0.0) for one in passes)

    def clock(self, passes: list[PassCost], workers: int) -> float:
        """Seconds on a cluster: workers read and weigh their rows; what they found goes through the driver."""
        taken = self.driver
        for one in passes:
            taken += max(one.rows * self.per_row.get(one.kind, 0.0), one.read / DISK) / workers
            taken += workers * one.per_worker(workers) / DRIVER + one.shares(workers) * TASK
        return taken

    def driver_memory(self, rows: int) -> float:
        """Bytes that the driver holds: what was measured, and samples that are larger than they were there."""
        sizes = [sum(sample_share(size) * size for size in (of, of // 10)) for of in (rows, FITTED[1])]
        return self.memory + 8 * COLUMNS * SAMPLE_COPIES * (sizes[0] - sizes[1])


def measured_table(cases: dict, rates: Rates) -> list[str]:
    """Formulas beside measurements."""
    lines = [
        "| table | rows | passes | read, GB | CPU s of the passes: formula | measured | once, measured "
        "| sent to a worker, MB: formula | measured | returned by all, MB: formula | measured | memory, GiB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for case in sorted(cases.values(), key=lambda case: (case["shape"], case["rows"])):
        if case["on"] != "threads":
            continue
        passes = case["ours"]["passes"]
        looks = sum(one["pass"] == PASSES["closer look"] for one in passes)
        ours = plan(case["rows"], looks=looks)
        used = sum(one["CPU s"] for one in passes)
        travelled = [one for one in passes if one["pass"] != PASSES["ids"]]  # the driver itself reads ids now
        sent, returned = (max(one[key] for one in travelled) / 1e6 for key in ("sent", "returned"))
        lines.append(
            f"| {case['shape']} | {case['rows']:,} | {len(passes)} | {sum(one.read for one in ours) / 1e9:.2f} "
            f"| {rates.cpu(ours):.1f} | {used:.1f} | {case['ours']['CPU s'] - used:.0f} "
            f"| {max(one.sent for one in ours) / 1e6:.1f} | {sent:.1f} "
            f"| {max(one.returned for one in ours) / 1e6:.1f} | {returned:.1f} "
            f"| {case['ours']['memory'] / 2**30:.2f} |"
        )
    return lines


def extrapolated_table(rates: Rates) -> list[str]:
    """Larger tables on more workers."""
    lines = [
        "| rows | workers | passes | read, TB | minutes | most for a worker in a pass, MB | through the driver, GB "
        "| memory of the driver, GiB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for rows, written in ((10**9, "10⁹"), (10**10, "10¹⁰"), (10**11, "10¹¹")):
        for workers in (10, 100, 1000):
            ours = plan(rows)
            most = max(one.per_worker(workers) for one in ours) / 1e6
            driver = sum(workers * one.per_worker(workers) for one in ours) / 1e9
            read, minutes = sum(one.read for one in ours) / 1e12, rates.clock(ours, workers) / 60
            memory = rates.driver_memory(rows) / 2**30
            lines.append(
                f"| {written} | {workers:,} | {len(ours)} | {read:.2f} | {minutes:.1f} | {most:.1f} | {driver:.2f} "
                f"| {memory:.1f} |"
            )
    return lines


def tables(results: Path) -> dict[str, list[str]]:
    """Both tables, by the mark at which they stand in the page."""
    cases = json.loads(results.read_text(encoding="utf-8"))["cases"]
    fitted = next(
        case for case in cases.values() if (case["shape"], case["rows"]) == FITTED and case["on"] == "threads"
    )
    rates = Rates.of(fitted)
    costs = ["| pass | microseconds of CPU a row |", "| --- | --- |"]
    costs += [f"| {kind} | {1e6 * value:.2f} |" for kind, value in rates.per_row.items()]
    costs += [f"| once, in seconds | {rates.driver:.0f} |"]
    return {"rates": costs, "measured": measured_table(cases, rates), "extrapolated": extrapolated_table(rates)}


def main() -> None:
    """Print the tables, or put them into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    args = parser.parse_args()
    found = tables(args.results)
    if not args.write:
        print("\n\n".join("\n".join(lines) for lines in found.values()))
        return
    page = PAGE.read_text(encoding="utf-8")
    for mark, lines in found.items():
        begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
        content = "\n".join([begin, "", *lines, "", end])
        page = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _, content=content: content, page, flags=re.S)
    write_file(PAGE, page)


if __name__ == "__main__":
    main()
