"""Where each variable of a circuit is found.

A *variable* is an item of the problem: sample i is i, feature j is N + j. It is the logical qubit of a program too, for
placing decides which qubit an item sits on and renumbers no item. A *qubit* is a wire of the device. A *clbit* is a
classical bit of a compiled circuit, in whose order counts come back. Numbers of qubits and of clbits are types of their
own, so that mypy refuses one for the other; orders run over the variables.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import index
from typing import NewType, Self

from biselect.errors import InputError

Qubit = NewType("Qubit", int)
Clbit = NewType("Clbit", int)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where each variable begins, where it is measured and which classical bit holds it, in the order of the variables.

    Attributes:
        begins_on: the qubit on which each variable begins.
        measured_on: the qubit on which it is measured; another one where a path moves it.
        read_into: the classical bit that it is read into.
    """

    begins_on: tuple[Qubit, ...]
    measured_on: tuple[Qubit, ...]
    read_into: tuple[Clbit, ...]

    @classmethod
    def of(cls, begins_on: Iterable[int], measured_on: Iterable[int], read_into: Iterable[int] | None = None) -> Self:
        """Make one of plain numbers; without `read_into`, classical bit q holds variable q."""
        begins, ends = (tuple(Qubit(index(qubit)) for qubit in order) for order in (begins_on, measured_on))
        bits = range(len(begins)) if read_into is None else read_into
        return cls(begins_on=begins, measured_on=ends, read_into=tuple(Clbit(index(bit)) for bit in bits))

    def __post_init__(self) -> None:
        for order in (self.begins_on, self.measured_on, self.read_into):
            if len(order) != len(self.begins_on) or len(set(order)) < len(order) or min(order, default=0) < 0:
                raise InputError(f"a layout has one place of its own for each variable, got {list(order)}")
