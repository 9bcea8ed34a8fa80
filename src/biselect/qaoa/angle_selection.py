"""Angles for circuits too wide to be trained: a few candidates, a few hundred shots each, then a confirmation.

The paper's protocol (Supplementary Section qaoa_angle_protocols) and a better use of the same shots. Both rank by CVaR₅
of the dense objective over shots of the sparse circuit. From a warm start that measure rewards standing still: a mixer
that does nothing returns the start in every shot. `Trial.improved` says how often a shot was better than its start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem
from biselect.core.samples import Samples
from biselect.errors import InputError
from biselect.qaoa.spec import AnsatzSpec
from biselect.qaoa.starts import Choice
from biselect.simulate.program import Program
from biselect.simulate.wide import WideSampler

TAIL = 0.05
CANDIDATES, SHOTS, CONFIRMATION, SPREAD = 6, 384, 4096, 0.2  # the paper's, for each start
FEWER = 4  # ours: a quarter of the shots for four times as many candidates
ROUNDS, FIRST_STEP, SHORTER = 6, 0.5, 0.6

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
        spec: the circuit of the dense problem, in placed order, with a sparse cost (see `surrogate`).
        max_bond: see WideSampler.

    Attributes:
        largest_bond: the most bond states that any circuit so far needed.
    """

    def __init__(self, spec: AnsatzSpec, *, max_bond: int = 4096) -> None:
        self.spec, self.max_bond, self.largest_bond = spec, max_bond, 0
        self._known: dict[tuple[int, ...], tuple[Program, tuple[int, ...] | None]] = {}

    def __call__(self, start: Choice, angles: NDArray[np.float64], shots: int, seed: int) -> Samples:
        """Draw shots of one circuit."""
        key = (*start[0], -1, *start[1])
        if key not in self._known:
            self._known[key] = self.spec.changed(start=start).program(), None
        program, order = self._known[key]
        sampler = WideSampler(self.spec.problem, program.bind(angles), order=order, max_bond=self.max_bond)
        self._known[key] = program, sampler.report.order
        self.largest_bond = max(self.largest_bond, sampler.report.largest_bond)
        return sampler.sample(shots, seed)


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
    begin, rng, centre = perf_counter(), np.random.default_rng(seed), _checked(starts, inherited)
    tried: list[Trial] = []
    for rank, start in enumerate(starts):
        for candidate in range(CANDIDATES):
            angles = centre + (SPREAD * rng.normal(size=centre.size) if candidate else 0.0)
            tried.append(_try(problem, draw, rank, start, angles, SHOTS, rng))
    return _confirmed(problem, draw, starts, tried, rng, begin)


def select_by_rounds(
    problem: SelectionProblem, draw: Draw, starts: Sequence[Choice], inherited: ArrayLike, *, seed: int = 0
) -> AngleSelection:
    """The same shots in rounds: more candidates with fewer shots each, every round about the best so far.

    The step shrinks after a round that found nothing better.

    Args:
        problem: the dense problem.
        draw: shots of the submitted circuit.
        starts: feasible starts, best first.
        inherited: the angles to begin from.
        seed: fixes candidates and shots.
    """
    begin, rng, inherited = perf_counter(), np.random.default_rng(seed), _checked(starts, inherited)
    tried: list[Trial] = []
    each = FEWER * CANDIDATES // ROUNDS
    for rank, start in enumerate(starts):
        best: Trial | None = None
        step = FIRST_STEP
        for number in range(ROUNDS):
            centre = inherited if best is None else best.angles
            moves = [step * rng.normal(size=centre.size) for _ in range(each)]
            if number == 0:
                moves[0] = np.zeros(centre.size)
            found = [_try(problem, draw, rank, start, centre + move, SHOTS // FEWER, rng) for move in moves]
            tried += found
            leader = min(found, key=lambda trial: trial.cvar)
            if best is None or leader.cvar < best.cvar:
                best = leader
            else:
                step *= SHORTER
    return _confirmed(problem, draw, starts, tried, rng, begin)


def _checked(starts: Sequence[Choice], inherited: ArrayLike) -> NDArray[np.float64]:
    if not starts:
        raise InputError("angles are selected for at least one start")
    angles = np.asarray(inherited, dtype=np.float64)
    if angles.ndim != 1 or not np.isfinite(angles).all():
        raise InputError(f"the inherited angles must be a list of finite numbers, got {inherited!r}")
    return angles


def _try(
    problem: SelectionProblem, draw: Draw, rank: int, start: Choice, angles: Any, shots: int, rng: np.random.Generator
) -> Trial:
    found = draw(start, angles, shots, int(rng.integers(1 << 31)))
    begun = problem.energy(*start)
    return Trial(
        start=rank,
        angles=angles,
        shots=shots,
        cvar=found.cvar(TAIL),
        mean=found.mean_energy(),
        best=float(found.energies[0]),
        improved=found.hit_rate(begun - 1e-9 * abs(begun)),
    )


def _confirmed(
    problem: SelectionProblem,
    draw: Draw,
    starts: Sequence[Choice],
    tried: Sequence[Trial],
    rng: np.random.Generator,
    begin: float,
) -> AngleSelection:
    """The best trial of each start, drawn anew with more shots; the best of these is chosen."""
    leaders = [min((t for t in tried if t.start == rank), key=lambda t: t.cvar) for rank in range(len(starts))]
    confirmed = [_try(problem, draw, t.start, starts[t.start], t.angles, CONFIRMATION, rng) for t in leaders]
    confirmed.sort(key=lambda trial: trial.rank)
    return AngleSelection(
        start=starts[confirmed[0].start],
        angles=confirmed[0].angles,
        confirmed=tuple(confirmed),
        tried=tuple(tried),
        seconds=perf_counter() - begin,
    )
