"""What pays in a training for hit rates: parts of `multistart` and what was tried instead, at equal evaluations.

    python benchmarks/bench_strategies.py [INSTANCES] [EVALUATIONS]

On instances of the threshold panel, (12, 8, 3, 5), p = 3, fully grouped, canonical start. They are seeds 124 up: not
those that angles were learnt on (100 to 123), nor those that the result is judged by (below 100, `bench_training.py`).
Every variant has the same evaluations, in single precision. Printed are medians and geometric means over instances of
its hit rate over that of the first line: descents from random starts, each to its end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.training._descent import Lockstep
from biselect_quantum.circuits.training.first_angles import (
    is_phase,
    learnt_angles,
    random_start,
    redraw_some,
    units,
    widths,
)
from biselect_quantum.circuits.training.objectives import Objective
from biselect_quantum.circuits.training.strategies import HALVINGS, HOP, HOP_HALVINGS, SCREEN
from biselect_studies.data.synthetic import panel_problem
from biselect_studies.experiments.planted import evidence_threshold

FIRST, DEPTH = 124, 3
Pool = list[tuple[float, np.ndarray]]


class Trial:
    """One variant on one instance, until its evaluations are used up."""

    def __init__(self, ansatz: Ansatz, objective: Objective, evaluations: int) -> None:
        self.ansatz, self.objective, self.left = ansatz, objective, evaluations
        self.wide, self.rng = widths(ansatz, objective), np.random.default_rng(7)
        self.pool: Pool = []

    def descend(self, starts: Sequence[np.ndarray], rounds: int, halvings: Sequence[int] = ()) -> None:
        """Down from all starts; the best eight of all so far are kept."""
        steps = units(self.ansatz)
        lockstep = Lockstep(
            partial(self.objective.values_and_gradients, self.ansatz),
            np.array(starts[: self.left]),
            units=steps,
            reach=np.where(is_phase(self.ansatz), 2 * np.pi * steps, np.pi),
            tolerance=1e-6,
        )
        for done in range(1, rounds):
            if done in halvings:
                lockstep.keep((len(lockstep.live) + 1) // 2)
            lockstep.keep(self.left - int(lockstep.evaluations.sum()))
            lockstep.step()
        self.left -= int(lockstep.evaluations.sum())
        for found in lockstep.descents():
            if all(abs(found.value - value) > 1e-4 for value, _ in self.pool):
                self.pool.append((found.value, found.angles))
        self.pool = sorted(self.pool, key=lambda entry: entry[0])[:8]

    def fresh(self, number: int) -> list[np.ndarray]:
        """Random starts."""
        return [random_start(self.wide, self.rng) for _ in range(number)]

    def drawn(self) -> np.ndarray:
        """One of the best."""
        return self.pool[min(int(self.rng.geometric(0.5)) - 1, len(self.pool) - 1)][1]


def to_the_end(trial: Trial) -> None:
    """Descents from random starts, each to its end."""
    while trial.left > 0:
        trial.descend(trial.fresh(32), 60)


def halving(trial: Trial) -> None:
    """Screens alone."""
    while trial.left > 0:
        trial.descend(trial.fresh(128), SCREEN, HALVINGS)


def with_hops(trial: Trial, make: Callable[[Trial], np.ndarray], learnt: bool = False) -> None:
    """A screen, then hops."""
    known = learnt_angles(trial.ansatz, trial.objective)[:64] if learnt else []
    trial.descend([*known, *trial.fresh(128 - len(known))], SCREEN, HALVINGS)
    while trial.left > 0:
        trial.descend([make(trial) for _ in range(32)], HOP, HOP_HALVINGS)


def redrawn(trial: Trial) -> np.ndarray:
    """Some angles of one of the best drawn anew."""
    return redraw_some(trial.wide, trial.drawn(), trial.rng)


def kicked(trial: Trial) -> np.ndarray:
    """One of the best, with a random step of half a unit."""
    return trial.drawn() + 0.5 * trial.wide * trial.rng.normal(size=trial.ansatz.size)


def crossed(trial: Trial) -> np.ndarray:
    """Half the angles of one of the best, the rest of another."""
    both = np.stack([trial.drawn(), trial.pool[trial.rng.integers(len(trial.pool))][1]])
    mixed = both[trial.rng.integers(2, size=trial.ansatz.size), np.arange(trial.ansatz.size)]
    return mixed + 0.15 * trial.wide * trial.rng.normal(size=trial.ansatz.size)


VARIANTS: dict[str, Callable[[Trial], None]] = {
    "random starts, each to its end": to_the_end,
    "screens, the better half goes on": halving,
    "a screen, then hops: some angles drawn anew": partial(with_hops, make=redrawn),
    "a screen, then hops: a random step": partial(with_hops, make=kicked),
    "a screen, then hops: half of two": partial(with_hops, make=crossed),
    "learnt angles in the screen, then hops drawn anew": partial(with_hops, make=redrawn, learnt=True),
}


def main() -> None:
    """Run all variants on all instances and print a table."""
    instances = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    evaluations = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    rates = np.empty((len(VARIANTS), instances))
    for number in range(instances):
        seed = FIRST + number
        problem = panel_problem(seed=seed)
        ansatz = Ansatz(problem, DEPTH, start="canonical", backend="compiled", dtype=np.complex64)
        threshold = evidence_threshold(problem, DEPTH, seed).of(problem)
        objective = Objective.of("hit-rate", ansatz, threshold=threshold, share=0.05)
        for place, variant in enumerate(VARIANTS.values()):
            trial = Trial(ansatz, objective, evaluations)
            variant(trial)
            rates[place, number] = np.exp(-trial.pool[0][0])
        print(f"{number + 1} of {instances}", file=sys.stderr)
    print(f"{evaluations} evaluations, seeds {FIRST} to {FIRST + instances - 1}: hit rate over that of the first line")
    for name, ratio in zip(VARIANTS, rates / rates[0], strict=True):
        print(f"{name:52} median {np.median(ratio):.2f}, geometric mean {np.exp(np.log(ratio).mean()):.2f}")


if __name__ == "__main__":
    main()
