"""The contract of solvers, their registry, and the function that runs them.

A small proof is followed by the independent checker before its answer is called proven. The checker shares no code with
the solvers. It is given the problem as asked, with the rules as the problem holds them, so a fault of folding, screens,
bounds or search costs the claim, not its truth. What is small is counted in sums, never on a clock: the same problem is
checked on every machine.
"""

import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event, Thread
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection, SelectionProblem
from biselect.core.checks import check_integer
from biselect.core.exact_sums import SCORE_BITS, at_most, nearest
from biselect.core.proof import Proof
from biselect.core.threads import GRACE, NEVER, OutOfTimeError, Stop, run_until
from biselect.errors import InputError
from biselect.extensions import Registry
from biselect.progress import Progress, progress_of
from biselect.solvers import check_proof
from biselect.solvers._reduction import ReducedProblem, reduce_problem
from biselect.solvers.response import glance

Function = TypeVar("Function", bound=Callable[..., Any])
LITTLE_WORK = 10_000  # sums that a check may take unless told otherwise: less than half a millisecond
LOOK_AROUND = 0.02  # seconds between two looks at the clock
LATE = 0.05  # share of the time limit that a solver may take longer, beside half of GRACE


@dataclass(frozen=True, kw_only=True)
class Run:
    """What every solver is given beside the problem.

    Attributes:
        seed: fixes every draw; solvers never use another source of randomness.
        deadline: `time.perf_counter()` after which the solver returns the best it has.
        progress: called now and then while the solver works.
        trajectory: where (step, energy) of every improvement is noted; None where nobody asked.
        reduced: the problem as asked, where forced choices were folded away; None where there were none.
        offset: what the forced choices add to the energies that are told and noted.
        stop: turns to 1 once nobody waits for the answer any more.
        fallback: the last answer that was put aside, in positions of the problem as asked; empty where none was.
    """

    seed: int | np.random.Generator | None = 0
    deadline: float = np.inf
    progress: Progress | None = None
    trajectory: list[tuple[int, float]] | None = None
    reduced: ReducedProblem | None = None
    offset: float = 0.0
    stop: Stop = field(default_factory=lambda: NEVER)
    fallback: list["Answer"] = field(default_factory=list)

    def rng(self) -> np.random.Generator:
        """A generator for this run."""
        return np.random.default_rng(self.seed)

    @staticmethod
    def now() -> float:
        """The clock that deadlines are read on."""
        return time.perf_counter()

    def expired(self) -> bool:
        """Whether the deadline has passed, or nobody waits any more."""
        return bool(self.stop[0]) or self.now() >= self.deadline

    @contextmanager
    def stop_flag(self) -> Iterator[NDArray[np.uint8]]:
        """One byte that turns to 1 once the run has expired, for compiled kernels to look at while they work."""
        stop, over = np.full(1, self.expired(), dtype=np.uint8), Event()

        def watch() -> None:
            while not stop[0] and not over.wait(min(LOOK_AROUND, max(0.0, self.deadline - self.now()))):
                stop.fill(self.expired())

        Thread(target=watch, daemon=True).start()
        try:
            yield stop
        finally:
            over.set()

    def after(self, share: float) -> float:
        """When this share of the time that is left will be over."""
        return self.now() + share * (self.deadline - self.now())

    def report(self, share: float, energy: float) -> None:
        """Tell whoever watches how far the work is."""
        if self.progress is not None and not self.stop[0]:
            self.progress(share, energy + self.offset)

    def hold(self, answer: "Answer") -> None:
        """Put an answer aside, for the case that time is up before the solver returns one."""
        answer = replace(answer, info=deepcopy(dict(answer.info)))  # the solver goes on writing there
        self.fallback[:] = [_restored(self.reduced, answer) if self.reduced else answer]

    def improved(self, step: int, energy: float) -> None:
        """Note a new best energy, at the solver's own count of steps."""
        energy += self.offset
        if self.trajectory is not None and (not self.trajectory or energy < self.trajectory[-1][1]):
            self.trajectory.append((int(step), float(energy)))


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a solver returns; `solve` makes a Selection of it.

    Attributes:
        samples: k distinct positions.
        features: m distinct positions.
        bound: a proven lower bound on every energy, -inf where there is none.
        proven: whether no choice has a lower energy, with no sum rounded. Counts only with a proof.
        info: what happened, as plain data.
        proof: what a checker needs to see that for itself (`proof.py`); None where there is no proof.
    """

    samples: NDArray[np.int64]
    features: NDArray[np.int64]
    bound: float = -np.inf
    proven: bool = False
    info: Mapping[str, Any] = field(default_factory=dict)
    proof: Proof | None = None


class Solver(Protocol):
    """A function from a problem and a run to an answer; its own options are keywords with defaults."""

    def __call__(self, problem: SelectionProblem, run: Run) -> Answer:
        """Solve."""


SOLVERS: Registry[Solver] = Registry(
    "biselect.solvers",
    "solver",
    {
        "auto": "biselect.solvers._exact:auto",
        "exact": "biselect.solvers._exact:exact",
        "milp": "biselect.solvers._milp:milp",
        "annealing": "biselect.solvers.annealing:annealing",
        "coordinate-ascent": "biselect.solvers.local_search:coordinate_ascent",
        "greedy": "biselect.solvers.local_search:greedy",
    },
)
"""Every solver; `SOLVERS.register("mine", function)` adds one for a script, an entry point for a package."""


def keeps_limits(limits: Literal["all", "exact"]) -> Callable[[Function], Function]:
    """Mark a solver that honours limits per group: all of them, or those that every choice reaches (`exact`).

    A solver without this mark is never given a problem with such limits; forced choices never reach any solver.
    """

    def mark(solver: Function) -> Function:
        solver.keeps_limits = limits  # type: ignore[attr-defined]
        return solver

    return mark


def solver_names() -> list[str]:
    """Names that `solve` accepts.

    >>> "exact" in solver_names()
    True
    """
    return SOLVERS.names()


def solver_options(name: str) -> list[str]:
    """Names of a solver's own options.

    >>> solver_options("exact")
    ['workers', 'search']
    """
    return list(inspect.signature(SOLVERS.load(name)).parameters)[2:]


def solve(
    problem: SelectionProblem,
    solver: str = "auto",
    *,
    seed: int | np.random.Generator | None = 0,
    time_limit: float | None = None,
    progress: Progress | bool | None = None,
    trajectory: bool = False,
    check_work: int = LITTLE_WORK,
    **options: Any,
) -> Selection:
    """Choose k samples and m features.

    Args:
        problem: what to solve.
        solver: one of `solver_names()`.
        seed: fixes the answer on any machine and for any number of workers, unless a time limit strikes first
            (`auto` sets itself one of a minute).
        time_limit: seconds after which the best choice so far is returned, with an honest bound. Where a solver has
            none by then, since its libraries are still loading or compiling, a few rows are looked at for a choice.
        progress: called with (done share, best energy) while the solver works. None shows a bar to whoever watches, in
            a terminal or a notebook, after two seconds; False shows none.
        trajectory: whether `info["trajectory"]` shall list (step, energy) of every improvement.
        check_work: sums that the independent checker may take to follow the proof before the answer is called proven.
            A proof that takes more is left to `biselect check`; a proof that is refused counts for nothing.
        **options: the solver's own.

    >>> problem = SelectionProblem(coupling=[[3, 0, 1], [0, 2, 0], [2, 0, 2]], k=2, m=2)
    >>> best = solve(problem)
    >>> best.samples.tolist(), best.features.tolist(), best.score, best.proven_optimal
    ([0, 2], [0, 2], 8.0, True)
    """
    start = time.perf_counter()  # before the solver is loaded
    run_it = _checked(problem, solver, time_limit, options)
    try:
        np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise InputError(f"seed must be a whole number from 0 up, a generator or None, got {seed!r}") from error
    deadline = np.inf if time_limit is None else start + time_limit
    with progress_of(progress, f"Solving with {solver}") as report:
        run = Run(seed=seed, deadline=deadline, progress=report, trajectory=[] if trajectory else None)
        work = partial(_answered, problem, run, partial(run_it, **options))
        grace = GRACE / 2 + LATE * (time_limit or 0)
        try:  # on a thread of its own: imports and the compiler can neither delay an answer nor be broken off by Ctrl-C
            answer = run_until(deadline, work, np.zeros(1, dtype=np.uint8), grace=grace)
        except OutOfTimeError:
            samples, features, bound = glance(problem)
            answer = Answer(samples=samples, features=features, bound=bound, info={"method": "a glance"})
            if run.fallback:
                answer = replace(run.fallback[0], bound=max(bound, run.fallback[0].bound))
    samples, features, bound, info = answer.samples, answer.features, answer.bound, {**answer.info}
    units, verdict = problem.score_units(samples, features), Verdict()
    if answer.proven and answer.proof is not None:
        verdict = follow(problem, samples, features, answer.proof, check_work)
        bound = np.inf  # the answer's own energy
    if verdict.refused:  # a fault of ours: what the solver says counts for nothing
        bound = -np.inf if verdict.excess is None else at_most(-units - verdict.excess)
        info["refused_proof"] = verdict.refused
    if trajectory:
        info["trajectory"] = list(run.trajectory or [])
    proof = None if verdict.refused or not answer.proven else answer.proof
    return Selection(
        problem=problem,
        samples=samples,
        features=features,
        energy=-nearest(units),
        bound=min(bound, at_most(-units)),
        proven_optimal=proof is not None,
        solver=solver,
        seconds=time.perf_counter() - start,
        info=info,
        proof=proof,
        proof_checked=verdict.checked,
    )


def _answered(problem: SelectionProblem, run: Run, solver: Callable[..., Answer], stop: Stop) -> Answer:
    """What the solver answers, asked without the forced choices."""
    reduced = reduce_problem(problem)
    if reduced.rest is not None:
        run = replace(run, reduced=reduced, offset=-nearest(reduced.units), stop=stop)
        return _restored(reduced, solver(reduced.rest, run))
    samples, features = reduced.only_choice()
    run.improved(0, problem.energy(samples, features))
    info = {"method": "one side is forced"}
    return Answer(samples=samples, features=features, proven=True, info=info, proof=reduced.only_proof())


def _restored(reduced: ReducedProblem, answer: Answer) -> Answer:
    """An answer about the rest as one about the whole."""
    samples, features = reduced.restore(answer.samples, answer.features)
    return replace(answer, samples=samples, features=features, bound=reduced.bound(answer.bound))


def _checked(
    problem: SelectionProblem, solver: str, time_limit: float | None, options: Mapping[str, Any]
) -> Callable[..., Answer]:
    """The solver, once it is clear that it can be asked this."""
    allowed = solver_options(solver)
    if time_limit is not None and not (isinstance(time_limit, int | float) and time_limit > 0):
        raise InputError(f"time_limit must be a positive number of seconds, got {time_limit!r}")
    for name in ("workers", "starts", "steps", "restarts", "draws"):
        if options.get(name) is not None:
            check_integer(name, options[name])
    _check_limits(problem, solver)
    if unknown := [name for name in options if name not in allowed]:
        raise InputError(f"solver {solver!r} has no option {unknown[0]!r}; it takes: {', '.join(allowed) or 'none'}")
    return SOLVERS.load(solver)


def can_keep_limits(problem: SelectionProblem, solver: str) -> bool:
    """Whether a solver can keep the group limits of a problem."""
    try:
        _check_limits(problem, solver)
    except InputError:
        return False
    return True


def _check_limits(problem: SelectionProblem, solver: str) -> None:
    limits = getattr(SOLVERS.load(solver), "keeps_limits", "none")
    if not (problem.sample_rules.has_limits or problem.feature_rules.has_limits) or limits == "all":
        return
    if limits == "exact":
        problem.sector.check_product()
        return
    able = [name for name in solver_names() if getattr(SOLVERS.load(name), "keeps_limits", "none") == "all"]
    raise InputError(f"solver {solver!r} cannot keep limits per group; use one of: {', '.join(able)}")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the checker says of a proof.

    Attributes:
        checked: whether it followed the proof to its end.
        refused: why the proof is none; empty where nothing was found against it.
        excess: how far the best score can lie above the answer's by the checker's own root bound, exact, in units of
            2⁻²¹⁴⁸. That bound holds at any prices, so it does not rest on the search. None where it was not reached.
    """

    checked: bool = False
    refused: str = ""
    excess: int | None = None


class _TooLongError(Exception):
    """Following the proof takes more work than was allowed."""


def follow(
    problem: SelectionProblem, samples: NDArray[np.int64], features: NDArray[np.int64], proof: Proof, most_work: int
) -> Verdict:
    """Follow a proof that these samples and features are the best, unless that takes more than `most_work` sums."""
    noted = sum(depths.size for _, depths, _, _ in proof.dives or ())
    a_node = 2 * len(proof.order) * (problem.k if proof.lines == "features" else problem.m)  # about what it takes
    if check_proof.A_CELL * problem.coupling.size + noted * a_node > most_work:
        return Verdict()
    content = {name: getattr(problem, name) for name in ("k", "m", "coupling_weight")}
    content |= {"n": problem.n_samples, "d": problem.n_features, "cells": problem.coupling.ravel().tolist()}
    content |= {"a": problem.sample_scores.tolist(), "b": problem.feature_scores.tolist()}
    content |= {side: getattr(problem, side).to_dict() for side in ("sample_rules", "feature_rules")}
    remaining = most_work

    def spend(sums: int) -> None:
        nonlocal remaining
        remaining -= sums
        if remaining < 0:
            raise _TooLongError

    checker = None
    try:
        claim = {**proof.to_dict(), "samples": samples.tolist(), "features": features.tolist()}
        checker = check_proof.Checker(content, claim, spend)
        checker.check()
    except (_TooLongError, RecursionError):
        return Verdict()
    except Exception as error:  # whatever a wrong proof runs into
        words = str(error) if isinstance(error, check_proof.ProofError) else repr(error)
        if checker is None or checker.excess is None:
            return Verdict(refused=words)
        return Verdict(refused=words, excess=-(-checker.excess << SCORE_BITS >> checker.bits))
    return Verdict(checked=True)
