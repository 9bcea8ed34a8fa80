"""Exact figures of a trained circuit over depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biselect_quantum.simulate.layers import Observable, energy_scale

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz
    from biselect_quantum.circuits.training.records import Training


class DepthFigures(NamedTuple):
    """Exact figures of a trained circuit at one depth; depth 0 is the start state.

    Attributes:
        depth: p, how many layers.
        energy: expected energy.
        approximation: α, 0 for uniform sampling and 1 for the optimum.
        optimum_mass: p_opt, the probability of the optimum in one shot.
        uniform_mass: the same for a uniform feasible choice.
    """

    depth: int
    energy: float
    approximation: float
    optimum_mass: float
    uniform_mass: float


def by_depth(ansatz: Ansatz, trained: Training) -> list[DepthFigures]:
    """Exact energy, α and p_opt of every depth of a training, the start state first.

    A training with `strategy="ladder"` has all depths from 1 on, any other one its own.

    Returns:
        One figure for each depth, depth 0 first; p_opt from 0 to 1, energies in units of the problem.
    """
    energies = ansatz.energies
    mean, best = float(energies.mean()), float(energies.min())
    hits = Observable(kind="hit", threshold=best)
    uniform = float(hits.of(energies, energy_scale(ansatz.problem)).mean())
    stages = {stage.depth: stage.angles for stage in trained.stages if stage.schedule == trained.schedule}
    figures = []
    for depth, angles in sorted({0: None, **stages}.items()):
        circuit = ansatz if angles is None else ansatz.at_depth(depth, trained.schedule)
        vector = np.zeros(circuit.size) if angles is None else angles
        energy = circuit.expectation(vector)
        alpha = (mean - energy) / (mean - best) if mean > best else 1.0
        rate = min(1.0, max(0.0, circuit.expectation(vector, hits)))
        figures.append(DepthFigures(depth, energy, alpha, rate, uniform))
    return figures
