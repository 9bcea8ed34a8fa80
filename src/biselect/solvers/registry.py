"""What a solver is, which ones there are, and the one function that runs them."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection, SelectionProblem
from biselect.errors import InputError

Progress = Callable[[float, float], None]
"""Called with the done share of the work, 0 to 1, and the best energy so far."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """What every solver is given beside the problem.

    Attributes:
        seed: fixes every draw; solvers never use another source of randomness.
        deadline: `time.perf_counter()` after which the solver returns the best it has.
        progress: called now and then while the solver works.
    """

    seed: int | np.random.Generator | None = 0
    deadline: float = np.inf
    progress: Progress | None = None

    def rng(self) -> np.random.Generator:
        """A generator for this run."""
        return np.random.default_rng(self.seed)

    def expired(self) -> bool:
        """Whether the deadline has passed."""
        return time.perf_counter() >= self.deadline

    def report(self, done: float, energy: float) -> None:
        """Tell whoever watches how far the work is."""
        if self.progress is not None:
            self.progress(done, energy)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a solver returns; `solve` makes a Selection of it.

    Attributes:
        samples: k distinct positions.
        features: m distinct positions.
        bound: a proven lower bound on every energy, -inf where there is none.
        proven: whether no choice has a lower energy (to within floating-point rounding).
        info: what happened, as plain data.
    """

    samples: NDArray[np.int64]
    features: NDArray[np.int64]
    bound: float = -np.inf
    proven: bool = False
    info: Mapping[str, Any] = field(default_factory=dict)


class Solver(Protocol):
    """A function from a problem and a run to an answer; its own options are keywords with defaults."""

    def __call__(self, problem: SelectionProblem, run: Run) -> Answer:
        """Solve."""


_SOLVERS: dict[str, Solver] = {}


def register(name: str, solver: Solver) -> None:
    """Make a solver known under a name; packages further up add theirs here."""
    if name in _SOLVERS:
        raise ValueError(f"a solver named {name!r} is registered already")
    _SOLVERS[name] = solver


def solver_names() -> list[str]:
    """Names that `solve` accepts.

    >>> "exact" in solver_names()
    True
    """
    return list(_SOLVERS)


def solve(
    problem: SelectionProblem,
    solver: str = "auto",
    *,
    seed: int | np.random.Generator | None = 0,
    time_limit: float | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Selection:
    """Choose k samples and m features.

    Args:
        problem: what to solve.
        solver: one of `solver_names()`.
        seed: fixes the answer on any machine and for any number of workers.
        time_limit: seconds after which the best found so far is returned, with an honest bound.
        progress: called with (done share, best energy) while the solver works.
        **options: the solver's own.

    >>> problem = SelectionProblem(coupling=[[3, 0, 1], [0, 2, 0], [2, 0, 2]], k=2, m=2)
    >>> best = solve(problem)
    >>> best.samples.tolist(), best.features.tolist(), best.score, best.proven_optimal
    ([0, 2], [0, 2], 8.0, True)
    """
    if solver not in _SOLVERS:
        raise InputError(f"there is no solver {solver!r}; choose one of: {', '.join(solver_names())}")
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"time_limit must be a positive number of seconds, got {time_limit!r}")
    run_it: Callable[..., Answer] = _SOLVERS[solver]
    allowed = list(inspect.signature(run_it).parameters)[2:]
    if unknown := [name for name in options if name not in allowed]:
        raise InputError(f"solver {solver!r} has no option {unknown[0]!r}; it takes: {', '.join(allowed) or 'none'}")

    start = time.perf_counter()
    deadline = np.inf if time_limit is None else start + time_limit
    answer = run_it(problem, Run(seed=seed, deadline=deadline, progress=progress), **options)
    samples, features = np.sort(answer.samples), np.sort(answer.features)
    energy = problem.energy(samples, features)
    return Selection(
        problem=problem,
        samples=samples,
        features=features,
        energy=energy,
        bound=energy if answer.proven else min(answer.bound, energy),
        proven_optimal=answer.proven,
        solver=solver,
        seconds=time.perf_counter() - start,
        info=answer.info,
    )
