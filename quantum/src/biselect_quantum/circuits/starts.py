"""Start states inside the sector, and inside its rules where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import Selection, SelectionProblem
from biselect.core.checks import positions
from biselect.core.rules import Rules
from biselect.core.sector import BlockRanks, block_subsets
from biselect.errors import InputError
from biselect_quantum.simulate.state_memory import check_memory

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
            "start must be dicke, canonical, random, a Selection, a choice (samples, features), a WarmStart or a "
            f"state; got {start!r}"
        )
    rows = positions("samples", samples, problem.n_samples)
    columns = positions("features", features, problem.n_features)
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


@dataclass(frozen=True, kw_only=True, eq=False, init=False)
class WarmStart:
    """A start that leans towards some items, with a mixer that has it as a stationary state.

    With chances c_i the amplitude of a choice is proportional to Π t_i over its items, t_i = √(c_i / (1 - c_i)): the
    product state ⊗ (√(1-c_i)|0⟩ + √c_i|1⟩) of warm-start QAOA (Egger, Mareček and Woerner, 2021), kept to the choices
    that budgets and rules allow. An edge of the mixer rotates about the axis of that state,

        M_ij = sin θ (X_i X_j + Y_i Y_j)/2 + cos θ (Z_j - Z_i)/2 - (1 - Z_i Z_j)/2,   tan(θ/2) = t_j / t_i

    which is -2|u⟩⟨u| with u = (t_j|1_i 0_j⟩ - t_i|0_i 1_j⟩)/√(t_i² + t_j²). Every u is orthogonal to the start, so that
    exp(-iβM_ij) leaves it alone for any β and any order of edges; and no budget is left. Where the edges join all items
    of a block there is no other such state: the start is the one ground state of -Σ M_ij. For a budget of one this is
    the idea of warm-start XY mixers for one-hot constraints (Bucher et al., 2026); it holds for every budget.

    Attributes:
        samples: chance of each sample, between 0 and 1.
        features: chance of each feature.

    >>> problem = SelectionProblem(coupling=[[1.0], [2.0], [0.0]], k=1, m=1)
    >>> warm = WarmStart.around(([1], [0]), problem, trust=0.75)
    >>> (warm.state(problem) ** 2).round(3).ravel().tolist()  # odds of 9 to 1 against each other sample
    [0.091, 0.818, 0.091]
    """

    samples: NDArray[np.float64]
    features: NDArray[np.float64]

    def __init__(self, *, samples: ArrayLike, features: ArrayLike) -> None:
        for name, given in (("samples", samples), ("features", features)):
            chances = np.array(given, dtype=np.float64)
            if chances.ndim != 1 or not ((chances > 0) & (chances < 1)).all():
                raise InputError(
                    f"the chances of {name} must be numbers between 0 and 1, without the ends; what must be in or out "
                    "is a rule of the problem"
                )
            chances.flags.writeable = False
            object.__setattr__(self, name, chances)

    @classmethod
    def around(
        cls, choice: Selection | tuple[Sequence[int], Sequence[int]], problem: SelectionProblem, trust: float = 0.75
    ) -> WarmStart:
        """A start that leans towards a choice: its items have the chance `trust`, all others 1 - trust.

        The choice is a Selection of this very problem, or its samples and features by this problem's positions. A trust
        of 0.5 is the Dicke state; the nearer to 1, the less the mixer moves.
        """
        samples, features = start_choice(problem, choice)
        chances = [np.full(size, 1.0 - trust) for size in problem.coupling.shape]
        chances[0][samples] = chances[1][features] = trust
        return cls(samples=chances[0], features=chances[1])

    @property
    def tilts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The factors t of every sample and of every feature."""
        return np.sqrt(self.samples / (1 - self.samples)), np.sqrt(self.features / (1 - self.features))

    def state(self, problem: SelectionProblem) -> NDArray[np.float64]:
        """The C(N, k) × C(D, m) amplitudes."""
        checked_warm_start(problem, self)
        check_memory(problem.sector, np.float64, states=1)
        sides = []
        for tilts, blocks in zip(self.tilts, problem.sector.blocks, strict=True):
            logs = np.log(tilts)[block_subsets(blocks)].sum(axis=1)
            sides.append(np.exp(logs - logs.max()))
        state = np.outer(*sides)
        return state / np.linalg.norm(state)


def checked_warm_start(problem: SelectionProblem, start: WarmStart) -> WarmStart:
    """A warm start, which must have a chance for each item of the problem."""
    if (start.samples.size, start.features.size) != problem.coupling.shape:
        raise InputError(
            f"a warm start needs a chance for each of {problem.n_samples} samples and {problem.n_features} features"
        )
    return start


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


Start = str | Selection | tuple[Sequence[int], Sequence[int]] | WarmStart | NDArray[Any]
