"""Samples: many shots of a sampler, all inside the budgets."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Distinct choices and how often each was seen, lowest energy first.

    Attributes:
        samples: (distinct, k) positions.
        features: (distinct, m) positions.
        energies: of each choice.
        counts: shots of each choice.
    """

    samples: NDArray[np.int64]
    features: NDArray[np.int64]
    energies: NDArray[np.float64]
    counts: NDArray[np.int64]

    @property
    def shots(self) -> int:
        """All shots."""
        return int(self.counts.sum())

    @property
    def best(self) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
        """Samples, features and energy of the best choice seen."""
        return self.samples[0], self.features[0], float(self.energies[0])

    def mean_energy(self) -> float:
        """Mean over shots."""
        return float(np.average(self.energies, weights=self.counts))

    def cvar(self, share: float = 0.05) -> float:
        """Mean energy of the lowest `share` of the shots (at least one)."""
        tail = max(1, int(np.ceil(share * self.shots)))
        return float(np.repeat(self.energies, self.counts)[:tail].mean())

    def hit_rate(self, threshold: float) -> float:
        """Share of shots at or below the threshold: p_BK."""
        return float(self.counts[self.energies <= threshold].sum() / self.shots)
