"""Readout: what was measured, bit by bit, whoever measured it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.hardware.compiled_circuit import Compiled
from biselect.hardware.decode import Bits, Shots, bit_table, decode_bits
from biselect.hardware.placement import Placement


@dataclass(frozen=True, kw_only=True, eq=False)
class Readout:
    """Distinct strings of classical bits, in ascending order, and how often each was seen.

    Attributes:
        bits: (distinct, classical bits); column c is classical bit c.
        counts: shots of each.
    """

    bits: Bits
    counts: NDArray[np.int64]

    @property
    def shots(self) -> int:
        """All shots."""
        return int(self.counts.sum())

    @classmethod
    def of(cls, measured: Any, width: int = 1) -> Readout:
        """From counts, a Qiskit BitArray or a table of shots × classical bits, as `bit_table` takes them."""
        return cls.of_table(*bit_table(measured, width))

    @classmethod
    def of_table(cls, bits: NDArray[Any], counts: NDArray[np.int64]) -> Readout:
        """From strings that may repeat."""
        if not counts.sum():
            raise InputError("there are no shots to read")
        distinct, where = np.unique(bits.astype(np.uint8), axis=0, return_inverse=True)
        return cls(bits=distinct, counts=np.bincount(where.ravel(), weights=counts).astype(np.int64))

    @classmethod
    def of_logical(cls, bits: NDArray[Any], counts: NDArray[np.int64], compiled: Compiled) -> Readout:
        """From bits of logical qubits, as the compiled circuit's classical bits would have shown them."""
        table = np.zeros((len(bits), compiled.circuit.num_clbits), dtype=np.uint8)
        table[:, list(compiled.clbits)] = bits
        return cls.of_table(table, counts)

    def decoded(self, problem: SelectionProblem, layout: Any, placement: Placement | None = None) -> Shots:
        """Under the original variables; see `decode_bits`."""
        return decode_bits(np.repeat(self.bits, self.counts, axis=0), problem, layout, placement)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: each string as the hex of its bytes, classical bit 0 the lowest bit of the first byte."""
        packed = np.packbits(self.bits, axis=1, bitorder="little")
        return {
            "width": self.bits.shape[1],
            "bits": [row.tobytes().hex() for row in packed],
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Readout:
        """Build from the JSON form."""
        width = int(content["width"])
        packed = np.frombuffer(bytes.fromhex("".join(content["bits"])), dtype=np.uint8)
        rows = packed.reshape(len(content["counts"]), -(-width // 8))
        bits = np.unpackbits(rows, axis=1, count=width, bitorder="little")
        return cls(bits=bits, counts=np.array(content["counts"], dtype=np.int64))
