"""The mechanism suite: pools in which one reason for or against joint selection is at work.

The paper names the mechanisms and prints lifts, but no generator. These are plain pools with the properties that it
names, their constants chosen so that the lifts have the paper's signs, order and rough size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate import Calibrator
from biselect.core.sector import check_budget
from biselect.data.synthetic import Planted, Seed
from biselect.errors import InputError

MECHANISMS = ("shared-support", "redundant-decoys", "proxy-burden")
REFERENCE_ROWS = 200
REFERENCE_SPIKES, POOL_SPIKES = 0.05, 0.10  # shares of entries of an inactive feature that are spikes
SPIKE = 4.0
DECOYS = 3
DECOY_NOISE = 0.3
PROXY_LOADING = 0.8


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """A kind of pool.

    Attributes:
        name: `shared-support`: all anomalies stand out in the same few features, the other features have spikes in
            rows of their own, more often than in the reference. `redundant-decoys`: besides, three of the others are
            near copies of one another. `proxy-burden`: besides, some of the others follow an active feature.
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
        samples = np.sort(rng.choice(self.n_samples, size=self.k, replace=False))
        reference = self._nominal(rng, REFERENCE_ROWS, active, others, REFERENCE_SPIKES)
        pool = self._nominal(rng, self.n_samples, active, others, POOL_SPIKES)
        pool[np.ix_(samples, active)] += self.shift * rng.choice([-1.0, 1.0], size=self.active)
        Z = Calibrator(center=center).fit(reference).residuals(pool)
        return Planted(residuals=Z, weights=np.abs(Z), samples=samples, features=active)

    def _nominal(
        self,
        rng: np.random.Generator,
        rows: int,
        active: NDArray[np.int64],
        others: NDArray[np.int64],
        spikes: float,
    ) -> NDArray[np.float64]:
        X = rng.normal(size=(rows, self.n_features))
        shape = (rows, others.size)
        X[:, others] += SPIKE * rng.choice([-1.0, 1.0], size=shape) * (rng.random(shape) < spikes)
        if self.name == "redundant-decoys":
            X[:, others[:DECOYS]] = rng.normal(size=(rows, 1)) + DECOY_NOISE * rng.normal(size=(rows, DECOYS))
        if self.name == "proxy-burden":
            rest = np.sqrt(1 - PROXY_LOADING**2)
            for position, proxy in enumerate(others[: round(self.burden * others.size)]):
                X[:, proxy] = PROXY_LOADING * X[:, active[position % self.active]] + rest * X[:, proxy]
        return X
