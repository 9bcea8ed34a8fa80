"""State vectors stage by stage: some qubits turned, then one diagonal of fields and pairs.

Real and imaginary parts lie apart, (2, 2ⁿ), and loops are written so that LLVM vectorises them: over contiguous parts,
with indices that it knows are not negative. High qubits are turned one after the other over the whole state; low ones
block by block, and a block gets its phases while it is in the cache. Phases take a sine for each qubit and block, all
else is products:

    φ(x) = Σ_q h_q s_q + Σ_{a<b} J_ab s_a s_b,   s = ±1 for bit 0 and 1
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

LOW = 12  # qubits of a block: 32 KiB in single precision

COMPILED: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": True, "error_model": "numpy"}


@njit(**COMPILED)
def run_stage(
    state: NDArray[Any],
    qubits: NDArray[np.int64],
    turns: NDArray[Any],
    fields: NDArray[np.float64],
    pairs: NDArray[np.float64],
    diagonal: bool,
) -> None:
    """One stage, in place.

    Args:
        state: (2, 2ⁿ).
        qubits: those that are turned.
        turns: (qubits, 8): real and imaginary part of the entries 00, 01, 10, 11 of each.
        fields: h.
        pairs: J, symmetric, nothing on the diagonal.
        diagonal: whether there are phases at all.
    """
    real, imaginary = state[0], state[1]
    low = min(len(fields), LOW)
    block = 1 << low
    in_blocks = diagonal
    for number in range(len(qubits)):
        if qubits[number] < low:
            in_blocks = True
        else:
            _turn(real, imaginary, qubits[number], turns[number])
    if not in_blocks:
        return
    inner, outer = np.empty((2, block), state.dtype), np.empty((2, block), state.dtype)
    if diagonal:
        _pair_phases(inner, pairs, low)
    for first in range(0, len(real), block):
        x, y = real[first : first + block], imaginary[first : first + block]
        for number in range(len(qubits)):
            if qubits[number] < low:
                _turn(x, y, qubits[number], turns[number])
        if diagonal:
            _product_phases(outer[0], outer[1], fields, pairs, low, first >> low)
            _multiply(x, y, outer[0], outer[1], inner[0], inner[1])


@njit(**COMPILED)
def _turn(real: NDArray[Any], imaginary: NDArray[Any], qubit: int, turn: NDArray[Any]) -> None:
    """A 2 × 2 matrix on one qubit of some amplitudes; strides too short for a vector are spelt out as constants."""
    if qubit == 0:
        _turn_close(real, imaginary, 1, turn)
    elif qubit == 1:
        _turn_close(real, imaginary, 2, turn)
    elif qubit == 2:
        _turn_close(real, imaginary, 4, turn)
    else:
        step = 1 << qubit
        for first in range(0, len(real), 2 * step):
            x, u = real[first : first + step], real[first + step : first + 2 * step]
            y, v = imaginary[first : first + step], imaginary[first + step : first + 2 * step]
            _mix(x, y, u, v, turn)


@njit(inline="always", **COMPILED)
def _mix(x: NDArray[Any], y: NDArray[Any], u: NDArray[Any], v: NDArray[Any], turn: NDArray[Any]) -> None:
    ar, ai, br, bi, cr, ci, dr, di = turn[0], turn[1], turn[2], turn[3], turn[4], turn[5], turn[6], turn[7]
    for place in range(len(x)):
        p, q, r, s = x[place], y[place], u[place], v[place]
        x[place] = ar * p - ai * q + br * r - bi * s
        y[place] = ar * q + ai * p + br * s + bi * r
        u[place] = cr * p - ci * q + dr * r - di * s
        v[place] = cr * q + ci * p + dr * s + di * r


@njit(inline="always", **COMPILED)
def _turn_close(real: NDArray[Any], imaginary: NDArray[Any], step: int, turn: NDArray[Any]) -> None:
    ar, ai, br, bi, cr, ci, dr, di = turn[0], turn[1], turn[2], turn[3], turn[4], turn[5], turn[6], turn[7]
    for first in range(len(real) // (2 * step)):
        for place in range(step):
            here = np.uint64(2 * step * first + place)
            there = np.uint64(2 * step * first + place + step)
            p, q, r, s = real[here], imaginary[here], real[there], imaginary[there]
            real[here] = ar * p - ai * q + br * r - bi * s
            imaginary[here] = ar * q + ai * p + br * s + bi * r
            real[there] = cr * p - ci * q + dr * r - di * s
            imaginary[there] = cr * q + ci * p + dr * s + di * r


@njit(**COMPILED)
def _multiply(
    x: NDArray[Any], y: NDArray[Any], p: NDArray[Any], q: NDArray[Any], r: NDArray[Any], s: NDArray[Any]
) -> None:
    """X + iy times (p + iq)(r + is)."""
    for place in range(len(x)):
        cos = p[place] * r[place] - q[place] * s[place]
        sin = p[place] * s[place] + q[place] * r[place]
        real, imaginary = x[place], y[place]
        x[place] = real * cos - imaginary * sin
        y[place] = real * sin + imaginary * cos


@njit(**COMPILED)
def _pair_phases(phases: NDArray[Any], pairs: NDArray[np.float64], low: int) -> None:
    """exp(i Σ J_ab s_a s_b) over pairs of low qubits."""
    angles = np.zeros(1 << low)
    sums = np.empty(1 << low)
    for qubit in range(low):
        sums[0] = 0.0
        for other in range(qubit):
            sums[0] += pairs[qubit, other]
        for other in range(qubit):
            for place in range(1 << other):
                sums[(1 << other) + place] = sums[place] - 2 * pairs[qubit, other]
        for place in range(1 << qubit):
            angles[(1 << qubit) + place] = angles[place] - sums[place]
            angles[place] += sums[place]
    for place in range(1 << low):
        phases[0, place], phases[1, place] = np.cos(angles[place]), np.sin(angles[place])


@njit(**COMPILED)
def _product_phases(
    cosines: NDArray[Any],
    sines: NDArray[Any],
    fields: NDArray[np.float64],
    pairs: NDArray[np.float64],
    low: int,
    high: int,
) -> None:
    """exp(i φ) over the low qubits without their own pairs, at given bits of the high ones."""
    width = len(fields)
    total = 0.0
    for a in range(low, width):
        sign = 1 - 2 * ((high >> (a - low)) & 1)
        field = fields[a]
        for b in range(low, a):
            field += pairs[a, b] * (1 - 2 * ((high >> (b - low)) & 1))
        total += sign * field
    turns = np.empty(low)
    for qubit in range(low):
        turns[qubit] = fields[qubit]
        for a in range(low, width):
            turns[qubit] += pairs[qubit, a] * (1 - 2 * ((high >> (a - low)) & 1))
        total += turns[qubit]
    cosines[0], sines[0] = np.cos(total), np.sin(total)
    for qubit in range(low):
        cos, sin = cosines.dtype.type(np.cos(2 * turns[qubit])), cosines.dtype.type(-np.sin(2 * turns[qubit]))
        step = 1 << qubit
        x, y, u, v = cosines[:step], sines[:step], cosines[step : 2 * step], sines[step : 2 * step]
        for place in range(step):
            u[place] = x[place] * cos - y[place] * sin
            v[place] = x[place] * sin + y[place] * cos
