"""Hits of the optimum under noise: a circuit with every coupling on an ion trap against the masked one on a Heron.

(N, D, k, m) = (12, 8, 3, 5), p = 3, angles of each circuit trained for that very circuit, by the same training. The
Heron's starts from a basis state on the best patch found; ion traps start from the Dicke state and mix over all pairs.
Both are noise models, not hardware. Usage: `.venv/bin/python -m benchmarks.bench_ions`.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from biselect import SelectionProblem, solve
from biselect.core.files import write_file
from biselect.hardware.bundle import place_circuit
from biselect.hardware.noise import noisy_chances
from biselect.qaoa import Ansatz

RESULTS = Path(__file__).parent / "results"
SIZES = {"n": 12, "d": 8, "k": 3, "m": 5}
DEPTH, EVALUATIONS = 3, 1000
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
    how = {"start": "random", "registers": "auto"} if device == HERON else {"start": "dicke", "registers": "complete"}
    placed = place_circuit(problem, device, depth=DEPTH, schedule="fully-grouped", seed=seed, **how)
    trained = Ansatz.from_spec(placed.spec, backend="compiled").train(evaluations=EVALUATIONS, seed=0)
    made = placed.compile(trained, compare=False)
    found = noisy_chances(
        made.compiled, made.target, problem, placement=made.placement, trajectories=trajectories, seed=seed, idle=idle
    )
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
            each = [one[0] / other[0] for one, other in zip(found[device], found[HERON], strict=True)]
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
