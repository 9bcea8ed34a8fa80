"""How often the finding claims something in noise, and how well it counts rows that were planted.

    python benchmarks/bench_finding.py [--seeds 20]

Pools of 200 rows and 12 columns against 2,000 reference rows of the same make, m = 4. Prints for each make how many
rows were said to stand out, and in how many pools.
"""

import argparse
from collections import Counter

import numpy as np

import biselect as bs
from biselect.reviews._chance import find, null_for
from biselect.tables import as_matrix
from biselect.weights import Weigher

COLUMNS, MIX = 12, np.random.default_rng(1).normal(size=(3, 12))
MAKES = {
    "normal": lambda rng, rows: rng.normal(size=(rows, COLUMNS)),
    "heavy-tailed": lambda rng, rows: rng.standard_t(3, size=(rows, COLUMNS)),
    "skewed": lambda rng, rows: np.exp(1.5 * rng.normal(size=(rows, COLUMNS))),
    "counts": lambda rng, rows: rng.poisson(2, size=(rows, COLUMNS)).astype(float),
    "correlated": lambda rng, rows: rng.normal(size=(rows, 3)) @ MIX + 0.3 * rng.normal(size=(rows, COLUMNS)),
}


def standing(make: str, seed: int, k: int, planted: int) -> int:
    """How many rows are said to stand out; planted ones lie five spreads off in three columns."""
    rng = np.random.default_rng(seed)
    reference, pool = MAKES[make](rng, 2000), MAKES[make](rng, 200)
    pool[:planted, :3] += 5 * reference[:, :3].std(axis=0)
    calibrator = Weigher().fit(reference)
    problem = calibrator.problem(pool, k, 4)
    chance = null_for(problem, calibrator, as_matrix(reference), seed=0)
    return find(bs.solve(problem, "coordinate-ascent"), chance)["stand_out"]


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    seeds = range(parser.parse_args().seeds)
    for k, planted in ((20, 0), (1, 0), (20, 11)):
        for make in MAKES:
            found = Counter(standing(make, seed, k, planted) for seed in seeds)
            told = ", ".join(f"{rows} in {pools}" for rows, pools in sorted(found.items()))
            print(f"k = {k}, {planted} planted, {make}: rows that stand out: {told}", flush=True)


if __name__ == "__main__":
    main()
