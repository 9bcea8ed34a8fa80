"""The Y-frame: mixer edges as CZ · RX ⊗ RX · CZ, with nothing before or after.

The mixer's graph is split into two sides A and B, and qubits are looked at in rotated frames: on A the logical
(X, Y, Z) are the physical (Z, X, Y), on B they are (X, Z, -Y). Then

    exp(-iβ(XX + YY)/2)  is  exp(-iβ(ZX + XZ)/2) = CZ · RX(β) ⊗ RX(β) · CZ

exactly, for every edge between A and B. A basis state is one RX per qubit, so is the turn back before measurement, a
logical RZ is an RY. For an RZZ both qubits turn by RX(±π/2) into the Z basis and back; the sign is free and is chosen
so that the angle becomes positive. Two different known bits that meet need one CZ only.

XY commutes with equal phases on both of its qubits, so only their difference must be done before it: by the qubit that
would have waited for the other anyway. And qubits that only one another have mixed with hold a fixed number of ones, so
that equal phases on all of them are global: where two such clusters meet for the first time, nothing needs to be done.

Before that, bound programs are rewritten: what the start fixes, what the measurement cannot see, angles into range.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import cos, pi, sin

from biselect_quantum.simulate.program import RZ, RZZ, XY, Op, wrapped

QUARTER = pi / 2
NOTHING = 1e-14  # rotations smaller than this are none
PAIR = "pair"
"""XY on two different known bits: an entangled pair is prepared, which takes one two-qubit gate instead of two."""
EXCHANGE = "exchange"
"""SWAP and RZZ, for devices without RZZ: three CZ instead of four."""
FLIP = "flip"
"""A known bit becomes the other one."""


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A gate on logical qubits, close to the device: rx, ry, rz, x, h, cz or rzz."""

    name: str
    qubits: tuple[int, ...]
    angle: float = 0.0


class KnownBits:
    """Bits that are known: those of the start, until something mixes them; an exchange hands them on.

    Attributes:
        bits: of the qubits where they are known.
        fresh: qubits that no gate has touched.
    """

    def __init__(self, bits: Sequence[int]) -> None:
        self.bits = dict(enumerate(bits))
        self.fresh = set(self.bits)

    def take(self, op: Op) -> list[Op]:
        """What is left of the next operation."""
        here = [self.bits.get(qubit) for qubit in op.qubits]
        if op.kind == RZ:
            return [op] if here[0] is None else []
        if op.kind == RZZ:
            free = [qubit for qubit in op.qubits if qubit not in self.bits]
            sign = -1 if 1 in here else 1
            return [op] if len(free) == 2 else [Op(kind=RZ, qubits=(q,), angle=sign * op.angle) for q in free]
        if here[0] == here[1] and None not in here:
            return []
        for qubit in op.qubits:
            self.bits.pop(qubit, None)
        if abs(cos(op.angle)) < NOTHING:  # an exchange, and phases
            handed = zip(op.qubits, reversed(here), strict=True)
            self.bits |= {qubit: bit for qubit, bit in handed if bit is not None}
            if None not in here:
                return [Op(kind=FLIP, qubits=(qubit,)) for qubit in op.qubits]
        fresh = self.fresh.issuperset(op.qubits)
        self.fresh.difference_update(op.qubits)
        return [replace(op, kind=PAIR) if fresh else op]


def propagate(ops: Iterable[Op], bits: Sequence[int]) -> list[Op]:
    """Use the known bits of a basis state, equal up to global phase on that state.

    Phases of known bits are global, RZZ with a known bit is RZ, XY does nothing to two equal bits.
    """
    start_bits = KnownBits(bits)
    return [effective for op in ops for effective in start_bits.take(op)]


def drop_unmeasured_phases(ops: Sequence[Op]) -> list[Op]:
    """Leave out phases that no mixing follows on any of their qubits: the measurement does not see them."""
    mixed: set[int] = set()
    visible: list[Op] = []
    for op in reversed(ops):
        if op.kind not in (RZ, RZZ):
            mixed.update(op.qubits)
        elif mixed.isdisjoint(op.qubits):
            continue
        visible.append(op)
    return visible[::-1]


def in_range(ops: Iterable[Op]) -> list[Op]:
    """Equal operations, up to global phase, with every RZZ within [-π/2, π/2] and one RZ a qubit between two mixings.

    RZZ(θ + π) is RZZ(θ) and RZ(π) on both qubits. A mixing angle of π is such a pair of RZ(π) alone, one of 0 nothing.
    """
    turns: dict[int, int] = {}  # qubit → where its RZ since the last mixing stands
    ranged: list[Op] = []

    def turn(qubit: int, angle: float) -> None:
        if qubit in turns:
            old = ranged[turns[qubit]]
            ranged[turns[qubit]] = replace(old, angle=old.angle + angle)
        else:
            turns[qubit] = len(ranged)
            ranged.append(Op(kind=RZ, qubits=(qubit,), angle=angle))

    for op in ops:
        angle = wrapped(op.angle)
        if op.kind == RZ:
            turn(op.qubits[0], angle)
        elif op.kind == RZZ or (op.kind != FLIP and abs(sin(angle)) < NOTHING):
            half_turns = round(angle / pi)
            for qubit in op.qubits if half_turns % 2 else ():
                turn(qubit, pi)
            if op.kind == RZZ:
                ranged.append(replace(op, angle=angle - half_turns * pi))
        else:
            ranged.append(replace(op, angle=angle))
            for qubit in op.qubits:
                turns.pop(qubit, None)
    tidy = (replace(op, angle=wrapped(op.angle)) if op.kind == RZ else op for op in ranged)
    return [op for op in tidy if op.kind in (XY, PAIR, FLIP) or abs(op.angle) > NOTHING]


def split_sides(edges: Iterable[tuple[int, int]], n: int) -> list[int]:
    """Side 0 or 1 of every qubit, so that edges join different sides; an odd cycle leaves one edge within a side.

    >>> split_sides([(0, 1), (1, 2)], 4)
    [0, 1, 0, 0]
    """
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for i, j in edges:
        neighbours[i].append(j)
        neighbours[j].append(i)
    sides: dict[int, int] = {}
    for root in range(n):
        waiting = [] if root in sides else [root]
        sides.setdefault(root, 0)
        while waiting:
            here = waiting.pop()
            new = dict.fromkeys((there for there in neighbours[here] if there not in sides), 1 - sides[here])
            sides |= new
            waiting += new
    return [sides[qubit] for qubit in range(n)]


def one_step(gate: Gate) -> float:
    """How long a gate takes where only depth counts; RZ is virtual."""
    return 0.0 if gate.name == "rz" else 1.0


def to_frames(
    ops: Sequence[Op],
    bits: Sequence[int],
    sides: Sequence[int],
    *,
    rzz: bool,
    unitary: bool,
    length: Callable[[Gate], float] = one_step,
) -> list[Gate]:
    """Operations with RZZ within [-π/2, π/2] (`in_range`) as gates; without `rzz`, an RZZ is made of two CZ.

    Gates keep the program's unitary, or else only what the start and the measurement see. `length` is how long a gate
    takes: phases are done where they delay nobody.
    """
    loom = _FrameWriter(ops, bits, sides, unitary, length)
    act = {RZZ: loom.phase if rzz else loom.phase_by_cz, XY: loom.hop, PAIR: loom.pair, EXCHANGE: loom.exchange}
    for op in ops if rzz else _with_exchanges(ops):
        if op.kind == RZ:
            loom.due[op.qubits[0]] += op.angle
        elif op.kind == FLIP:
            loom.flip(op.qubits[0])
        else:
            act[op.kind](op.qubits[0], op.qubits[1], op.angle)
        loom.left.subtract(op.qubits)
    for qubit in range(len(bits)):
        loom.finish(qubit)
    return [gate for gate in loom.gates if gate.name != "rx" or abs(gate.angle) > NOTHING]


def _with_exchanges(ops: Iterable[Op]) -> list[Op]:
    """An RZZ(φ) before XY(±π/2) on the same qubits is SWAP and RZZ(φ ∓ π/2)."""
    combined: list[Op] = []
    for op in ops:
        before = combined[-1] if combined else op
        if op.kind == XY and before.kind == RZZ and {*op.qubits} == {*before.qubits} and abs(cos(op.angle)) < NOTHING:
            combined[-1] = replace(before, kind=EXCHANGE, angle=before.angle - QUARTER * sin(op.angle))
        else:
            combined.append(op)
    return combined


class _FrameWriter:
    """Gates so far, and in which frame each qubit stands.

    `tilt` is 0 in the Y-frame and ±1 after RX(±π/2), where the logical Z is `tilt · sign` times the physical one;
    `sign` is that of the physical Y in the Y-frame, + on side A and - on B. `due` is an RZ still to be done, `clock`
    the time so far, `cluster` all qubits that it has mixed with, itself included.
    """

    def __init__(
        self,
        ops: Sequence[Op],
        bits: Sequence[int],
        sides: Sequence[int],
        unitary: bool,
        length: Callable[[Gate], float],
    ) -> None:
        n = len(bits)
        self.length = length
        self.gates: list[Gate] = []
        self.bits = list(bits)
        self.unitary = unitary
        self.sign = [1 - 2 * side for side in sides]
        self.tilt = [0] * n
        self.due = [0.0] * n
        self.clock = [0.0] * n
        self.cluster = [{qubit} for qubit in range(n)]
        self.started = [False] * n
        self.last: list[int | None] = [None] * n  # where the qubit's last gate stands
        self.left = Counter(qubit for op in ops for qubit in op.qubits)  # operations still to come

    def emit(self, name: str, *qubits: int, angle: float = 0.0) -> None:
        before = self.last[qubits[0]]
        if name == "rx" and before is not None and self.gates[before].name == "rx":
            self.gates[before] = replace(self.gates[before], angle=wrapped(self.gates[before].angle + angle))
            return
        gate = Gate(name=name, qubits=qubits, angle=angle)
        end = max(self.clock[qubit] for qubit in qubits) + self.length(gate)
        for qubit in qubits:
            self.last[qubit], self.clock[qubit] = len(self.gates), end
        self.gates.append(gate)

    # Frames

    def start_angle(self, qubit: int) -> float:
        """RX of |0⟩ that is the qubit's start bit in its Y-frame."""
        return -QUARTER * self.sign[qubit] * (1 - 2 * self.bits[qubit])

    def start(self, qubit: int) -> None:
        if self.started[qubit]:
            return
        self.started[qubit] = True
        if not self.unitary:
            self.emit("rx", qubit, angle=self.start_angle(qubit))
            return
        if self.bits[qubit]:
            self.emit("x", qubit)
        self.enter_frame(qubit)

    def enter_frame(self, qubit: int) -> None:
        """From where all logical axes are the physical ones."""
        if self.sign[qubit] > 0:
            self.emit("rz", qubit, angle=-QUARTER)
        self.emit("rx", qubit, angle=-QUARTER * self.sign[qubit])

    def leave_frame(self, qubit: int) -> None:
        self.emit("rx", qubit, angle=self.sign[qubit] * QUARTER)
        if self.sign[qubit] > 0:
            self.emit("rz", qubit, angle=QUARTER)

    def lean(self, qubit: int, tilt: int) -> None:
        """Into the Z basis."""
        self.start(qubit)
        if self.tilt[qubit] == 0:
            self.emit("rx", qubit, angle=tilt * QUARTER)
        elif self.tilt[qubit] != tilt:
            self.emit("x", qubit)
        self.tilt[qubit] = tilt

    def turn(self, qubit: int, angle: float) -> None:
        """Do a part of the RZ that is due: RZ in the Z basis, RY in the Y-frame."""
        self.due[qubit] -= angle
        angle = wrapped(angle)
        if abs(angle) > NOTHING:
            self.start(qubit)
            name, sign = ("rz", self.tilt[qubit]) if self.tilt[qubit] else ("ry", 1)
            self.emit(name, qubit, angle=angle * sign * self.sign[qubit])

    def turn_now(self, qubit: int) -> None:
        self.turn(qubit, self.due[qubit])

    def agree(self, a: int, b: int) -> None:
        """Make the phases due on both equal, at no delay where that is possible: XY lets such phases through."""
        if self.cluster[a] is not self.cluster[b] and not self.unitary:
            shift = self.due[a] - self.due[b]
            for qubit in self.cluster[b]:
                self.due[qubit] += shift
        early, late = sorted((a, b), key=lambda qubit: (not self.tilt[qubit], self.clock[qubit]))
        gap = self.due[early] - self.due[late]
        if self.tilt[early] or self.clock[late] - self.clock[early] >= self.length(Gate(name="ry", qubits=(early,))):
            self.turn(early, gap)
        elif abs(wrapped(gap)) > NOTHING:
            self.turn_now(a)
            self.turn_now(b)

    def upright(self, qubit: int) -> None:
        """Into the Y-frame."""
        self.start(qubit)
        if self.tilt[qubit]:
            self.emit("rx", qubit, angle=-self.tilt[qubit] * QUARTER)
            self.tilt[qubit] = 0

    def change_side(self, qubit: int) -> None:
        """H exchanges the two frames."""
        self.emit("h", qubit)
        self.sign[qubit] = -self.sign[qubit]

    # Operations

    def flip(self, qubit: int) -> None:
        """Another known bit: RX(π) turns Z over in either frame and between them, and a phase that is due with it."""
        self.due[qubit] = -self.due[qubit]
        if self.started[qubit]:
            self.emit("rx", qubit, angle=pi)
        else:
            self.bits[qubit] = 1 - self.bits[qubit]

    def phase(self, a: int, b: int, angle: float) -> None:
        """RZZ in the Z basis of both; the tilts make its angle positive."""
        self.start(a)
        self.start(b)
        product = 1 if angle * self.sign[a] * self.sign[b] > 0 else -1  # product of the two tilts
        tilt_b = self.tilt[b] or (product * self.tilt[a] if self.tilt[a] else self.sign[b])
        self.lean(b, tilt_b)
        self.lean(a, product * tilt_b)
        early, late = sorted((a, b), key=lambda qubit: self.clock[qubit])
        if self.clock[early] < self.clock[late]:
            self.turn_now(early)
        self.emit("rzz", a, b, angle=min(abs(angle), QUARTER))

    def phase_by_cz(self, a: int, b: int, angle: float) -> None:
        """RZZ as CZ · RY · CZ, one qubit in the Z basis, the other in the Y-frame."""
        self.upright(b)
        self.lean(a, self.tilt[a] or self.sign[a])
        self.emit("cz", a, b)
        self.emit("ry", b, angle=angle * self.tilt[a] * self.sign[a] * self.sign[b])
        self.emit("cz", a, b)

    def hop(self, a: int, b: int, angle: float) -> None:
        """XY."""
        for qubit in (a, b):
            self.start(qubit)
            if self.length(Gate(name="rz", qubits=(qubit,))):  # not virtual here: RY is cheaper
                self.upright(qubit)
        self.agree(a, b)
        self.join(a, b)
        self.upright(a)
        self.upright(b)
        odd = self.sign[a] == self.sign[b]  # an edge that closes an odd cycle
        if odd:
            self.change_side(b)
        self.emit("cz", a, b)
        self.emit("rx", a, angle=angle)
        self.emit("rx", b, angle=angle)
        self.emit("cz", a, b)
        if odd:
            self.change_side(b)

    def exchange(self, a: int, b: int, angle: float) -> None:
        """SWAP and RZZ as CX · RZ · CX · CX, out of the Y-frame and back; single-qubit gates are to be merged."""
        self.join(a, b)
        for qubit in (a, b):
            self.turn_now(qubit)
            self.upright(qubit)
            self.leave_frame(qubit)
        for control, flipped, turn in ((a, b, 0.0), (b, a, angle), (a, b, 0.0)):
            self.emit("h", flipped)
            self.emit("cz", control, flipped)
            self.emit("h", flipped)
            if turn:
                self.emit("rz", control, angle=turn)
        for qubit in (a, b):
            self.enter_frame(qubit)

    def join(self, a: int, b: int) -> None:
        if self.cluster[a] is not self.cluster[b]:
            self.cluster[a] |= self.cluster[b]
            for qubit in self.cluster[b]:
                self.cluster[qubit] = self.cluster[a]

    def pair(self, a: int, b: int, angle: float) -> None:
        """XY on two different known bits, whose RX start angles are then equal."""
        if self.left[a] < self.left[b]:
            a, b = b, a  # b gets one gate more
        odd = self.sign[a] == self.sign[b]
        if odd:
            self.sign[b] = -self.sign[b]
        self.started[a] = self.started[b] = True
        self.join(a, b)
        self.emit("rx", a, angle=self.start_angle(a))
        self.emit("rx", b, angle=2 * angle)
        self.emit("cz", a, b)
        self.emit("rx", b, angle=self.start_angle(a))
        if odd:
            self.change_side(b)

    def finish(self, qubit: int) -> None:
        """Back to where the logical Z is the physical one."""
        if self.unitary:
            self.turn_now(qubit)
        if not self.started[qubit]:
            if self.bits[qubit]:
                self.emit("x", qubit)
            return
        if self.tilt[qubit] and not self.unitary:
            if self.tilt[qubit] != self.sign[qubit]:
                self.emit("x", qubit)
            return
        self.upright(qubit)
        if self.unitary:
            self.leave_frame(qubit)
        else:  # the last rotation about Z is not seen
            self.emit("rx", qubit, angle=self.sign[qubit] * QUARTER)
