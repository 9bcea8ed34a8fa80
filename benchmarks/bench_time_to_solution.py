"""Time until the optimum was seen with 99 %: trained circuits beside random choice, annealing and `exact`.

    python benchmarks/bench_time_to_solution.py [INSTANCES] [OUT.json]

Planted instances, seeds 0 up, at three sizes, p = 3, trained for the optimum with 500 evaluations. One process, one
thread; kernels are compiled before anything is timed. Every instance is printed; the table has medians. A device is
taken to need 100 µs a shot, without queue or compilation.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from biselect.core.files import write_file
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.metrics import time_to_solution
from biselect_studies.data.synthetic import planted_problem

SIZES = ((8, 6, 3, 2), (12, 8, 3, 5), (14, 10, 3, 3))
EVALUATIONS = 500
SHOT = 1e-4


def instance(size: tuple[int, int, int, int], seed: int) -> dict[str, dict[str, float]]:
    """What each method needs on one instance."""
    ansatz = Ansatz(planted_problem(size, 2.0, seed=seed), 3, backend="compiled")
    trained = ansatz.train(objective="optimum", evaluations=EVALUATIONS, seed=seed, progress=False)
    rows = time_to_solution(ansatz, trained, shot_seconds=SHOT, runs=50, seed=seed)
    return {row.method: {**row._asdict(), "method": row.method} for row in rows}


def main() -> None:
    """Measure, print, write."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    instance(SIZES[0], 999)  # compile
    found = {str(size): [instance(size, seed) for seed in range(count)] for size in SIZES}
    print(f"medians of {count} instances: success of one run, seconds of one, seconds to 99 %, with training")
    for size, instances in found.items():
        print(size)
        for method in instances[0]:
            medians = [
                float(np.median([one[method][name] for one in instances]))
                for name in ("success", "seconds", "total", "with_training")
            ]
            print(f"  {method:26}" + "".join(f"{number:12.3g}" for number in medians))
        faster = sum(
            one["circuit, simulated"]["with_training"] < one["exact, with proof"]["total"] for one in instances
        )
        print(f"  the circuit, training counted, came before exact on {faster} of {count}")
    if len(sys.argv) > 2:
        write_file(sys.argv[2], json.dumps(found, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
