"""Write tables too large for memory as folders of Parquet files: FOLDER/reference and FOLDER/pool.

    python scripts/large_tables.py planted /tmp/planted --rows 10_000_000
    python scripts/large_tables.py card-like /tmp/cards --rows 100_000_000 --files 64 --seed 7

Shapes: planted, twice-wide, noise, card-like (`benchmarks/_large_tables.py` says what they hold). A row is computed
from the seed and its position alone, so the same table can be written again in other files and row groups. Numbers
of this kind hardly compress: 10⁸ rows of 20 columns take about 9 GB. Memory stays at a row group for each thread.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from _large_tables import ROLES, SHAPES, LargeTable

REFERENCE_LEAST = 100_000


def write(table: LargeTable, folder: Path, *, files: int, group: int, compression: str, workers: int) -> int:
    """The files of one table; how many bytes they have."""
    folder.mkdir(parents=True)  # a folder that is there already may hold files of another table
    ends = [table.rows * part // files for part in range(files + 1)]
    digits = max(4, len(str(files)))

    def one(part: int) -> int:
        path = folder / f"part-{part:0{digits}d}.parquet"
        with pq.ParquetWriter(path, table.schema, compression=compression, use_dictionary=False) as writer:
            for first in range(ends[part], ends[part + 1], group):
                blocks = table.read(first, min(group, ends[part + 1] - first))
                writer.write_table(pa.concat_tables(blocks), row_group_size=group)
        return path.stat().st_size

    with ThreadPoolExecutor(workers) as pool:
        return sum(pool.map(one, range(files)))


def main() -> None:
    """Write both folders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the pool (default: %(default)s)")
    parser.add_argument("--reference-rows", type=int, help="default: a tenth of the pool, at least 100,000")
    parser.add_argument("--columns", type=int, default=20, help="of numbers (default: %(default)s)")
    parser.add_argument("-k", type=int, default=20, help="planted rows (default: %(default)s)")
    parser.add_argument("-m", type=int, default=5, help="planted columns (default: %(default)s)")
    parser.add_argument("--signal", type=float, default=4.5, help="of planted cells, in standard deviations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", type=int, help="of each folder (default: one for every two million rows)")
    parser.add_argument("--group", type=int, default=1 << 17, help="rows of a row group (default: %(default)s)")
    parser.add_argument("--compression", default="snappy", help="none, snappy, zstd, … (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="threads (default: %(default)s)")
    args = parser.parse_args()
    rows = {"reference": args.reference_rows or max(REFERENCE_LEAST, args.rows // 10), "pool": args.rows}
    for role in ROLES:
        begin = time.perf_counter()
        table = LargeTable(
            shape=args.shape,
            role=role,
            rows=rows[role],
            seed=args.seed,
            columns=args.columns,
            k=args.k,
            m=args.m,
            signal=args.signal,
        )
        files = args.files or max(1, -(-rows[role] // 2_000_000))
        size = write(
            table,
            args.folder / role,
            files=files,
            group=args.group,
            compression=args.compression,
            workers=args.workers,
        )
        taken = time.perf_counter() - begin
        print(f"{role}: {rows[role]:,} rows, {files} files, {size / 1e9:.2f} GB, {taken:.1f} s", flush=True)


if __name__ == "__main__":
    main()
