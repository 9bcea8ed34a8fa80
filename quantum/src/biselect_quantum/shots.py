"""Shots: what was measured, under the problem's own variables (Algorithm layout_aware_decoding).

`Samples` are shots inside the budgets; `Shots` are decoded bitstrings inside or outside of them, and know whose
variables they are. A compiled circuit decodes its counts (`DeviceCircuit.decode`), for its layout alone says which
classical bit holds which variable. Qiskit's little-endian strings end at `bit_table`; from there on column c is
classical bit c.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import index
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.checks import check_positions
from biselect.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Distinct choices inside the budgets and how often each was measured, lowest energy first.

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
        """Number of shots."""
        return int(self.counts.sum())

    @property
    def best(self) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
        """Samples, features and energy of the best choice that was measured."""
        return self.samples[0], self.features[0], float(self.energies[0])

    def mean_energy(self) -> float:
        """Mean energy of the shots."""
        return float(np.average(self.energies, weights=self.counts))

    def cvar(self, share: float = 0.05) -> float:
        """Mean energy of the lowest `share` of the shots (at least one)."""
        tail = max(1, int(np.ceil(share * self.shots)))
        return float(np.repeat(self.energies, self.counts)[:tail].mean())

    def hit_rate(self, threshold: float) -> float:
        """Share of shots at or below the threshold, p_BK, from 0 to 1."""
        return float(self.counts[self.energies <= threshold].sum() / self.shots)


__all__ = ["Samples", "Shots"]

Bits = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedBits:
    """Distinct bitstrings in ascending order, and how often each was seen.

    Attributes:
        bits: (distinct, width).
        counts: shots of each.
    """

    bits: Bits
    counts: NDArray[np.int64]

    @property
    def shots(self) -> int:
        """All shots."""
        return int(self.counts.sum())

    @classmethod
    def of_table(cls, bits: NDArray[Any], counts: NDArray[np.int64] | None = None, **more: Any) -> Self:
        """From strings that may repeat, each seen once unless counted; 64 bits are compared at a time."""
        counts = np.ones(len(bits), dtype=np.int64) if counts is None else counts
        if not len(bits):
            return cls(bits=bits.astype(np.uint8), counts=counts, **more)
        packed = np.packbits(bits, axis=1)
        words = np.ascontiguousarray(np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))).view(">u8").astype(np.uint64)
        order = np.lexsort(words.T[::-1])
        new = (np.diff(words[order], axis=0) != 0).any(axis=1)
        first = np.flatnonzero(np.concatenate([[True], new]))
        return cls(bits=bits[order[first]].astype(np.uint8), counts=np.add.reduceat(counts[order], first), **more)


@dataclass(frozen=True, kw_only=True, eq=False)
class Shots(CountedBits):
    """Decoded bitstrings of N + D columns under a problem's variables, samples first, in or out of the budgets.

    Attributes:
        problem: whose variables they are.
    """

    problem: SelectionProblem

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """Which bitstrings meet both budgets exactly, and all rules, (distinct,)."""
        problem = self.problem
        samples, features = self.bits[:, : problem.n_samples], self.bits[:, problem.n_samples :]
        met = (samples.sum(axis=1) == problem.k) & (features.sum(axis=1) == problem.m)
        return met & problem.sample_rules.allow_bits(samples) & problem.feature_rules.allow_bits(features)

    @property
    def exact_budget_mass(self) -> float:
        """Share of shots that meet both budgets, and all rules."""
        return float(self.counts[self.inside].sum() / self.shots)

    @cached_property
    def samples(self) -> Samples:
        """The shots inside budgets and rules as choices, lowest energy first; equal energies in order of their bits."""
        problem = self.problem
        bits, counts = self.bits[self.inside], self.counts[self.inside]
        samples = np.nonzero(bits[:, : problem.n_samples])[1].reshape(-1, problem.k)
        features = np.nonzero(bits[:, problem.n_samples :])[1].reshape(-1, problem.m)
        energies = problem.energies(samples, features)
        order = np.argsort(energies, kind="stable")
        samples, features = samples[order], features[order]
        return Samples(samples=samples, features=features, energies=energies[order], counts=counts[order])

    def under(self, problem: SelectionProblem) -> Shots:
        """The same shots under another objective of the same items and budgets, such as the one that phases carry.

        Raises:
            InputError: a problem of other sizes, budgets or rules.
        """
        if problem.sector != self.problem.sector:
            raise InputError("these shots are of a problem with other sizes, budgets or rules")
        return replace(self, problem=problem)


def decode_bits(counts: Any, problem: SelectionProblem, read_into: Sequence[int]) -> Shots:
    """Decode all shots, inside the budgets or not, to a problem's variables.

    Args:
        counts: a dictionary of counts (little-endian strings, with spaces or as hex, or integers), a Qiskit BitArray,
            a table of shots × classical bits, or counted bits.
        problem: whose variables they are.
        read_into: the classical bit of each variable.

    Raises:
        InputError: no shots, or bits that do not fit.

    >>> problem = SelectionProblem(coupling=[[1.0], [3.0]], k=1, m=1)
    >>> shots = decode_bits({"101": 2, "110": 5, "111": 1}, problem, [0, 1, 2])  # the last character is bit 0
    >>> shots.samples.best[0].tolist(), shots.samples.counts.tolist(), shots.exact_budget_mass
    ([1], [5, 2], 0.875)
    """
    columns, variables = list(read_into), problem.n_samples + problem.n_features
    if len(columns) != variables:
        raise InputError(f"the layout has {len(columns)} entries, the problem has {variables} variables")
    table, numbers = bit_table(counts, max(columns) + 1)
    if not numbers.sum():
        raise InputError("there are no shots to decode")
    logical = table[:, check_positions("the layout's classical bits", columns, table.shape[1])]
    return Shots.of_table(logical, numbers, problem=problem)


def bit_table(counts: Any, width: int = 1) -> tuple[Bits, NDArray[np.int64]]:
    """Bits, one row a string, column c classical bit c; and how often each row was seen.

    There are `width` classical bits at least: hex and integer keys do not show their leading zeros.

    >>> bit_table({"001": 5, "110": 2})[0].tolist()
    [[1, 0, 0], [0, 1, 1]]
    """
    if isinstance(counts, CountedBits):
        return counts.bits, counts.counts
    if isinstance(counts, Mapping):
        return _of_dictionary(counts, width)
    if hasattr(counts, "to_bool_array"):  # a BitArray
        table = counts.to_bool_array("little").reshape(-1, counts.num_bits)
    else:
        table = np.asarray(counts)
        if table.ndim != 2 or not (np.issubdtype(table.dtype, np.integer) or table.dtype == np.bool_):
            raise InputError(
                f"bits must be a table of shots × classical bits, got {table.dtype} of shape {table.shape}"
            )
        if table.size and (table.min() < 0 or table.max() > 1):
            raise InputError("bits must be 0 or 1")
    return table.astype(np.uint8), np.ones(len(table), dtype=np.int64)


def _of_dictionary(counts: Mapping[Any, Any], width: int) -> tuple[Bits, NDArray[np.int64]]:
    written = [key.replace(" ", "") for key in counts if isinstance(key, str) and key[:2].lower() != "0x"]
    if len(set(map(len, written))) > 1:
        raise InputError("the bitstrings differ in length; counts of several circuits may have been mixed")
    if written and len(written) == len(counts):  # these show their leading zeros
        width = len(written[0])
    try:
        numbers = [index(count) for count in counts.values()]
        keys = [_as_integer(key) for key in counts]
        width = max([width, *(key.bit_length() for key in keys)])
        size = -(-width // 8)
        packed = np.frombuffer(b"".join(key.to_bytes(size, "little") for key in keys), dtype=np.uint8)
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(f"counts must map bitstrings of 0 and 1 to whole numbers ({error})") from error
    if min(numbers, default=0) < 0:
        raise InputError("counts must not be negative")
    if sum(numbers) > np.iinfo(np.int64).max:
        raise InputError("the counts are more than 2⁶³ - 1 shots together; no device took so many")
    bits = np.unpackbits(packed.reshape(-1, size), axis=1, bitorder="little")[:, :width]
    return bits, np.array(numbers, dtype=np.int64)


def _as_integer(key: Any) -> int:
    if not isinstance(key, str):
        return index(key)
    if key[:2].lower() == "0x":
        return int(key, 16)
    if set(key) - set("01 "):
        raise ValueError(f"{key!r} is no bitstring")
    return int(key.replace(" ", ""), 2)
