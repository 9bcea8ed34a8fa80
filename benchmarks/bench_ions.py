"""Hits of the optimum under noise: a circuit with every coupling on an ion trap against the masked one on a Heron.

(N, D, k, m) = (12, 8, 3, 5), p = 3, both as `compile_problem` makes them by default, angles trained for each circuit by
the same training: on the Heron from a basis state on the best patch found, on ion traps with the start and the mixer
that are expected to hit most often under the device's errors. Both are noise models, not hardware. Instances are seeds
0 up, none of them looked at when defaults were chosen (seeds 10 to 15).

Usage: `.venv/bin/python -m benchmarks.bench_ions`.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from biselect import SelectionProblem, solve
from biselect.core.files import write_file
from biselect.hardware import compile_problem
from biselect.hardware.noise import noisy_chances

RESULTS = Path(__file__).parent / "results"
SIZES = {"n": 12, "d": 8, "k": 3, "m": 5}
DEPTH = 3
HERON = "boston"
TRAPS = ("quantinuum-h2", "quantinuum-helios", "ionq-forte")


def dense(seed):
    """A random dense problem."""
    rng = np.random.default_rng([2501, seed])
    return SelectionProblem(coupling=rng.normal(size=(SIZES["n"], SIZES["d"])), k=SIZES["k"], m=SIZES["m"])


def credit_card(seed):
    """Card transactions against normal ones, as in the paper's hardware runs."""
    from biselect_studies.experiments.heron_case import problem

    return problem("creditcard", SIZES["n"] + SIZES["d"], seed)


CASES = {"dense": dense, "credit card": credit_card}


def hits(problem, device, seed, trajectories, idle):
    """Chances of the optimum on a device, under its noise model."""
    made = compile_problem(problem, device, depth=DEPTH, compare=False, seed=seed)
    found = noisy_chances(made.compiled, made.target, problem, trajectories=trajectories, seed=seed, idle=idle)
    share = made.manifest()["retained_share"]
    print(
        f"  {device:18s} {100 * share:5.1f} % of the mass, {made.compiled.resources.two_qubit_gates:5d} pair gates, "
        f"hit {found.hit:.5f} ± {found.hit_error:.5f} (ideal {found.ideal_hit:.5f}), budgets {found.mass:.3f}",
        flush=True,
    )
    return found.hit, found.hit_error, found.ideal_hit


def main():
    """Print hits of every case, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=4)
    parser.add_argument("--trajectories", type=int, default=100)
    parser.add_argument("--traps", default=",".join(TRAPS))
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--idle", action="store_true", help="waiting qubits relax too")
    parser.add_argument("--record", action="store_true", help="write benchmarks/results/ions.json")
    asked = parser.parse_args()
    traps = asked.traps.split(",")
    results = {}
    for case in asked.cases.split(","):
        found = {device: [] for device in (HERON, *traps)}
        for seed in range(asked.instances):
            problem = CASES[case](seed)
            print(f"{case} {seed}: best {solve(problem).energy:.3f}, chance {1 / problem.sector.size:.6f}")
            for device in found:
                found[device].append(hits(problem, device, seed, asked.trajectories, asked.idle))
        results[case] = {}
        heron, heron_error = mean(found[HERON])
        for device in traps:
            trap, error = mean(found[device])
            ratio = trap / heron
            spread = ratio * np.hypot(error / trap, heron_error / heron)
            each = [
                one[0] / other[0] if other[0] else np.inf
                for one, other in zip(found[device], found[HERON], strict=True)
            ]
            print(
                f"{case}, {device} against {HERON}: mean hit {trap:.5f} against {heron:.5f}, {ratio:.2f} ± "
                f"{spread:.2f} times; instance by instance {', '.join(f'{one:.2f}' for one in each)}"
            )
            results[case][device] = {"ratio": ratio, "error": spread, "by_instance": each}
    if asked.record:
        write_file(RESULTS / "ions.json", json.dumps(results, indent=1) + "\n")


def mean(found):
    """Mean hit over instances, and its error from the drawn courses."""
    hit, error, _ = np.array(found).T
    return hit.mean(), np.sqrt((error**2).sum()) / len(hit)


if __name__ == "__main__":
    main()
