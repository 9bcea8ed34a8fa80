"""Reading a chain: shots drawn exactly, and amplitudes of given bits.

Both walk the line from the left with one row vector for each prefix of bits. Prefixes of one charge share their blocks,
so a step is one matrix product a block; `xp` is NumPy, or CuPy for chains whose blocks lie on a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.simulate.wide.chain import Chain
from biselect.simulate.wide.local import Charge

Bits = NDArray[np.int8]


def draw(chain: Chain, shots: int, rng: np.random.Generator, xp: Any = np) -> tuple[Bits, NDArray[np.int64]]:
    """Distinct bit strings and how often each was drawn; the chain's centre is its first place.

    With everything to the right an isometry, the squared length of a prefix's vector is its probability. The shots of a
    prefix part binomially between bit 0 and bit 1, so a prefix is followed once however many shots share it.
    """
    n = len(chain.sites)
    heads: dict[Charge, _Prefixes] = {
        (0, 0): _Prefixes(xp.ones((1, 1), dtype=chain.dtype), np.array([shots]), np.zeros((1, n), dtype=np.int8))
    }
    for place in range(n):
        parts: dict[Charge, list[_Prefixes]] = {}
        for charge in sorted(heads):
            for bit, part in heads[charge].parted(chain.sites[place], charge, place, rng, xp):
                parts.setdefault(chain.after(charge, place, bit), []).append(part)
        heads = {charge: _Prefixes.joined(group, xp) for charge, group in parts.items()}
    (last,) = heads.values()
    bits = np.empty_like(last.bits)
    bits[:, chain.order] = last.bits
    return bits, last.counts


class _Prefixes:
    """Prefixes of one charge: their vectors at unit length, their shots, their bits in the order of the line."""

    def __init__(self, vectors: Any, counts: NDArray[np.int64], bits: Bits) -> None:
        self.vectors, self.counts, self.bits = vectors, counts, bits

    @classmethod
    def joined(cls, group: list[_Prefixes], xp: Any) -> _Prefixes:
        if len(group) == 1:
            return group[0]
        return cls(
            xp.concatenate([part.vectors for part in group]),
            np.concatenate([part.counts for part in group]),
            np.concatenate([part.bits for part in group]),
        )

    def parted(
        self, site: Any, charge: Charge, place: int, rng: np.random.Generator, xp: Any
    ) -> list[tuple[int, _Prefixes]]:
        """The prefixes one bit longer that have shots."""
        longer = {bit: self.vectors @ site[charge, bit] for bit in (0, 1) if (charge, bit) in site}
        weights = np.zeros((2, len(self.counts)))
        for bit, vectors in longer.items():
            weights[bit] = _on_host((xp.abs(vectors) ** 2).sum(axis=1, dtype=np.float64))
        ones = rng.binomial(self.counts, weights[1] / weights.sum(axis=0))
        parts = []
        for bit, vectors in longer.items():
            counts = ones if bit else self.counts - ones
            kept = np.flatnonzero(counts)
            if kept.size:
                scale = (1 / np.sqrt(weights[bit, kept])).astype(vectors.real.dtype)
                bits = self.bits[kept]
                bits[:, place] = bit
                scaled = vectors[xp.asarray(kept)] * xp.asarray(scale)[:, None]
                parts.append((bit, _Prefixes(scaled, counts[kept], bits)))
        return parts


def amplitudes(chain: Chain, bits: Bits, xp: Any = np) -> NDArray[Any]:
    """The amplitude of each bit string, zero outside the sector."""
    found = np.zeros(len(bits), dtype=chain.dtype)
    line = bits[:, chain.order]
    start = xp.ones((len(bits), 1), dtype=chain.dtype)
    heads: dict[Charge, tuple[NDArray[np.int64], Any]] = {(0, 0): (np.arange(len(bits)), start)}
    for place, site in enumerate(chain.sites):
        parts: dict[Charge, list[tuple[NDArray[np.int64], Any]]] = {}
        for charge, (rows, vectors) in heads.items():
            for bit in (0, 1):
                kept = np.flatnonzero(line[rows, place] == bit)
                if kept.size and (charge, bit) in site:
                    longer = vectors[xp.asarray(kept)] @ site[charge, bit]
                    parts.setdefault(chain.after(charge, place, bit), []).append((rows[kept], longer))
        heads = {
            charge: (np.concatenate([rows for rows, _ in group]), xp.concatenate([vectors for _, vectors in group]))
            for charge, group in parts.items()
        }
    for rows, vectors in heads.values():
        found[rows] = _on_host(vectors[:, 0])
    return found


def _on_host(array: Any) -> NDArray[Any]:
    """A NumPy array of an array that may lie on a GPU."""
    return array.get() if hasattr(array, "get") else array
