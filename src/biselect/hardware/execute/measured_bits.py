"""Readout: what was measured, bit by bit, on any device or simulator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.hardware.compiled_circuit import Compiled
from biselect.hardware.decode import CountedBits, Shots, bit_table, decode_bits
from biselect.hardware.placement import Placement


class Readout(CountedBits):
    """Strings of classical bits, and how often each was seen; column c of `bits` is classical bit c."""

    @classmethod
    def of(cls, measured: Any, width: int = 1) -> Readout:
        """From counts, a Qiskit BitArray or a table of shots × classical bits, as `bit_table` takes them."""
        bits, counts = bit_table(measured, width)
        if not counts.sum():
            raise InputError("there are no shots to read")
        return cls.of_table(bits, counts)

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
