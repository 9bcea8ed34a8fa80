"""What training lowers: expected energy, CVaR, minus the logarithm of a hit rate, an observable, or a blend."""

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

SHOTS, OPTIMUM, CVAR, HITS = "shots", "optimum", "cvar", "hit-rate"
OBJECTIVES = (SHOTS, "energy", CVAR, HITS, OPTIMUM)
FLOOR = 1e-12  # added to a hit rate before its logarithm, so that p = 0 is a flat point and not an error


@dataclass(frozen=True, kw_only=True)
class Objective:
    """A weighted sum of parts, each lower where the state is better.

    Attributes:
        weights: weight of each part: `energy`, `cvar`, `hit-rate`, `observable`. The part of a hit rate is -log p.
        name: what was asked for: one of `OBJECTIVES`, `observable` or `blend`.
        threshold: at or below which an energy counts as a hit.
        share: of the distribution, over which CVaR is taken.
        centre: taken from energies before they enter a blend; zero where the objective has one part only.
        scale: by which they are divided: with these two they enter as -α, the same on every problem.
        unit: about how far values differ: the spread of energies, or 1 for logarithms and blends. With it a search and
            its tolerances are the same in any unit of energy.
        own: an observable whose expectation is lowered.
    """

    weights: Mapping[str, float]
    name: str
    threshold: float | None = None
    share: float = 0.05
    centre: float = 0.0
    scale: float = 1.0
    unit: float = 1.0
    own: Observable = ENERGY

    @classmethod
    def of(
        cls,
        objective: str | Mapping[str, float] | Observable,
        ansatz: Ansatz,
        *,
        threshold: float | None = None,
        share: float = 0.05,
    ) -> Objective:
        """The objective that a user names: one of `OBJECTIVES`, a mapping from some to weights, or an observable.

        `shots` is what training begins with then: CVaR; the threshold comes from the state's own shots.
        """
        if isinstance(objective, Observable):
            own = objective.of(ansatz.energies, 0.0) if objective.kind == "values" else None
            unit = float(np.ptp(own)) if own is not None else _energy_spread(ansatz.problem)
            return cls(weights={"observable": 1.0}, name="observable", own=objective, unit=unit or 1.0)
        weights, threshold, share = _checked(objective, threshold, share)
        name = next(iter(weights)) if len(weights) == 1 else "blend"
        if OPTIMUM in weights:
            threshold = float(ansatz.energies.min())
            weights[HITS] = weights.pop(OPTIMUM)
            name = OPTIMUM
        elif HITS in weights:
            name = HITS
        if SHOTS in weights:
            weights = {CVAR: 1.0}
        centre, scale, unit = 0.0, 1.0, 1.0
        if len(weights) == 1 and HITS not in weights:
            (weight,) = weights.values()
            unit = weight * _energy_spread(ansatz.problem)
        elif set(weights) & {"energy", CVAR}:
            centre = float(ansatz.energies.mean())
            reach = centre - float(ansatz.energies.min())
            if reach > rounding_slack(energy_scale(ansatz.problem), np.float64):
                scale = reach
        return cls(weights=weights, name=name, threshold=threshold, share=share, centre=centre, scale=scale, unit=unit)

    def value(self, ansatz: Ansatz, angles: NDArray[np.float64]) -> float:
        """The objective at some angles, without its gradient."""
        return sum(self._lowered(part, ansatz.expectation(angles, self.observable(part)))[0] for part in self.weights)

    def value_and_gradient(self, ansatz: Ansatz, angles: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The objective and its gradient by the free angles, (size,)."""
        total, slope = 0.0, np.zeros(angles.shape)
        for part in self.weights:
            value, by_angle = ansatz.value_and_gradient(angles, self.observable(part))
            lowered, factor = self._lowered(part, value)
            total += lowered
            slope += factor * by_angle
        return total, slope

    def _lowered(self, part: str, value: float) -> tuple[float, float]:
        """What a part adds to the objective, and the derivative of that by the part's own value."""
        weight = self.weights[part]
        if part == HITS:
            floored = max(value, 0.0) + FLOOR
            return -weight * float(np.log(floored)), -weight / floored
        return weight * (value - self.centre) / self.scale, weight / self.scale

    def observable(self, part: str) -> Observable:
        """What is measured for a part."""
        if part == HITS:
            assert self.threshold is not None
            return Observable(kind="hit", threshold=self.threshold)
        if part == "observable":
            return self.own
        return ENERGY if part == "energy" else Observable(kind="cvar", share=self.share)

    def describe(self) -> dict[str, Any]:
        """Plain data that tells objectives apart."""
        more = {} if self.name != "observable" else {"observable": self.own.describe()}
        own = {"name": self.name, "weights": dict(self.weights), "threshold": self.threshold, "share": self.share}
        return own | more


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
        raise InputError(f"an objective is a name, a mapping from names to weights or an Observable, got {objective!r}")
    shares = {objective: 1.0} if isinstance(objective, str) else dict(objective)
    if not shares or (unknown := [name for name in shares if name not in OBJECTIVES]):
        raise InputError(f"an objective must be made of {', '.join(OBJECTIVES)}; got {unknown if shares else 'none'}")
    weights = {name: number(f"the weight of {name}", weight) for name, weight in shares.items()}
    if not all(weight > 0 for weight in weights.values()):
        raise InputError(f"the weights of an objective must be positive numbers, got {shares}")
    if HITS in weights and OPTIMUM in weights:
        raise InputError("hit-rate and optimum are the same objective with two thresholds; give one of them")
    if SHOTS in weights and len(weights) > 1:
        raise InputError("shots finds a threshold of its own and cannot be blended; give it alone")
    goal = None if threshold is None else number("threshold", threshold, "a finite energy")
    if HITS in weights and goal is None:
        raise InputError("objective hit-rate needs a threshold: the energy at or below which a shot is a hit")
    part = number("share", share)
    if not 0 < part <= 1:
        raise InputError(f"share must lie in (0, 1], got {share}")
    return weights, goal, part
