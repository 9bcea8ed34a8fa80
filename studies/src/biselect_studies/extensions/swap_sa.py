"""Swap-SA, the paper's Algorithm S1: annealing over sample, feature and coupled swaps inside the sector."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers.annealing import MOST_NOTED, Walk, restarted, spread
from biselect.solvers.kernels import next_below, next_unit
from biselect.solvers.local_search import greedy_start
from biselect.solvers.registry import Answer, Run
from biselect.solvers.response import best_features, best_samples

HOT, COLD = 1.0, 0.1  # default temperatures, in spreads of what a swap changes
SLICE_STEPS = 100_000  # proposals between two looks at the clock


def swap_sa(
    problem: SelectionProblem,
    run: Run,
    *,
    restarts: int = 8,
    steps: int = 20_000,
    temperature: float | None = None,
    final_temperature: float | None = None,
    moves: Sequence[float] = (0.4, 0.4, 0.2),
    bias: float = 0.25,
    start: str = "random",
    refine_every: int = 0,
    workers: int | None = None,
) -> Answer:
    """The best state of `restarts` walks.

    Args:
        problem: what to solve.
        run: seed, deadline, progress.
        restarts: R, independent walks.
        steps: L, proposals in each.
        temperature: the first temperature; None for the spread of what a swap changes.
        final_temperature: the last one, reached geometrically; equal to the first for a constant temperature, None
            for a tenth of it.
        moves: weights of sample, feature and coupled swaps.
        bias: how often a proposal is the better of two draws, 0 to 1.
        start: "random" or "greedy".
        refine_every: P, alternate best responses after so many proposals; 0 for never.
        workers: threads at most; None for one per core. The answer does not depend on it.
    """
    _check(restarts, steps, moves, bias, start, refine_every)
    hot = _spread(problem) if temperature is None else float(temperature)
    cold = hot * COLD / HOT if final_temperature is None else float(final_temperature)
    if not (hot > 0 and cold > 0):
        raise InputError(f"temperatures must be positive, got {hot} and {cold}")
    temperatures = hot * (cold / hot) ** (np.arange(steps) / steps)
    cumulative = np.cumsum(np.array(moves, dtype=np.float64) / sum(moves))[:2]
    seeds = run.rng().integers(0, 2**63, size=restarts).tolist()
    walk = partial(_walk, problem, run, start, temperatures, cumulative, bias, refine_every)
    walks = restarted(run, seeds, walk, steps=steps, workers=workers)
    samples, features = max(walks, key=lambda walk: walk.score).state
    done = {"restarts": len(walks), "steps": len(walks) * steps, "accepted": sum(walk.accepted for walk in walks)}
    return Answer(samples=samples, features=features, info=done)


def _walk(
    problem: SelectionProblem,
    run: Run,
    start: str,
    temperatures: NDArray[np.float64],
    moves: NDArray[np.float64],
    bias: float,
    refine_every: int,
    seed: int,
) -> Walk:
    k, m = problem.k, problem.m
    rng = np.random.default_rng(seed)
    order_s, order_f = rng.permutation(problem.n_samples), rng.permutation(problem.n_features)
    if start == "greedy":
        samples, features = greedy_start(problem)
        order_s, order_f = _first(samples, problem.n_samples), _first(features, problem.n_features)
    state = np.array([seed], dtype=np.uint64)
    best, best_s, best_f = -np.inf, order_s[:k].copy(), order_f[:m].copy()
    noted = np.empty((MOST_NOTED, 2))
    improved: list[tuple[int, float]] = []
    accepted = 0
    part = refine_every or SLICE_STEPS
    for begin in range(0, temperatures.size, part):
        if begin and refine_every:
            samples, features = _refine(problem, np.sort(order_f[:m]))
            order_s, order_f = _first(samples, problem.n_samples), _first(features, problem.n_features)
        best, count, swaps = swap_walk(
            problem.coupling,  # by rows or by columns: a copy would take longer than many a walk
            problem.coupling_weight,
            problem.sample_scores,
            problem.feature_scores,
            k,
            m,
            order_s,
            order_f,
            temperatures[begin : begin + part],
            moves,
            bias,
            state,
            best,
            best_s,
            best_f,
            noted,
        )
        improved += [(begin + int(step), float(score)) for step, score in noted[:count]]
        accepted += swaps
        if run.expired():
            break
    return Walk(state=(best_s, best_f), score=best, improved=improved, accepted=accepted)


def _refine(problem: SelectionProblem, features: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Alternate best responses until they stand still."""
    while True:
        samples = best_samples(problem, features)
        better = best_features(problem, samples)
        if problem.score(samples, better) <= problem.score(samples, features):
            return samples, features
        features = better


def _first(chosen: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """All positions, the chosen ones first."""
    return np.concatenate([chosen, np.setdiff1d(np.arange(length), chosen, assume_unique=True)])


def _spread(problem: SelectionProblem) -> float:
    """Typical change of the score by one swap."""
    cells = problem.coupling_weight * spread(problem.coupling.T)
    marginals = float(np.hypot(spread(problem.sample_scores[None]), spread(problem.feature_scores[None])))
    return HOT * (cells * float(np.sqrt(max(problem.k, problem.m))) + marginals) or 1.0


def _check(restarts: int, steps: int, moves: Sequence[float], bias: float, start: str, refine_every: int) -> None:
    if restarts < 1 or steps < 1:
        raise InputError(f"restarts and steps must be at least 1, got {restarts} and {steps}")
    if len(moves) != 3 or min(moves) < 0 or sum(moves) <= 0:
        raise InputError(f"moves must be three weights, for sample, feature and coupled swaps, got {list(moves)}")
    if not 0 <= bias <= 1:
        raise InputError(f"bias must lie within 0..1, got {bias}")
    if start not in ("random", "greedy"):
        raise InputError(f"start must be random or greedy, got {start!r}")
    if refine_every < 0:
        raise InputError(f"refine_every must be 0 or more, got {refine_every}")


@njit(cache=True, nogil=True)
def _sample_value(W: Any, weight: float, a: Any, order_f: Any, m: int, sample: int) -> float:
    row, total = W[sample], 0.0
    for feature in order_f[:m]:
        total += row[feature]
    return a[sample] + weight * total


@njit(cache=True, nogil=True)
def swap_walk(
    W: Any,
    weight: float,
    a: Any,
    b: Any,
    k: int,
    m: int,
    order_s: Any,
    order_f: Any,
    temperatures: Any,
    moves: Any,
    bias: float,
    state: Any,
    best: float,
    best_s: Any,
    best_f: Any,
    improved: Any,
) -> Any:
    """One proposal for each temperature; the state stays in `order_s` and `order_f`, the chosen ones first.

    Values of the chosen samples and of all features are kept up to date; a sample that is not chosen is valued when it
    is proposed, in m steps.

    `moves` holds the probabilities of a sample swap and of a sample or feature swap; what is left are coupled ones.
    With probability `bias` a draw is the better of two: the higher value enters, the lower one leaves. Returns the
    best score, how many improvements (step, score) were written to `improved`, and how many swaps were accepted.
    """
    n, d = W.shape
    columns = b.copy()
    rows = np.empty(k)
    score = 0.0
    for p in range(k):
        rows[p] = _sample_value(W, weight, a, order_f, m, order_s[p])
        score += rows[p]
        for j in range(d):
            columns[j] += weight * W[order_s[p], j]
    for q in range(m):
        score += b[order_f[q]]
    noted, accepted = 0, 0
    for step in range(temperatures.size + 1):
        if score > best:
            best = score
            best_s[:] = order_s[:k]
            best_f[:] = order_f[:m]
            if noted < improved.shape[0]:
                improved[noted, 0] = step
                improved[noted, 1] = score
                noted += 1
        if step == temperatures.size:
            break
        kind = next_unit(state)
        swap_sample = kind <= moves[0] or kind > moves[1]
        swap_feature = kind > moves[0]
        if (swap_sample and k == n) or (swap_feature and m == d):
            continue
        p, p_in, q, q_in = 0, 0, 0, 0
        value_in, gain = 0.0, 0.0
        if swap_sample:
            p, p_in = next_below(state, k), k + next_below(state, n - k)
            value_in = _sample_value(W, weight, a, order_f, m, order_s[p_in])
            if bias > 0.0 and next_unit(state) <= bias:
                other, other_in = next_below(state, k), k + next_below(state, n - k)
                other_value = _sample_value(W, weight, a, order_f, m, order_s[other_in])
                if rows[other] < rows[p]:
                    p = other
                if other_value > value_in:
                    p_in, value_in = other_in, other_value
            gain += value_in - rows[p]
        if swap_feature:
            q, q_in = next_below(state, m), m + next_below(state, d - m)
            if bias > 0.0 and next_unit(state) <= bias:
                other, other_in = next_below(state, m), m + next_below(state, d - m)
                if columns[order_f[other]] < columns[order_f[q]]:
                    q = other
                if columns[order_f[other_in]] > columns[order_f[q_in]]:
                    q_in = other_in
            gain += columns[order_f[q_in]] - columns[order_f[q]]
        if swap_sample and swap_feature:
            x, y, u, v = order_s[p], order_s[p_in], order_f[q], order_f[q_in]
            gain += weight * (np.float64(W[y, v]) - W[y, u] - W[x, v] + W[x, u])
        if gain < 0 and next_unit(state) > np.exp(gain / temperatures[step]):
            continue
        accepted += 1
        score += gain
        if swap_sample:
            x, y = order_s[p], order_s[p_in]
            order_s[p], order_s[p_in] = y, x
            rows[p] = value_in
            entering, leaving = W[y], W[x]
            for j in range(d):
                columns[j] += weight * (np.float64(entering[j]) - leaving[j])
        if swap_feature:
            u, v = order_f[q], order_f[q_in]
            order_f[q], order_f[q_in] = v, u
            for r in range(k):
                rows[r] += weight * (np.float64(W[order_s[r], v]) - W[order_s[r], u])
    return best, noted, accepted
