"""A million rows: one half-step at the speed of memory, and one whole selection with its certified gap."""

import resource
import statistics
import time

import numpy as np
from numba import njit

import biselect as bs
from benchmarks.cases import instance, million
from benchmarks.record import Line, seconds
from biselect.core import SelectionProblem
from biselect.solvers._row_response import best_rows
from biselect.solvers.response import by_features


@njit(fastmath=True)
def _sum(line):
    total = np.float32(0)
    for i in range(line.size):
        total += line[i]
    return total


@njit
def _read(lines, subset):
    """The floor: read the same columns once, and do next to nothing with them."""
    total = np.float32(0)
    for line in subset:
        total += _sum(lines[line])
    return total


def run(seeds: int, limit: float) -> list[Line]:
    """The half-step on one thread, then a selection for each class."""
    warm = instance("noise", (30000, 200, 20, 8), 0)
    warm = SelectionProblem(coupling=warm.coupling.astype(np.float32), k=20, m=8)
    bs.solve(warm, "auto", time_limit=2)  # load the kernels
    lines = []
    for kind in ("planted", "twice-wide", "noise"):
        times, gaps, ratios, floors, halves, proven = [], [], [], [], [], 0
        for seed in range(seeds):
            problem = million(kind, seed)
            if kind == "noise":
                floor, half = _half_step(problem)
                floors.append(floor)
                halves.append(half)
                ratios.append(half / floor)
            begin = time.perf_counter()
            found = bs.solve(problem, "auto")
            times.append(time.perf_counter() - begin)
            gaps.append(found.gap)
            proven += found.proven_optimal
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        lines.append(
            Line(
                what="one selection from weights in memory",
                case=f"(1000000, 200, 100, 8) {kind}",
                ours=f"{seconds(statistics.median(times))}, gap {statistics.median(gaps):.1%}, {memory:.2f} GiB",
                wanted="5 s, a gap, 3 GiB",
                met=statistics.median(times) < 5 and max(gaps) < np.inf and memory < 3,
                seeds=seeds,
                detail=[f"{value:.3f} s, gap {gap:.4f}" for value, gap in zip(times, gaps, strict=True)],
            )
        )
        print(lines[-1].what, lines[-1].case, lines[-1].ours, f"{proven} proven", flush=True)
    lines.append(
        Line(
            what="half-step of coordinate ascent against reading its columns",
            case="(1000000, 200, 100, 8) float32",
            ours=seconds(statistics.median(halves)),
            peer=seconds(statistics.median(floors)),
            ratio=f"{1 / statistics.median(ratios):.2f}×",
            wanted="0.5×",
            met=statistics.median(ratios) <= 2,
            seeds=seeds,
            detail=[
                f"{half * 1e3:.2f} ms, floor {floor * 1e3:.2f} ms" for floor, half in zip(floors, halves, strict=True)
            ],
        )
    )
    print(lines[-1].what, lines[-1].ours, lines[-1].peer, lines[-1].ratio, flush=True)
    return lines


def _half_step(problem: SelectionProblem) -> tuple[float, float]:
    """Medians over 40 random choices of columns: reading them, and responding to them."""
    task = by_features(problem)
    rng = np.random.default_rng(0)
    subsets = [np.sort(rng.permutation(problem.n_features)[: problem.m]) for _ in range(40)]
    _read(task.lines, subsets[0])
    best_rows(task, subsets[0])
    floors, halves = [], []
    for subset in subsets:
        begin = time.perf_counter()
        _read(task.lines, subset)
        middle = time.perf_counter()
        best_rows(task, subset)
        floors.append(middle - begin)
        halves.append(time.perf_counter() - middle)
    return statistics.median(floors), statistics.median(halves)
