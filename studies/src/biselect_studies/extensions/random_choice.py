"""Uniform feasible choices: what chance finds, to hold every other solver against."""

import numpy as np

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers.registry import Answer, Run

BATCH, BATCH_CELLS = 1024, 2_000_000  # choices between two looks at the clock, and cells of them


def random_choice(problem: SelectionProblem, run: Run, *, draws: int = 1000) -> Answer:
    """Best of `draws` uniform choices inside the sector."""
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
