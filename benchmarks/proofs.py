"""How far proofs reach, and what is left open where they do not."""

import statistics
import time

import biselect as bs
from benchmarks.cases import Size, instance
from benchmarks.record import Line, seconds

CASES: list[tuple[Size, str, float]] = [
    ((500, 38, 50, 4), "noise", 60),
    ((2000, 60, 20, 6), "noise", 4),
    ((10000, 100, 50, 8), "twice-wide", 5),
    ((100000, 200, 100, 10), "planted", 60),
    ((100000, 200, 100, 10), "twice-wide", 60),
]
OPEN: list[tuple[Size, str, float, float]] = [  # seconds, and the largest gap that may be left
    ((10000, 100, 50, 8), "noise", 60, 0.22),
    ((40, 40, 20, 20), "binary", 8, 0.12),
    ((200, 200, 100, 100), "noise", 8, 0.05),
]


def run(seeds: int, limit: float) -> list[Line]:
    """Time to the proof, and the gap after `limit` seconds where there is none."""
    lines = []
    bs.solve(instance("noise", (300, 30, 5, 5), 0), "exact")  # load the kernels
    for size, kind, wanted in CASES:
        times = []
        for seed in range(seeds):
            problem = instance(kind, size, seed)
            begin = time.perf_counter()
            found = bs.solve(problem, "exact", time_limit=600)
            times.append(time.perf_counter() - begin)
            assert found.proven_optimal
        lines.append(
            Line(
                what="time to the proven optimum",
                case=f"{size} {kind}",
                ours=seconds(statistics.median(times)),
                wanted=f"{wanted:.0f} s",
                met=statistics.median(times) <= wanted,
                seeds=seeds,
                detail=[f"{value:.3f} s" for value in times],
            )
        )
        print(lines[-1].what, lines[-1].case, lines[-1].ours, flush=True)
    for size, kind, seconds_given, wanted in OPEN:
        given = min(limit, seconds_given)
        gaps = [bs.solve(instance(kind, size, seed), "exact", time_limit=given).gap for seed in range(seeds)]
        lines.append(
            Line(
                what=f"gap after {given:.0f} s",
                case=f"{size} {kind}",
                ours=f"{statistics.median(gaps):.1%}",
                wanted=f"{wanted:.0%}",
                met=statistics.median(gaps) <= wanted,
                seeds=seeds,
                detail=[f"{gap:.4f}" for gap in gaps],
            )
        )
        print(lines[-1].what, lines[-1].case, lines[-1].ours, flush=True)
    return lines
