"""The spectral bound: strong where budgets take a large part of both sides, and done in one decomposition.

With s and f the indicators of a choice, s = k/N + s' and f = m/D + f', where s' and f' are orthogonal to the vector of
ones and have lengths √(k(1 - k/N)) and √(m(1 - m/D)). The score is

    const + ρ·s' + γ·f' + s'·W_c f'

with W_c the doubly centred weights and ρ, γ the centred marginals of both sides. Its maximum over all vectors of those
lengths is bounded by Lagrange multipliers μ, ν of the two lengths: for μν > σ₁²/4 the maximum without them is a
quadratic form that the singular vectors of W_c take apart, one pair at a time.

Rounding is outward: all that is computed here is off by less than 1e-9 of k·m times the largest number.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biselect.solvers.registry import Run
from biselect.solvers.response import SideProblem

MOST_CELLS = 4_000_000
CELLS_A_SECOND = 1e8  # of the decomposition, for each item of the shorter side
MARGIN = 1e-9
CLOSEST = math.log(1e-5)  # how close μν may come to σ₁²/4, as a share of it


def spectral_bound(task: SideProblem, run: Run) -> float:
    """No choice scores more than this; inf where the table is too large for it, or one side is chosen whole."""
    d, n = task.lines.shape
    seconds = n * d * min(n, d) / CELLS_A_SECOND
    if n * d > MOST_CELLS or task.choose == d or task.keep == n or run.deadline - Run.now() < seconds:
        return math.inf
    with np.errstate(over="ignore"):
        size = task.keep * task.choose * task.largest
        size += task.keep * task.largest_base + task.choose * max(task.highest[2], -task.lowest[2])
    if not 0 < size < 2.0**1000:
        return math.inf
    exponent = math.frexp(size)[1]
    form = _centred(task, exponent)
    bound = form.constant + form.lowest() + 2 * MARGIN
    try:
        return math.ldexp(bound, exponent) + (task.keep * task.choose + 2) * 5e-324  # what vanishes among denormals
    except OverflowError:
        return math.inf


@dataclass(frozen=True, kw_only=True, eq=False)
class _Form:
    """The score as a constant, two linear parts and singular values; lengths are squared."""

    constant: float
    values: NDArray[np.float64]
    rows: NDArray[np.float64]
    lines: NDArray[np.float64]
    row_length: float
    line_length: float
    beyond: tuple[float, float]

    def at(self, x: NDArray[np.float64]) -> float:
        """The bound, less its constant, at μν = σ₁²/4·(1 + e^x₀) and μ/ν = e^2x₁."""
        top = float(self.values[0] ** 2) / 4 or 1e-30
        root = math.sqrt(top * (1 + math.exp(x[0])))
        mu, nu = root * math.exp(x[1]), root * math.exp(-x[1])
        s, p, q = self.values, self.rows, self.lines
        pairs = float(((nu * p * p + s * p * q + mu * q * q) / (mu * nu - s * s / 4)).sum())
        total = pairs + self.beyond[0] / mu + self.beyond[1] / nu
        return (mu * self.row_length + nu * self.line_length + total / 4) * (1 + MARGIN)

    def lowest(self) -> float:
        """The smallest bound that is found; every point gives a valid one."""
        from scipy.optimize import minimize

        limits = ((CLOSEST, 60.0), (-30.0, 30.0))
        ratio = math.log(self.line_length / self.row_length) / 2
        starts = (np.array([x, ratio]) for x in (-3.0, 1.0))
        return min(
            float(minimize(self.at, x, method="Nelder-Mead", bounds=limits, options={"maxiter": 80}).fun)
            for x in starts
        )


def _centred(task: SideProblem, exponent: int) -> _Form:
    """All parts, in units of 2^exponent."""
    weights = np.ldexp(task.scale * task.lines.astype(np.float64), -exponent)
    base, line_scores = np.ldexp(task.base, -exponent), np.ldexp(task.line_scores, -exponent)
    (d, n), m, k = weights.shape, task.choose, task.keep
    of_rows, of_lines = base + m * weights.mean(axis=0), line_scores + k * weights.mean(axis=1)
    constant = k * float(base.mean()) + m * float(line_scores.mean()) + k * m * float(weights.mean())
    centred = weights - weights.mean(axis=0) - weights.mean(axis=1)[:, None] + weights.mean()
    rho, gamma = of_rows - of_rows.mean(), of_lines - of_lines.mean()
    row_vectors, values, column_vectors = np.linalg.svd(centred, full_matrices=False)
    p, q = column_vectors @ rho, row_vectors.T @ gamma
    beyond = max(0.0, float(rho @ rho - p @ p)), max(0.0, float(gamma @ gamma - q @ q))
    return _Form(
        constant=constant,
        values=values,
        rows=p,
        lines=q,
        row_length=k * (1 - k / n),
        line_length=m * (1 - m / d),
        beyond=beyond,
    )
