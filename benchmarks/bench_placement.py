"""Patches and placements: cross edges, expected errors, gap and time at the paper's widths.

    python benchmarks/bench_placement.py                        # ten seeds on FakeBoston and FakePittsburgh
    python benchmarks/bench_placement.py --devices iqm-54 --sizes 31,21 --seeds 2 --limit 15

A seed fixes the patch and the weights (exponential). Seconds are of the clock and, in brackets, of the processor: on a
busy machine they differ.
"""

import argparse
import time

import numpy as np

from biselect.core import SelectionProblem
from biselect_quantum.devices import choose_patch, load_target, place

SIZES = ["12,8", "19,13", "22,14", "31,21", "34,22", "38,26"]


def seconds_since(clock: float, processor: float) -> tuple[float, float]:
    """Seconds on the clock and on the processor."""
    return time.perf_counter() - clock, time.process_time() - processor


def measure(target, n: int, d: int, registers: str, seed: int, limit: float) -> tuple[int, float, tuple, tuple]:
    """Cross edges, gap, and what patch and placement took."""
    begin = time.perf_counter(), time.process_time()
    patch = choose_patch(target, n, d, registers=registers, seed=seed)
    search = seconds_since(*begin)
    problem = SelectionProblem(coupling=np.random.default_rng(seed).exponential(size=(n, d)), k=1, m=1)
    begin = time.perf_counter(), time.process_time()
    placement = place(problem, patch, time_limit=limit)
    return len(patch.cross_edges), placement.gap, search, seconds_since(*begin)


def main() -> None:
    """Print one line for every device, kind of register and size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", nargs="+", default=["boston", "pittsburgh"])
    parser.add_argument("--sizes", nargs="+", default=SIZES, help="N,D")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for a placement's proof")
    options = parser.parse_args()
    print(f"{'device':12}{'registers':10}{'N,D':>8}{'cross edges':>13}{'patch, s':>16}{'gap':>8}{'slowest, s':>16}")
    for device in options.devices:
        target = load_target(device)
        for registers in ("trees", "paths"):
            choose_patch(target, 2, 2, registers=registers)  # compiles
            for size in options.sizes:
                n, d = map(int, size.split(","))
                found = [measure(target, n, d, registers, seed, options.limit) for seed in range(options.seeds)]
                edges, gaps, searches, proofs = zip(*found, strict=True)
                search, slowest = np.median(searches, axis=0), np.max(proofs, axis=0)
                print(
                    f"{device:12}{registers:10}{size:>8}{f'{min(edges)}-{max(edges)}':>13}"
                    f"{f'{search[0]:.2f} ({search[1]:.2f})':>16}{max(gaps):8.2g}"
                    f"{f'{slowest[0]:.2f} ({slowest[1]:.2f})':>16}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
