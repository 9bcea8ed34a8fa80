"""The SWAP network: samples and features on one line, and every coupling that is wanted between them.

The samples stand first, the features after them. A neighbouring sample and feature are exchanged by XY(π/2), which is a
SWAP and RZZ(-π/2), so two CZ will do. Two ways lead to couplings between qubits that are no neighbours:

    cross    every sample is exchanged with every feature: N·D exchanges in N + D - 1 rounds. Then the registers have
             changed sides, each in its order, and the next layer's network runs back. Every pair got RZZ(-π/2), and
             Σ_ij Z_i Z_j = (N - 2k)(D - 2m) is a number inside the budgets: a global phase, which nobody has to undo.
    return   only pairs near the border are exchanged, and come back by XY(-π/2) before the mixing.

The wanted RZZ acts when its pair meets. For the same reason a whole row of angles may be shifted by r_i and a column by
c_j: RZ(r_i (D - 2m)) and RZ(c_j (N - 2k)) make up for it. So one row and one column of a full network need no RZZ.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from biselect.errors import InputError
from biselect_quantum.devices._y_frame import QUARTER, KnownBits
from biselect_quantum.simulate.program import RZ, RZZ, XY, Op, wrapped

Pair = tuple[int, int]
Angles = dict[Pair, float]
"""The RZZ angle of each pair (sample qubit, feature qubit)."""

OUT, BACK, MEET = 2, 2, 1  # two-qubit gates of an exchange, of its return, and of an RZZ


@dataclass(frozen=True, kw_only=True)
class Routed:
    """A program on the sites of a line.

    Attributes:
        ops: on sites; neighbours only.
        sites: where each logical qubit ends.
        exchanges: how many.
    """

    ops: tuple[Op, ...]
    sites: tuple[int, ...]
    exchanges: int


def route(ops: Iterable[Op], bits: Sequence[int], n: int, *, shared: bool = True) -> Routed:
    """Operations on logical qubits, `n` samples first, as operations on neighbours of a line; equal inside the budgets.

    Logical qubit q begins on site q. Mixing joins neighbours of one register.

    Args:
        ops: phases between the registers and mixing within them; RZZ within [-π/2, π/2].
        bits: the basis state that the program starts from.
        n: how many samples there are.
        shared: whether RZZ gates of successive rounds stand side by side, so that qubits turn to them once; else each
            stands before its exchange.
    """
    line, start_bits = _Line(bits, n, shared), KnownBits(bits)
    phases: Angles = {}
    for op in ops:
        before = dict(start_bits.bits)
        effective = start_bits.take(op)
        if op.kind == XY and effective:
            line.meet(phases, before)
            phases = {}
            line.mix(op)
        for phase in effective if op.kind != XY else ():
            pair = min(phase.qubits), max(phase.qubits)
            if phase.kind == RZ:
                line.emit(phase)
            elif pair[0] < n <= pair[1]:
                phases[pair] = phases.get(pair, 0.0) + phase.angle
            else:
                raise InputError(f"an RZZ gate on qubits {pair[0]} and {pair[1]} lies within one register")
    return Routed(ops=tuple(line.ops), sites=tuple(line.sites), exchanges=line.exchanges)


class _Line:
    """Operations so far, and which logical qubit stands where."""

    def __init__(self, bits: Sequence[int], n: int, shared: bool) -> None:
        self.n, self.bits, self.shared = n, bits, shared
        self.ops: list[Op] = []
        self.order = list(range(len(bits)))  # logical qubit of each site
        self.exchanges = 0

    @property
    def sites(self) -> list[int]:
        return sorted(range(len(self.order)), key=self.order.__getitem__)

    @property
    def border(self) -> int:
        """The first site of the register on the right."""
        return self.n if self.order[0] < self.n else len(self.order) - self.n

    def emit(self, op: Op) -> None:
        self.ops.append(replace(op, qubits=tuple(self.order.index(qubit) for qubit in op.qubits)))

    def mix(self, op: Op) -> None:
        here, there = (self.order.index(qubit) for qubit in op.qubits)
        if abs(here - there) > 1:
            raise InputError(
                f"the mixer joins logical qubits {op.qubits[0]} and {op.qubits[1]}, which are no neighbours on the "
                "line; a network takes registers='paths', each along the line"
            )
        self.emit(op)

    def meet(self, phases: Angles, start_bits: Mapping[int, int]) -> None:
        """The RZZ of each pair, by the way that takes fewer two-qubit gates."""
        if not phases:
            return
        whole, shifts = shifted(phases, self.bits, self.n, start_bits)
        exchanged = _below(self._at_border(phases))
        cells = self.n * (len(self.order) - self.n)
        if (OUT + BACK) * len(exchanged) + MEET * len(phases) <= OUT * cells + MEET * len(whole):
            self._return(phases, exchanged)
        else:
            for qubit, angle in shifts.items():
                self.emit(Op(kind=RZ, qubits=(qubit,), angle=angle))
            self._cross(whole)

    def _at_border(self, pairs: Iterable[Pair]) -> dict[Pair, Pair]:
        """(u, v) of each pair: how far its left and its right qubit stand from the border."""
        sites, border = self.sites, self.border
        ends = {pair: sorted(sites[qubit] for qubit in pair) for pair in pairs}
        return {pair: (border - 1 - near, right - border) for pair, (near, right) in ends.items()}

    def _return(self, phases: Angles, exchanged: set[Pair]) -> None:
        angles = {cell: phases[pair] for pair, cell in self._at_border(phases).items()}
        rounds = _rounds(exchanged | set(angles))
        for number, cells in enumerate(rounds):
            for cell in cells:
                self._step(cell, number, angles.get(cell, 0.0), exchange=cell in exchanged)
        for cells in reversed(rounds):
            for cell in cells:
                if cell in exchanged:
                    self.ops.append(Op(kind=XY, qubits=self._sites(cell), angle=-QUARTER))
        self.exchanges += len(exchanged)

    def _cross(self, phases: Angles) -> None:
        angles = {cell: phases[pair] for pair, cell in self._at_border(phases).items()}
        border = self.border
        everyone = {(u, v) for u in range(border) for v in range(len(self.order) - border)}
        for number, cells in enumerate(_rounds(everyone)):
            for cell in cells:
                self._step(cell, number, angles.get(cell, 0.0), exchange=True)
        self.order = self.order[border:] + self.order[:border]

    def _sites(self, cell: Pair) -> Pair:
        """Where (u, v) meet: all that stood between them have gone by."""
        first = self.border - 1 - cell[0] + cell[1]
        return first, first + 1

    def _step(self, cell: Pair, number: int, angle: float, exchange: bool) -> None:
        sites = self._sites(cell)
        phase = [Op(kind=RZZ, qubits=sites, angle=angle)] if angle else []
        swap = [Op(kind=XY, qubits=sites, angle=QUARTER)] if exchange else []
        self.ops += swap + phase if self.shared and number % 2 == 0 else phase + swap
        self.exchanges += exchange


def shifted(
    phases: Angles, bits: Sequence[int], n: int, start_bits: Mapping[int, int]
) -> tuple[Angles, dict[int, float]]:
    """Fewer angles that do the same inside the budgets, and the RZ that make up for it.

    Where all qubits that are not known are coupled to all others, one row and one column are shifted to nothing.
    """
    rows, columns = (sorted({pair[side] for pair in phases}) for side in (0, 1))
    if len(phases) < len(rows) * len(columns):
        return phases, {}
    total = [sum(1 - 2 * bit for bit in bits[:n]), sum(1 - 2 * bit for bit in bits[n:])]  # N - 2k and D - 2m
    for qubit in set(range(len(bits))) - {*rows, *columns}:
        if qubit not in start_bits:
            return phases, {}  # coupled to nobody: the angles of its row are not free to be shifted
        total[qubit >= n] -= 1 - 2 * start_bits[qubit]
    last, first = rows[-1], columns[0]
    by_row = {i: phases[i, first] for i in rows}
    by_column = {j: phases[last, j] - phases[last, first] for j in columns}
    remainders = {pair: wrapped(angle - by_row[pair[0]] - by_column[pair[1]]) for pair, angle in phases.items()}
    turns = {i: total[1] * angle for i, angle in by_row.items()} | {j: total[0] * c for j, c in by_column.items()}
    return {pair: angle for pair, angle in remainders.items() if last != pair[0] and first != pair[1]}, turns


def _below(cells: Mapping[Pair, Pair]) -> set[Pair]:
    """The exchanges that let all these pairs meet: everyone nearer to the border than a pair has gone by."""
    return {(a, b) for u, v in cells.values() for a in range(u + 1) for b in range(v + 1) if (a, b) != (u, v)}


def _rounds(cells: Iterable[Pair]) -> list[list[Pair]]:
    """Pairs that meet at the same time: those equally far from the border."""
    rounds: list[list[Pair]] = []
    for cell in sorted(cells, key=lambda cell: (sum(cell), cell)):
        while len(rounds) <= sum(cell):
            rounds.append([])
        rounds[sum(cell)].append(cell)
    return rounds
