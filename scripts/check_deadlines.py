"""Do solvers and training keep their time limits? `python scripts/check_deadlines.py` says, and exits with 1 if not.

A limit counts as kept where the answer is there within 0.3 s and 5 % of it, or 0.5 s and 5 % for training. Each solver
and size is tried in a process where everything is loaded, and as the first call of fresh ones: with kernels in
Numba's cache, and with an empty cache, where they would have to be compiled. Run it where nothing else runs.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import biselect as bs
from biselect.errors import InputError
from biselect.solvers import solver_names
from biselect_quantum.circuits import Ansatz

SIZES = {
    "small": (12, 8, 3, 5),
    "a sector of 8·10⁷": (20, 14, 6, 5),
    "one large register": (150, 4, 3, 1),
    "too wide for a sector": (60, 40, 10, 8),
    "square": (300, 300, 150, 150),
    "medium": (2000, 60, 20, 6),
    "large": (1_000_000, 50, 100, 8),
}
LIMITS, FIRST = (0.05, 0.5, 2.0), (0.05, 2.0)
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
        if solver == "train":  # before its limit began
            return -np.inf, refused
    return time.perf_counter() - begin - 1.05 * limit - (0.5 if solver == "train" else 0.3), refused


def late_at_first(size, solver, limit, cold):
    """The same for the first call of a fresh process, with or without kernels in Numba's cache."""
    call = [sys.executable, __file__, "--first-call", json.dumps([size, solver, limit])]
    with tempfile.TemporaryDirectory() as folder:
        empty = {"NUMBA_CACHE_DIR": folder} if cold else {}
        found = subprocess.run(call, capture_output=True, text=True, check=True, env={**os.environ, **empty})
    return tuple(json.loads(found.stdout.splitlines()[-1]))


def main():
    """Try all; 1 if a limit was not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solvers", nargs="*", default=[*solver_names(), "train"])
    parser.add_argument("--sizes", nargs="*", default=list(SIZES))
    parser.add_argument("--first-call", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.first_call:
        size, solver, limit = given.first_call
        print(json.dumps(late(noise(SIZES[size]), solver, limit)))
        return 0
    warm = [noise((16, 12, 4, 4)), noise((300, 30, 5, 5)), noise((100_000, 50, 20, 8))]
    for solver in set(given.solvers) - {"train"}:
        for problem in warm[: 1 if solver in ("qaoa", "milp") else 3]:
            bs.solve(problem, solver, time_limit=60 if solver == "qaoa" else 3)
    worst = -np.inf
    for name in given.sizes:
        problem = noise(SIZES[name])
        for solver in given.solvers:
            found = {f"{limit:g} s": late(problem, solver, limit) for limit in LIMITS}
            if solver != "train":  # whose limit begins once everything is loaded
                for cold, words in ((False, "first call"), (True, "empty cache")):
                    found |= {f"{words}, {limit:g} s": late_at_first(name, solver, limit, cold) for limit in FIRST}
            worst = max(worst, *(over for over, _ in found.values()))
            words = "; ".join(f"{when}: {over:+.2f}" for when, (over, _) in found.items())
            print(f"{name} {SIZES[name]}, {solver}: {words}{found[f'{LIMITS[-1]:g} s'][1]}", flush=True)
    print(f"the latest answer came {worst:+.2f} s past what is allowed")
    return int(worst > 0)


if __name__ == "__main__":
    raise SystemExit(main())
