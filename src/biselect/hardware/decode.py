"""From measured bits back to samples and features under their own names (Algorithm layout_aware_decoding).

A compiled circuit says which classical bit holds which logical qubit (`Compiled.clbits`); the placement says which
variable that qubit stood for. Nothing is guessed: without a layout there is no decoding. Qiskit's little-endian
strings end at `bit_table`; from there on column c is classical bit c.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.checks import positions
from biselect.core.samples import Samples
from biselect.errors import InputError
from biselect.hardware.placement import Placement

Bits = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True, eq=False)
class Shots:
    """Decoded bitstrings, in or out of the budgets.

    Attributes:
        bits: (distinct, N + D), under the original variables, samples first; in ascending order.
        counts: shots of each.
    """

    bits: Bits
    counts: NDArray[np.int64]

    @property
    def shots(self) -> int:
        """All shots."""
        return int(self.counts.sum())

    def inside(self, problem: SelectionProblem) -> NDArray[np.bool_]:
        """Which bitstrings meet both budgets exactly."""
        n = problem.n_samples
        return (self.bits[:, :n].sum(axis=1) == problem.k) & (self.bits[:, n:].sum(axis=1) == problem.m)

    def exact_budget_mass(self, problem: SelectionProblem) -> float:
        """Share of shots that meet both budgets."""
        return float(self.counts[self.inside(problem)].sum() / self.shots)

    def samples(self, problem: SelectionProblem) -> Samples:
        """The shots inside the budgets as choices, lowest energy first; equal energies in order of their bits."""
        inside = self.inside(problem)
        bits, counts = self.bits[inside], self.counts[inside]
        chosen = np.nonzero(bits[:, : problem.n_samples])[1].reshape(-1, problem.k)
        looked_at = np.nonzero(bits[:, problem.n_samples :])[1].reshape(-1, problem.m)
        energies = problem.energies(chosen, looked_at)
        order = np.argsort(energies, kind="stable")
        return Samples(samples=chosen[order], features=looked_at[order], energies=energies[order], counts=counts[order])


def decode_counts(
    counts: Any,
    problem: SelectionProblem,
    layout: Sequence[int] | None,
    placement: Placement | None = None,
) -> Samples:
    """The shots that meet both budgets, as choices of the original samples and features.

    Args:
        counts: a dictionary of counts (little-endian strings, with spaces or as hex, or integers), a Qiskit BitArray,
            or a table of shots × classical bits.
        problem: the original, dense problem; energies are its own.
        layout: the classical bit of each logical qubit, `Compiled.clbits`.
        placement: how variables were placed; None if they were not.
    """
    return decode_bits(counts, problem, layout, placement).samples(problem)


def decode_bits(
    counts: Any,
    problem: SelectionProblem,
    layout: Sequence[int] | None,
    placement: Placement | None = None,
) -> Shots:
    """All shots under the original variables, whether they meet the budgets or not; arguments as in `decode_counts`."""
    if layout is None:
        raise InputError(
            "the layout is missing, and bits without one have no names; give `clbits` of the compiled circuit, or "
            "`layout_of` its manifest"
        )
    return _decoded(counts, problem, list(layout), placement)


def parse_physical_order(counts: Any, problem: SelectionProblem, final_layout: Sequence[int]) -> Shots:
    """The control of Lemma routing-feasibility, never a result: measured wires in physical order are taken for logical.

    Args:
        counts: of a circuit whose classical bit q holds logical qubit q.
        problem: the problem.
        final_layout: the physical qubit on which each logical one is measured.
    """
    return _decoded(counts, problem, np.argsort(np.asarray(final_layout), kind="stable").tolist(), None)


def bit_table(counts: Any, width: int = 1) -> tuple[Bits, NDArray[np.int64]]:
    """Bits, one row a string, column c classical bit c; and how often each row was seen.

    Args:
        counts: as in `decode_counts`.
        width: classical bits at least; hex and integer keys do not show their leading zeros.

    >>> bit_table({"001": 5, "110": 2})[0].tolist()
    [[1, 0, 0], [0, 1, 1]]
    """
    if isinstance(counts, Mapping):
        return _of_dictionary(counts, width)
    if hasattr(counts, "num_bits") and hasattr(counts, "array"):  # a BitArray: big-endian bytes
        packed = np.asarray(counts.array, dtype=np.uint8).reshape(-1, counts.array.shape[-1])
        table = np.unpackbits(packed, axis=1)[:, ::-1][:, : counts.num_bits]
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
    try:
        numbers = [index(count) for count in counts.values()]
        keys = [_binary(key) for key in counts]
    except (TypeError, ValueError) as error:
        raise InputError(f"counts must map bitstrings to whole numbers ({error})") from error
    if min(numbers, default=0) < 0:
        raise InputError("counts must not be negative")
    if sum(numbers) > np.iinfo(np.int64).max:
        raise InputError("the counts are more than 2⁶³ - 1 shots together; no device took so many")
    if all(map(_is_written_out, counts)):
        if len(set(map(len, keys))) > 1:
            raise InputError("the bitstrings differ in length; counts of several circuits may have been mixed")
        width = 0
    width = max(map(len, keys), default=0) if width == 0 else max(width, *map(len, keys))
    text = "".join(key.zfill(width) for key in keys)
    table = np.frombuffer(text.encode("utf-32-le"), dtype="<u4").reshape(len(keys), width) - ord("0")
    if table.max(initial=0) > 1:
        raise InputError("bitstrings must consist of 0 and 1")
    return table[:, ::-1].astype(np.uint8), np.array(numbers, dtype=np.int64)


def _is_written_out(key: Any) -> bool:
    return isinstance(key, str) and not key.lower().startswith("0x")


def _binary(key: Any) -> str:
    """A count key as a string of 0 and 1; hex and integers do not keep leading zeros."""
    if _is_written_out(key):
        return str(key.replace(" ", ""))
    number = int(key, 16) if isinstance(key, str) else index(key)
    if number < 0:
        raise ValueError(f"{key!r} is no bitstring")
    return f"{number:b}"


def _decoded(counts: Any, problem: SelectionProblem, columns: list[int], placement: Placement | None) -> Shots:
    wanted = problem.n_samples + problem.n_features
    if len(columns) != wanted:
        raise InputError(f"the layout has {len(columns)} entries, the problem has {wanted} variables")
    if placement is not None:
        placement.check_fits(problem)
    table, numbers = bit_table(counts, max(columns) + 1)
    if not numbers.sum():
        raise InputError("there are no shots to decode")
    logical = table[:, positions("the layout's classical bits", columns, table.shape[1])]
    original = logical if placement is None else placement.restore(logical)
    order, first = _sorted(original)
    return Shots(bits=original[order[first]], counts=np.add.reduceat(numbers[order], first))


def _sorted(bits: Bits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows in ascending order, and where in it each distinct one begins; 64 bits are compared at a time."""
    packed = np.packbits(bits, axis=1)
    padded = np.zeros((len(packed), packed.shape[1] + -packed.shape[1] % 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    words = padded.view(">u8").astype(np.uint64)
    order = np.lexsort(words.T[::-1])
    new = (np.diff(words[order], axis=0) != 0).any(axis=1)
    return order, np.flatnonzero(np.concatenate([[True], new]))
