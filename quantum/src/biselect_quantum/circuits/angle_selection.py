"""Starts and angles for circuits too wide to be trained: a few candidates, a few hundred shots each, a confirmation.

The paper's protocol (Supplementary Section qaoa_angle_protocols) and a better use of the same shots. Both rank by CVaR₅
of the dense objective over shots of the sparse circuit. From a warm start that measure rewards standing still: a mixer
that does nothing returns the start in every shot. `Trial.improved` says how often a shot was better than its start.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers import solve
from biselect.solvers.registry import can_keep_limits
from biselect_quantum.circuits.schedule import Schedule
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.circuits.starts import Choice
from biselect_quantum.shots import Samples
from biselect_quantum.simulate.limits import StopCheck, never_stop
from biselect_quantum.simulate.program import Program
from biselect_quantum.simulate.wide import WideSampler

__all__ = ["AngleSelection", "WideShots", "fixed_angles", "select_by_paper", "select_by_rounds", "warm_starts"]

TAIL = 0.05
CANDIDATES, SHOTS, CONFIRMATION, SPREAD = 6, 384, 4096, 0.2  # the paper's, for each start
FEWER = 4  # ours: a quarter of the shots for four times as many candidates
ROUNDS, FIRST_STEP, SHORTER = 6, 0.5, 0.6
FIXED_ANGLE = pi / 4
POOL = ("swap-sa", "tabu", "coordinate-ascent", "greedy", "feature-first", "kawasaki")
POOL_SEEDS = 4

Draw = Callable[[Choice, NDArray[np.float64], int, int], Samples]
"""Shots of a circuit: from a start, with angles, how many, by which seed; energies are of the dense problem."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """One evaluation.

    Attributes:
        start: rank of its start.
        angles: what was tried.
        shots: how many were drawn.
        cvar: CVaR₅ of the dense energy.
        mean: mean energy.
        best: lowest energy.
        improved: share of shots below the energy of the start.
    """

    start: int
    angles: NDArray[np.float64]
    shots: int
    cvar: float
    mean: float
    best: float
    improved: float

    @property
    def rank(self) -> tuple[float, float, float, int]:
        """What decides between confirmed trials: CVaR₅, then mean, then best, then the start's rank."""
        return self.cvar, self.mean, self.best, self.start


@dataclass(frozen=True, kw_only=True, eq=False)
class AngleSelection:
    """What was chosen, and from what.

    Attributes:
        start: the chosen start.
        angles: the chosen angles.
        confirmed: the best trial of each start, drawn anew; the chosen one first.
        tried: every trial before that.
        seconds: what it took.
    """

    start: Choice
    angles: NDArray[np.float64]
    confirmed: tuple[Trial, ...]
    tried: tuple[Trial, ...]
    seconds: float

    @property
    def shots(self) -> int:
        """All shots drawn."""
        return sum(trial.shots for trial in (*self.tried, *self.confirmed))


class WideShots:
    """Shots of a circuit from any choice; the order of qubits that suits a start is looked for once.

    Args:
        spec: the circuit of the dense problem with a sparse cost (see `surrogate`).
        max_bond: see WideSampler.
        look: see WideSampler.

    Attributes:
        largest_bond: the most bond states that any circuit so far needed.
    """

    def __init__(self, spec: AnsatzSpec, *, max_bond: int = 4096, look: StopCheck = never_stop) -> None:
        self.spec, self.max_bond, self.largest_bond, self._look = spec, max_bond, 0, look
        self._known: dict[tuple[int, ...], tuple[Program, tuple[int, ...] | None]] = {}

    def __call__(self, start: Choice, angles: NDArray[np.float64], shots: int, seed: int) -> Samples:
        """Draw shots of one circuit."""
        key = (*start[0], -1, *start[1])
        if key not in self._known:
            self._known[key] = self.spec.changed(start=start).program(), None
        program, order = self._known[key]
        bound = program.bind(angles)
        sampler = WideSampler(self.spec.problem, bound, order=order, max_bond=self.max_bond, look=self._look)
        self._known[key] = program, sampler.report.order
        self.largest_bond = max(self.largest_bond, sampler.report.largest_bond)
        return sampler.sample(shots, seed)


def warm_starts(problem: SelectionProblem, count: int = 2, *, seed: int = 0) -> list[Choice]:
    """The best distinct choices of a pool of heuristics on the dense problem, lowest energy first.

    >>> problem = SelectionProblem(coupling=np.arange(12.0).reshape(4, 3), k=2, m=1)
    >>> warm_starts(problem, 1)
    [([2, 3], [2])]
    """
    pool: dict[tuple[tuple[int, ...], ...], tuple[float, Choice]] = {}
    for name in POOL:
        if not can_keep_limits(problem, name):
            continue
        for number in range(POOL_SEEDS):
            answer = solve(problem, name, seed=seed + number)
            choice = answer.samples.tolist(), answer.features.tolist()
            pool[tuple(map(tuple, choice))] = (answer.energy, choice)
    return [choice for _, choice in sorted(pool.values())[:count]]


def fixed_angles(schedule: Schedule) -> NDArray[np.float64]:
    """The fixed-angle protocol: every angle π/4, whatever the problem."""
    return np.full(schedule.size, FIXED_ANGLE)


def select_by_paper(
    problem: SelectionProblem, draw: Draw, starts: Sequence[Choice], inherited: ArrayLike, *, seed: int = 0
) -> AngleSelection:
    """The paper's protocol: the inherited angles and five Gaussian perturbations of them, 384 shots each.

    Args:
        problem: the dense problem.
        draw: shots of the submitted circuit.
        starts: feasible starts, best first.
        inherited: the angles to begin from.
        seed: fixes candidates and shots.
    """
    trials = _Trials(problem, draw, starts, inherited, seed)
    for rank in range(len(starts)):
        for candidate in range(CANDIDATES):
            move = SPREAD * trials.rng.normal(size=trials.inherited.size) if candidate else 0.0
            trials.tried.append(trials.draw(rank, trials.inherited + move, SHOTS))
    return trials.confirmed()


def select_by_rounds(
    problem: SelectionProblem, draw: Draw, starts: Sequence[Choice], inherited: ArrayLike, *, seed: int = 0
) -> AngleSelection:
    """The same shots in rounds: more candidates with fewer shots each, every round about the best so far.

    The step shrinks after a round that found nothing better; arguments as for `select_by_paper`.
    """
    trials = _Trials(problem, draw, starts, inherited, seed)
    for rank in range(len(starts)):
        best: Trial | None = None
        step = FIRST_STEP
        for number in range(ROUNDS):
            centre = trials.inherited if best is None else best.angles
            moves = [step * trials.rng.normal(size=centre.size) for _ in range(FEWER * CANDIDATES // ROUNDS)]
            if number == 0:
                moves[0] = np.zeros(centre.size)
            round_trials = [trials.draw(rank, centre + move, SHOTS // FEWER) for move in moves]
            trials.tried += round_trials
            leader = min(round_trials, key=lambda trial: trial.cvar)
            if best is None or leader.cvar < best.cvar:
                best = leader
            else:
                step *= SHORTER
    return trials.confirmed()


class _Trials:
    """What a selection has tried so far."""

    def __init__(
        self, problem: SelectionProblem, draw: Draw, starts: Sequence[Choice], inherited: ArrayLike, seed: int
    ) -> None:
        self.begin, self.rng, self.tried = perf_counter(), np.random.default_rng(seed), list[Trial]()
        self.problem, self.shots_of, self.starts = problem, draw, starts
        self.inherited = np.asarray(inherited, dtype=np.float64)
        if not starts:
            raise InputError("angles are selected for at least one start")
        if self.inherited.ndim != 1 or not np.isfinite(self.inherited).all():
            raise InputError(f"the inherited angles must be a list of finite numbers, got {inherited!r}")

    def draw(self, rank: int, angles: NDArray[np.float64], shots: int) -> Trial:
        measured = self.shots_of(self.starts[rank], angles, shots, int(self.rng.integers(1 << 31)))
        begun = self.problem.energy(*self.starts[rank])
        return Trial(
            start=rank,
            angles=angles,
            shots=shots,
            cvar=measured.cvar(TAIL),
            mean=measured.mean_energy(),
            best=float(measured.energies[0]),
            improved=measured.hit_rate(begun - 1e-9 * abs(begun)),
        )

    def confirmed(self) -> AngleSelection:
        """The best trial of each start, drawn anew with more shots; the best of these is chosen."""
        of_each = [[trial for trial in self.tried if trial.start == rank] for rank in range(len(self.starts))]
        leaders = [min(trials, key=lambda trial: trial.cvar) for trials in of_each]
        again = sorted((self.draw(t.start, t.angles, CONFIRMATION) for t in leaders), key=lambda trial: trial.rank)
        return AngleSelection(
            start=self.starts[again[0].start],
            angles=again[0].angles,
            confirmed=tuple(again),
            tried=tuple(self.tried),
            seconds=perf_counter() - self.begin,
        )
