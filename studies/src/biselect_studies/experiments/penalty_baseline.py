"""Penalty-X against QAOA that keeps the budgets: after the paper's short random search, and after training."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from biselect.solvers import solve
from biselect_quantum.circuits.ansatz import Ansatz
from biselect_studies.data.synthetic import gaussian_qubo
from biselect_studies.experiments import by_seed
from biselect_studies.quantum.penalty_x import PenaltyX, candidate_search
from biselect_studies.task import Cell

STRENGTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # λ / c_Q
HIT = 1e-9  # relative gap that counts as none


@by_seed
def penalty_baseline(cell: Cell, seed: int) -> dict[str, float]:
    """Probability of the optimum for both, feasibility and strength of penalty-X, `searched` and `trained`.

    Among strengths the one with the highest optimum probability counts, which favours penalty-X.
    """
    problem = gaussian_qubo(cell["N"], cell["D"], cell["k"], cell["m"], seed=seed)
    strict = Ansatz(problem, cell["p"], schedule="layerwise")
    optimum = float(strict.energies.min())
    goal = optimum + HIT * abs(optimum)
    best = strict.energies <= goal
    found = {"ascent": float(solve(problem, "coordinate-ascent", seed=seed, starts=1).energy <= goal)}
    searched = candidate_search(strict.probabilities, strict.energies, strict.size, seed=_stream(seed))
    for stage, angles in (("searched", searched), ("trained", _descend(strict.expectation, searched))):
        found[f"strict {stage}"] = float(strict.probabilities(angles)[best].sum())
    circuits = [PenaltyX(problem, cell["p"], strength) for strength in STRENGTHS]
    starts = [candidate_search(c.probabilities, c.cost, c.size, seed=_stream(seed)) for c in circuits]
    ends = [_descend(circuit.expectation, start) for circuit, start in zip(circuits, starts, strict=True)]
    for stage, vectors in (("searched", starts), ("trained", ends)):
        inside = [c.filtered(c.probabilities(angles)) for c, angles in zip(circuits, vectors, strict=True)]
        chances = [float(mass[best].sum()) for mass in inside]
        chosen = int(np.argmax(chances))
        found[f"penalty {stage}"] = chances[chosen]
        found[f"feasible {stage}"] = float(inside[chosen].sum())
        found[f"strength {stage}"] = STRENGTHS[chosen]
    return found


def _stream(seed: int) -> np.random.Generator:
    """The same candidates for every circuit of an instance, apart from the instance's own draws."""
    return np.random.default_rng([seed, 1])


def _descend(expectation: Callable[[NDArray[np.float64]], float], angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """To the nearest local minimum of the mean cost; the few angles allow differences for gradients."""
    return np.asarray(minimize(expectation, angles, method="L-BFGS-B", options={"maxiter": 100}).x)
