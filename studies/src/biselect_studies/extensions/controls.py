"""What the paper holds its solvers against: columns first, uniform choices, and tabu search."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers.local_search import Swaps, greedy_start
from biselect.solvers.registry import Answer, Run
from biselect.solvers.response import folded, top

AGGREGATES: dict[str, Callable[..., NDArray[Any]]] = {"max": np.max, "sum": np.sum, "median": np.median}
BATCH, BATCH_CELLS = 1024, 2_000_000  # choices between two looks at the clock, and cells of them


def feature_first(problem: SelectionProblem, run: Run, *, aggregate: str = "sum") -> Answer:
    """The paper's sequential rule: the m columns with the largest aggregate, then the k rows by it over these.

    Args:
        problem: what to solve; marginals are folded into the weights.
        run: nothing is drawn, and there is one pass.
        aggregate: max, sum or median, used for columns and rows alike; or `best`, which keeps the one of the
            three with the highest score (the first of them on a tie).
    """
    if aggregate not in (*AGGREGATES, "best"):
        raise InputError(f"aggregate must be one of {', '.join(AGGREGATES)} or best, got {aggregate!r}")
    weights = folded(problem)
    answers = [_one_pass(problem, weights, name) for name in (AGGREGATES if aggregate == "best" else [aggregate])]
    best = min(answers, key=lambda answer: problem.energy(answer.samples, answer.features))
    run.improved(0, problem.energy(best.samples, best.features))
    return best


def _one_pass(problem: SelectionProblem, weights: NDArray[np.float64], name: str) -> Answer:
    combine = AGGREGATES[name]
    features = top(combine(weights, axis=0), problem.m)
    samples = top(combine(weights[:, features], axis=1), problem.k)
    return Answer(samples=samples, features=features, info={"aggregate": name})


def random_choice(problem: SelectionProblem, run: Run, *, draws: int = 1000) -> Answer:
    """What chance finds: the best of `draws` uniform choices inside the sector."""
    if draws < 1:
        raise InputError(f"draws must be at least 1, got {draws}")
    rng = run.rng()
    best_energy, best = np.inf, None
    drawn, at_once = 0, min(BATCH, max(1, BATCH_CELLS // (problem.k * problem.m)))
    while drawn < draws and not (best is not None and run.expired()):
        count = min(at_once, draws - drawn)
        samples = _subsets(rng, count, problem.n_samples, problem.k)
        features = _subsets(rng, count, problem.n_features, problem.m)
        energies = problem.energies(samples, features)
        lowest = int(np.argmin(energies))
        if energies[lowest] < best_energy:
            best_energy, best = float(energies[lowest]), (samples[lowest], features[lowest])
            run.improved(drawn + lowest, best_energy)
        drawn += count
        run.report(drawn / draws, best_energy)
    assert best is not None
    return Answer(samples=best[0], features=best[1], info={"draws": drawn})


def _subsets(rng: np.random.Generator, count: int, n: int, k: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array([rng.choice(n, size=k, replace=False, shuffle=False) for _ in range(count)])


def tabu(problem: SelectionProblem, run: Run, *, steps: int = 500, tenure: int = 3) -> Answer:
    """The best state of a walk from the greedy start: always the best single swap, also when it costs.

    Args:
        problem: what to solve.
        run: deadline and progress; nothing is drawn.
        steps: swaps to make.
        tenure: steps for which an item that has left may not return.
    """
    if steps < 1 or tenure < 0:
        raise InputError(f"steps must be at least 1 and tenure 0 or more, got {steps} and {tenure}")
    samples, features = greedy_start(problem)
    swaps = Swaps(problem, samples, features)
    best, best_score = (samples, features), swaps.score
    free_at = (np.zeros(problem.n_samples, dtype=np.int64), np.zeros(problem.n_features, dtype=np.int64))
    run.improved(0, -best_score)
    step = 0
    for step in range(1, steps + 1):
        if swaps.best_gain(free_at[0] > step, free_at[1] > step) == -np.inf or run.expired():
            break
        side, left, _ = swaps.swap()
        free_at[side][left] = step + tenure + 1
        if swaps.score > best_score + swaps.slack:
            best, best_score = (swaps.samples, swaps.features), swaps.score
            run.improved(step, -best_score)
        run.report(step / steps, -best_score)
    return Answer(samples=best[0], features=best[1], info={"steps": step})
