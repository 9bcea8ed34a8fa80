"""Rewriting of bound programs: what the start fixes, what the measurement cannot see, and angles brought into range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import pi, sin

from biselect.simulate.program import RZ, RZZ, XY, Op, wrapped

PAIR = "pair"
"""XY on two different known bits: an entangled pair is prepared, which takes one two-qubit gate instead of two."""

NOTHING = 1e-14  # rotations smaller than this are none


def propagate(ops: Iterable[Op], bits: Sequence[int]) -> list[Op]:
    """Use the known bits of a basis state, equal up to global phase on that state.

    Phases of known bits are global, RZZ with a known bit is RZ, XY does nothing to two equal bits.
    """
    known: dict[int, int] = dict(enumerate(bits))
    found: list[Op] = []
    for op in ops:
        here = [known.get(qubit) for qubit in op.qubits]
        if op.kind == RZ:
            found += [op] if here[0] is None else []
        elif op.kind == RZZ:
            found += _phase(op, here)
        elif None in here or here[0] != here[1]:
            found.append(op if None in here else replace(op, kind=PAIR))
            for qubit in op.qubits:
                known.pop(qubit, None)
    return found


def _phase(op: Op, bits: Sequence[int | None]) -> list[Op]:
    free = [qubit for qubit, bit in zip(op.qubits, bits, strict=True) if bit is None]
    if len(free) == 2:
        return [op]
    sign = -1 if 1 in bits else 1
    return [Op(kind=RZ, qubits=(qubit,), angle=sign * op.angle) for qubit in free]


def drop_unseen(ops: Sequence[Op]) -> list[Op]:
    """Leave out phases that no mixing follows on any of their qubits: the measurement does not see them."""
    mixed: set[int] = set()
    kept: list[Op] = []
    for op in reversed(ops):
        if op.kind not in (RZ, RZZ):
            mixed.update(op.qubits)
        elif mixed.isdisjoint(op.qubits):
            continue
        kept.append(op)
    return kept[::-1]


def in_range(ops: Iterable[Op]) -> list[Op]:
    """Equal operations, up to global phase, with every RZZ within [-π/2, π/2] and one RZ a qubit between two mixings.

    RZZ(θ + π) is RZZ(θ) and RZ(π) on both qubits. A mixing angle of π is such a pair of RZ(π) alone, one of 0 nothing.
    """
    turns: dict[int, int] = {}  # qubit → where its RZ since the last mixing stands
    found: list[Op] = []

    def turn(qubit: int, angle: float) -> None:
        if qubit in turns:
            old = found[turns[qubit]]
            found[turns[qubit]] = replace(old, angle=old.angle + angle)
        else:
            turns[qubit] = len(found)
            found.append(Op(kind=RZ, qubits=(qubit,), angle=angle))

    for op in ops:
        angle = wrapped(op.angle)
        if op.kind == RZ:
            turn(op.qubits[0], angle)
        elif op.kind == RZZ or abs(sin(angle)) < NOTHING:
            half_turns = round(angle / pi)
            for qubit in op.qubits if half_turns % 2 else ():
                turn(qubit, pi)
            if op.kind == RZZ:
                found.append(replace(op, angle=angle - half_turns * pi))
        else:
            found.append(replace(op, angle=angle))
            for qubit in op.qubits:
                turns.pop(qubit, None)
    tidy = (replace(op, angle=wrapped(op.angle)) if op.kind == RZ else op for op in found)
    return [op for op in tidy if op.kind in (XY, PAIR) or abs(op.angle) > NOTHING]
