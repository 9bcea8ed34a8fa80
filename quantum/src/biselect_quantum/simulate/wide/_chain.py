"""The charge-block matrix product state: qubits in a line, every bond cut into blocks by the ones to its left.

A gate of the circuit keeps the number of chosen samples and of chosen features. Left of any bond both numbers are
therefore good labels, and a site is a few small matrices: block (q, b) leads from the bond states of charge
q = (samples, features) through bit b to those of charge q + b·e, where e says which register the site belongs to.
Nothing outside the sector can be written down, let alone sampled.
"""

from collections.abc import Sequence
from math import cos, sin
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.core.sector import TooLargeError
from biselect_quantum.simulate.limits import StopCheck, never_stop
from biselect_quantum.simulate.program import RZ, RZZ, XY, Op, Program
from biselect_quantum.simulate.wide.order import basis_start, commuting_levels, effective_ops

Matrix = NDArray[np.complex128]
Charge = tuple[int, int]  # ones to the left of a bond: (samples, features)
Pieces = dict[tuple[Charge, int, int], Matrix]  # two joined sites: (charge on the left, first bit, second bit) → matrix
Site = dict[tuple[Charge, int], Matrix]  # (charge on the left, bit) → matrix from left to right bond states

TOLERANCE = 1e-14  # weightless directions of a state of norm 1, in double precision
CALL = 20_000  # multiplications that cost as much as starting a split


class BondLimitError(TooLargeError):
    """An exact state needs more bond states than were allowed."""


class TooMuchWorkError(Exception):
    """The chain in another order was cheaper; says nothing about the circuit."""


class Chain:
    """The state of a circuit, gate by gate.

    Args:
        program: bound, from a basis state. A phase of angle 0 is left out.
        order: the qubit at each place of the line.
        max_bond: bond states beyond which it refuses to go on.
        max_work: multiplications beyond which it gives up.

    Attributes:
        sites: the blocks of every place, in double precision until they are stored otherwise.
        order: the qubit at each place, now.
        centre: the place that holds the norm; sites to its left and right are isometries.
        largest_bond: the most bond states ever met.
        dropped: weight left out by cutting at the numerical rank, added up over all cuts.
        work: multiplications of all cuts, about.
    """

    def __init__(self, program: Program, order: Sequence[int], max_bond: int, max_work: float = np.inf) -> None:
        self.program = program
        self.order = list(order)
        self.dtype = np.dtype(np.complex128)
        self.max_bond, self.max_work = max_bond, max_work
        self.centre, self.largest_bond, self.dropped, self.work = 0, 1, 0.0, 0.0
        self._place = {qubit: place for place, qubit in enumerate(self.order)}
        self.sites: list[Site] = []
        charge, bits = (0, 0), basis_start(program)
        for place, qubit in enumerate(self.order):
            bit = bits[qubit]
            self.sites.append({(charge, bit): np.ones((1, 1), dtype=self.dtype)})
            charge = self.after(charge, place, bit)

    def after(self, charge: Charge, place: int, bit: int) -> Charge:
        """The charge right of a place, from the one left of it."""
        if self.order[place] < self.program.n_samples:
            return charge[0] + bit, charge[1]
        return charge[0], charge[1] + bit

    def run(self, look: StopCheck = never_stop) -> None:
        """Apply all gates, with a look before each, and leave the norm in the first place, ready for shots."""
        for gates in commuting_levels(effective_ops(self.program), self.program.qubits):
            from_right = self.centre > len(self.sites) // 2
            for gate in sorted(gates, key=self._first_place, reverse=from_right):
                look()
                self.apply(gate)
        self._move(0)

    def apply(self, gate: Op) -> None:
        """One gate; distant qubits are brought together by swaps and taken back."""
        if gate.kind == RZ:
            self._turn(gate.qubits[0], gate.angle)
            return
        known_bits = [self._known_bit(qubit) for qubit in gate.qubits]
        if gate.kind == XY and known_bits[0] is not None and known_bits[0] == known_bits[1]:
            return  # 00 and 11 stay
        for bit, other in zip(known_bits, reversed(gate.qubits), strict=True):
            if gate.kind == RZZ and bit is not None:
                self._turn(other, gate.angle * (1 - 2 * bit))
                return
        first, last = sorted(self._place[qubit] for qubit in gate.qubits)
        for place in range(last - 1, first, -1):
            self._pair(place, None, swap=True, leftwards=True)
        self._pair(first, gate, swap=False, leftwards=False)
        for place in range(first + 1, last):
            self._pair(place, None, swap=True, leftwards=False)

    def store(self, xp: Any, dtype: Any) -> None:
        """Round the blocks once and put them where they are read: `xp` is NumPy or CuPy."""
        self.dtype = np.dtype(dtype)
        self.sites = [{key: xp.asarray(block, dtype=dtype) for key, block in site.items()} for site in self.sites]

    def norm(self) -> float:
        """The state's norm, which rounding and cutting move away from 1."""
        squares = [float((np.abs(block) ** 2).sum()) for block in self.sites[self.centre].values()]
        return float(np.sqrt(sum(squares)))

    def _first_place(self, gate: Op) -> int:
        return min(self._place[qubit] for qubit in gate.qubits)

    def _known_bit(self, qubit: int) -> int | None:
        """The bit of a qubit that still is in a basis state."""
        bits = {bit for _, bit in self.sites[self._place[qubit]]}
        return bits.pop() if len(bits) == 1 else None

    def _turn(self, qubit: int, angle: float) -> None:
        """R_Z(angle)."""
        site = self.sites[self._place[qubit]]
        for (charge, bit), block in site.items():
            site[charge, bit] = block * phase(angle, bit)

    def _pair(self, place: int, gate: Op | None, *, swap: bool, leftwards: bool) -> None:
        """Join two neighbours, act on them, and cut them apart again; the centre ends in the left or right one."""
        self._move(min(max(self.centre, place), place + 1))
        pieces: Pieces = {}
        for (charge, first), head in self.sites[place].items():
            middle = self.after(charge, place, first)
            for second in (0, 1):
                right = self.sites[place + 1].get((middle, second))
                if right is not None:
                    pieces[charge, first, second] = head @ right
        if gate is not None:
            pieces = acted(gate, pieces)
        if swap:
            pieces = {(charge, second, first): piece for (charge, first, second), piece in pieces.items()}
            self.order[place], self.order[place + 1] = self.order[place + 1], self.order[place]
            self._place[self.order[place]], self._place[self.order[place + 1]] = place, place + 1
        by_middle: dict[Charge, dict[tuple[int, int], Matrix]] = {}
        for (charge, first, second), piece in pieces.items():
            by_middle.setdefault(self.after(charge, place, first), {})[first, second] = piece
        left_site: Site = {}
        right_site: Site = {}
        for middle, parts in by_middle.items():
            heights = {first: part.shape[0] for (first, _), part in parts.items()}
            widths = {second: part.shape[1] for (_, second), part in parts.items()}
            matrix = assembled(parts, heights, widths)
            head, right = self._cut(matrix, isometry_left=not leftwards)
            if head.shape[1] == 0:
                continue
            row = column = 0
            for first, height in heights.items():
                left_site[self._before(middle, place, first), first] = head[row : row + height]
                row += height
            for second, width in widths.items():
                right_site[middle, second] = right[:, column : column + width]
                column += width
        self.sites[place], self.sites[place + 1] = left_site, right_site
        self.centre = place if leftwards else place + 1
        self._check_bond(place)

    def _before(self, charge: Charge, place: int, bit: int) -> Charge:
        return self.after(charge, place, -bit)

    def _cut(self, matrix: Matrix, *, isometry_left: bool) -> tuple[Matrix, Matrix]:
        rows, columns = matrix.shape
        self.work += CALL + rows * columns * min(rows, columns)
        if self.work > self.max_work:
            raise TooMuchWorkError
        head, right, dropped = split(matrix, TOLERANCE, isometry_left=isometry_left)
        self.dropped += dropped
        return head, right

    def _check_bond(self, place: int) -> None:
        widths = {self.after(charge, place, bit): block.shape[1] for (charge, bit), block in self.sites[place].items()}
        bond = sum(widths.values())
        self.largest_bond = max(self.largest_bond, bond)
        if bond > self.max_bond:
            raise BondLimitError(
                f"an exact state needs {bond} states on the bond between places {place} and {place + 1} of "
                f"{len(self.sites)}, and max_bond is {self.max_bond}",
                "raise max_bond, or take fewer layers, fewer cost edges, or a start with fewer ones at their ends",
            )

    def _move(self, target: int) -> None:
        """Carry the norm to another place."""
        while self.centre < target:
            self._step_right()
        while self.centre > target:
            self._step_left()

    def _step_right(self) -> None:
        place = self.centre
        by_middle: dict[Charge, dict[int, Matrix]] = {}
        for (charge, bit), block in self.sites[place].items():
            by_middle.setdefault(self.after(charge, place, bit), {})[bit] = block
        site: Site = {}
        following = self.sites[place + 1]
        carried: Site = {}
        for middle, parts in by_middle.items():
            isometry, rest = self._cut(np.concatenate(list(parts.values())), isometry_left=True)
            if len(rest) == 0:
                continue
            row = 0
            for bit, part in parts.items():
                site[self._before(middle, place, bit), bit] = isometry[row : row + len(part)]
                row += len(part)
            for bit in (0, 1):
                if (middle, bit) in following:
                    carried[middle, bit] = rest @ following[middle, bit]
        self.sites[place], self.sites[place + 1] = site, carried
        self.centre += 1

    def _step_left(self) -> None:
        place = self.centre
        by_charge: dict[Charge, dict[int, Matrix]] = {}
        for (charge, bit), block in self.sites[place].items():
            by_charge.setdefault(charge, {})[bit] = block
        site: Site = {}
        rests: dict[Charge, Matrix] = {}
        for charge, parts in by_charge.items():
            rest, isometry = self._cut(np.concatenate(list(parts.values()), axis=1), isometry_left=False)
            if len(isometry) == 0:
                continue
            column = 0
            for bit, part in parts.items():
                site[charge, bit] = isometry[:, column : column + part.shape[1]]
                column += part.shape[1]
            rests[charge] = rest
        carried: Site = {}
        for (charge, bit), block in self.sites[place - 1].items():
            middle = self.after(charge, place - 1, bit)
            if middle in rests:
                carried[charge, bit] = block @ rests[middle]
        self.sites[place - 1], self.sites[place] = carried, site
        self.centre -= 1


def phase(angle: float, bit: int) -> complex:
    """exp(-i·angle·Z/2) on a bit; for R_ZZ on the sum of two bits."""
    return complex(cos(angle / 2), sin(angle / 2) * (2 * bit - 1))


def acted(gate: Op, pieces: Pieces) -> Pieces:
    """The gate on two neighbours."""
    if gate.kind == RZZ:
        return {key: piece * phase(gate.angle, int(key[1] != key[2])) for key, piece in pieces.items()}
    stay, hop = cos(gate.angle), -1j * sin(gate.angle)
    mixed = {key: piece for key, piece in pieces.items() if key[1] == key[2]}
    for charge, first, second in pieces:
        if first == second:
            continue
        here, there = (charge, first, second), (charge, second, first)
        piece = pieces[here]
        mixed[here] = stay * piece + hop * pieces[there] if there in pieces else stay * piece
        if there not in pieces:
            mixed[there] = hop * piece
    return mixed


def assembled(parts: dict[tuple[int, int], Matrix], heights: dict[int, int], widths: dict[int, int]) -> Matrix:
    """One matrix of at most four parts; absent ones are zero."""
    if len(parts) == 1:
        return next(iter(parts.values()))
    matrix = np.zeros((sum(heights.values()), sum(widths.values())), dtype=np.complex128)
    row = 0
    for first, height in heights.items():
        column = 0
        for second, width in widths.items():
            if (first, second) in parts:
                matrix[row : row + height, column : column + width] = parts[first, second]
            column += width
        row += height
    return matrix


class Split(NamedTuple):
    """matrix ≈ left @ right over a bond of as many states as the matrix has rank; the isometry is one of the two."""

    left: Matrix
    right: Matrix
    dropped: float  # squared norm of what was left out


def split(matrix: Matrix, tolerance: float, *, isometry_left: bool) -> Split:
    """Cut by QR with column pivoting.

    The bond only has to hold every direction that carries weight, not to be truncated well, so the rank is all that is
    wanted, and pivoted QR finds it at a fraction of the cost of singular values.
    """
    if isometry_left:
        return Split(*_ranked(matrix, tolerance))
    isometry, rest, dropped = _ranked(matrix.T, tolerance)
    return Split(rest.T, isometry.T, dropped)


def _ranked(matrix: Matrix, tolerance: float) -> tuple[Matrix, Matrix, float]:
    """An isometry and what it is multiplied by; directions of weight below `tolerance` are dropped."""
    rows, columns = matrix.shape
    if 1 in (rows, columns):  # LAPACK would take longer to start
        size = float(np.linalg.norm(matrix))
        if size <= tolerance:
            return matrix[:, :0], matrix[:0], size**2
        if rows == 1:
            return np.ones((1, 1), dtype=np.complex128), matrix, 0.0
        return matrix / size, np.full((1, 1), size, dtype=np.complex128), 0.0
    from scipy.linalg.lapack import zgeqp3, zungqr  # slow to load

    packed, order, scales, _, _ = zgeqp3(matrix, lwork=32 * (columns + 1))
    sizes = np.abs(np.diagonal(packed))  # they fall
    rank = int(np.count_nonzero(sizes > tolerance))
    dropped = float(np.linalg.norm(np.triu(packed[rank:, rank:])) ** 2) if rank < sizes.size else 0.0
    rest = np.zeros((rank, columns), dtype=np.complex128)
    rest[:, order - 1] = np.triu(packed[:rank])
    isometry = zungqr(packed[:, :rank], scales[:rank], lwork=32 * max(rank, 1))[0] if rank else packed[:, :0]
    return isometry, rest, dropped
