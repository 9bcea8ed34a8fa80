"""What training lowers: expected energy, CVaR, minus the logarithm of a hit rate, or a blend of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.checks import number
from biselect.errors import InputError
from biselect_quantum.circuits.cost_groups import spread
from biselect_quantum.simulate.layers import ENERGY, Observable, energy_scale, rounding_slack

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz

OBJECTIVES = ("energy", "cvar", "hit-rate", "optimum")
FLOOR = 1e-12  # added to a hit rate before its logarithm, so that p = 0 is a flat point and not an error


@dataclass(frozen=True, kw_only=True)
class Objective:
    """A weighted sum of parts, each lower where the state is better.

    Attributes:
        weights: weight of each part: `energy`, `cvar`, `hit-rate`. The part of a hit rate is -log p.
        threshold: at or below which an energy counts as a hit.
        share: of the distribution, over which CVaR is taken.
        centre: taken from energies before they enter a blend; zero where the objective has one part only.
        scale: by which they are divided: with these two they enter as -α, the same on every problem.
        unit: about how far values differ: the spread of energies, or 1 for logarithms and blends. With it a search and
            its tolerances are the same in any unit of energy.
    """

    weights: Mapping[str, float]
    threshold: float | None = None
    share: float = 0.05
    centre: float = 0.0
    scale: float = 1.0
    unit: float = 1.0

    @classmethod
    def of(
        cls, objective: str | Mapping[str, float], ansatz: Ansatz, *, threshold: float | None, share: float
    ) -> Objective:
        """The objective that a user names: one of `OBJECTIVES`, or a mapping from some of them to weights."""
        weights, threshold, share = _checked(objective, threshold, share)
        if "optimum" in weights:
            threshold = float(ansatz.energies.min())
            weights["hit-rate"] = weights.pop("optimum")
        centre, scale, unit = 0.0, 1.0, 1.0
        if len(weights) == 1 and "hit-rate" not in weights:
            (weight,) = weights.values()
            unit = weight * _energy_spread(ansatz.problem)
        elif set(weights) & {"energy", "cvar"}:
            centre = float(ansatz.energies.mean())
            reach = centre - float(ansatz.energies.min())
            if reach > rounding_slack(energy_scale(ansatz.problem), np.float64):
                scale = reach
        return cls(weights=weights, threshold=threshold, share=share, centre=centre, scale=scale, unit=unit)

    def value(self, ansatz: Ansatz, angles: NDArray[np.float64]) -> float:
        """The objective at some angles, without its gradient."""
        parts = {part: np.array([ansatz.expectation(angles, self.observable(part))]) for part in self.weights}
        return float(sum(self._lowered(part, values)[0][0] for part, values in parts.items()))

    def values_and_gradients(
        self, ansatz: Ansatz, angles: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The objective and its gradient by the free angles for a batch, (batch, size)."""
        total, slope = np.zeros(len(angles)), np.zeros(angles.shape)
        for part in self.weights:
            values, by_angle = ansatz.many_with_gradients(angles, self.observable(part))
            lowered, factor = self._lowered(part, values)
            total += lowered
            slope += factor[:, None] * by_angle
        return total, slope

    def _lowered(self, part: str, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What a part adds to the objective, and the derivative of that by the part's own value."""
        weight = self.weights[part]
        if part == "hit-rate":
            floored = np.maximum(values, 0.0) + FLOOR
            return -weight * np.log(floored), -weight / floored
        return weight * (values - self.centre) / self.scale, np.full(len(values), weight / self.scale)

    def observable(self, part: str) -> Observable:
        """What is measured for a part."""
        if part == "hit-rate":
            assert self.threshold is not None
            return Observable(kind="hit", threshold=self.threshold)
        return ENERGY if part == "energy" else Observable(kind="cvar", share=self.share)

    def describe(self) -> dict[str, Any]:
        """Plain data that tells objectives apart."""
        return {"weights": dict(self.weights), "threshold": self.threshold, "share": self.share}


def _energy_spread(problem: SelectionProblem) -> float:
    """About the standard deviation of all energies; the size of the energies where they are all alike."""
    k, m, pairs = problem.k, problem.m, problem.coupling_weight * problem.coupling.astype(np.float64)
    terms = ((k, problem.sample_scores), (m, problem.feature_scores), (k * m, pairs))
    return sum(np.sqrt(count) * spread(part) for count, part in terms) or energy_scale(problem) or 1.0


def _checked(
    objective: str | Mapping[str, float], threshold: float | None, share: float
) -> tuple[dict[str, float], float | None, float]:
    """The three as plain numbers, once they make sense."""
    if not isinstance(objective, str | Mapping):
        raise InputError(f"an objective is a name or a mapping from names to weights, got {objective!r}")
    shares = {objective: 1.0} if isinstance(objective, str) else dict(objective)
    if not shares or (unknown := [name for name in shares if name not in OBJECTIVES]):
        raise InputError(f"an objective must be made of {', '.join(OBJECTIVES)}; got {unknown if shares else 'none'}")
    weights = {name: number(f"the weight of {name}", weight) for name, weight in shares.items()}
    if not all(weight > 0 for weight in weights.values()):
        raise InputError(f"the weights of an objective must be positive numbers, got {shares}")
    if "hit-rate" in weights and "optimum" in weights:
        raise InputError("hit-rate and optimum are the same objective with two thresholds; give one of them")
    goal = None if threshold is None else number("threshold", threshold, "a finite energy")
    if "hit-rate" in weights and goal is None:
        raise InputError("objective hit-rate needs a threshold: the energy at or below which a shot is a hit")
    part = number("share", share)
    if not 0 < part <= 1:
        raise InputError(f"share must lie in (0, 1], got {share}")
    return weights, goal, part
