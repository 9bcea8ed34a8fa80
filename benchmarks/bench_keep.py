"""Couplings against noise, and whether a first circuit hits its optimum above chance.

    python benchmarks/bench_keep.py                      # both, on FakeBoston
    python benchmarks/bench_keep.py --trade 8,6 12,8     # the trade alone, at these sizes
    python benchmarks/bench_keep.py --first 12           # random 8 x 6 problems alone, compiled with all defaults

The trade: random problems with normal couplings, every share of the couplings compiled, trained for itself and run
under the device's recorded errors. First circuits: uniform and normal couplings, budgets of 2 to 4, `compile_problem`
with nothing but the problem; hits of the optimum in those of a uniform choice. Noise model, not hardware. Figures are
written to benchmarks/results/keep.json.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from biselect import SelectionProblem, solve
from biselect_quantum.devices import compile_problem, load_target
from biselect_quantum.devices.noise.probabilities import noisy_probabilities
from biselect_studies.quantum.trade import KEEPS, trade

RESULTS = Path(__file__).parent / "results"
SHARES = (*KEEPS[:1], 0.15, *KEEPS[1:])
FAMILIES = {"uniform": lambda rng, shape: rng.random(shape), "normal": lambda rng, shape: rng.normal(size=shape)}


def trades(device: str, n: int, d: int, seeds: int, depth: int, trajectories: int) -> list[dict[str, Any]]:
    """Every point of every problem."""
    rows = []
    for seed in range(seeds):
        problem = SelectionProblem(coupling=np.random.default_rng(seed).normal(size=(n, d)), k=3, m=3)
        for point in trade(problem, device, SHARES, depth=depth, trajectories=trajectories):
            row = {"size": [n, d], "problem": seed, "p": depth, "keep": point.keep, "share": point.share}
            row |= {name: getattr(point, name) for name in ("mass", "mass_error", "hit", "hit_error", "ideal_hit")}
            rows.append(row | {"chance": point.chance, "resources": asdict(point.resources)})
            print(
                f"{n} x {d} problem {seed} p = {depth}: {100 * point.share:5.1f} % kept, "
                f"{point.resources.two_qubit_gates:4d} two-qubit gates, depth {point.resources.depth:3d}, "
                f"{1e6 * (point.resources.duration or 0):.2f} µs; exact budgets {100 * point.mass:5.1f} % "
                f"± {100 * point.mass_error:.1f}, hits {point.over_chance:7.2f} of chance "
                f"± {(point.hit_error or 0) / point.chance:.2f}, without noise {point.ideal_hit / point.chance:7.2f}",
                flush=True,
            )
    return rows


def first_circuits(device: str, count: int, trajectories: int) -> list[dict[str, Any]]:
    """Hits of the first circuit of random 8 x 6 problems, in those of a uniform choice."""
    target, rows = load_target(device), []
    budgets = ((2, 2), (3, 3), (4, 4), (2, 3), (3, 4), (4, 2), (3, 2), (4, 3), (2, 4))
    for number in range(count):
        (family, draw), (k, m) = [*FAMILIES.items()][number % 2], budgets[number % len(budgets)]
        problem = SelectionProblem(coupling=draw(np.random.default_rng(1000 + number), (8, 6)), k=k, m=m)
        made = compile_problem(problem, target, compare=False)
        found = noisy_probabilities(made, solve(problem), trajectories=trajectories)
        size = problem.sector.size
        rows.append({"family": family, "k": k, "m": m, "over_chance": found.hit * size, "mass": found.mass})
        print(
            f"{family:8s} k = {k}, m = {m}: hits {found.hit * size:7.2f} ± {found.hit_error * size:.2f} of chance, "
            f"without noise {found.ideal_hit * size:7.2f}, exact budgets {100 * found.mass:.1f} %",
            flush=True,
        )
    over = np.array([row["over_chance"] for row in rows])
    print(f"above chance: {(over > 1).sum()} of {len(over)}; median {np.median(over):.1f}, least {over.min():.2f}")
    return rows


def main() -> None:
    """Print and record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="boston")
    parser.add_argument("--trade", nargs="*", default=["8,6", "12,8"])
    parser.add_argument("--first", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--depths", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--trajectories", type=int, default=100)
    options = parser.parse_args()
    found: dict[str, Any] = {"device": options.device, "trade": [], "first": []}
    for size, depth in product(options.trade, options.depths):
        n, d = map(int, size.split(","))
        found["trade"] += trades(options.device, n, d, options.seeds, depth, options.trajectories)
    if options.first:
        found["first"] = first_circuits(options.device, options.first, options.trajectories)
    (RESULTS / "keep.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
