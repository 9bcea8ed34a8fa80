"""Search: the means of a training (evaluations, seconds, workers) and the record of what they gave."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import islice
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.progress import Progress
from biselect.qaoa.training.descent import CALLS_PER_ITERATION, Watch, batched_lbfgs, lbfgs
from biselect.qaoa.training.initial_angles import is_phase, units
from biselect.qaoa.training.objectives import Objective
from biselect.qaoa.training.records import Checkpoint, Descent, Stage
from biselect.simulate.stopping import OutOfTimeError

if TYPE_CHECKING:
    from biselect.qaoa.ansatz import Ansatz

Vector = NDArray[np.float64]
Method = Callable[["Ansatz", Vector, int, Watch], Descent]
"""From an ansatz, a start, the start's number and a watch to a descent."""

FEWEST = 5  # evaluations below which no further start begins
BATCH = 256  # starts that go down in lock-step where only time limits them


class Job(NamedTuple):
    """A start to follow: its name in the checkpoint, its angles, its number."""

    key: str
    start: Vector
    number: int


@dataclass(eq=False)
class Search:
    """Runs descents, takes up their results in the order of their starts, and keeps count of what they cost.

    Results are taken up in the order of their starts, and whether a start still fits into the budget depends only on
    those before it, so with a budget of evaluations the number of workers changes nothing. The arguments are those of
    `train`, checked.
    """

    ansatz: Ansatz
    objective: Objective
    _: KW_ONLY
    evaluations: int | None
    seconds: float | None
    seed: int
    workers: int
    in_lockstep: bool
    checkpoint: Checkpoint
    progress: Progress | None

    def __post_init__(self) -> None:
        self.spent, self.flat, self.failed = 0, True, False
        self.trace: list[tuple[int, float]] = []
        self.stages: list[Stage] = []
        self._best, self._over, self._passed = np.inf, False, 0.0
        self._begin = time.perf_counter() - self.checkpoint.seconds
        self._free: SimpleQueue[Ansatz] = SimpleQueue()  # those that no descent is using
        for worker in range(self.workers):
            self._free.put(self.ansatz.with_own_simulator() if worker else self.ansatz)

    @property
    def elapsed(self) -> float:
        """Seconds of this training, those before an interruption included."""
        return time.perf_counter() - self._begin

    def descend(
        self,
        name: str,
        starts: Iterable[Vector],
        *,
        iterations: int,
        ansatz: Ansatz | None = None,
        reach: float | None = None,
        share: float = 1.0,
        must: bool = True,
    ) -> list[Descent]:
        """L-BFGS-B from each start, best first; equal values keep the order of their starts.

        Args:
            name: of this round, for the checkpoint.
            starts: angles; an endless iterator is drawn from while the budget lasts.
            iterations: of one descent.
            ansatz: of these angles, where it is not the one that is trained.
            reach: the box is ±reach for every angle; by default ±π for a β and ±2π units for a γ.
            share: of the whole budget, after which no start of this round begins.
            must: whether the first start is followed even when nothing is left, for one evaluation.
        """
        trained = self.ansatz if ansatz is None else ansatz
        steps = units(trained)
        free = np.where(is_phase(trained), 2 * np.pi * steps, np.pi)
        box = free if reach is None else np.full(trained.size, reach)
        scale = steps if reach is None else np.ones(trained.size)
        # a protocol with a box of its own takes energies, like angles, as they are
        zero, unit = (self.objective.zero, self.objective.unit) if reach is None else (0.0, 1.0)
        how: dict[str, Any] = {"units": scale, "reach": box, "unit": unit}

        def method(on: Ansatz, start: Vector, number: int, watch: Watch) -> Descent:
            slope = partial(self.objective.value_and_gradient, on)
            return lbfgs(slope, start, iterations=iterations, watch=watch, zero=zero, **how)

        cap = max(2, round(iterations * CALLS_PER_ITERATION) + 2)
        if self.in_lockstep:
            return self._together(name, starts, trained, cap, share, must, **how)
        return self.run(name, starts, method, cap=cap, ansatz=trained, share=share, must=must)

    def run(
        self,
        name: str,
        starts: Iterable[Vector],
        method: Method,
        *,
        cap: int,
        ansatz: Ansatz | None = None,
        share: float = 1.0,
        must: bool = True,
    ) -> list[Descent]:
        """Any method from each start, of `cap` evaluations at most each; see `descend` for the rest."""
        trained = self.ansatz if ansatz is None else ansatz
        if not self._begins(share, must):
            return []
        if isinstance(starts, Sequence):
            cap = min(cap, max(1, self._room(share) // max(1, len(starts))))
        jobs = (Job(f"{name}/{number}", start, number) for number, start in enumerate(starts))

        def follow(job: Job, most: int) -> Descent | None:
            if job.key in self.checkpoint.done:
                return self.checkpoint.done[job.key]
            if job.number and self._expired(share):
                return None
            worker = self._free.get()
            watch = Watch(
                most=max(1, min(most, cap)),
                expired=lambda: self._expired(share, watch.seconds),
                unit=self.objective.unit,
            )
            try:
                return method(worker.with_schedule(trained.schedule), job.start, job.number, watch)
            except OutOfTimeError:
                return watch.descent(job.start) if watch.evaluations else None
            finally:
                self._free.put(worker)

        found: list[Descent] = []
        with closing(self._in_order(jobs, lambda job: follow(job, self._room(share)))) as descents:
            for job, descent in descents:
                room = self._room(share)
                if descent is None or (found and room < FEWEST):
                    break
                if found and descent.evaluations > room:  # it began before the starts ahead of it had spent theirs
                    descent = follow(job, room)
                    if descent is None:  # no time is left to run it again
                        break
                self._take(job.key, descent)
                found.append(descent)
                self._tell(share, len(found) / len(starts) if isinstance(starts, Sequence) else 0.0)
        if must and not found:
            raise OutOfTimeError
        return self._finished(found, share)

    def _begins(self, share: float, must: bool) -> bool:
        """Whether a round of descents begins: it must, or something is left for it."""
        self._over = False
        if not must and (self._room(share) < 1 or self._expired(share)):
            return False
        self._best = np.inf
        return True

    def _finished(self, found: list[Descent], share: float) -> list[Descent]:
        """The descents of a round, best first; equal values keep the order of their starts."""
        self._passed = share
        return sorted(found, key=lambda descent: descent.value)

    def _room(self, share: float) -> int:
        """Evaluations left of a share of the budget."""
        return 1 << 40 if self.evaluations is None else int(share * self.evaluations) - self.spent

    def _expired(self, share: float, each: float = 0.0) -> bool:
        """Whether no evaluation shall begin: one takes `each` seconds, and as many are left for the final figures."""
        if self._over or self.seconds is None:
            return self._over
        return self.elapsed >= share * self.seconds or self.elapsed + 2 * each >= self.seconds

    def _in_order(
        self, jobs: Iterator[Job], follow: Callable[[Job], Descent | None]
    ) -> Generator[tuple[Job, Descent | None]]:
        """Descents in the order of their starts; None for one that had no time to begin."""
        if self.workers == 1:
            yield from ((job, follow(job)) for job in jobs)
            return
        with ThreadPoolExecutor(self.workers) as pool:
            ahead: deque[tuple[Job, Future[Descent | None]]] = deque()
            try:
                while True:
                    for job in islice(jobs, self.workers + 1 - len(ahead)):
                        ahead.append((job, pool.submit(follow, job)))
                    if not ahead:
                        return
                    job, future = ahead.popleft()
                    yield job, future.result()
            finally:
                self._over = True  # descents that began ahead end at once; nobody needs them
                for _, future in ahead:
                    future.cancel()

    def _together(
        self, name: str, starts: Iterable[Vector], ansatz: Ansatz, cap: int, share: float, must: bool, **how: Any
    ) -> list[Descent]:
        """All starts at once, one evaluation of all of them at a time."""
        if not self._begins(share, must):
            return []
        wanted = list(islice(starts, BATCH if self.evaluations is None else max(1, self._room(share) // cap)))
        keys = [f"{name}/{number}" for number in range(len(wanted))]
        if all(key in self.checkpoint.done for key in keys):
            found = [self.checkpoint.done[key] for key in keys]
        else:
            rounds = min(cap, max(1, self._room(share) // len(wanted)))
            found = batched_lbfgs(
                ansatz.many_with_gradients,
                np.array(wanted),
                evaluations=rounds,
                expired=lambda: self._expired(share),
                **how,
            )
        for key, descent in zip(keys, found, strict=True):
            self._take(key, descent)
        self._tell(share, 1.0)
        return self._finished(found, share)

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

    def _tell(self, share: float, part: float) -> None:
        """Report how much of the budget is used; without one, how many of the rounds and of this one's starts."""
        if self.progress is None:
            return
        used = [(self.spent, self.evaluations), (self.elapsed, self.seconds)]
        parts = [spent / most for spent, most in used if most is not None]
        done = max(parts) if parts else self._passed + part * (share - self._passed)
        self.progress(min(1.0, done), self._best)

    def reached(self, ansatz: Ansatz, descent: Descent) -> Descent:
        """Note the best of a depth and schedule, and give it back."""
        schedule = ansatz.schedule
        self.stages.append(
            Stage(schedule=schedule.name, depth=schedule.depth, angles=descent.angles, value=descent.value)
        )
        return descent
