"""Ring-local Kawasaki walk: the classical walk on the graph that the ring mixer moves on."""

from typing import Any

import numpy as np
from numba import njit

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers.kernels import next_below, next_unit
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


@njit(cache=True, nogil=True)
def ring_walk(
    W: Any,
    weight: float,
    a: Any,
    b: Any,
    in_s: Any,
    in_f: Any,
    temperature: float,
    steps: int,
    state: Any,
    best: float,
    best_s: Any,
    best_f: Any,
    improved: Any,
) -> Any:
    """Exchange neighbours on either ring; occupations are booleans and hold the state.

    Returns the best score and how many improvements (step, score) were written to `improved`.
    """
    n, d = W.shape
    score, noted = 0.0, 0
    for i in range(n):
        if in_s[i]:
            score += a[i]
            for j in range(d):
                if in_f[j]:
                    score += weight * W[i, j]
    for j in range(d):
        if in_f[j]:
            score += b[j]
    for step in range(steps + 1):
        if score > best:
            best = score
            best_s[:] = in_s
            best_f[:] = in_f
            if noted < improved.shape[0]:
                improved[noted, 0] = step
                improved[noted, 1] = score
                noted += 1
        if step == steps:
            break
        edge = next_below(state, n + d)
        gain = 0.0
        if edge < n:
            x, y = edge, (edge + 1) % n
            if in_s[x] == in_s[y]:
                continue
            if in_s[y]:
                x, y = y, x
            gain = a[y] - a[x]
            for j in range(d):
                if in_f[j]:
                    gain += weight * (np.float64(W[y, j]) - W[x, j])
        else:
            x, y = edge - n, (edge - n + 1) % d
            if in_f[x] == in_f[y]:
                continue
            if in_f[y]:
                x, y = y, x
            gain = b[y] - b[x]
            for i in range(n):
                if in_s[i]:
                    gain += weight * (np.float64(W[i, y]) - W[i, x])
        if gain < 0 and next_unit(state) > np.exp(gain / temperature):
            continue
        score += gain
        if edge < n:
            in_s[x], in_s[y] = False, True
        else:
            in_f[x], in_f[y] = False, True
    return best, noted
