"""`qaoa`: train angles, measure, keep the best choice seen; and say what chance and a classical solver would do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.checks import whole
from biselect.errors import InputError
from biselect.qaoa.ansatz import Ansatz
from biselect.qaoa.training import backend_for, train
from biselect.qaoa.wide_solver import by_wide_sampler
from biselect.simulate.backends import check_memory
from biselect.simulate.layers import energy_scale, rounding_slack
from biselect.solvers.exact import exact
from biselect.solvers.registry import Answer, Run

TRAINING = 0.8  # share of the time limit
COARSE = 0.75  # share of the evaluations for CVaR, the rest for the hit rate
CLASSICAL = 2.0  # seconds that the classical solver gets to show what it can do
STATES = 3  # what training and its figures need at a time: state, adjoint, energies


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

    Angles are trained for CVaR, then for the probability of energies as low as the best of the trained state's own
    shots, and the state is measured again; the best choice of both measurements is the answer. `info` says how, and:

    - `shots`: those of both measurements;
    - `hit_rate`: probability, per shot, of an energy as low as the answer's;
    - `above_optimum`: how far the answer is above the exact optimum, which a simulator of the sector knows;
    - `random_hit_rate`, `random_finds_it`, `random_above_optimum`: the same for uniform feasible choices: per shot, the
      probability that as many shots reach the answer's energy, and how far above the optimum their best is expected;
    - `advice`: what a classical solver did in which time.

    Beyond memory see `by_wide_sampler`: from the greedy choice (start `dicke` is none there) a few angles are tried and
    measured. `info` then has `method`, `start_energy`, `largest_bond`, `random_energy` (the best of as many uniform
    feasible choices) and a `hit_rate` counted in shots, and nothing of an optimum that nobody knows.

    Args:
        problem: what to solve.
        run: seed, deadline, progress.
        depth: p, how many layers.
        schedule: see `Schedule.named`.
        mixer: ring, path or complete.
        start: dicke, canonical or random.
        shots: of each of the two measurements.
        evaluations: of the objective while training; 24 at most beyond memory.
        workers: descents at a time while training.
    """
    depth, shots, evaluations, workers = (
        whole(name, value)
        for name, value in (("depth", depth), ("shots", shots), ("evaluations", evaluations), ("workers", workers))
    )
    begin = Run.now()
    try:
        check_memory(problem.sector.size, np.complex64, states=2 * STATES)
    except InputError:
        answer = by_wide_sampler(
            problem,
            run,
            depth=depth,
            schedule=schedule,
            mixer=mixer,
            start=start,
            shots=shots,
            evaluations=evaluations,
        )
        energy = problem.energy(answer.samples, answer.features)
        return replace(answer, info={**answer.info, "advice": _advice(problem, run, energy, Run.now() - begin)})
    ansatz = Ansatz(
        problem,
        depth,
        schedule,
        mixer,
        start,
        backend=backend_for(problem, depth, evaluations),
        seed=run.rng() if start == "random" else None,
    )
    seed, drawn, measured = (int(part) for part in np.random.SeedSequence(_number(run)).generate_state(3))

    def means(first: float, last: float) -> dict[str, Any]:
        """Budget of a part of the training."""
        limit = run.deadline - begin
        left = None if limit == np.inf else max(1e-3, TRAINING * last * limit - (Run.now() - begin))
        return {
            "evaluations": max(1, round((last - first) * evaluations)),
            "seconds": left,
            "progress": lambda done, value: run.report(TRAINING * (first + done * (last - first)), lowest[0]),
            "seed": seed,
            "workers": workers,
        }

    lowest = [float(ansatz.energies.mean())]
    coarse = train(ansatz, objective="cvar", **means(0, COARSE))
    first = ansatz.sample(coarse.angles, shots, drawn).best
    lowest[0] = first[2]
    fine = train(
        ansatz,
        strategy="polish",
        objective="hit-rate",
        threshold=first[2],
        starts=[coarse.angles],
        **means(COARSE, 1),
    )
    last = ansatz.sample(fine.angles, shots, measured).best
    samples, features, energy = min(first, last, key=lambda found: found[2])
    run.improved(coarse.evaluations + fine.evaluations, problem.energy(samples, features))
    seconds = Run.now() - begin
    run.report(1.0, energy)
    info = {
        "depth": depth,
        "schedule": schedule,
        "angles": dict(zip(fine.angle_names, fine.angles.tolist(), strict=True)),
        "evaluations": coarse.evaluations + fine.evaluations,
        "shots": 2 * shots,
        "hit_rate": ansatz.hit_rate(fine.angles, energy),
        **_by_chance(ansatz.energies, energy, 2 * shots, rounding_slack(energy_scale(problem), np.float64)),
        "notes": list(fine.notes),
        "advice": _advice(problem, run, energy, seconds),
    }
    return Answer(samples=samples, features=features, info=info)


def _number(run: Run) -> int:
    return run.seed if isinstance(run.seed, int) else int(run.rng().integers(2**62))


def _by_chance(energies: NDArray[np.float64], energy: float, shots: int, slack: float) -> dict[str, float]:
    """What uniform feasible choices would have given; energies within the slack are one."""
    levels = np.sort(energies, axis=None)
    size = len(levels)
    rate = float(np.searchsorted(levels, energy + slack, side="right")) / size
    # the best of the shots is among the lowest i with probability 1 - (1 - i/|Ω|)^shots
    missed = (1 - np.arange(size + 1) / size) ** shots
    expected = float(levels @ (missed[:-1] - missed[1:]))
    return {
        "above_optimum": max(0.0, energy - float(levels[0])),
        "random_hit_rate": rate,
        "random_finds_it": 1 - (1 - rate) ** shots,
        "random_above_optimum": max(0.0, expected - float(levels[0])),
    }


def _advice(problem: SelectionProblem, run: Run, energy: float, seconds: float) -> str:
    """What a classical solver does with the same problem, measured here and now."""
    begin = Run.now()
    answer = exact(problem, Run(seed=0, deadline=min(run.deadline, begin + CLASSICAL)))
    took = 1e3 * (Run.now() - begin)
    gained = energy - problem.energy(answer.samples, answer.features)
    small = rounding_slack(energy_scale(problem), np.float64)
    if gained < -small:
        return f"`exact` found nothing as good in {took:.3g} ms; give it longer before you trust this one."
    did = "proved the optimum" if answer.proven else "gave an answer with a bound"
    better = f", better than this one by {gained:.6g}," if gained > small else ""
    return (
        f"A classical solver is the better choice: `exact` {did}{better} in {took:.3g} ms; this took {seconds:.3g} s."
    )
