"""How long a large CSV takes to read, with everything found out about it, against pyarrow alone.

    python benchmarks/bench_reading.py                       # 1 GB in a temporary folder, three forms, medians of 3
    python benchmarks/bench_reading.py --megabytes 100 --repeats 5
    python benchmarks/bench_reading.py --wide 100000         # columns instead of rows

pyarrow is given the delimiter, the encoding and the decimal mark, which ours finds out; it leaves marks of thousands,
dates of a country's own and words for missing as text, which ours makes numbers and dates of. Both run in one process,
one after the other. Each run replaces its own part of benchmarks/results/reading.json.
"""

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

from biselect.tables.readers import read_table

RESULTS = Path(__file__).parent / "results" / "reading.json"
WANTED = 1.3
BLOCK = 20_000  # rows that are written over and over


def payments(rows, *, european):
    """Rows of a table of payments: an id, a time, two amounts, a count, a country, a code, a text."""
    rng = np.random.default_rng(0)
    countries, words = ["DE", "FR", "US", "NA"], ["coffee", "books", "fuel, diesel", "rent", "shoes"]
    for i in range(rows):
        amount, fee = rng.lognormal(4, 1.5), rng.normal(2, 0.3)
        moment = f"{1 + i % 28:02d}", f"{1 + i // 28 % 12:02d}", f"{i % 24:02d}:{i % 60:02d}"
        shop, country, text = rng.integers(4000, 8000), countries[i % 4], words[i % 5]
        if european:
            written = f"{amount:,.2f}".translate(str.maketrans(",.", ".,")), f"{fee:.4f}".replace(".", ",")
            when = f"{moment[0]}.{moment[1]}.2025 {moment[2]}"
            yield f"T{i:07d};{when};{written[0]};{written[1]};{i % 9};{country};{shop};{text}"
        else:
            when = f"2025-{moment[1]}-{moment[0]} {moment[2]}"
            yield f'T{i:07d},{when},{amount:.2f},{fee:.4f},{i % 9},{country},{shop},"{text}"'


def write(path, size, *, european=False, encoding="utf-8"):
    """A file of about so many bytes."""
    names = "id when amount fee items country shop text".split()
    head = ((";" if european else ",").join(names) + "\n").encode(encoding)
    block = ("\n".join(payments(BLOCK, european=european)) + "\n").encode(encoding)
    with path.open("wb") as file:
        file.write(head)
        for _ in range(max(1, size // len(block))):
            file.write(block)


def write_wide(path, columns, rows=20):
    """A file of many columns of numbers."""
    line = ",".join(f"{i % 97}.25" for i in range(columns))
    path.write_text("\n".join([",".join(f"column_{i}" for i in range(columns)), *[line] * rows]) + "\n")


def compare(path, repeats, options):
    """Ours against pyarrow alone on one file."""
    with path.open("rb") as file:  # so that both find it in memory
        while file.read(1 << 24):
            pass
    taken = {"ours": [], "pyarrow": []}
    for _ in range(repeats):  # in turns: a loaded machine is loaded for both
        for name, read in (("pyarrow", lambda: read_csv(path, **options)), ("ours", lambda: read_table(path))):
            start = time.perf_counter(), time.process_time()
            table = read()
            taken[name].append((time.perf_counter() - start[0], time.process_time() - start[1]))
            shape = table.shape
            del table
    found = {"bytes": path.stat().st_size, "shape": shape}
    for at, clock in enumerate(("s", "CPU s")):  # of all threads
        ours, theirs = (statistics.median(run[at] for run in taken[name]) for name in ("ours", "pyarrow"))
        found |= {f"ours {clock}": ours, f"pyarrow {clock}": theirs, f"ratio of {clock}": ours / theirs}
    return found


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", help="one of the forms")
    parser.add_argument("--wide", type=int, help="measure this many columns instead")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures go (default: %(default)s)")
    args = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        if args.wide:
            write_wide(path, args.wide)
            cases = {f"{args.wide} columns": {"read_options": ReadOptions(block_size=1 << 24)}}
        else:
            semicolons = {
                "parse_options": ParseOptions(delimiter=";"),
                "convert_options": ConvertOptions(decimal_point=","),
            }
            cases = {
                "plain": {},
                "European": semicolons,
                "European, cp1252": {**semicolons, "read_options": ReadOptions(encoding="cp1252")},
            }
        for name, options in cases.items():
            if args.only not in (None, name):
                continue
            if not args.wide:
                encoding = "cp1252" if "cp1252" in name else "utf-8"
                write(path, args.megabytes * 1_000_000, european="European" in name, encoding=encoding)
            one = compare(path, args.repeats, options)
            over = one["ours s"] - one["pyarrow s"]
            met = over < 1 if args.wide else one["ratio of s"] <= WANTED
            wanted = "under 1 s over" if args.wide else f"{WANTED}×"
            print(
                f"{name}: {one['bytes'] / 1e6:,.0f} MB, {one['shape'][0]:,} × {one['shape'][1]:,}: "
                f"ours {one['ours s']:.2f} s, pyarrow {one['pyarrow s']:.2f} s, {over:+.2f} s, "
                f"ratio {one['ratio of s']:.2f} (of CPU time {one['ratio of CPU s']:.2f}); "
                f"wanted {wanted}{'' if met else ', MISSED'}",
                flush=True,
            )
            found[name] = {**one, "repeats": args.repeats, "met": met}
    kept = json.loads(args.results.read_text()) if args.results.exists() else {}
    machine = {"processors": os.cpu_count(), "architecture": platform.machine(), "python": platform.python_version()}
    args.results.write_text(json.dumps({**kept, "machine": machine, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
