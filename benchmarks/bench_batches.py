"""Batches of circuits against one circuit at a time, in one process, on one thread.

    python benchmarks/bench_batches.py [--threads N] [OUT.json]

Prints values and gradients a second of hit rate, energy and CVaR, for a batch and for single calls, and the ratio of
the two. Times are CPU times of the calling thread where there is one thread, so that they hold on a busy machine.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect_quantum.circuits import Ansatz, Observable

SIZES = [(12, 8, 3, 5), (14, 10, 3, 3)]
BATCH = 128


def least(work: Callable[[], Any], repeats: int, clock: Callable[[], float]) -> float:
    """Least seconds of a call, after one to warm up."""
    work()
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def rates(size: tuple[int, int, int, int], depth: int, dtype: Any, start: str, threads: int) -> dict[str, float]:
    """Circuits a second, at once and one by one."""
    n, d, k, m = size
    rng = np.random.default_rng(0)
    problem = SelectionProblem(
        coupling=0.3 * rng.exponential(size=(n, d)), sample_scores=rng.random(n), feature_scores=rng.random(d), k=k, m=m
    )
    ansatz = Ansatz(problem, depth, start=start, backend="compiled", dtype=dtype, threads=threads)
    angles = rng.uniform(-1, 1, size=(BATCH, ansatz.size))
    alone = Ansatz(problem, depth, start=start, backend="compiled", dtype=dtype)
    clock = time.thread_time if threads == 1 else time.perf_counter
    row = {}
    for name, goal in (
        ("hit rate", Observable(kind="hit", threshold=float(ansatz.energies.min()))),
        ("energy", Observable()),
        ("cvar", Observable(kind="cvar")),
    ):

        def single(goal: Observable = goal) -> Any:
            return [alone.value_and_gradient(vector, goal) for vector in angles[:8]]

        def values(goal: Observable = goal) -> Any:
            return ansatz.many(angles, goal)

        def gradients(goal: Observable = goal) -> Any:
            return ansatz.many_with_gradients(angles, goal)

        one = 8 / least(single, 10, clock)
        row[f"{name}: values/s"] = round(BATCH / least(values, 10, clock))
        row[f"{name}: gradients/s"] = round(BATCH / least(gradients, 10, clock))
        row[f"{name}: single gradients/s"] = round(one)
        row[f"{name}: batch over single"] = round(row[f"{name}: gradients/s"] / one, 2)
    return row


def main() -> None:
    """Run, print, write."""
    arguments = sys.argv[1:]
    threads = 1
    if "--threads" in arguments:
        at = arguments.index("--threads")
        threads = int(arguments[at + 1])
        del arguments[at : at + 2]
    results = {}
    for size in SIZES:
        for depth in (3, 5):
            for dtype in (np.complex64, np.complex128):
                for start in ("canonical", "dicke"):
                    name = f"{size}, p = {depth}, {np.dtype(dtype).name}, {start}"
                    results[name] = rates(size, depth, dtype, start, threads)
                    print(name, json.dumps(results[name]), flush=True)
    if arguments:
        with open(arguments[0], "w") as file:
            json.dump({"threads": threads, "rates": results}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
