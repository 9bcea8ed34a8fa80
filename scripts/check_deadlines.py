"""Do solvers and training keep their time limits? `python scripts/check_deadlines.py` says, and exits with 1 if not.

A limit counts as kept where the answer is there within 0.5 s and 5 % of it. Every solver runs once before, so that its
kernels are compiled.
"""

import argparse
import time

import numpy as np

import biselect as bs
from biselect.errors import InputError
from biselect.qaoa import Ansatz

SIZES = {
    "small": (12, 8, 3, 5),
    "a sector of 8·10⁷": (20, 14, 6, 5),
    "one large register": (150, 4, 3, 1),
    "too wide for a sector": (60, 40, 10, 8),
    "square": (300, 300, 150, 150),
    "medium": (2000, 60, 20, 6),
    "large": (1_000_000, 50, 100, 8),
}
LIMITS = (0.05, 0.5, 2.0)
MANY = {"coordinate-ascent": {"starts": 10**6}, "random": {"draws": 10**9}, "swap-sa": {"restarts": 10**5}}
MANY |= {"annealing": {"restarts": 10**5}, "kawasaki": {"steps": 10**9}, "tabu": {"steps": 10**9}}


def noise(size):
    """A column-major float32 table of |Gaussian|."""
    n, d, k, m = size
    columns = np.abs(np.random.default_rng(0).standard_normal((d, n), dtype=np.float32))
    columns.flags.writeable = False
    return bs.SelectionProblem(coupling=columns.T, k=k, m=m)


def late(problem, solver, limit):
    """Seconds past what is allowed, negative where the limit was kept; and what was given in place of an answer."""
    begin, refused = time.perf_counter(), ""
    try:
        if solver == "train":
            ansatz = Ansatz(problem, 3, backend="compiled")
            begin = time.perf_counter()  # its limit begins once the circuit is there
            ansatz.train(seconds=limit, objective="cvar", progress=False)
        else:
            found = bs.solve(problem, solver, time_limit=limit, **MANY.get(solver, {}))
            assert problem.obeys(found.samples, found.features)
    except InputError as error:
        refused = f" (refused: {error})"
    return time.perf_counter() - begin - 1.05 * limit - 0.5, refused


def main():
    """Try all; 1 if a limit was not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solvers", nargs="*", default=[*bs.solver_names(), "train"])
    parser.add_argument("--sizes", nargs="*", default=list(SIZES))
    given = parser.parse_args()
    warm = [noise((16, 12, 4, 4)), noise((300, 30, 5, 5)), noise((100_000, 50, 20, 8))]
    for solver in set(given.solvers) - {"train"}:
        for problem in warm[: 1 if solver in ("qaoa", "milp") else 3]:
            bs.solve(problem, solver, time_limit=60 if solver == "qaoa" else 3)
    worst = -np.inf
    for name in given.sizes:
        problem = noise(SIZES[name])
        for solver in given.solvers:
            found = [late(problem, solver, limit) for limit in LIMITS]
            worst = max(worst, *(over for over, _ in found))
            words = ", ".join(f"{limit:g} s: {over:+.2f}" for limit, (over, _) in zip(LIMITS, found, strict=True))
            print(f"{name} {SIZES[name]}, {solver}: {words}{found[-1][1]}", flush=True)
    print(f"the latest answer came {worst:+.2f} s past what is allowed")
    return int(worst > 0)


if __name__ == "__main__":
    raise SystemExit(main())
