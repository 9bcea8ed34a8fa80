"""Our training against the paper's protocols.

    python benchmarks/bench_training.py [--workers N] [--first SEED] [--quick] [--out OUT.json]

First for hit rates, on the same instances for the same wall-clock time on one core: the best-known-threshold panel,
(12, 8, 3, 5), 48 instances, and the same at (14, 10, 3, 3), 24 instances; p = 3, fully grouped, W = |Z| with μ = 3, ten
couplings, canonical start. E_BK is the best of 27,443 shots (0.67 × 40,960) of the circuit with all angles at π/4.

Instances are seeds 0 up, or from --first on; none is left out. Both run on the same simulator in the same
precision: double, as `Ansatz` has it by default, and single.
Ours is trained for the seconds that the paper's protocol took, and for 20 times as many. Ours is SciPy's L-BFGS-B from
random starts on our gradient, so the ratio is what the gradient is worth.

Each process runs on a core of its own (--workers of them). Medians are of ratios, instance by instance, with percentile
bootstrap intervals.

Last, for expected energy: the interpolation ladder against the depth-frontier protocol, both to convergence, on twelve
instances of the depth family at (10, 8, 3, 3), p = 1 to 4.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from biselect.core.files import write_file
from biselect_quantum.circuits import Ansatz
from biselect_studies.data.synthetic import depth_problem, panel_problem
from biselect_studies.experiments.planted import evidence_threshold

SIZES = {(12, 8, 3, 5): 48, (14, 10, 3, 3): 24}
DEPTH, LONGER, RESAMPLES = 3, 20, 2000
PEERS = {"double": np.complex128, "single": np.complex64}
Row = dict[str, Any]


def instance(size: tuple[int, int, int, int], seed: int) -> Row:
    """Hit rates of the paper's protocol and of ours on one instance, and what they used."""
    problem = panel_problem(seed=seed, size=size)
    goal = {"objective": "hit-rate", "threshold": evidence_threshold(problem, DEPTH, seed).of(problem), "seed": seed}
    ansatz = Ansatz(problem, DEPTH, start="canonical", backend="compiled")
    hits = int(np.count_nonzero(ansatz.energies <= goal["threshold"] + 1e-9))
    row: Row = {"size": size, "seed": seed, "hits": hits, "uniform": hits / ansatz.energies.size}
    for name, dtype in PEERS.items():
        peer = ansatz.with_own_simulator(dtype)
        begin = time.perf_counter()
        theirs = peer.train(strategy="threshold", progress=False, **goal)
        seconds = time.perf_counter() - begin
        ours = peer.train(seconds=seconds, progress=False, **goal)
        longer = peer.train(seconds=LONGER * seconds, progress=False, **goal)
        row[name] = {
            "paper": theirs.hit_rate,
            "ours": ours.hit_rate,
            "longer": longer.hit_rate,
            "seconds": [seconds, ours.seconds, longer.seconds],
            "evaluations": [theirs.evaluations, ours.evaluations, longer.evaluations],
        }
    return row


def ready(cores: Any) -> None:
    """Give this process a core of its own, and load the compiled code before anything is timed."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {cores.get()})
    for size in SIZES:
        warm_up(size)


def warm_up(size: tuple[int, int, int, int]) -> None:
    """Run a little of everything that is timed, with one hit and with many: they have kernels of their own."""
    problem = panel_problem(seed=99, size=size)
    ansatz = Ansatz(problem, DEPTH, start="canonical", backend="compiled")
    for dtype, threshold in product(PEERS.values(), np.sort(ansatz.energies, axis=None)[[0, 300]]):
        peer = ansatz.with_own_simulator(dtype)
        peer.train(threshold=threshold, evaluations=200, seconds=600, progress=False)
        peer.train(threshold=threshold, strategy="threshold", evaluations=20, progress=False)


def median(values: np.ndarray) -> str:
    """With its interval over instances."""
    drawn = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(np.median(values[drawn], axis=1), [0.025, 0.975])
    return f"{np.median(values):.2f} [{low:.2f}, {high:.2f}]"


def report(size: tuple[int, int, int, int], rows: list[Row]) -> None:
    """Print every instance, then the medians."""
    print(f"\n{size}, p = {DEPTH}, fully grouped: 10⁴ p_BK by the paper's protocol and by ours at equal time")
    print(f"{'':>5} {'':>5} {'':>8} | {'double precision':^44} | {'single precision':^44}")
    one = f"{'paper':>8} {'ours':>8} {'ratio':>6} {'20×':>8} {'share':>5} {'calls':>5}"
    print(f"{'seed':>5} {'hits':>5} {'uniform':>8} | {one} | {one}")
    for row in rows:
        cells = []
        for name in PEERS:
            run = row[name]
            paper, ours, longer = (1e4 * run[key] for key in ("paper", "ours", "longer"))
            calls = run["evaluations"][1]
            cells.append(f"{paper:8.2f} {ours:8.2f} {ours / paper:6.2f} {longer:8.2f} {ours / longer:5.2f} {calls:5d}")
        print(f"{row['seed']:5d} {row['hits']:5d} {1e4 * row['uniform']:8.2f} | {' | '.join(cells)}")
    for name in PEERS:
        paper, ours, longer = (np.array([row[name][key] for row in rows]) for key in ("paper", "ours", "longer"))
        seconds = np.median([row[name]["seconds"] for row in rows], axis=0)
        calls = np.median([row[name]["evaluations"] for row in rows], axis=0)
        print(
            f"{name} precision, {len(rows)} of {len(rows)} instances: median ratio {median(ours / paper)}, "
            f"geometric mean {np.exp(np.log(ours / paper).mean()):.2f}, ours higher on {int(np.sum(ours > paper))}; "
            f"median share of what 20 times the time reaches {median(ours / longer)}; "
            f"seconds {seconds[0]:.3f} and {seconds[1]:.3f}, evaluations {calls[0]:.0f} and {calls[1]:.0f}"
        )


def ladders() -> list[dict[str, float]]:
    """α by depth and evaluations of our ladder and of the paper's protocol, on each instance."""
    found = []
    for signal, mode, seed in product((2.0, 2.75), ("residual", "mixed"), range(3)):
        ansatz = Ansatz(depth_problem(signal, mode, seed=seed, size=(10, 8, 3, 3)), 4, backend="compiled")
        row: dict[str, float] = {}
        for name in ("ladder", "depth-frontier"):
            trained = ansatz.train(strategy=name, objective="energy", progress=False)
            row[f"{name} α"] = ansatz.approximation(trained.angles)
            row[f"{name} evaluations"] = trained.evaluations
        found.append(row)
    return found


def main() -> None:
    """Run all instances and print tables."""
    parser = argparse.ArgumentParser(description="Our training against the paper's protocols.")
    parser.add_argument("--workers", type=int, default=1, help="processes, each on a core of its own")
    parser.add_argument("--first", type=int, default=0, help="seed of the first instance")
    parser.add_argument("--quick", action="store_true", help="a twelfth of the instances, to see that it runs")
    parser.add_argument("--out", type=Path, help="file for all figures")
    given = parser.parse_args()
    tasks = [
        (size, given.first + number)
        for size, instances in SIZES.items()
        for number in range(instances // (12 if given.quick else 1))
    ]
    print(f"judged on seeds {given.first} up")
    for size in SIZES:
        warm_up(size)  # compile once, for all processes
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"  # a process that begins has one thread
    spawn = multiprocessing.get_context("spawn")
    cores = spawn.SimpleQueue()
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [*range(given.workers)]
    for worker in range(given.workers):
        cores.put(usable[worker % len(usable)])
    rows: list[Row] = []
    with spawn.Pool(given.workers, ready, (cores,)) as pool:
        jobs = [pool.apply_async(instance, task) for task in reversed(tasks)]  # the longest first
        for job in jobs:
            rows.append(job.get())
            print(f"{len(rows)} of {len(tasks)}", file=sys.stderr)
    rows.reverse()
    for size in SIZES:
        report(size, [row for row in rows if row["size"] == size])
    climbed = ladders()
    means = {key: float(np.mean([row[key] for row in climbed])) for key in climbed[0]}
    print("\nexpected energy, p = 4: " + ", ".join(f"{key} {value:.4g}" for key, value in means.items()))
    if given.out:
        write_file(
            given.out, json.dumps({"first": given.first, "instances": rows, "ladders": climbed}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
