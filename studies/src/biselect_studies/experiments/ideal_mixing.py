"""The ideal continuous-time mixer exp(-iβ H_mix) at the price of a few product mixers."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem
from biselect_quantum.circuits.ansatz import Ansatz
from biselect_quantum.circuits.mixers import ring
from biselect_quantum.simulate.layers import ENERGY, Layers, Observable
from biselect_quantum.simulate.program import Classes

SLICES = 2
"""Symmetric steps of one mixing while angles are searched: at β ≤ 1 energies are then right to about a thousandth. The
library's `continuous` is exact, and takes forty times as long at (14, 10, 3, 3); what is found is read out there."""


class IdealRing(Ansatz):
    """Ring mixers in continuous time: each mixing is cut into symmetric steps, there and back through the classes."""

    def __init__(self, problem: SelectionProblem, depth: int, schedule: Any) -> None:
        mixer = tuple(_there_and_back(count) for count in (problem.n_samples, problem.n_features))
        super().__init__(problem, depth, schedule, mixer, backend="compiled")

    def layers(self, angles: ArrayLike) -> Layers:
        """Phases as they are; of the mixing what one pass through the classes does."""
        found = super().layers(angles)
        return replace(found, mixing=found.mixing / (2 * SLICES))

    def value_and_gradient(
        self, angles: ArrayLike, observable: Observable = ENERGY
    ) -> tuple[float, NDArray[np.float64]]:
        """As the base has it, where β counts in whole mixings."""
        value, found = self._simulator.value_and_gradient(self.layers(angles), self._start, observable)
        by_group = found.pair.reshape(len(found.pair), -1) @ self._by_pair
        return value, self.schedule.pull_back(np.column_stack([by_group, found.mixing / (2 * SLICES)]))

    def exact(self) -> Ansatz:
        """The same ansatz with the mixer itself, for reading out angles that were found."""
        return Ansatz(self.problem, self.schedule.depth, self.schedule.name, backend="continuous")


def _there_and_back(count: int) -> Classes:
    classes = ring(count)
    return (*classes, *reversed(classes)) * SLICES
