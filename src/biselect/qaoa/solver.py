"""`qaoa`: train angles, measure, keep the best choice seen; and say what chance and a classical solver would do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.qaoa.ansatz import Ansatz
from biselect.qaoa.training import backend_for, train
from biselect.simulate.memory import check_memory
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
    """CG-XY-QAOA on a simulator of the whole sector, which must fit into memory.

    Angles are trained for CVaR, then for the probability of energies as low as the best of the trained state's own
    shots; `shots` fresh ones are then measured. `info` says how, and:

    - `hit_rate`: probability, per shot, of an energy as low as the answer's;
    - `above_optimum`: how far the answer is above the exact optimum, which a simulator of the sector knows;
    - `random_hit_rate`, `random_finds_it`, `random_above_optimum`: the same for uniform feasible choices: per shot, the
      probability that as many shots reach the answer's energy, and how far above the optimum their best is expected;
    - `advice`: what a classical solver did in which time.

    Args:
        problem: what to solve.
        run: seed, deadline, progress.
        depth: p.
        schedule: see `Schedule.named`.
        mixer: ring, path or complete.
        start: dicke, canonical or random.
        shots: measured in the end.
        evaluations: of the objective while training.
        workers: descents at a time while training.
    """
    try:
        check_memory(problem.sector.size, np.complex64, states=2 * STATES)
    except InputError as error:
        raise InputError(f"solver 'qaoa' simulates every choice: {error}; solver 'auto' needs none of that") from None
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
    begin = Run.now()

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
    threshold = lowest[0] = ansatz.sample(coarse.angles, shots, drawn).best[2]
    fine = train(
        ansatz,
        strategy="polish",
        objective="hit-rate",
        threshold=threshold,
        starts=[coarse.angles],
        **means(COARSE, 1),
    )
    samples, features, energy = ansatz.sample(fine.angles, shots, measured).best
    run.improved(coarse.evaluations + fine.evaluations, problem.energy(samples, features))
    seconds = Run.now() - begin
    run.report(1.0, energy)
    info = {
        "depth": depth,
        "schedule": schedule,
        "angles": dict(zip(fine.angle_names, fine.angles.tolist(), strict=True)),
        "evaluations": coarse.evaluations + fine.evaluations,
        "shots": shots,
        "hit_rate": max(0.0, ansatz.hit_rate(fine.angles, energy)),
        **_by_chance(ansatz.energies, energy, shots),
        "notes": list(fine.notes),
        "advice": _advice(problem, run, energy, seconds),
    }
    return Answer(samples=samples, features=features, info=info)


def _number(run: Run) -> int:
    return run.seed if isinstance(run.seed, int) else int(run.rng().integers(2**62))


def _by_chance(energies: NDArray[np.float64], energy: float, shots: int) -> dict[str, float]:
    """What uniform feasible choices would have given."""
    levels = np.sort(energies, axis=None)
    size = len(levels)
    slack = 1e-12 * (1 + abs(energy))
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
    small = 1e-9 * (1 + abs(energy))
    if gained < -small:
        return f"`exact` found nothing as good in {took:.3g} ms; give it longer before you trust this one."
    did = "proved the optimum" if answer.proven else "gave an answer with a bound"
    better = f", better than this one by {gained:.6g}," if gained > small else ""
    return (
        f"A classical solver is the better choice: `exact` {did}{better} in {took:.3g} ms; this took {seconds:.3g} s."
    )
