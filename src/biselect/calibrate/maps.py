"""Tail maps: from a residual to how unlikely it is under the reference, as -log p. One registry."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError


class TailMap(Protocol):
    """Fit on sorted reference residuals; then -log p for any residuals, feature by feature."""

    def fit(self, sorted_reference: NDArray[np.float64]) -> None:
        """Learn from the n × D reference residuals, each column ascending."""

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log p of each residual; grows with extremeness, finite, depends on its own row alone."""


class EcdfMap:
    """Two-sided tail of the smoothed empirical distribution (Eq. tail-calibration)."""

    def fit(self, sorted_reference: NDArray[np.float64]) -> None:
        """Keep the reference; the tail is read off its ranks."""
        self.reference = sorted_reference

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log 2·min(F̂, 1 - F̂) with F̂ = clip((R + ½)/(n + 1), 1/(n + 1), n/(n + 1))."""
        n = self.reference.shape[0]
        ranks = np.empty(Z.shape)
        for j in range(Z.shape[1]):
            ranks[:, j] = np.searchsorted(self.reference[:, j], Z[:, j], side="right")
        cdf = np.clip((ranks + 0.5) / (n + 1), 1 / (n + 1), n / (n + 1))
        return -np.log(2 * np.minimum(cdf, 1 - cdf))


_MAPS: dict[str, type[TailMap]] = {"ecdf": EcdfMap}


def map_names() -> list[str]:
    """Names that `Calibrator(map=...)` accepts."""
    return list(_MAPS)


def make_map(name: str) -> TailMap:
    """A fresh, unfitted map."""
    if name not in _MAPS:
        raise InputError(f"there is no calibration map {name!r}; choose one of: {', '.join(_MAPS)}")
    return _MAPS[name]()
