"""How often `certify` sees a block where there is none: `python scripts/soak_certificates.py 1000`.

Tables without a block, of 13 families; prints for each how many draws got a joint certificate at δ = 0.05.
"""

import argparse

import numpy as np

import biselect as bs
from biselect_studies.recovery import certify

SIZE = (60, 15)
K, M = 5, 3
DELTA = 0.05

FAMILIES = {
    "normal": lambda rng: rng.normal(size=SIZE),
    "half-normal": lambda rng: np.abs(rng.normal(size=SIZE)),
    "uniform": lambda rng: rng.random(SIZE),
    "exponential": lambda rng: rng.exponential(size=SIZE),
    "gamma": lambda rng: rng.gamma(0.5, size=SIZE),
    "Laplace": lambda rng: rng.laplace(size=SIZE),
    "Student t, 3 degrees": lambda rng: rng.standard_t(3, size=SIZE),
    "lognormal": lambda rng: rng.lognormal(size=SIZE),
    "binary": lambda rng: rng.integers(0, 2, size=SIZE).astype(float),
    "Poisson": lambda rng: rng.poisson(1.0, size=SIZE).astype(float),
    "row and column effects": lambda rng: (
        rng.normal(size=(SIZE[0], 1)) + rng.normal(size=SIZE[1]) + rng.normal(size=SIZE)
    ),
    "rank one, lognormal": lambda rng: np.outer(rng.lognormal(size=SIZE[0]), rng.lognormal(size=SIZE[1])),
    "rank one, lognormal, with noise": lambda rng: (
        np.outer(rng.lognormal(size=SIZE[0]), rng.lognormal(size=SIZE[1])) * rng.lognormal(sigma=0.3, size=SIZE)
    ),
}


def certifies(weights: np.ndarray) -> bool:
    """Whether any joint condition holds for the best block of a table."""
    found = certify(bs.SelectionProblem(coupling=weights, k=K, m=M), delta=DELTA)
    return any(condition.holds for condition in found.conditions if condition.selector == "joint")


def main() -> int:
    """Count for every family; 1 if one has more than a share of δ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("draws", type=int)
    draws = parser.parse_args().draws
    worst = 0
    for number, (family, draw) in enumerate(FAMILIES.items()):
        wrong = sum(certifies(draw(np.random.default_rng([number, seed]))) for seed in range(draws))
        worst = max(worst, wrong)
        print(f"{family}: {wrong} of {draws}", flush=True)
    return int(worst > DELTA * draws)


if __name__ == "__main__":
    raise SystemExit(main())
