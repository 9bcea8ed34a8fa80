"""Instances with known answers: the paper's benchmark, planted blocks, QAOA instances, mechanisms, Gaussian QUBOs.

Where the paper leaves a generator open, the constants here are those that reproduce its tables (see each function).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biselect.columns.distribution import exact_distribution, fit_scale
from biselect.core import SelectionProblem
from biselect.core.sector import check_budget
from biselect.errors import InputError
from biselect.weights.paper import paper_marginals
from biselect.weights.scoring import Marginals


def bounded_marginals(
    W: NDArray[np.float64], Z: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """a_i = max_j W_ij, as the paper's, and b_j = std_i W_ij, in the units of W and at most half the cap."""
    return W.max(axis=1), W.std(axis=0)


def no_marginals(W: NDArray[np.float64], Z: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Zeros: the bilinear score alone."""
    return np.zeros(W.shape[0]), np.zeros(W.shape[1])


MARGINALS: dict[str, Marginals] = {"paper": paper_marginals, "bounded": bounded_marginals, "none": no_marginals}
"""By the name that cells of studies have for them."""


__all__ = [
    "Planted",
    "benchmark",
    "depth_problem",
    "gaussian_qubo",
    "panel_problem",
    "planted_block",
    "planted_problem",
]

Seed = int | np.random.Generator | None
Size = tuple[int, int, int, int]  # N, D, k, m
Draw = Callable[[np.random.Generator, tuple[int, ...]], NDArray[np.float64]]

NOMINAL_SPREAD = 0.5
ANOMALY_SHIFT = 3.0
ANOMALY_SPREAD = 0.3

DEPTH_SIZE: Size = (14, 10, 3, 3)
PANEL_SIZE: Size = (12, 8, 3, 5)
PANEL_COUPLINGS = 10
PANEL_DEGREE = 2

MECHANISMS = ("shared-support", "redundant-decoys", "proxy-burden")
REFERENCE_ROWS = 200
REFERENCE_SPIKES, POOL_SPIKES = 0.05, 0.10  # shares of entries of an inactive feature that are spikes
SPIKE = 4.0
DECOYS = 2
DECOY_NOISE = 0.3
PROXY_LOADING = 0.8

RESIDUALS: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "laplace": lambda rng, shape: rng.laplace(size=shape),
    "student-t": lambda rng, shape: rng.standard_t(3, size=shape),
    "cauchy": lambda rng, shape: rng.standard_cauchy(size=shape),
}
"""Centred residuals of unit scale; all but the first are heavy-tailed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Planted:
    """Weights with a known block.

    Attributes:
        residuals: Z, standardised values.
        weights: W, N × D.
        samples: S*, ascending.
        features: F*, ascending; may be more or fewer than a selector's m.
    """

    residuals: NDArray[np.float64]
    weights: NDArray[np.float64]
    samples: NDArray[np.int64]
    features: NDArray[np.int64]

    def problem(self, k: int, m: int, *, marginals: str = "none") -> SelectionProblem:
        """The selection problem of these weights with λ = 1."""
        a, b = MARGINALS[marginals](self.weights, self.residuals)
        return SelectionProblem(coupling=self.weights, sample_scores=a, feature_scores=b, k=k, m=m)


def benchmark(
    n_samples: int,
    n_features: int,
    k: int,
    noise_fraction: float,
    *,
    seed: Seed,
    residuals: str = "normal",
    scale: str = "pool",
) -> Planted:
    """The synthetic benchmark of Table joint_vs_sequential_practical.

    Entries are N(0, 0.5²). On k samples and (1 - ν)·D informative features they are N(±3, 0.3²) instead, each cell
    with a sign of its own. Z uses mean and standard deviation of the pool itself, which planted cells inflate;
    `W = |Z|`.

    Args:
        n_samples: N, how many samples there are.
        n_features: D, how many features there are.
        k: planted samples.
        noise_fraction: ν, the share of features without signal.
        seed: fixes the instance.
        residuals: distribution of the entries outside the block, one of `RESIDUALS`.
        scale: rows that Z takes mean and standard deviation from: the whole `pool`, or the `nominal` ones.
    """
    check_budget("k", k, n_samples, "samples")
    if n_samples < 2 or (scale == "nominal" and n_samples - k < 2):
        raise InputError("mean and standard deviation need at least two rows to be taken from")
    if not 0 <= noise_fraction <= 1:
        raise InputError(f"noise_fraction (ν) must lie in 0..1, got {noise_fraction:g}")
    if scale not in ("pool", "nominal"):
        raise InputError(f"scale must be pool or nominal, got {scale!r}")
    rng = np.random.default_rng(seed)
    X = NOMINAL_SPREAD * _draw(residuals)(rng, (n_samples, n_features))
    samples = _subset(rng, n_samples, k)
    informative = round((1 - noise_fraction) * n_features)
    check_budget("the informative features", informative, n_features, "features")
    features = _subset(rng, n_features, informative)
    X[np.ix_(samples, features)] = _anomalous(rng, (k, informative))
    rows = X if scale == "pool" else np.delete(X, samples, axis=0)
    Z = (X - rows.mean(axis=0)) / rows.std(axis=0)
    return Planted(residuals=Z, weights=np.abs(Z), samples=samples, features=features)


def planted_block(
    n_samples: int,
    n_features: int,
    k: int,
    m: int,
    signal: float,
    *,
    seed: Seed,
    residuals: str = "normal",
    correlation: float = 0.0,
    clip: float = np.inf,
    mode: str = "residual",
    place: str = "random",
) -> Planted:
    """The planted model of the recovery theory: Z = μ·1[S*×F*] + noise, W = Z.

    Args:
        n_samples: N, how many samples there are.
        n_features: D, how many features there are.
        k: planted samples.
        m: planted features.
        signal: μ.
        seed: fixes the instance.
        residuals: distribution of the noise, one of `RESIDUALS`.
        correlation: r between two samples of one feature, for normal noise.
        clip: τ, at which the noise is clipped before the signal is added (Cor clipped-residual-recovery).
        mode: `residual`, or `mixed`, which adds a rank-one u·vᵀ with u, v ~ U(0, 1).
        place: `random`, or `first` for the first k samples and m features (the paper's depth study).
    """
    check_budget("k", k, n_samples, "samples")
    check_budget("m", m, n_features, "features")
    if not 0 <= correlation < 1 or (correlation and residuals != "normal"):
        raise InputError(f"correlation is for normal noise and must lie in 0..1, got {correlation:g} with {residuals}")
    if mode not in ("residual", "mixed"):
        raise InputError(f"mode must be residual or mixed, got {mode!r}")
    if place not in ("random", "first"):
        raise InputError(f"place must be random or first, got {place!r}")
    rng = np.random.default_rng(seed)
    Z = _draw(residuals)(rng, (n_samples, n_features))
    if correlation:
        shared = rng.normal(size=n_features)
        Z = np.sqrt(1 - correlation) * Z + np.sqrt(correlation) * shared
    Z = np.clip(Z, -clip, clip)
    if mode == "mixed":
        Z += np.outer(rng.random(n_samples), rng.random(n_features))
    samples, features = np.arange(k), np.arange(m)
    if place == "random":
        samples, features = _subset(rng, n_samples, k), _subset(rng, n_features, m)
    Z[np.ix_(samples, features)] += signal
    return Planted(residuals=Z, weights=Z.copy(), samples=samples, features=features)


def planted_problem(
    size: Size,
    signal: float,
    *,
    seed: Seed,
    mode: str = "residual",
    place: str = "random",
    absolute: bool = False,
    couplings: int | None = None,
    degree: int = PANEL_DEGREE,
) -> SelectionProblem:
    """A planted block as a selection problem of the QAOA studies, with the paper's marginals and λ = 1.

    The paper leaves its instances open; of many recipes tried, this and the two below come closest to its tables.

    Args:
        size: N, D, k, m.
        signal: μ.
        seed: fixes the instance.
        mode: `residual` or `mixed`, see `planted_block`.
        place: `random` or `first`, see `planted_block`.
        absolute: whether `W = |Z|` instead of Z.
        couplings: how many of the heaviest couplings are kept; None for all. Marginals are those of all of them.
        degree: how many kept couplings a sample or a feature may have.

    >>> planted_problem((5, 4, 2, 2), 2.0, seed=0, couplings=3).coupling.astype(bool).sum()
    np.int64(3)
    """
    n, d, k, m = size
    block = planted_block(n, d, k, m, signal, seed=seed, mode=mode, place=place)
    if absolute:
        block = replace(block, weights=np.abs(block.residuals))
    problem = block.problem(k, m, marginals="paper")
    return problem if couplings is None else replace(problem, coupling=heaviest(block.weights, couplings, degree))


def depth_problem(signal: float, mode: str, *, seed: Seed, size: Size = DEPTH_SIZE) -> SelectionProblem:
    """An instance of the depth family: W = Z, and the block is the first k samples and m features.

    A block at random places gives a higher α and a far higher probability of the optimum.
    """
    return planted_problem(size, signal, seed=seed, mode=mode, place="first")


def panel_problem(*, seed: Seed, size: Size = PANEL_SIZE, signal: float = 3.0) -> SelectionProblem:
    """An instance of the best-known-threshold panel: `W = |Z|`, a random block, ten couplings of degree two at most."""
    return planted_problem(size, signal, seed=seed, absolute=True, couplings=PANEL_COUPLINGS, degree=PANEL_DEGREE)


def heaviest(weights: NDArray[np.float64], count: int, degree: int) -> NDArray[np.float64]:
    """The heaviest couplings, taken one by one while neither end has `degree` of them; all others are zero."""
    if count < 1 or degree < 1:
        raise InputError(f"couplings and degree must be at least 1, got {count} and {degree}")
    kept = np.zeros_like(weights)
    rows, columns = np.zeros(weights.shape[0], dtype=int), np.zeros(weights.shape[1], dtype=int)
    for cell in np.argsort(-weights, axis=None, kind="stable"):
        i, j = divmod(int(cell), weights.shape[1])
        if rows[i] < degree and columns[j] < degree:
            kept[i, j] = weights[i, j]
            rows[i] += 1
            columns[j] += 1
            if rows.sum() == count:
                return kept
    raise InputError(
        f"{count} couplings of degree {degree} at most were asked for; {weights.shape[0]} samples and "
        f"{weights.shape[1]} features leave room for {int(rows.sum())}: take fewer couplings or a larger degree"
    )


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """A kind of pool in which one reason for or against joint selection is at work.

    The paper names the mechanisms and prints lifts, but no generator. These are plain pools with the properties that
    it names, made so that the lifts come out as its own.

    Attributes:
        name: `shared-support`: all anomalies stand out in the same few features, the other features have spikes in
            rows of their own, more often than in the reference. `redundant-decoys`: besides, two of the others are
            near copies of one another, spikes and all. `proxy-burden`: besides, some of the others follow an active
            feature, its anomalies too.
        n_samples: N, how many samples there are.
        n_features: D, how many features there are.
        k: anomalies.
        active: features in which they stand out.
        shift: by how much, in nominal standard deviations.
        burden: share of the other features that are proxies, for `proxy-burden`.
    """

    name: str
    n_samples: int = 40
    n_features: int = 15
    k: int = 4
    active: int = 4
    shift: float = 3.0
    burden: float = 0.5

    def __post_init__(self) -> None:
        if self.name not in MECHANISMS:
            raise InputError(f"there is no mechanism {self.name!r}; choose one of: {', '.join(MECHANISMS)}")
        check_budget("k", self.k, self.n_samples, "samples")
        check_budget("active", self.active, self.n_features, "features")
        if not 0 <= self.burden <= 1:
            raise InputError(f"burden is a share and must lie in 0..1, got {self.burden:g}")

    def draw(self, *, seed: Seed, center: str) -> Planted:
        """A pool with W = |Z|, Z taken against a reference without anomalies (`center`: mean, or median and MAD)."""
        rng = np.random.default_rng(seed)
        order = rng.permutation(self.n_features)
        active, others = np.sort(order[: self.active]), order[self.active :]
        samples = _subset(rng, self.n_samples, self.k)
        reference = self._nominal(rng, REFERENCE_ROWS, others, REFERENCE_SPIKES)
        pool = self._nominal(rng, self.n_samples, others, POOL_SPIKES)
        pool[np.ix_(samples, active)] += self.shift * rng.choice([-1.0, 1.0], size=self.active)
        if self.name == "proxy-burden":
            for X in (reference, pool):
                self._follow(X, active, others)
        Z = fit_scale([exact_distribution(column) for column in reference.T], center).residuals(pool)
        return Planted(residuals=Z, weights=np.abs(Z), samples=samples, features=active)

    def _nominal(
        self, rng: np.random.Generator, rows: int, others: NDArray[np.int64], spikes: float
    ) -> NDArray[np.float64]:
        X = rng.normal(size=(rows, self.n_features))
        shape = (rows, others.size)
        X[:, others] += SPIKE * rng.choice([-1.0, 1.0], size=shape) * (rng.random(shape) < spikes)
        if self.name == "redundant-decoys":
            X[:, others[:DECOYS]] = X[:, others[:1]] + DECOY_NOISE * rng.normal(size=(rows, DECOYS))
        return X

    def _follow(self, X: NDArray[np.float64], active: NDArray[np.int64], others: NDArray[np.int64]) -> None:
        """Turn a share of the other features into proxies."""
        rest = np.sqrt(1 - PROXY_LOADING**2)
        for position, proxy in enumerate(others[: round(self.burden * others.size)]):
            X[:, proxy] = PROXY_LOADING * X[:, active[position % self.active]] + rest * X[:, proxy]


def gaussian_qubo(
    n_samples: int, n_features: int, k: int, m: int, *, seed: Seed, coupling_weight: float = 1.0
) -> SelectionProblem:
    """The seeded Gaussian QUBO generator of the hardware studies (Section S5).

    min(3k, ⌊N/3⌋) anomalous rows have entries N(±3, 0.3²), the rest N(0, 0.5²). Sample scores are Mahalanobis
    distances, feature scores variances, cross weights (X_ij - X̄_j)²(Σ̂⁻¹)_jj; each is divided by its largest value.
    """
    if n_samples < 2:
        raise InputError("a covariance needs at least two samples")
    rng = np.random.default_rng(seed)
    anomalous = min(3 * k, n_samples // 3)
    X = NOMINAL_SPREAD * rng.normal(size=(n_samples, n_features))
    X[:anomalous] = _anomalous(rng, (anomalous, n_features))
    rng.shuffle(X)
    centred = X - X.mean(axis=0)
    precision = np.linalg.pinv(np.atleast_2d(np.cov(X, rowvar=False)))  # singular where N ≤ D
    distance = np.einsum("ij,jl,il->i", centred, precision, centred)
    return SelectionProblem(
        coupling=_largest_is_one(centred**2 * np.diag(precision)),
        sample_scores=_largest_is_one(distance),
        feature_scores=_largest_is_one(X.var(axis=0)),
        k=k,
        m=m,
        coupling_weight=coupling_weight,
    )


def _draw(name: str) -> Draw:
    if name not in RESIDUALS:
        raise InputError(f"there are no residuals {name!r}; choose one of: {', '.join(RESIDUALS)}")
    return RESIDUALS[name]


def _subset(rng: np.random.Generator, n: int, count: int) -> NDArray[np.int64]:
    return np.sort(rng.choice(n, size=count, replace=False))


def _anomalous(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    signs = rng.choice([-1.0, 1.0], size=shape)
    return ANOMALY_SHIFT * signs + ANOMALY_SPREAD * rng.normal(size=shape)


def _largest_is_one(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values / max(float(np.abs(values).max()), np.finfo(float).tiny)
