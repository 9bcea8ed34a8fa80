"""Start states inside the sector, and inside its rules where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection, SelectionProblem
from biselect.core.checks import check_positions
from biselect.core.rules import Rules
from biselect.core.sector import BlockRanks
from biselect.errors import InputError
from biselect_quantum.simulate.limits import check_memory

__all__ = ["start_choice"]

Choice = tuple[list[int], list[int]]
"""Samples and features, ascending."""


def start_choice(problem: SelectionProblem, start: Start, seed: int | np.random.Generator | None = 0) -> Choice:
    """Samples and features of a start that is a basis state.

    - `canonical`: the first k samples and m features, `|1^k 0^(N-k)⟩ ⊗ |1^m 0^(D-m)⟩`; under rules the first of every
      group, beside what must be in.
    - `random`: a random feasible choice, fixed by the seed.
    - a Selection of this very problem, or a pair (samples, features) by this problem's positions: that choice, a warm
      start. A Selection of another problem is refused: its positions may stand for other items.

    Returns:
        Positions of k samples and of m features, each ascending.

    Raises:
        InputError: a start of other budgets, of another problem, or against the rules.
    """
    samples: Any
    features: Any
    if isinstance(start, Selection):
        problem.refuse_other(start.problem.digest, "the Selection to start from")
        samples, features = start.samples, start.features
    elif isinstance(start, tuple) and len(start) == 2:
        samples, features = start
    elif isinstance(start, str) and start == "canonical":
        samples, features = (
            [*side.always, *(item for members, ones in side.parts for item in members[:ones])]
            for side in problem.sector.blocks
        )
    elif isinstance(start, str) and start == "random":
        rng = np.random.default_rng(seed)
        samples = _random(problem.sample_rules, problem.n_samples, problem.k, "samples", rng)
        features = _random(problem.feature_rules, problem.n_features, problem.m, "features", rng)
    else:
        raise InputError(
            "start must be dicke, canonical, random, a Selection, a choice (samples, features) or a state; "
            f"got {start!r}"
        )
    rows = check_positions("samples", samples, problem.n_samples)
    columns = check_positions("features", features, problem.n_features)
    if len(rows) != problem.k or len(columns) != problem.m:
        raise InputError(f"a start must have k = {problem.k} samples and m = {problem.m} features")
    if not problem.obeys(rows, columns):
        raise InputError(
            "the start breaks the problem's rules, and a circuit that keeps them would never leave it; mend it"
        )
    return sorted(rows.tolist()), sorted(columns.tolist())


def _random(rules: Rules, length: int, budget: int, what: str, rng: np.random.Generator) -> Any:
    if not rules:
        return rng.choice(length, budget, replace=False)
    blocks = rules.blocks(length, budget, what)
    parts = [np.array(members)[rng.choice(len(members), ones, replace=False)] for members, ones in blocks.parts]
    return [*blocks.always, *(item for part in parts for item in part.tolist())]


def checked_state(problem: SelectionProblem, state: Any) -> NDArray[Any]:
    """A start given as its C(N, k) × C(D, m) amplitudes, which must be normalised already."""
    matrix = np.asarray(state)
    shape = (problem.sector.sample_subsets, problem.sector.feature_subsets)
    if matrix.shape != shape:
        raise InputError(f"a start state must have the shape {shape}, got {matrix.shape}")
    norm = float(np.linalg.norm(matrix))
    if not abs(norm - 1) < 1e-6:
        raise InputError(f"a start state must be normalised; its norm is {norm:g}")
    return matrix


def basis_state(problem: SelectionProblem, choice: Choice) -> NDArray[np.complex64]:
    """The C(N, k) × C(D, m) amplitudes of one choice."""
    sector = problem.sector
    check_memory(sector, np.complex64, states=1)
    state = np.zeros((sector.sample_subsets, sector.feature_subsets), dtype=np.complex64)
    row, column = (BlockRanks(blocks)(np.array(side)) for blocks, side in zip(sector.blocks, choice, strict=True))
    state[int(row), int(column)] = 1
    return state


Start = str | Selection | tuple[Sequence[int], Sequence[int]] | NDArray[Any]
