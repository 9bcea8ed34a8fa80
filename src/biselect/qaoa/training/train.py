"""`train`: choose angles by a named strategy, within a budget, resumably."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import BiselectError, InputError
from biselect.qaoa.training.checkpoint import Checkpoint, fingerprint
from biselect.qaoa.training.climb import continuation, ladder
from biselect.qaoa.training.depth_frontier import depth_frontier
from biselect.qaoa.training.descent import Descent
from biselect.qaoa.training.multistart import multistart
from biselect.qaoa.training.objectives import FLOOR, Objective
from biselect.qaoa.training.polish import polish
from biselect.qaoa.training.result import Training
from biselect.qaoa.training.search import Progress, Search
from biselect.qaoa.training.threshold import threshold as threshold_search

if TYPE_CHECKING:
    from biselect.qaoa.ansatz import Ansatz

STRATEGIES: dict[str, Callable[..., Descent]] = {
    "multistart": multistart,
    "ladder": ladder,
    "continuation": continuation,
    "depth-frontier": depth_frontier,
    "threshold": threshold_search,
    "polish": polish,
}
SMALL = 10_000_000  # choices whose energies are looked through to explain a threshold that nothing reaches


def train(
    ansatz: Ansatz,
    *,
    strategy: str = "multistart",
    objective: str | Mapping[str, float] = "energy",
    threshold: float | None = None,
    share: float = 0.05,
    evaluations: int | None = None,
    seconds: float | None = None,
    seed: int | np.random.Generator | None = 0,
    workers: int = 1,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
    lockstep: bool | None = None,
    **options: Any,
) -> Training:
    """Choose the angles of an ansatz.

    One seed fixes the angles for any number of workers, unless `seconds` strike first.

    Args:
        ansatz: what is trained; thousands of evaluations want its compiled backend.
        strategy: one of `STRATEGIES`.
        objective: `energy`, `cvar`, `hit-rate` or `optimum`, or a mapping from some of them to weights; in a blend
            energies count as -α.
        threshold: energy at or below which a shot is a hit, for `hit-rate`.
        share: of the distribution, for `cvar`.
        evaluations: calls of the objective at most; one with its gradient counts as one.
        seconds: after which the best so far is returned.
        seed: of random starts.
        workers: descents that run at the same time, each on a thread and a state of its own.
        checkpoint: file that finished descents are kept in. Killed and called again with the same arguments, training
            goes on from there and ends at the same angles.
        progress: called with (done share, best value) after every descent.
        lockstep: whether many starts go down together, a batch of circuits at a time; by default where the ansatz
            runs batches on a GPU and the objective is the energy.
        **options: the strategy's own.

    >>> from biselect.core import SelectionProblem
    >>> from biselect.qaoa import Ansatz
    >>> ansatz = Ansatz(SelectionProblem(coupling=np.arange(12.0).reshape(4, 3), k=2, m=1), depth=2)
    >>> trained = train(ansatz, evaluations=200)
    >>> trained.energy < ansatz.expectation(np.zeros(8)) - 5
    True
    """
    begin = time.perf_counter()
    run = _checked(strategy, evaluations, seconds, workers, options)
    if "starts" in options:
        options["starts"] = [_start(ansatz, start) for start in options["starts"]]
    wanted = Objective.of(objective, ansatz, threshold=threshold, share=share)
    number = _number(seed)
    task = {
        "circuit": fingerprint(ansatz),
        "strategy": strategy,
        "objective": wanted.describe(),
        "evaluations": evaluations,
        "seconds": seconds,
        "seed": number,
        "options": {name: np.asarray(value).tolist() for name, value in options.items()},
    }
    kept = Checkpoint(checkpoint, task)
    search = Search(
        ansatz,
        wanted,
        evaluations=evaluations,
        seconds=seconds,
        seed=number,
        workers=workers,
        in_lockstep=wanted.is_energy and (ansatz.runs_batches if lockstep is None else lockstep),
        checkpoint=kept,
        progress=progress,
    )
    try:
        best = run(search, **options)
    finally:
        kept.write()
    if not np.isfinite(best.value):
        raise BiselectError("no evaluation gave a finite number; try dtype complex128, or scores of smaller size")
    rate = None if wanted.threshold is None else ansatz.expectation(best.angles, wanted.hits)
    return Training(
        problem_hash=ansatz.problem.digest,
        schedule=ansatz.schedule.name,
        depth=ansatz.schedule.depth,
        angle_names=ansatz.schedule.angle_names,
        angles=best.angles,
        objective=wanted.describe(),
        value=best.value,
        energy=ansatz.expectation(best.angles),
        hit_rate=None if rate is None else max(0.0, rate),
        strategy=strategy,
        seed=number,
        evaluations=search.spent,
        trace=tuple(search.trace),
        stages=tuple(search.stages),
        notes=tuple(_notes(ansatz, wanted, search, rate)),
        seconds=time.perf_counter() - begin,
    )


def _checked(
    strategy: str, evaluations: int | None, seconds: float | None, workers: int, options: Mapping[str, Any]
) -> Callable[..., Descent]:
    if strategy not in STRATEGIES:
        raise InputError(f"there is no strategy {strategy!r}; choose one of: {', '.join(STRATEGIES)}")
    for name, value in (("evaluations", evaluations), ("workers", workers)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1):
            raise InputError(f"{name} must be a whole number of at least 1, got {value!r}")
    if seconds is not None and not seconds > 0:
        raise InputError(f"seconds must be positive, got {seconds!r}")
    run = STRATEGIES[strategy]
    allowed = list(inspect.signature(run).parameters)[1:]
    if unknown := [name for name in options if name not in allowed]:
        raise InputError(
            f"strategy {strategy!r} has no option {unknown[0]!r}; it takes: {', '.join(allowed) or 'none'}"
        )
    return run


def _start(ansatz: Ansatz, start: Any) -> NDArray[np.float64]:
    """Angles to begin with, once they are known to fit."""
    angles = np.array(start, dtype=np.float64)
    ansatz.schedule.expand(angles)  # refuses another number of angles, and what is not finite
    return angles


def _number(seed: int | np.random.Generator | None) -> int:
    """A seed that can be written down."""
    try:
        if isinstance(seed, int | np.integer) and seed >= 0:
            return int(seed)
        return int(np.random.default_rng(seed).integers(2**62))
    except (TypeError, ValueError) as error:
        raise InputError(f"seed must be a whole number from 0 up, a generator or None, got {seed!r}") from error


def _notes(ansatz: Ansatz, objective: Objective, search: Search, rate: float | None) -> list[str]:
    notes = []
    if search.failed:
        notes.append("some evaluations gave no finite number; the descents that met them were ended there")
    if rate is not None and rate <= FLOOR:
        words = f"no start gave any probability to energies at or below the threshold {objective.threshold:g}"
        if ansatz.problem.sector.size <= SMALL:
            words += f"; the lowest energy of all choices is {float(ansatz.energies.min()):g}"
        notes.append(words)
    elif search.flat and search.trace:
        notes.append("the landscape is flat: no start had a slope, so the angles are as good as any others tried")
    return notes
