"""`qaoa`: train angles, measure, keep the best choice seen; and say what chance and a classical solver would do."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.checks import check_integer
from biselect.core.threads import GRACE, NEVER, OutOfTimeError, Stop, run_until
from biselect.errors import InputError
from biselect.options import spell
from biselect.solvers.registry import SOLVERS, Answer, Run, keeps_limits
from biselect_quantum._wide_solver import by_wide_sampler
from biselect_quantum.circuits.ansatz import Ansatz
from biselect_quantum.circuits.starts import Choice, start_choice
from biselect_quantum.circuits.training import train
from biselect_quantum.circuits.training.first_angles import ramp
from biselect_quantum.circuits.training.trainer import OWN_SHOTS, TooShortError, backend_for
from biselect_quantum.simulate.layers import energy_scale, rounding_slack
from biselect_quantum.simulate.limits import check_memory, check_stop, parts
from biselect_quantum.uniform import uniform_choices, uniform_energy

TRAINING = 0.8  # share of the time limit
CLASSICAL = 2.0  # seconds that the classical solver gets to show what it can do
STATES = 3  # what training and its figures need at a time: state, adjoint, energies
MOST_QUBITS = 5000  # beyond this a circuit takes seconds to write down, and far longer to run
LARGE = 1_000_000  # amplitudes from which on single precision is taken: no shot tells the difference
RAMP = 0.5  # height of the angles of an untrained circuit
UNTRAINED = "there was no time to train a circuit: these are shots of untrained angles, a ramp"
CERTAIN = 40  # e to the power of minus this is no chance at all

Best = tuple[NDArray[np.int64], NDArray[np.int64], float]
"""Samples, features and energy of the best of some shots."""


@keeps_limits("exact")
def qaoa(
    problem: SelectionProblem,
    run: Run,
    *,
    depth: int = 3,
    schedule: str = "fully-grouped",
    mixer: str = "ring",
    start: str = "dicke",
    shots: int = 4096,
    evaluations: int = 240,
    workers: int = 1,
) -> Answer:
    """CG-XY-QAOA on a simulator of the whole sector; where that does not fit into memory, a sparse circuit's shots.

    Angles are trained without knowledge of the answer (`train`), and the state is measured. The answer is the best
    choice of all shots, those of the training included. `info` says how, and:

    - `shots`: how many were taken;
    - `hit_rate`: probability, per shot, of an energy as low as the answer's;
    - `above_optimum`: how far the answer is above the exact optimum, which a simulator of the sector knows;
    - `random_hit_rate`, `random_finds_it`, `random_above_optimum`: the same for uniform feasible choices: per shot, the
      probability that as many shots reach the answer's energy, and how far above the optimum their best is expected;
    - `advice`: what a classical solver did in which time.

    Where time is up on the way, the best choice measured until then is the answer, and `info` lacks the rest; with no
    time for any circuit, the shots are those of the start. Under a time limit an untrained circuit is measured
    first, since training may not end in time.

    Beyond memory see `by_wide_sampler`: from the greedy choice (start `dicke` is none there) a few angles are tried and
    measured. `info` then has `method`, `start_energy`, `largest_bond`, `random_energy` (the best of as many uniform
    feasible choices) and a `hit_rate` counted in shots, and nothing of an optimum that nobody knows.

    Args:
        problem: what to solve. Rules are kept inside the mixer: forced choices, and groups of which every choice has
            exactly so many; other limits are refused.
        run: seed, deadline, progress.
        depth: p, how many layers.
        schedule: see `Schedule.named`.
        mixer: ring, path, complete or grover.
        start: dicke, canonical or random.
        shots: of the measurement.
        evaluations: of the objective while training; 24 at most beyond memory.
        workers: descents at a time while training.
    """
    depth, shots, evaluations, workers = (
        check_integer(name, value)
        for name, value in (("depth", depth), ("shots", shots), ("evaluations", evaluations), ("workers", workers))
    )
    if (qubits := problem.n_samples + problem.n_features) > MOST_QUBITS:
        raise InputError(
            f"solver 'qaoa' runs a circuit of one qubit for each sample and feature; {qubits} of them are more than "
            f"the {MOST_QUBITS} that can be simulated; take {spell(solver='auto')}, which needs none"
        )
    begin = Run.now()
    how: dict[str, Any] = {"depth": depth, "schedule": schedule, "mixer": mixer, "start": start, "shots": shots}
    how["evaluations"] = evaluations
    try:
        check_memory(problem.sector, np.complex64, states=2 * STATES)
    except InputError:
        with run.stop_flag() as stop:
            answer = by_wide_sampler(problem, run, partial(check_stop, stop), **how)
        energy = problem.energy(answer.samples, answer.features)
        return replace(answer, info={**answer.info, **_advice(problem, run, energy, Run.now() - begin)})
    return _by_sector(problem, run, begin, workers=workers, **how)


def _by_sector(
    problem: SelectionProblem,
    run: Run,
    begin: float,
    *,
    depth: int,
    schedule: str,
    mixer: str,
    start: str,
    shots: int,
    evaluations: int,
    workers: int,
) -> Answer:
    """Train and measure; where time is up on the way, what was measured until then."""
    origin = None if start == "dicke" else start_choice(problem, start, run.rng())
    seed, draw_seed, measured = (int(part) for part in np.random.SeedSequence(_number(run)).generate_state(3))
    bests: list[Best] = []
    info: dict[str, Any] = {"depth": depth, "schedule": schedule, "evaluations": 0, "notes": [], "shots": 0}

    def note(best: Best, count: int) -> None:
        """Keep what so many shots found."""
        bests.append(best)
        info["shots"] += count
        run.improved(info["evaluations"], best[2])

    def work(stop: Stop) -> None:
        """Train and measure, and note what comes out on the way."""
        ansatz = Ansatz(
            problem,
            depth,
            schedule,
            mixer,
            "dicke" if origin is None else origin,
            backend=backend_for(problem, depth, evaluations),
            dtype=np.complex64 if problem.sector.size >= LARGE else np.complex128,
            stop=stop,
        )
        if run.deadline < np.inf:  # training may not end in time, so its first angles are measured before
            note(ansatz.sample(ramp(ansatz, RAMP, 1), shots, draw_seed).best, shots)
            info["notes"] = [UNTRAINED]
        reached = bests[0][2] if bests else uniform_energy(problem)[0]
        limit = None if run.deadline == np.inf else TRAINING * (run.deadline - begin) - (Run.now() - begin)
        trained = train(
            ansatz,
            evaluations=evaluations,
            seconds=None if limit is None else max(1e-3, limit),
            seed=seed,
            workers=workers,
            progress=lambda progress, value: run.report(TRAINING * progress, reached),
        )
        info["angles"] = dict(zip(trained.angle_names, trained.angles.tolist(), strict=True))
        info["evaluations"], info["notes"] = trained.evaluations, list(trained.notes)
        assert trained.best_choice is not None
        note((*map(np.array, trained.best_choice), trained.objective["threshold"]), OWN_SHOTS)
        note(ansatz.sample(trained.angles, shots, measured).best, shots)
        energy = min(best[2] for best in bests)
        info["hit_rate"] = ansatz.hit_rate(trained.angles, energy)
        slack = rounding_slack(energy_scale(problem), np.float64)
        info.update(_by_chance(ansatz.energies, energy, info["shots"], slack, stop))

    try:
        run_until(run.deadline, work, run.stop, grace=GRACE / 4)  # less than `solve` has
    except (OutOfTimeError, TooShortError):
        if not bests:
            note(_of_the_start(problem, origin, shots, draw_seed), shots)
            info["notes"] = [f"there was no time to train a circuit: these are {shots} shots of its start"]
        elif info["notes"] != [UNTRAINED]:
            info["notes"].append("time was up before all was measured")
    bests, info = list(bests), dict(info)  # work that was left behind may still hold these
    samples, features, energy = min(bests, key=lambda best: best[2])
    seconds = Run.now() - begin
    run.report(1.0, energy)
    info |= _advice(problem, run, energy, seconds)
    return Answer(samples=samples, features=features, info=info)


def _of_the_start(problem: SelectionProblem, origin: Choice | None, shots: int, seed: int) -> Best:
    """The best of so many shots of the start: a uniform feasible choice each, or always the same one."""
    if origin is not None:
        return np.array(origin[0]), np.array(origin[1]), problem.energy(*origin)
    samples, features = uniform_choices(problem, shots, np.random.default_rng(seed))
    energies = problem.energies(samples, features)
    best = int(energies.argmin())
    return samples[best], features[best], float(energies[best])


def _number(run: Run) -> int:
    return run.seed if isinstance(run.seed, int) else int(run.rng().integers(2**62))


def _by_chance(
    energies: NDArray[np.float64], energy: float, shots: int, slack: float, stop: Stop = NEVER
) -> dict[str, float]:
    """What uniform feasible choices would have given; energies within the slack are one."""
    flat = energies.ravel()
    size = flat.size
    count = min(size, 1 + CERTAIN * size // shots)  # the best of the shots is among so many of the lowest
    hits, levels = 0, np.empty(0)
    for part in parts(size, 1, stop):
        hits += int(np.count_nonzero(flat[part] <= energy + slack))
        levels = np.concatenate([levels, flat[part]])
        levels = np.partition(levels, count - 1)[:count] if levels.size > count else levels
    levels = np.sort(levels)
    rate = hits / size
    # it is among the lowest i with probability 1 - (1 - i/|Ω|)^shots
    missed = (1 - np.arange(count + 1) / size) ** shots
    expected = float(levels @ (missed[:-1] - missed[1:]))
    return {
        "above_optimum": max(0.0, energy - float(levels[0])),
        "random_hit_rate": rate,
        "random_finds_it": 1 - (1 - rate) ** shots,
        "random_above_optimum": max(0.0, expected - float(levels[0])),
    }


def _advice(problem: SelectionProblem, run: Run, energy: float, seconds: float) -> dict[str, str]:
    """What a classical solver does with the same problem, measured here and now; nothing where time is up."""
    if run.expired():
        return {}
    begin = Run.now()
    answer = SOLVERS.load("exact")(problem, Run(seed=0, deadline=min(run.deadline, begin + CLASSICAL)))
    took = 1e3 * (Run.now() - begin)
    gained = energy - problem.energy(answer.samples, answer.features)
    small = rounding_slack(energy_scale(problem), np.float64)
    if gained < -small:
        words = f"`exact` found nothing as good in {took:.3g} ms; give it longer before you trust this one."
        return {"advice": words}
    did = "proved the optimum" if answer.proven else "gave an answer with a bound"
    better = f", better than this one by {gained:.6g}," if gained > small else ""
    words = f"A classical solver is the better choice: `exact` {did}{better} in {took:.3g} ms"
    return {"advice": f"{words}; this took {seconds:.3g} s."}
