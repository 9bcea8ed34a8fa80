"""`train`: choose angles by a named strategy, within a budget, resumably."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from biselect.core import SelectionProblem
from biselect.core.checks import check_integer, number
from biselect.core.threads import NEVER, OutOfTimeError, Stop, run_until
from biselect.errors import BiselectError, InputError
from biselect.progress import Progress, progress_of
from biselect_quantum._version import __version__
from biselect_quantum.circuits.controls import nulls
from biselect_quantum.circuits.training._search import Search
from biselect_quantum.circuits.training.first_angles import as_starts, in_units, without_effect
from biselect_quantum.circuits.training.objectives import FLOOR, HITS, SHOTS, Objective
from biselect_quantum.circuits.training.records import Checkpoint, Descent, Training
from biselect_quantum.circuits.training.strategies import STRATEGIES, multistart, polish
from biselect_quantum.options import TrainingOptions
from biselect_quantum.simulate.backends import PLAIN_AMPLITUDES
from biselect_quantum.simulate.layers import energy_scale, rounding_slack

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz

SMALL = 10_000_000  # choices whose energies are looked through to explain a landscape
AT_ONCE = 100_000  # choices that are looked through in no time
LARGEST = 1e150  # energies whose squares are numbers still
PATIENCE = 2.0  # seconds in NumPy beyond which kernels are compiled: once on a machine, for all trainings to come
SHORTEST = 0.25  # seconds that a first evaluation gets in any case
EACH, LEAST = 2e-7, 7e-4  # seconds of a gradient in NumPy: for each amplitude and layer, and for each layer at least
OWN_SHOTS, COARSE = 4096, 0.5  # of the objective `shots`: those that give the threshold, and the share before them
OPTIONS = tuple(field.name for field in fields(TrainingOptions))


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
    options: TrainingOptions | None = None,
    *,
    seed: int | np.random.Generator | None = 0,
    checkpoint: str | Path | None = None,
    progress: Progress | bool | None = None,
    **more: Any,
) -> Training:
    """Choose the angles of an ansatz.

    One seed fixes the angles for any number of workers, unless `seconds` strike first. Unless told otherwise, training
    knows nothing of the answer: it lowers CVaR, takes the best of 4,096 shots of its own as threshold, and then seeks
    hits of that (`objective="shots"`).

    Args:
        ansatz: what is trained; thousands of evaluations want its compiled backend.
        options: what is sought, how and for how long; see `TrainingOptions`.
        seed: of random starts and own shots. With several `seeds` the best of as many trainings is returned, with their
            spread; each has the whole budget of evaluations, and seconds are shared.
        checkpoint: file that finished descents are kept in. Killed and called again with the same arguments, training
            goes on from there and ends at the same angles.
        progress: called with (done share, best value) after every descent; otherwise as for `biselect.solve`.
        **more: fields of `TrainingOptions` by name, such as `objective` or `evaluations`, and the strategy's own
            options.

    Returns:
        The best angles, with their figures and how they were found.

    Raises:
        InputError: an unknown strategy, objective or option.
        TooShortError: `seconds` too few for a single evaluation.
        OtherTrainingError: a checkpoint of other arguments.

    >>> from biselect.core import SelectionProblem
    >>> from biselect_quantum.circuits import Ansatz
    >>> ansatz = Ansatz(SelectionProblem(coupling=np.arange(12.0).reshape(4, 3), k=2, m=1), depth=2)
    >>> trained = train(ansatz, evaluations=200)
    >>> trained.knowledge, trained.hit_rate > 5 / 18  # of its own best shot; there are 18 choices
    ('trained blind', True)
    """
    how = replace(options or TrainingOptions(), **{name: more.pop(name) for name in OPTIONS if name in more})
    begin, limit = time.perf_counter(), None if how.seconds is None else number("seconds", how.seconds)
    if limit is not None and limit <= 0:
        raise InputError(f"seconds must be positive, got {limit!r}")
    first, runs = _seed_number(seed), check_integer("seeds", how.seeds)
    name = f"Training {ansatz.schedule.name}, p = {ansatz.schedule.depth}"
    trainings = []
    with progress_of(progress, name, shown_as="best") as reporter:
        for run in range(runs):
            kept = checkpoint if runs == 1 or checkpoint is None else f"{checkpoint}-{run}"
            end = np.inf if limit is None else begin + limit * (run + 1) / runs
            trainings.append(_trained_until(end, ansatz, how, first + run, kept, reporter, more))
    best = min(trainings, key=lambda training: (training.objective["threshold"] or 0.0, training.value))
    if how.nulls:
        best = replace(best, nulls=nulls(ansatz, best, seeds=how.nulls, progress=progress).to_dict())
    if runs == 1:
        return best
    figures = {"value": [each.value for each in trainings], "energy": [each.energy for each in trainings]}
    if (goal := best.objective["threshold"]) is not None:
        figures["hit_rate"] = [ansatz.hit_rate(each.angles, goal) for each in trainings]
    quartiles = {name: np.quantile(values, (0.25, 0.5, 0.75)).tolist() for name, values in figures.items()}
    return replace(best, spread=quartiles)


def _trained_until(
    end: float,
    ansatz: Ansatz,
    how: TrainingOptions,
    seed: int,
    checkpoint: str | Path | None,
    progress: Progress | None,
    options: dict[str, Any],
) -> Training:
    """One training, which is over by `end`, a time of `time.perf_counter`."""
    begin, begun = time.perf_counter(), list[Search]()
    limit = None if end == np.inf else max(1e-6, end - begin)

    def work(stop: Stop) -> Training:
        on = ansatz if limit is None else ansatz.ended_by(stop)
        search, best = _searched(on, replace(how, seconds=limit), seed, checkpoint, progress, dict(options), begun)
        return _with_figures(on, search, best, how.strategy, begin)

    if limit is None:
        return work(NEVER)
    try:
        return run_until(max(end, begin + SHORTEST), work, ansatz.stop)
    except OutOfTimeError:
        if ansatz.stop[0]:
            raise
    if begun and begun[0].best is not None:  # something held it up at the end: what was found before is not lost
        return _with_figures(ansatz.with_own_simulator(), begun[0], begun[0].best, how.strategy, begin)
    ways = ["give more", "take fewer samples or features"]
    if ansatz.dtype == np.complex128 and ansatz.backend == "compiled":
        ways.append("an Ansatz with dtype='complex64'")
    raise TooShortError(f"{limit:.3g} s are too few to evaluate this circuit once; {', or '.join(ways)}")


def _searched(
    ansatz: Ansatz,
    how: TrainingOptions,
    seed: int,
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
    question = _question(how) if how.objective is None else how.objective
    goal = Objective.of(question, ansatz, threshold=how.threshold, share=how.share)
    means: dict[str, Any] = {"evaluations": evaluations, "seconds": how.seconds, "seed": seed}
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
        with threadpool_limits(1, user_api="blas"):  # L-BFGS-B asks for vectors of a dozen numbers: threads only wait
            return search, run(search, **options) if goal.name != SHOTS else _blind(search, run, options)
    finally:
        search.close()
        record.write()


def _blind(search: Search, run: Callable[..., Descent], options: dict[str, Any]) -> Descent:
    """First CVaR, then hits of the best of the circuit's own shots."""
    ansatz, goal, search.limit = search.ansatz, search.objective, COARSE
    coarse = run(search, **options)
    rng = np.random.default_rng([search.seed, OWN_SHOTS])
    samples, features, lowest = ansatz.sample(coarse.angles, OWN_SHOTS, rng).best
    search.best_choice, search.limit = (samples.tolist(), features.tolist()), 1.0
    hits = replace(goal, weights={HITS: 1.0}, threshold=lowest, unit=1.0)
    search.lower(hits)
    search.best = replace(coarse, value=hits.value(ansatz, coarse.angles))
    if not search.left():
        return search.reached(ansatz, search.best)
    return (multistart if run is multistart else polish)(search, starts=[coarse.angles])


def _with_figures(ansatz: Ansatz, search: Search, best: Descent, strategy: str, begin: float) -> Training:
    """What a search found, with its figures."""
    if not np.isfinite(best.value):
        raise BiselectError("no evaluation gave a finite number; try dtype complex128, or scores of smaller size")
    ansatz = ansatz.ended_by(NEVER)  # the search is over, and has left time for the figures of what it found
    goal, names = search.objective, ansatz.schedule.angle_names
    rate = None if goal.threshold is None else ansatz.hit_rate(best.angles, goal.threshold)
    looked_through = SMALL if search.seconds is None else AT_ONCE
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
        notes=tuple(_notes(ansatz, goal, search, best.angles, rate, looked_through)),
        best_choice=search.best_choice,
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


def _question(how: TrainingOptions) -> str:
    """What is trained for where nobody says it: to find the best, knowing nothing of it."""
    if how.threshold is not None:
        return HITS
    return "energy" if how.strategy == "depth-frontier" else SHOTS


def _seed_number(seed: int | np.random.Generator | None) -> int:
    """A seed that can be written down."""
    try:
        if isinstance(seed, int | np.integer) and seed >= 0:
            return int(seed)
        return int(np.random.default_rng(seed).integers(2**62))
    except (TypeError, ValueError) as error:
        raise InputError(f"seed must be a whole number from 0 up, a generator or None, got {seed!r}") from error


def _notes(
    ansatz: Ansatz,
    objective: Objective,
    search: Search,
    angles: NDArray[np.float64],
    rate: float | None,
    looked_through: int,
) -> list[str]:
    notes = []
    small = ansatz.problem.sector.size <= looked_through
    if search.failed:
        notes.append("some evaluations gave no finite number; the descents that met them were ended there")
    if rate is not None and rate <= FLOOR:
        words = f"no start gave any probability to energies at or below the threshold {objective.threshold:g}"
        if small:
            words += f"; the lowest energy of all choices is {float(ansatz.energies.min()):g}"
        notes.append(words)
    elif search.flat and search.trace:
        notes.append(
            "the landscape is flat: all choices have the same energy, so any angles are as good"
            if small and _all_alike(ansatz)
            else "nothing tried changed the objective: every start is a stationary point; begin from other angles"
        )
    elif small:
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
        "for hits train with a larger budget, or from another start"
    ]


def _all_alike(ansatz: Ansatz) -> bool:
    """Whether all choices have one energy."""
    return float(np.ptp(ansatz.energies)) <= 2 * rounding_slack(energy_scale(ansatz.problem), np.float64)
