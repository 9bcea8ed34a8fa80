"""What gates do to two neighbours, how a block is cut in two again, and which gates may change places."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import zgeqp3, zungqr

from biselect.errors import InputError
from biselect.simulate.program import RZZ, XY, Op, Program

Matrix = NDArray[np.complex128]
Charge = tuple[int, int]
"""Ones to the left of a bond: (samples, features)."""

Pieces = dict[tuple[Charge, int, int], Matrix]
"""Two joined sites: (charge on the left, first bit, second bit) → matrix from the left to the right bond."""


def basis_start(program: Program) -> tuple[int, ...]:
    """The bits that a program starts from; a Dicke state has too many bond states to be one here."""
    if program.bits is None:
        raise InputError("the wide sampler starts from a basis state; sample the Dicke start on the sector")
    return program.bits


def effective_ops(program: Program) -> list[Op]:
    """The operations without phases of angle 0, which would only cost bond states."""
    return [op for op in program.ops if op.kind == XY or op.angle]


def commuting_levels(gates: Sequence[Op], qubits: int) -> list[list[Op]]:
    """The gates in levels that may be applied one after the other, each in any order within itself.

    Gates commute where they share no qubit or are both diagonal.
    """
    levels: list[list[Op]] = []
    latest = [(-1, False)] * qubits  # level of the last gate on a qubit, and whether it is diagonal
    for gate in gates:
        diagonal = gate.kind != XY
        level = max(latest[q][0] + (not (diagonal and latest[q][1])) for q in gate.qubits)
        for qubit in gate.qubits:
            latest[qubit] = (level, diagonal)
        if level == len(levels):
            levels.append([])
        levels[level].append(gate)
    return levels


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
    packed, order, scales, _, _ = zgeqp3(matrix, lwork=32 * (columns + 1))
    sizes = np.abs(np.diagonal(packed))  # they fall
    rank = int(np.count_nonzero(sizes > tolerance))
    dropped = float(np.linalg.norm(np.triu(packed[rank:, rank:])) ** 2) if rank < sizes.size else 0.0
    rest = np.zeros((rank, columns), dtype=np.complex128)
    rest[:, order - 1] = np.triu(packed[:rank])
    isometry = zungqr(packed[:, :rank], scales[:rank], lwork=32 * max(rank, 1))[0] if rank else packed[:, :0]
    return isometry, rest, dropped
