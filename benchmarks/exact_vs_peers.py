"""Proven optima: ours against HiGHS, CP-SAT, Gurobi, and what a good engineer writes in 10 or 25 lines."""

import statistics
from collections.abc import Iterator

import biselect as bs
from benchmarks.cases import Size, instance
from benchmarks.peers import cp_sat, gurobi, gurobi_gap, highs, numba_lines, numpy_lines, ours
from benchmarks.record import Line, seconds

PEERS = {"HiGHS": highs, "CP-SAT": cp_sat, "Gurobi": gurobi}
PEERS |= {"10 lines of NumPy": numpy_lines, "25 lines of numba": numba_lines}
CASES: list[tuple[Size, str, dict[str, float | None]]] = [
    ((80, 12, 8, 4), "noise", {"HiGHS": None, "Gurobi": None}),
    ((50, 38, 5, 4), "planted", {"HiGHS": None, "CP-SAT": None, "Gurobi": None}),
    ((50, 38, 5, 4), "noise", {"HiGHS": 1000, "CP-SAT": 1000, "Gurobi": None, "25 lines of numba": 1}),
    ((500, 38, 50, 4), "noise", {"10 lines of NumPy": 1, "25 lines of numba": 1}),
    ((300, 40, 20, 5), "noise", {"25 lines of numba": 1}),
    ((2000, 60, 20, 6), "twice-wide", {"HiGHS": 50}),
]
OPEN: list[tuple[Size, str, float]] = [((40, 40, 20, 20), "binary", 8)]


def run(seeds: int, limit: float) -> Iterator[Line]:
    """Every case with its peers; `limit` stops a peer, never us."""
    warm = instance("noise", (300, 30, 5, 5), 0)
    ours(warm, 60), numba_lines(warm, 60)  # load the kernels
    for size, kind, peers in CASES:
        problems = [instance(kind, size, seed) for seed in range(seeds)]
        own = [ours(problem, 600) for problem in problems]
        assert all(proven for _, proven, _ in own)
        for name, wanted in peers.items():
            found = [PEERS[name](problem, limit) for problem in problems]
            theirs = [outcome for outcome in found if outcome is not None]
            if not theirs:
                continue
            for (_, _, score), (_, proven, peer_score) in zip(own, theirs, strict=True):
                assert not proven or abs(score - peer_score) <= 1e-5 * abs(score), "two proofs, two optima"
            ratios = [other[0] / mine[0] for mine, other in zip(own, theirs, strict=True)]
            stopped = sum(not proven for _, proven, _ in theirs)
            at_least = "≥ " if stopped > len(theirs) / 2 else ""
            ratio = statistics.median(ratios)
            line = Line(
                what=f"exact against {name}",
                case=f"{size} {kind}",
                ours=seconds(statistics.median(outcome[0] for outcome in own)),
                peer=f"{at_least}{seconds(statistics.median(outcome[0] for outcome in theirs))}",
                ratio=f"{at_least}{ratio:,.0f}×" if ratio >= 10 else f"{at_least}{ratio:.2g}×",
                wanted="" if wanted is None else f"{wanted:,.0f}×",
                met=None if wanted is None else ratio >= wanted,
                seeds=seeds,
                detail=[
                    f"{own_[0]:.4f} s, {name} {theirs_[0]:.2f} s" for own_, theirs_ in zip(own, theirs, strict=True)
                ],
            )
            print(line.what, line.case, line.ours, line.peer, line.ratio, flush=True)
            yield line
    yield from gaps(seeds, limit)


def gaps(seeds: int, limit: float) -> Iterator[Line]:
    """What we and Gurobi leave open in the same time, on one thread each."""
    for size, kind, given in OPEN:
        given = min(limit, given)
        problems = [instance(kind, size, seed) for seed in range(seeds)]
        own = [bs.solve(problem, "exact", time_limit=given, workers=1).gap for problem in problems]
        theirs = [gap for problem in problems if (gap := gurobi_gap(problem, given)) is not None]
        if not theirs:
            continue
        line = Line(
            what=f"gap after {given:.0f} s on one thread, against Gurobi",
            case=f"{size} {kind}",
            ours=f"{statistics.median(own):.1%}",
            peer=f"{statistics.median(theirs):.1%}",
            wanted="below Gurobi's",
            met=statistics.median(own) < statistics.median(theirs),
            seeds=seeds,
            detail=[f"{mine:.4f}, Gurobi {other:.4f}" for mine, other in zip(own, theirs, strict=True)],
        )
        print(line.what, line.case, line.ours, line.peer, flush=True)
        yield line
