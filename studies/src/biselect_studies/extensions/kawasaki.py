"""Ring-local Kawasaki walk: the classical walk on the graph that the ring mixer moves on."""

import numpy as np

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers.registry import Answer, Run

SLICE_STEPS = 10_000  # proposals between two looks at the clock
MOST_NOTED = 1024  # improvements noted in one slice


def kawasaki(problem: SelectionProblem, run: Run, *, steps: int = 10_000, temperature: float = 3.0) -> Answer:
    """The best state of a Metropolis walk at fixed temperature, from a random start.

    A proposal exchanges two neighbours on the ring of samples or on the ring of features, each edge equally likely.

    Args:
        problem: what to solve.
        run: seed, deadline, progress.
        steps: proposals.
        temperature: in units of the energy.
    """
    if steps < 1 or not temperature > 0:
        raise InputError(f"steps must be at least 1 and temperature positive, got {steps} and {temperature}")
    from biselect_studies.extensions.kawasaki_kernel import ring_walk  # loads numba, and compiles on first use

    rng = run.rng()
    in_s = rng.permutation(problem.n_samples) < problem.k
    in_f = rng.permutation(problem.n_features) < problem.m
    state = rng.integers(0, 2**63, size=1).astype(np.uint64)
    best, best_s, best_f = -np.inf, in_s.copy(), in_f.copy()
    noted = np.empty((MOST_NOTED, 2))
    done = 0
    while done < steps and not (done and run.expired()):
        part = min(SLICE_STEPS, steps - done)
        best, count = ring_walk(
            np.ascontiguousarray(problem.coupling),
            problem.coupling_weight,
            problem.sample_scores,
            problem.feature_scores,
            in_s,
            in_f,
            temperature,
            part,
            state,
            best,
            best_s,
            best_f,
            noted,
        )
        for step, score in noted[:count]:
            run.improved(done + int(step), -score)
        done += part
        run.report(done / steps, -best)
    return Answer(samples=np.flatnonzero(best_s), features=np.flatnonzero(best_f), info={"steps": done})
