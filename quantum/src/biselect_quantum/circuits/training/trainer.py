"""`train`: choose angles by a named strategy, within a budget, resumably."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.checks import check_integer, number
from biselect.core.threads import NEVER, OutOfTimeError, Stop, run_until
from biselect.errors import BiselectError, InputError
from biselect.progress import Progress, progress_of
from biselect_quantum._version import __version__
from biselect_quantum.circuits.training._search import Search
from biselect_quantum.circuits.training.first_angles import as_starts, in_units, without_effect
from biselect_quantum.circuits.training.objectives import FLOOR, Objective
from biselect_quantum.circuits.training.records import Checkpoint, Descent, Training
from biselect_quantum.circuits.training.strategies import STRATEGIES
from biselect_quantum.options import TrainingOptions
from biselect_quantum.simulate.backends import PLAIN_AMPLITUDES
from biselect_quantum.simulate.layers import energy_scale, rounding_slack

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz

SMALL = 10_000_000  # choices whose energies are looked through to explain a landscape
LARGEST = 1e150  # energies whose squares are numbers still
PATIENCE = 2.0  # seconds in NumPy beyond which kernels are compiled: once on a machine, for all trainings to come
SHORTEST = 0.25  # seconds that a first evaluation gets in any case
EACH, LEAST = 2e-7, 7e-4  # seconds of a gradient in NumPy: for each amplitude and layer, and for each layer at least


def backend_for(problem: SelectionProblem, depth: int, evaluations: int) -> str:
    """The simulator that a training wants: `plain` where it is short, so that compiling would not pay; else `compiled`.

    Like `auto` it does not ask what lies in Numba's cache: the first training on a machine gives the same bytes.
    """
    seconds = evaluations * depth * max(LEAST, EACH * min(problem.sector.size, 2**60))  # more is no float any longer
    if seconds > PATIENCE:
        return "compiled"
    return "plain" if problem.sector.size < PLAIN_AMPLITUDES else "auto"


class TooShortError(InputError):
    """The seconds given are too few for one evaluation."""


def train(
    ansatz: Ansatz,
    *,
    strategy: str = "multistart",
    objective: str | Mapping[str, float] | None = None,
    threshold: float | None = None,
    share: float = 0.05,
    start_from: Any = None,
    evaluations: int | None = None,
    seconds: float | None = None,
    seed: int | np.random.Generator | None = 0,
    workers: int = 1,
    checkpoint: str | Path | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Training:
    """Choose the angles of an ansatz.

    One seed fixes the angles for any number of workers, unless `seconds` strike first.

    Args:
        ansatz: what is trained; thousands of evaluations want its compiled backend.
        strategy: one of `STRATEGIES`.
        objective: `energy`, `cvar`, `hit-rate` or `optimum`, or a mapping from some of them to weights; in a blend
            energies count as -α. By default it is `hit-rate` where a threshold is given; otherwise `optimum`, unless
            there are too many choices to look through or the strategy is `depth-frontier`: then `energy`.
        threshold: energy at or below which a shot is a hit, for `hit-rate`.
        share: of the distribution, for `cvar`.
        start_from: angles to begin with: free angles, a `Training` of any problem, depth or schedule, a path to one, or
            a list of these.
        evaluations: calls of the objective at most; one with its gradient counts as one.
        seconds: after which the best so far is returned; refused where they are too few for one evaluation.
        seed: of random starts.
        workers: descents that run at the same time, each on a thread and a state of its own.
        checkpoint: file that finished descents are kept in. Killed and called again with the same arguments, training
            goes on from there and ends at the same angles.
        progress: called with (done share, best value) after every descent; otherwise as for `biselect.solve`.
        **options: the strategy's own.

    Returns:
        The best angles, with their figures and how they were found.

    Raises:
        InputError: an unknown strategy or objective.
        TooShortError: `seconds` too few for a single evaluation.
        OtherTrainingError: a checkpoint of other arguments.

    >>> from biselect.core import SelectionProblem
    >>> from biselect_quantum.circuits import Ansatz
    >>> ansatz = Ansatz(SelectionProblem(coupling=np.arange(12.0).reshape(4, 3), k=2, m=1), depth=2)
    >>> trained = train(ansatz, evaluations=200)
    >>> trained.hit_rate > 5 / 18  # of the optimum; there are 18 choices
    True
    """
    limit, begin = None if seconds is None else number("seconds", seconds), time.perf_counter()
    if limit is not None and limit <= 0:
        raise InputError(f"seconds must be positive, got {limit!r}")
    begun: list[Search] = []
    how = TrainingOptions(
        strategy=strategy,
        objective=objective,
        threshold=threshold,
        share=share,
        start_from=start_from,
        evaluations=evaluations,
        seconds=limit,
        workers=workers,
    )
    facts: dict[str, Any] = {"seed": seed, "checkpoint": checkpoint, "options": options, "begun": begun}
    name = f"Training {ansatz.schedule.name}, p = {ansatz.schedule.depth}"
    with progress_of(progress, name, shown_as="best") as reporter:
        if limit is None:
            search, best = _searched(ansatz, how, progress=reporter, **facts)
            return _trained(ansatz, search, best, strategy, begin)

        def work(stop: Stop) -> Training:
            search, best = _searched(ansatz.ended_by(stop), how, progress=reporter, **facts)
            return _trained(search.ansatz, search, best, strategy, begin)

        try:
            return run_until(begin + max(limit, SHORTEST), work, ansatz.stop)
        except OutOfTimeError:
            if ansatz.stop[0]:
                raise
    if begun and begun[0].best is not None:  # something held it up at the end: what was found before is not lost
        return _trained(ansatz.with_own_simulator(ansatz.dtype), begun[0], begun[0].best, strategy, begin)
    ways = ["give more", "take fewer samples or features"]
    if ansatz.dtype == np.complex128 and ansatz.backend == "compiled":
        ways.append("an Ansatz with dtype='complex64'")
    raise TooShortError(f"{limit:g} s are too few to evaluate this circuit once; {', or '.join(ways)}")


def _searched(
    ansatz: Ansatz,
    how: TrainingOptions,
    *,
    seed: int | np.random.Generator | None,
    checkpoint: str | Path | None,
    progress: Progress | None,
    options: dict[str, Any],
    begun: list[Search],
) -> tuple[Search, Descent]:
    """A search to its end, and what it found; it is in `begun` as soon as it begins."""
    run = _strategy(how.strategy, options, how.start_from is not None)
    evaluations = None if how.evaluations is None else check_integer("evaluations", how.evaluations)
    workers = check_integer("workers", how.workers)
    if energy_scale(ansatz.problem) > LARGEST:
        raise InputError(f"energies beyond {LARGEST:g} cannot be trained on; divide all scores and weights")
    if how.start_from is not None:
        options["starts"] = as_starts(ansatz, how.start_from)
    question = _question(ansatz, how.strategy, how.threshold) if how.objective is None else how.objective
    goal = Objective.of(question, ansatz, threshold=how.threshold, share=how.share)
    means: dict[str, Any] = {"evaluations": evaluations, "seconds": how.seconds, "seed": _seed_number(seed)}
    task = {
        "version": __version__,
        "circuit": ansatz.spec.fingerprint,
        "precision": f"{ansatz.backend} {ansatz.dtype}",
        "strategy": how.strategy,
        "objective": goal.describe(),
        **means,
        "options": {name: np.asarray(value).tolist() for name, value in options.items()},
    }
    record = Checkpoint(checkpoint, task)
    search = Search(ansatz, goal, **means, workers=workers, checkpoint=record, progress=progress)
    begun.append(search)
    try:
        return search, run(search, **options)
    finally:
        search.close()
        record.write()


def _trained(ansatz: Ansatz, search: Search, best: Descent, strategy: str, begin: float) -> Training:
    """What a search found, with its figures."""
    if not np.isfinite(best.value):
        raise BiselectError("no evaluation gave a finite number; try dtype complex128, or scores of smaller size")
    ansatz = ansatz.ended_by(NEVER)  # the search is over, and has left time for the figures of what it found
    goal, names = search.objective, ansatz.schedule.angle_names
    rate = None if goal.threshold is None else ansatz.hit_rate(best.angles, goal.threshold)
    return Training(
        circuit=ansatz.spec.describe(),
        schedule=ansatz.schedule.name,
        depth=ansatz.schedule.depth,
        angle_names=names,
        angles=best.angles,
        inert=tuple(name for name, idle in zip(names, without_effect(ansatz), strict=True) if idle),
        in_units=in_units(ansatz, best.angles),
        objective=goal.describe(),
        value=best.value,
        energy=ansatz.expectation(best.angles),
        hit_rate=rate,
        strategy=strategy,
        seed=search.seed,
        evaluations=search.spent,
        trace=tuple(search.trace),
        stages=tuple(search.stages),
        notes=tuple(_notes(ansatz, goal, search, best.angles, rate)),
        seconds=time.perf_counter() - begin,
    )


def _strategy(strategy: str, options: Mapping[str, Any], started: bool) -> Callable[..., Descent]:
    if strategy not in STRATEGIES:
        raise InputError(f"there is no strategy {strategy!r}; choose one of: {', '.join(STRATEGIES)}")
    run = STRATEGIES[strategy]
    takes = list(inspect.signature(run).parameters)[1:]
    allowed = [name for name in takes if name != "starts"]
    if unknown := [name for name in options if name not in allowed]:
        raise InputError(
            f"strategy {strategy!r} has no option {unknown[0]!r}; it takes: {', '.join(allowed) or 'none'}"
        )
    if started and "starts" not in takes:
        raise InputError(f"strategy {strategy!r} has starts of its own; leave out start_from, or take another strategy")
    return run


def _question(ansatz: Ansatz, strategy: str, threshold: float | None) -> str:
    """What is trained for where nobody says it: to find the best, as far as it can be known."""
    if threshold is not None:
        return "hit-rate"
    return "energy" if strategy == "depth-frontier" or ansatz.problem.sector.size > SMALL else "optimum"


def _seed_number(seed: int | np.random.Generator | None) -> int:
    """A seed that can be written down."""
    try:
        if isinstance(seed, int | np.integer) and seed >= 0:
            return int(seed)
        return int(np.random.default_rng(seed).integers(2**62))
    except (TypeError, ValueError) as error:
        raise InputError(f"seed must be a whole number from 0 up, a generator or None, got {seed!r}") from error


def _notes(
    ansatz: Ansatz, objective: Objective, search: Search, angles: NDArray[np.float64], rate: float | None
) -> list[str]:
    notes = []
    if search.failed:
        notes.append("some evaluations gave no finite number; the descents that met them were ended there")
    if rate is not None and rate <= FLOOR:
        words = f"no start gave any probability to energies at or below the threshold {objective.threshold:g}"
        if ansatz.problem.sector.size <= SMALL:
            words += f"; the lowest energy of all choices is {float(ansatz.energies.min()):g}"
        notes.append(words)
    elif search.flat and search.trace:
        notes.append(
            "the landscape is flat: all choices have the same energy, so any angles are as good"
            if _all_alike(ansatz)
            else "nothing tried changed the objective: every start is a stationary point; begin from other angles"
        )
    elif ansatz.problem.sector.size <= SMALL:
        notes += _below_chance(ansatz, objective, angles)
    return notes


def _below_chance(ansatz: Ansatz, objective: Objective, angles: NDArray[np.float64]) -> list[str]:
    """A note where the angles hit what is sought less often than a uniform choice does."""
    has_threshold = objective.threshold is not None
    goal = float(ansatz.energies.min()) if objective.threshold is None else objective.threshold
    slack = rounding_slack(energy_scale(ansatz.problem), np.float64)
    rate, chance = ansatz.hit_rate(angles, goal), float(np.mean(ansatz.energies <= goal + slack))
    if rate >= chance - 1e-9:
        return []
    what = "energies at or below the threshold come" if has_threshold else "the optimum comes"
    return [
        f"{what} up less often ({rate:.3g} of the shots) than by uniform choice ({chance:.3g}); "
        "for hits train for the objective optimum, with a larger budget, or from another start"
    ]


def _all_alike(ansatz: Ansatz) -> bool:
    """Whether all choices have one energy, as far as a sector of this size can be looked through."""
    if ansatz.problem.sector.size > SMALL:
        return False
    return float(np.ptp(ansatz.energies)) <= 2 * rounding_slack(energy_scale(ansatz.problem), np.float64)
