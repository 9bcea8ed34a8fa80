"""Penalty-X: QAOA that is not kept inside the budgets but punished for leaving them (Section S6).

All 2^(N+D) bit strings take part: the start is |+⟩ on every qubit, the mixer Σ X_q, and the cost is the problem's plus
λ((Σ s - k)² + (Σ f - m)²). The state is a 2^N × 2^D matrix, sample masks by feature masks, so mixing is one small
matrix from the left and one from the right.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem
from biselect.core.sector import subsets
from biselect.errors import InputError

__all__ = ["PenaltyX", "candidate_search"]

MAX_REGISTER = 12  # qubits: the mixing of a register is a 2^12 × 2^12 matrix, a quarter of a GiB
SCALE_FLOOR = 1e-6
CANDIDATES, SHOTS = 8, 512  # the paper's angle search


def coefficient_scale(problem: SelectionProblem) -> float:
    """c_Q: the largest coefficient of E(x) = x·Qx as a polynomial in bits, and at least 10⁻⁶."""
    q = problem.qubo()
    pairs = np.triu(q + q.T, k=1)
    return max(SCALE_FLOOR, float(np.abs(np.diag(q)).max()), float(np.abs(pairs).max()))


class PenaltyX:
    """The penalised problem as a circuit of depth p on all bit strings.

    Args:
        problem: whose energy is measured.
        depth: p; the angles are γ_1, β_1, γ_2, ….
        strength: λ / c_Q.

    >>> problem = SelectionProblem(coupling=np.arange(12.0).reshape(4, 3), k=2, m=1)
    >>> circuit = PenaltyX(problem, depth=1, strength=1.0)
    >>> round(circuit.feasibility([0.0, 0.0]) * 2**7)  # unturned, every string is as likely: 6·3 of 128 are feasible
    18
    """

    def __init__(self, problem: SelectionProblem, depth: int, strength: float) -> None:
        if problem.sample_rules or problem.feature_rules:
            raise InputError("penalties are set for budgets only; give a problem without rules")
        if depth < 1:
            raise InputError(f"depth must be at least 1, got {depth}")
        if not (np.isfinite(strength) and strength >= 0):
            raise InputError(f"strength (λ/c_Q) must be a number from 0 up, got {strength}")
        n, d = problem.n_samples, problem.n_features
        if max(n, d) > MAX_REGISTER:
            raise InputError(
                f"penalty-X needs all 2^{n + d} amplitudes; it stops at {MAX_REGISTER} qubits a register. Ansatz needs "
                "those of the feasible choices only"
            )
        self.problem, self.depth, self.strength = problem, depth, strength
        s, f = _bits(n), _bits(d)
        self.energies = -(s @ problem.sample_scores)[:, None] - f @ problem.feature_scores
        self.energies -= problem.coupling_weight * (s @ problem.coupling.astype(np.float64) @ f.T)
        excess = (s.sum(axis=1) - problem.k)[:, None] ** 2 + (f.sum(axis=1) - problem.m) ** 2
        self.cost = self.energies + strength * coefficient_scale(problem) * excess
        self._rows = (1 << subsets(n, problem.k)).sum(axis=1)
        self._columns = (1 << subsets(d, problem.m)).sum(axis=1)

    @property
    def size(self) -> int:
        """How many angles are free."""
        return 2 * self.depth

    def probabilities(self, angles: ArrayLike) -> NDArray[np.float64]:
        """Probability of every bit string, sample masks by feature masks."""
        given = np.asarray(angles, dtype=np.float64)
        if given.shape != (self.size,) or not np.isfinite(given).all():
            raise InputError(f"penalty-X at depth {self.depth} needs {self.size} finite angles, got {given}")
        state = np.full(self.cost.shape, self.cost.size**-0.5, dtype=np.complex128)
        for gamma, beta in given.reshape(-1, 2):
            state *= np.exp(-1j * gamma * self.cost)
            state = _mixing(self.problem.n_samples, beta) @ state @ _mixing(self.problem.n_features, beta)
        return state.real**2 + state.imag**2

    def ising(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Fields h_i and couplings J_ij (i < j) of the penalised cost, x = (1 - Z)/2, constants dropped.

        A budget's penalty λ(Σx - k)² is λ((1 - 2k)Σx + 2 Σ_{i<j} x_i x_j) up to a constant.
        """
        problem, n = self.problem, self.problem.n_samples
        weight = self.strength * coefficient_scale(problem)
        q = problem.qubo()
        linear = np.diag(q).copy()
        pairs = np.triu(q + q.T, k=1)
        for part, budget in ((slice(0, n), problem.k), (slice(n, None), problem.m)):
            linear[part] += weight * (1 - 2 * budget)
            block = pairs[part, part]
            pairs[part, part] = block + np.triu(np.full(block.shape, 2 * weight), k=1)
        return -(linear + (pairs + pairs.T).sum(axis=1) / 2) / 2, pairs / 4

    def expectation(self, angles: ArrayLike) -> float:
        """Mean of the penalised cost."""
        return float((self.probabilities(angles) * self.cost).sum())

    def filtered(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """What lies in the budgets, C(N, k) × C(D, m), in the order of `Ansatz.probabilities`; not rescaled."""
        return values[np.ix_(self._rows, self._columns)]

    def feasibility(self, angles: ArrayLike) -> float:
        """Probability of a bit string that meets both budgets."""
        return float(self.filtered(self.probabilities(angles)).sum())


def candidate_search(
    probabilities: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    cost: NDArray[np.float64],
    size: int,
    *,
    seed: int | np.random.Generator | None,
    candidates: int = CANDIDATES,
    shots: int = SHOTS,
) -> NDArray[np.float64]:
    """The best of a few random angle vectors in [0, π], judged by the mean cost of a few shots each.

    It asks for probabilities alone, so that circuits in the sector and on all bit strings get the same search.
    """
    rng = np.random.default_rng(seed)
    vectors = rng.uniform(0, np.pi, size=(candidates, size))
    means = []
    for vector in vectors:
        mass = probabilities(vector).ravel()
        counts = rng.multinomial(shots, mass / mass.sum())
        means.append(float(counts @ cost.ravel()) / shots)
    return np.asarray(vectors[int(np.argmin(means))])


def _bits(n: int) -> NDArray[np.float64]:
    """The bits of all masks, 2^n × n."""
    return ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1).astype(np.float64)


def _mixing(n: int, beta: float) -> NDArray[np.complex128]:
    """exp(-iβΣX) on n qubits: cos β for each bit that stays, -i sin β for each that flips."""
    flips = np.bitwise_count(np.arange(1 << n)[:, None] ^ np.arange(1 << n))
    powers = np.cos(beta) ** np.arange(n, -1, -1) * (-1j * np.sin(beta)) ** np.arange(n + 1)
    return np.asarray(powers[flips])
