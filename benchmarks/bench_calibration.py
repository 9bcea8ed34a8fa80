"""Two claims about large tables, measured in this process or a child of it.

1. ECDF weights of a 1,000,000 × 30 pool against a 285,000-row reference cost less than three times what
   `numpy.searchsorted` alone takes for the same ranks, on one core.
2. A reference of 50,000,000 generated rows is fit from a stream within 1 GiB of memory.

    python benchmarks/bench_calibration.py              # both
    python benchmarks/bench_calibration.py weights
    python benchmarks/bench_calibration.py stream --rows 5_000_000

The first writes its figures to benchmarks/results/calibration.json.
"""

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biselect.weights import Reference, Weigher

REFERENCE_ROWS, POOL_ROWS, FEATURES = 285_000, 1_000_000, 30
STREAM_ROWS, STREAM_FEATURES, BLOCK = 50_000_000, 10, 100_000
GIB = 1 << 30
RESULTS = Path(__file__).parent / "results" / "calibration.json"


def weights_against_searchsorted(repeats: int = 3) -> None:
    """Both on the same numbers, best of a few; the peer gets sorted, contiguous columns for free."""
    rng = np.random.default_rng(0)
    reference = rng.standard_t(4, size=(REFERENCE_ROWS, FEATURES))
    pool = rng.standard_t(4, size=(POOL_ROWS, FEATURES))
    start = time.perf_counter()
    calibrator = Weigher().fit(reference)
    print(f"fit {REFERENCE_ROWS:,} × {FEATURES}: {time.perf_counter() - start:.2f} s")
    calibrator.weights(pool[:100_000])  # compiles

    sorted_columns = [np.sort(reference[:, j]) for j in range(FEATURES)]
    pool_columns = [np.ascontiguousarray(pool[:, j]) for j in range(FEATURES)]
    ours, peer = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        calibrator.weights(pool)
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        for column, queries in zip(sorted_columns, pool_columns, strict=True):
            np.searchsorted(column, queries, side="right")
        peer.append(time.perf_counter() - start)
    print(f"weights of {POOL_ROWS:,} × {FEATURES}: {min(ours):.2f} s; searchsorted alone: {min(peer):.2f} s")
    print(f"ratio {min(ours) / min(peer):.2f} (claim: at most 3)")
    found = {"weights seconds": min(ours), "searchsorted seconds": min(peer), "ratio": min(peer) / min(ours)}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


def generated_blocks(rows: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Heavy-tailed rows, a block at a time."""
    rng = np.random.default_rng(seed)
    for start in range(0, rows, BLOCK):
        yield rng.standard_t(4, size=(min(BLOCK, rows - start), STREAM_FEATURES))


def stream_fit(rows: int) -> None:
    """Runs in a child process, so that its peak memory is its own."""
    start = time.perf_counter()
    calibrator = Weigher().fit(Reference.of(generated_blocks(rows, seed=1)))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    facts = calibrator.facts
    print(f"fit {facts.reference_rows:,} × {STREAM_FEATURES} from a stream: {seconds:.0f} s, peak {peak / GIB:.2f} GiB")
    print(
        f"stated rank error {facts.rank_error:.2e} of the rows; whole table: {8 * rows * STREAM_FEATURES / GIB:.1f} GiB"
    )
    print(f"{'within' if peak < GIB else 'OVER'} the claimed 1 GiB")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("claim", nargs="?", choices=["weights", "stream"])
    parser.add_argument("--rows", type=int, default=STREAM_ROWS)
    options = parser.parse_args()
    if options.claim != "weights":  # first: a child's peak memory starts at what its parent holds
        child = multiprocessing.get_context("spawn").Process(target=stream_fit, args=(options.rows,))
        child.start()
        child.join()
    if options.claim != "stream":
        weights_against_searchsorted()


if __name__ == "__main__":
    main()
