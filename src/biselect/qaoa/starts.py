"""Start states inside the sector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection, SelectionProblem
from biselect.core.checks import positions
from biselect.core.sector import rank
from biselect.errors import InputError

Start = str | Selection | tuple[Sequence[int], Sequence[int]] | NDArray[Any]


def start_state(problem: SelectionProblem, start: Start, seed: int | np.random.Generator | None) -> NDArray[Any] | None:
    """The start as a C(N, k) × C(D, m) matrix, or None for the uniform one, which backends write by themselves.

    - `dicke`: the tensor-Dicke state, uniform over the sector (Eq. init_state).
    - `canonical`: `|1^k 0^(N-k)⟩ ⊗ |1^m 0^(D-m)⟩`.
    - `random`: a random feasible basis state, fixed by the seed.
    - a Selection, or a pair (samples, features): that basis state, a warm start.
    - a matrix: any state, normalised already.
    """
    sector = problem.sector
    if isinstance(start, str) and start == "dicke":
        return None
    if isinstance(start, str | Selection | tuple):
        samples, features = start_choice(problem, start, seed)
        state = np.zeros((sector.sample_subsets, sector.feature_subsets), dtype=np.complex64)
        state[int(rank(samples, problem.n_samples)), int(rank(features, problem.n_features))] = 1
        return state
    matrix = np.asarray(start)
    if matrix.shape != (sector.sample_subsets, sector.feature_subsets):
        raise InputError(
            f"a start state must have the shape {(sector.sample_subsets, sector.feature_subsets)}, got {matrix.shape}"
        )
    norm = float(np.linalg.norm(matrix))
    if not abs(norm - 1) < 1e-6:
        raise InputError(f"a start state must be normalised; its norm is {norm:g}")
    return matrix


def start_choice(
    problem: SelectionProblem, start: Start, seed: int | np.random.Generator | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Samples and features of a start that is a basis state: `canonical`, `random`, or a choice."""
    samples: Any
    features: Any
    if isinstance(start, Selection):
        samples, features = start.samples, start.features
    elif isinstance(start, tuple):
        samples, features = start
    elif isinstance(start, str) and start == "canonical":
        samples, features = range(problem.k), range(problem.m)
    elif isinstance(start, str) and start == "random":
        rng = np.random.default_rng(seed)
        samples = rng.choice(problem.n_samples, problem.k, replace=False)
        features = rng.choice(problem.n_features, problem.m, replace=False)
    else:
        raise InputError(f"start must be dicke, canonical, random, a Selection, a choice or a state; got {start!r}")
    rows = np.sort(positions("samples", samples, problem.n_samples))
    columns = np.sort(positions("features", features, problem.n_features))
    if len(rows) != problem.k or len(columns) != problem.m:
        raise InputError(f"a start must have k = {problem.k} samples and m = {problem.m} features")
    return rows, columns
