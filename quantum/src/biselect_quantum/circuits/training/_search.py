"""Search: the means of a training (evaluations, seconds, workers) and the record of what they gave."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from biselect.progress import Progress
from biselect_quantum.circuits.training._descent import DescentMonitor, Lockstep
from biselect_quantum.circuits.training.first_angles import is_phase, units, without_effect
from biselect_quantum.circuits.training.objectives import Objective
from biselect_quantum.circuits.training.records import Checkpoint, Descent, Stage
from biselect_quantum.simulate.limits import OutOfTimeError

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz

Vector = NDArray[np.float64]
Method = Callable[["Ansatz", Vector, int, DescentMonitor], Descent]
"""From an ansatz, a start, the start's number and a watch to a descent."""
Crew = SimpleQueue["Ansatz"]
Given = TypeVar("Given")
Found = TypeVar("Found")

FINE, COARSE = 1e-10, 1e-6  # gains, in units of the objective, that end a descent in double and in single precision
PIECES = {"compiled": (1 << 20, 64), "gpu": (1 << 26, 1 << 14)}
"""Amplitudes and circuits that one call evaluates at most, where it is a batch; time is looked at between calls."""


@dataclass(eq=False)
class Search:
    """Runs descents, takes up their results in the order of their starts, and keeps count of what they cost.

    What a descent finds does not depend on who runs it nor on the descents beside it, so with a budget of evaluations
    the number of workers changes nothing. The arguments are those of `train`, checked.

    Attributes:
        best: the best descent of the finished rounds with the angles that are trained; None before the first.
        spent: evaluations of the finished rounds.
    """

    ansatz: Ansatz
    objective: Objective
    _: KW_ONLY
    evaluations: int | None
    seconds: float | None
    seed: int
    workers: int
    checkpoint: Checkpoint
    progress: Progress | None

    def __post_init__(self) -> None:
        self.best: Descent | None = None
        self.spent, self.flat, self.failed = 0, True, False
        self.trace: list[tuple[int, float]] = []
        self.stages: list[Stage] = []
        self._best, self._passed, self._over = np.inf, 0.0, False
        self._pieces, self._piece = 0, 0.0  # how many, and seconds of the fastest; the first may have been compiling
        self._begin = time.perf_counter() - self.checkpoint.seconds
        self._crews: dict[np.dtype[Any], Crew] = {}
        self._pool = ThreadPoolExecutor(self.workers) if self.workers > 1 else None

    def close(self) -> None:
        """End whatever the workers still do; nobody needs it."""
        self._over = True
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    @property
    def elapsed(self) -> float:
        """Seconds of this training, those before an interruption included."""
        return time.perf_counter() - self._begin

    def descend(
        self,
        name: str,
        starts: Sequence[Vector],
        *,
        rounds: int,
        halvings: Sequence[int] = (),
        ansatz: Ansatz | None = None,
        coarse: bool = False,
        share: float = 1.0,
        must: bool = True,
    ) -> list[Descent]:
        """Down from all starts in lock-step, best first; equal values keep the order of their starts.

        The box is ±π for a β and ±2π units for a γ.

        Args:
            name: of this round, for the checkpoint.
            starts: angles.
            rounds: evaluations of one start at most.
            halvings: after so many evaluations only the better half goes on.
            ansatz: of these angles, where it is not the one that is trained.
            coarse: whether single precision will do.
            share: of the whole budget, after which this round ends.
            must: whether the first start is evaluated even when nothing is left.
        """
        if not self._begins(share, must):
            return []
        if must and self.spent and self.seconds is not None:
            self.ansatz.stop.fill(0)  # time may be up, but what was found before is not lost for one evaluation
        trained = self.ansatz if ansatz is None else ansatz
        affordable = np.array(starts[: max(1, self._room(share))])
        keys = [f"{name}/{number}" for number in range(len(affordable))]
        descents = [self.checkpoint.done[key] for key in keys if key in self.checkpoint.done]
        if len(descents) < len(keys):
            dtype = np.complex64 if coarse and trained.backend in ("compiled", "gpu") else trained.dtype
            steps = units(trained)
            evaluate = partial(self._evaluate, trained, self._crew(dtype), share)
            try:
                lockstep = Lockstep(
                    self.checkpoint.during(name, evaluate, lambda: self.elapsed),
                    affordable,
                    units=steps,
                    reach=np.where(is_phase(trained), 2 * np.pi * steps, np.pi),
                    unit=self.objective.unit,
                    tolerance=FINE if np.dtype(dtype) == np.complex128 else COARSE,
                )
            except OutOfTimeError:
                if must:
                    raise
                return []
            with suppress(OutOfTimeError):
                self._go_down(lockstep, rounds, halvings, share)
            descents = lockstep.descents()
        for key, descent in zip(keys, descents, strict=False):  # fewer where time was up before each had its first turn
            self._take(key, descent)
        return self._finished(descents, share, trained)

    def _go_down(self, lockstep: Lockstep, rounds: int, halvings: Sequence[int], share: float) -> None:
        room = self._room(share)
        for round_number in range(1, rounds):
            if round_number in halvings:
                lockstep.keep((len(lockstep.live) + 1) // 2)
            spent = int(lockstep.evaluations.sum())
            lockstep.keep(max(0, room - spent))
            if not len(lockstep.live) or self._expired(share):
                return
            lockstep.step()
            self._tell(share, round_number / rounds, spent, lockstep.best)

    def each(
        self,
        name: str,
        starts: Sequence[Vector],
        method: Method,
        *,
        cap: int,
        ansatz: Ansatz | None = None,
        share: float = 1.0,
        must: bool = True,
    ) -> list[Descent]:
        """A method of its own from each start, `cap` evaluations at most each; see `descend` for the rest."""
        if not self._begins(share, must):
            return []
        trained = self.ansatz if ansatz is None else ansatz
        affordable = starts[: max(1, self._room(share))]
        most = min(cap, max(1, self._room(share) // len(affordable)))
        crew = self._crew(trained.dtype)

        def follow(number: int) -> Descent | None:
            key = f"{name}/{number}"
            if key in self.checkpoint.done:
                return self.checkpoint.done[key]
            if number and self._expired(share):
                return None
            watch = DescentMonitor(most=most, expired=lambda: self._expired(share), unit=self.objective.unit)
            try:
                return _with_worker(crew, trained, lambda on: method(on, affordable[number], number, watch))
            except OutOfTimeError:
                return watch.descent(affordable[number]) if watch.evaluations else None

        descents: list[Descent] = []
        for number, descent in enumerate(self._in_order(follow, range(len(affordable)))):
            if descent is None:
                break
            self._take(f"{name}/{number}", descent)
            descents.append(descent)
            self._tell(share, len(descents) / len(affordable))
        if must and not descents:
            raise OutOfTimeError
        return self._finished(descents, share, trained)

    def left(self, share: float = 1.0) -> bool:
        """Whether something is left of a share of the budget; always, where there is none."""
        return self._room(share) >= 1 and not self._expired(share)

    def _begins(self, share: float, must: bool) -> bool:
        """Whether a round of descents begins: it must, or something is left for it."""
        if not must and not self.left(share):
            return False
        self._best = np.inf
        return True

    def _finished(self, descents: list[Descent], share: float, trained: Ansatz) -> list[Descent]:
        """The descents of a round, best first; equal values keep the order of their starts."""
        if descents and trained.schedule is self.ansatz.schedule:
            self.best = min([*descents, *([] if self.best is None else [self.best])], key=lambda descent: descent.value)
        self._tell(share, 1.0)
        self._passed = share
        return sorted(descents, key=lambda descent: descent.value)

    def _room(self, share: float) -> int:
        """Evaluations left of a share of the budget."""
        return 1 << 40 if self.evaluations is None else int(share * self.evaluations) - self.spent

    def _expired(self, share: float) -> bool:
        """Whether nothing more shall begin: time is up, or would be before another piece and the final figures."""
        if self._over or self.seconds is None:
            return self._over
        return self.elapsed >= share * self.seconds or self.elapsed + 2 * self._piece >= self.seconds

    def _evaluate(self, trained: Ansatz, crew: Crew, share: float, angles: Vector) -> tuple[Vector, Vector]:
        """The objective and its gradient for a batch, shared among the workers; where time is up, for its first rows.

        The first piece is always evaluated.
        """
        amplitudes, most = PIECES.get(trained.backend, (0, 1))
        rows = min(max(1, amplitudes // trained.problem.sector.size), most)

        def piece(at: int) -> tuple[Vector, Vector] | None:
            if at and self._expired(share):
                return None
            part, begin = angles[at : at + rows], time.perf_counter()
            try:
                result = _with_worker(crew, trained, lambda on: self.objective.values_and_gradients(on, part))
            except OutOfTimeError:
                if at == 0:
                    raise
                return None
            took = time.perf_counter() - begin
            self._piece = 0.0 if self._pieces == 0 else took if self._pieces == 1 else min(took, self._piece)
            self._pieces += 1
            return result

        pieces = []
        for part in self._in_order(piece, range(0, len(angles), rows)):
            if part is None:
                break
            pieces.append(part)
        return np.concatenate([values for values, _ in pieces]), np.concatenate([slopes for _, slopes in pieces])

    def _in_order(self, work: Callable[[Given], Found], items: Iterable[Given]) -> Iterator[Found]:
        return map(work, items) if self._pool is None else self._pool.map(work, items)

    def _crew(self, dtype: Any) -> Crew:
        """A simulator of this precision for each worker, to be taken and given back."""
        precision = np.dtype(dtype)
        if precision not in self._crews:
            crew: Crew = SimpleQueue()
            for worker in range(self.workers):
                own = precision == self.ansatz.dtype and not worker
                crew.put(self.ansatz if own else self.ansatz.with_own_simulator(precision))
            self._crews[precision] = crew
        return self._crews[precision]

    def _take(self, key: str, descent: Descent) -> None:
        for count, value in descent.trace:
            if value < self._best:
                self._best = value
                self.trace.append((self.spent + count, value))
        self.spent += descent.evaluations
        self.flat &= descent.flat
        self.failed |= descent.failed
        if key not in self.checkpoint.done:
            self.checkpoint.add(key, descent, self.elapsed)

    def _tell(self, share: float, part: float, under_way: int = 0, best: float = np.inf) -> None:
        """Report how much of the budget is used; without one, how many of the rounds and of this one's starts."""
        if self.progress is None:
            return
        spending = [(self.spent + under_way, self.evaluations), (self.elapsed, self.seconds)]
        parts = [spent / most for spent, most in spending if most is not None]
        progress = max(parts) if parts else self._passed + part * (share - self._passed)
        self.progress(min(1.0, progress), min(self._best, best))

    def reached(self, ansatz: Ansatz, descent: Descent) -> Descent:
        """Note the best of a depth and schedule, and give it back; angles that change nothing are set to 0."""
        schedule = ansatz.schedule
        descent = replace(descent, angles=np.where(without_effect(ansatz), 0.0, descent.angles))
        self.stages.append(
            Stage(schedule=schedule.name, depth=schedule.depth, angles=descent.angles, value=descent.value)
        )
        return descent


def _with_worker(crew: Crew, trained: Ansatz, work: Callable[[Ansatz], Found]) -> Found:
    """Run some work on a simulator that nobody is using, with the schedule of these angles."""
    worker = crew.get()
    try:
        same = worker.schedule is trained.schedule
        return work(worker if same else worker.with_schedule(trained.schedule))
    finally:
        crew.put(worker)
