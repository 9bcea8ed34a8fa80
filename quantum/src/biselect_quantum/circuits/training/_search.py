"""Search: the means of a training (evaluations, seconds, workers) and the record of what they gave."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.progress import Progress
from biselect_quantum.circuits.training._descent import COARSE, FINE, DescentMonitor, lbfgs
from biselect_quantum.circuits.training.first_angles import is_phase, units, without_effect
from biselect_quantum.circuits.training.objectives import Objective
from biselect_quantum.circuits.training.records import Checkpoint, Descent, Stage
from biselect_quantum.simulate.limits import OutOfTimeError

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz

Vector = NDArray[np.float64]
Method = Callable[["Ansatz", Vector, int, DescentMonitor], Descent]
"""From an ansatz, a start, the start's number and a watch to a descent."""


@dataclass(eq=False)
class Search:
    """Runs descents, takes up their results in the order of their starts, and keeps count of what they cost.

    What a descent finds does not depend on who runs it nor on the descents beside it, so with a budget of evaluations
    the number of workers changes nothing. The arguments are those of `train`, checked.

    Attributes:
        best: the best finished descent with the angles that are trained; None before the first.
        spent: evaluations of finished descents.
        best_choice: samples and features of the best of the training's own shots.
        limit: the share of the budget that may be used for now.
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
    limit: float = 1.0

    def __post_init__(self) -> None:
        self.best: Descent | None = None
        self.best_choice: tuple[list[int], list[int]] | None = None
        self.spent, self.flat, self.failed = 0, True, False
        self.trace: list[tuple[int, float]] = []
        self.stages: list[Stage] = []
        self._best, self._part, self._passed, self._shown, self._over, self._slowest = np.inf, "", 0.0, 0.0, False, 0.0
        self._begin = time.perf_counter() - self.checkpoint.seconds
        self._crew: SimpleQueue[Ansatz] = SimpleQueue()
        for worker in range(self.workers):
            self._crew.put(self.ansatz.with_own_simulator() if worker else self.ansatz)
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

    def lower(self, objective: Objective) -> None:
        """Lower another objective from here on; values of the two are never compared."""
        own = self.ansatz.schedule.name, self.ansatz.schedule.depth
        smaller = [stage for stage in self.stages if (stage.schedule, stage.depth) != own]
        rungs = [self.ansatz.at_depth(stage.depth, stage.schedule) for stage in smaller]
        values = [objective.value(rung, stage.angles) for rung, stage in zip(rungs, smaller, strict=True)]
        self.stages = [replace(stage, value=value) for stage, value in zip(smaller, values, strict=True)]
        self.objective, self.best, self._part = objective, None, f"{self._part}then "

    def descend(self, name: str, starts: Sequence[Vector], *, cap: int, **more: Any) -> list[Descent]:
        """Down from all starts by L-BFGS-B, best first, in a box of ±π for a β and ±2π units for a γ; see `each`."""

        def follow(on: Ansatz, start: Vector, _: int, watch: DescentMonitor) -> Descent:
            steps = units(on)
            reach = np.maximum(np.where(is_phase(on), 2 * np.pi * steps, np.pi), np.abs(start))
            tolerance = FINE if on.dtype == np.complex128 else COARSE
            slope = partial(self.objective.value_and_gradient, on)
            how: dict[str, Any] = {"units": steps, "unit": self.objective.unit, "tolerance": tolerance}
            return lbfgs(slope, start, (-reach, reach), watch=watch, **how)

        return self.each(name, starts, follow, cap=cap, **more)

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
        """A way down from each start, best first; equal values keep the order of their starts.

        Args:
            name: of this round, for the checkpoint.
            starts: angles.
            method: the way.
            cap: evaluations of one start at most.
            ansatz: of these angles, where it is not the one that is trained.
            share: of the whole budget, after which this round ends.
            must: whether the first start is evaluated even if nothing is left.
        """
        if not must and not self.left(share):
            return []
        if must and self.spent and self.seconds is not None:
            self.ansatz.stop.fill(0)  # time may be up, but what was found before is not lost for one evaluation
        trained = self.ansatz if ansatz is None else ansatz
        affordable = starts[: max(1, self.room(share))]
        most = min(cap, max(1, self.room(share) // len(affordable)))
        self._best = np.inf

        def follow(number: int) -> Descent | None:
            key = f"{self._part}{name}/{number}"
            if key in self.checkpoint.done:
                return self.checkpoint.done[key]
            if number and self._expired(share):
                return None
            watch = DescentMonitor(most=most, expired=lambda: self._expired(share), unit=self.objective.unit)
            on = self._crew.get()
            try:
                same = on.schedule is trained.schedule
                return method(on if same else on.with_schedule(trained.schedule), affordable[number], number, watch)
            except OutOfTimeError:
                return watch.descent(affordable[number]) if watch.evaluations else None
            finally:
                self._slowest = max(self._slowest, watch.seconds)
                self._crew.put(on)

        descents: list[Descent] = []
        for descent in (map if self._pool is None else self._pool.map)(follow, range(len(affordable))):
            if descent is None:
                break
            self._take(f"{self._part}{name}/{len(descents)}", descent)
            descents.append(descent)
            if trained.schedule is self.ansatz.schedule and (self.best is None or descent.value < self.best.value):
                self.best = descent
            self._tell(share, len(descents) / len(affordable))
        if must and not descents:
            raise OutOfTimeError
        self._tell(share, 1.0)
        self._passed = share * self.limit
        return sorted(descents, key=lambda descent: descent.value)

    def left(self, share: float = 1.0) -> bool:
        """Whether something is left of a share of the budget; always, where there is none."""
        return self.room(share) >= 1 and not self._expired(share)

    def room(self, share: float = 1.0) -> int:
        """Evaluations left of a share of the budget."""
        return 1 << 40 if self.evaluations is None else int(share * self.limit * self.evaluations) - self.spent

    def _expired(self, share: float) -> bool:
        """Whether nothing more shall begin: time is up, or would be before another evaluation and the final figures."""
        if self._over or self.seconds is None:
            return self._over
        reserve = 3 * self._slowest
        return self.elapsed >= share * self.limit * self.seconds or self.elapsed + reserve >= self.seconds

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
        """Report how much of the budget is used; without one, how many of this round's starts are done."""
        if self.progress is None:
            return
        spending = [(self.spent, self.evaluations), (self.elapsed, self.seconds)]
        parts = [spent / most for spent, most in spending if most is not None]
        progress = max(parts) if parts else self._passed + part * (share * self.limit - self._passed)
        self._shown = min(1.0, max(self._shown, progress))
        self.progress(self._shown, self._best)

    def reached(self, ansatz: Ansatz, descent: Descent) -> Descent:
        """Note the best of a depth and schedule, and give it back; angles that change nothing are set to 0."""
        schedule = ansatz.schedule
        descent = replace(descent, angles=np.where(without_effect(ansatz), 0.0, descent.angles))
        self.stages.append(
            Stage(schedule=schedule.name, depth=schedule.depth, angles=descent.angles, value=descent.value)
        )
        return descent
