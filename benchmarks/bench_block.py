"""How many blocks of labelled tables are proven optimal within a time limit, where a row has no evidence as a whole.

    python -m benchmarks.bench_block                    # 5 s for each, on a machine that does nothing else
    python -m benchmarks.bench_block --processor        # 5 s of one processor for each, on a machine that does

Tables (.npz with X and y): 2,000 reference rows, 1,000 pool rows, `Weigher().plain_problem(pool, k, m)`;
k of at most half of the pool, m of fewer than all columns. Kernels are compiled before. Labels are not used.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import biselect as bs
from benchmarks.review_cases import table_cases
from biselect.weights import Weigher

ROOT = Path(__file__).parent
RESULTS = ROOT / "results" / "block.json"
TABLES = ROOT.parent.parent / "shared" / "tables"
K, M = (10, 25, 50, 100), (3, 5, 8, 12, 15)
WANTED = 190 / 192


def problems(folder, only):
    """(name, problem) for every table and budget."""
    for name, _, (reference, pool, _) in table_cases(folder, range(1)):
        if only and name not in only:
            continue
        block = Weigher().fit(reference)
        for k in K:
            for m in M:
                if 2 * k <= len(pool) and m < pool.shape[1]:
                    yield f"{name} ({k}, {m})", block.plain_problem(pool, k=k, m=m)


def main() -> None:
    """Solve all, and say how many are proven."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, default=TABLES, help="folder of .npz files (default: %(default)s)")
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--limit", type=float, default=5.0, help="seconds for each problem")
    parser.add_argument("--processor", action="store_true", help="seconds of one processor, not of the clock")
    parser.add_argument("--record", action="store_true", help="replace benchmarks/results/block.json")
    options = parser.parse_args()
    cases = list(problems(options.tables, options.only))
    if not cases:
        sys.exit(f"There are no such .npz files in {options.tables}. Name a folder of labelled tables with --tables.")
    for _, problem in cases[:3]:
        bs.solve(problem, time_limit=60)  # load the kernels
    if options.processor:
        time.perf_counter = time.process_time  # the clock of every deadline
    open_cases, seconds = {}, []
    for name, problem in cases:
        begin = time.perf_counter()
        best = bs.solve(problem, time_limit=options.limit, **({"workers": 1} if options.processor else {}))
        seconds.append(time.perf_counter() - begin)
        if not best.proven_optimal:
            open_cases[name] = best.gap
            print(f"{name}: {best.gap:.2%} after {seconds[-1]:.1f} s", flush=True)
    proven = len(cases) - len(open_cases)
    median = sorted(seconds)[len(seconds) // 2]
    print(f"{proven} of {len(cases)} proven ({proven / len(cases):.1%}, wanted {WANTED:.1%}); median {median:.2f} s")
    if options.record:
        clock = "processor" if options.processor else "clock"
        record = {"limit": options.limit, "seconds of": clock, "problems": len(cases), "proven": proven}
        RESULTS.write_text(json.dumps({**record, "median": median, "gaps": open_cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
