"""Compiled kernels on one tile: all basis states of the active register by one vector of states of the other.

A tile is a stretch of cache lines, two for each basis state of the active register: real parts, imaginary parts.
`base` is the tile's first line. Everything that touches a tile while it is in cache happens here.
"""

from typing import Any

import numpy as np
from numba import njit

from biselect.simulate.simd import add, load, mul, muladd, mulsub, splat, store

COMPILED = {"cache": True, "nogil": True, "error_model": "numpy", "boundscheck": False}
INNER = {**COMPILED, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # called from compiled code only


@njit(**INNER)
def _hop(ar: Any, ai: Any, br: Any, bi: Any, t: Any, minus_t: Any) -> Any:
    """(a, b) → (a - i t b, b - i t a): a mixer edge up to the factor cos β, with t = tan β."""
    return muladd(t, bi, ar), muladd(minus_t, br, ai), muladd(t, ai, br), muladd(minus_t, ar, bi)


@njit(**INNER)
def _take(x: Any, place: int, scale: Any) -> Any:
    return mul(scale, load(x, place)), mul(scale, load(x, place + 1))


@njit(**INNER)
def _put(x: Any, place: int, real: Any, imaginary: Any) -> None:
    store(x, place, real)
    store(x, place + 1, imaginary)


@njit(**INNER)
def rotate(x: Any, base: int, cubes: Any, span: Any, cosine: float, tangent: float) -> None:
    """One stage: exp(-iβ(XX+YY)/2) on each of its edges."""
    t, minus_t = splat(x, tangent), splat(x, -tangent)
    scale = splat(x, cosine)
    for at in range(span[0], span[1], 2):
        p0, p1 = base + 2 * cubes[at], base + 2 * cubes[at + 1]
        ar, ai = _take(x, p0, scale)
        br, bi = _take(x, p1, scale)
        ar, ai, br, bi = _hop(ar, ai, br, bi, t, minus_t)
        _put(x, p0, ar, ai)
        _put(x, p1, br, bi)
    scale = splat(x, cosine**2)
    for at in range(span[1], span[2], 4):
        p0, p1 = base + 2 * cubes[at], base + 2 * cubes[at + 1]
        p2, p3 = base + 2 * cubes[at + 2], base + 2 * cubes[at + 3]
        ar, ai = _take(x, p0, scale)
        br, bi = _take(x, p1, scale)
        cr, ci = _take(x, p2, scale)
        dr, di = _take(x, p3, scale)
        ar, ai, br, bi = _hop(ar, ai, br, bi, t, minus_t)
        cr, ci, dr, di = _hop(cr, ci, dr, di, t, minus_t)
        ar, ai, cr, ci = _hop(ar, ai, cr, ci, t, minus_t)
        br, bi, dr, di = _hop(br, bi, dr, di, t, minus_t)
        _put(x, p0, ar, ai)
        _put(x, p1, br, bi)
        _put(x, p2, cr, ci)
        _put(x, p3, dr, di)
    scale = splat(x, cosine**3)
    for at in range(span[2], span[3], 8):
        p0, p1 = base + 2 * cubes[at], base + 2 * cubes[at + 1]
        p2, p3 = base + 2 * cubes[at + 2], base + 2 * cubes[at + 3]
        p4, p5 = base + 2 * cubes[at + 4], base + 2 * cubes[at + 5]
        p6, p7 = base + 2 * cubes[at + 6], base + 2 * cubes[at + 7]
        ar, ai = _take(x, p0, scale)
        br, bi = _take(x, p1, scale)
        cr, ci = _take(x, p2, scale)
        dr, di = _take(x, p3, scale)
        er, ei = _take(x, p4, scale)
        fr, fi = _take(x, p5, scale)
        gr, gi = _take(x, p6, scale)
        hr, hi = _take(x, p7, scale)
        ar, ai, br, bi = _hop(ar, ai, br, bi, t, minus_t)
        cr, ci, dr, di = _hop(cr, ci, dr, di, t, minus_t)
        er, ei, fr, fi = _hop(er, ei, fr, fi, t, minus_t)
        gr, gi, hr, hi = _hop(gr, gi, hr, hi, t, minus_t)
        ar, ai, cr, ci = _hop(ar, ai, cr, ci, t, minus_t)
        br, bi, dr, di = _hop(br, bi, dr, di, t, minus_t)
        er, ei, gr, gi = _hop(er, ei, gr, gi, t, minus_t)
        fr, fi, hr, hi = _hop(fr, fi, hr, hi, t, minus_t)
        ar, ai, er, ei = _hop(ar, ai, er, ei, t, minus_t)
        br, bi, fr, fi = _hop(br, bi, fr, fi, t, minus_t)
        cr, ci, gr, gi = _hop(cr, ci, gr, gi, t, minus_t)
        dr, di, hr, hi = _hop(dr, di, hr, hi, t, minus_t)
        _put(x, p0, ar, ai)
        _put(x, p1, br, bi)
        _put(x, p2, cr, ci)
        _put(x, p3, dr, di)
        _put(x, p4, er, ei)
        _put(x, p5, fr, fi)
        _put(x, p6, gr, gi)
        _put(x, p7, hr, hi)


@njit(**INNER)
def mix(x: Any, base: int, tables: Any, cosine: float, tangent: float) -> None:
    """All classes, in order."""
    for stage in range(tables.spans.shape[0]):
        rotate(x, base, tables.cubes, tables.spans[stage], cosine, tangent)


@njit(**INNER)
def unmix(x: Any, y: Any, base: int, tables: Any, cosine: float, tangent: float, total: Any) -> None:
    """Undo the mixing of state x and adjoint y, and add Σ Re⟨y|-i hop|x⟩ to the vector `total` on the way.

    Half the derivative by β of what y stands for is the sum of that over all edges, each taken between the stages.
    """
    for back in range(tables.spans.shape[0]):
        span = tables.spans[tables.spans.shape[0] - 1 - back]
        plus, minus = load(total, 0), load(total, 1)
        for size in range(1, 4):
            corners = 1 << size
            for at in range(span[size - 1], span[size], corners):
                for e in range(size):
                    for v in range(corners):
                        if not v >> e & 1:
                            p, q = base + 2 * tables.cubes[at + v], base + 2 * tables.cubes[at + v + (1 << e)]
                            plus = muladd(load(y, p), load(x, q + 1), plus)
                            minus = muladd(load(y, p + 1), load(x, q), minus)
                            plus = muladd(load(y, q), load(x, p + 1), plus)
                            minus = muladd(load(y, q + 1), load(x, p), minus)
        store(total, 0, plus)
        store(total, 1, minus)
        rotate(x, base, tables.cubes, span, cosine, -tangent)
        rotate(y, base, tables.cubes, span, cosine, -tangent)


@njit(**INNER)
def _times(x: Any, place: int, a: Any, at: int, b: Any, bt: int) -> None:
    """x[place] = a[at]·b[bt], complex."""
    ar, ai, br, bi = load(a, at), load(a, at + 1), load(b, bt), load(b, bt + 1)
    store(x, place, mulsub(ar, br, mul(ai, bi)))
    store(x, place + 1, muladd(ar, bi, mul(ai, br)))


@njit(**INNER)
def tail_products(heads: Any, tables: Any, factors: Any, first: int) -> int:
    """Products of the factors of every tail, in the order of the basis states; gives their number."""
    tail = 0
    for j in range(tables.heads):
        if tables.tail == 1:
            store(heads, 2 * j, load(factors, first + 2 * j))
            store(heads, 2 * j + 1, load(factors, first + 2 * j + 1))
            tail += 1
        else:
            for i in range(j):
                _times(heads, 2 * tail, factors, first + 2 * i, factors, first + 2 * j)
                tail += 1
    return tail


@njit(**INNER)
def phase(x: Any, base: int, tables: Any, factors: Any, first: int, stack: Any, heads: Any) -> None:
    """Multiply each basis state by the product of its items' factors.

    `factors` holds, from line `first` on, one complex vector for each item and one for the empty set; products of all
    but the tail are kept on `stack` and shared by the group, those of the tails in `heads` and shared by all groups.
    """
    tail_products(heads, tables, factors, first)
    depth = tables.group_rest.shape[1]
    top = 2 * depth
    row = base
    for group in range(tables.group_count.size):
        for level in range(tables.group_kept[group], depth):
            _times(stack, 2 * level + 2, stack, 2 * level, factors, first + 2 * tables.group_rest[group, level])
        pr, pi = load(stack, top), load(stack, top + 1)
        for tail in range(tables.group_count[group]):
            fr, fi = load(heads, 2 * tail), load(heads, 2 * tail + 1)
            cr, ci = mulsub(pr, fr, mul(pi, fi)), muladd(pr, fi, mul(pi, fr))
            xr, xi = load(x, row), load(x, row + 1)
            store(x, row, mulsub(xr, cr, mul(xi, ci)))
            store(x, row + 1, muladd(xr, ci, mul(xi, cr)))
            row += 2


@njit(**INNER)
def unphase(
    x: Any, y: Any, base: int, tables: Any, factors: Any, first: int, stack: Any, heads: Any, items: Any
) -> None:
    """Undo the phase of x and y, and add Σ Im(ȳx) over the basis states that hold item i to the vector items[i].

    `factors` holds the conjugate factors here.
    """
    sums = 2 * tail_products(heads, tables, factors, first)  # a sum for each tail, behind the products
    for tail in range(sums // 2):
        store(heads, sums + tail, splat(x, 0.0))
    depth = tables.group_rest.shape[1]
    top = 2 * depth
    row = base
    for group in range(tables.group_count.size):
        kept = tables.group_kept[group]
        for level in range(kept, depth):
            _times(stack, 2 * level + 2, stack, 2 * level, factors, first + 2 * tables.group_rest[group, level])
        pr, pi = load(stack, top), load(stack, top + 1)
        sum_ = splat(x, 0.0)
        for tail in range(tables.group_count[group]):
            fr, fi = load(heads, 2 * tail), load(heads, 2 * tail + 1)
            cr, ci = mulsub(pr, fr, mul(pi, fi)), muladd(pr, fi, mul(pi, fr))
            xr, xi, yr, yi = load(x, row), load(x, row + 1), load(y, row), load(y, row + 1)
            q = mulsub(yr, xi, mul(yi, xr))
            sum_ = add(sum_, q)
            store(heads, sums + tail, add(load(heads, sums + tail), q))
            store(x, row, mulsub(xr, cr, mul(xi, ci)))
            store(x, row + 1, muladd(xr, ci, mul(xi, cr)))
            store(y, row, mulsub(yr, cr, mul(yi, ci)))
            store(y, row + 1, muladd(yr, ci, mul(yi, cr)))
            row += 2
        for level in range(depth):
            item = tables.group_rest[group, level]
            store(items, item, add(load(items, item), sum_))
    tail = 0
    for j in range(tables.heads):
        for i in range(j if tables.tail == 2 else 1):
            q = load(heads, sums + tail)
            store(items, j, add(load(items, j), q))
            if tables.tail == 2:
                store(items, i, add(load(items, i), q))
            tail += 1


@njit(**INNER)
def observe(
    x: Any,
    y: Any,
    base: int,
    tables: Any,
    values: Any,
    first: int,
    stack: Any,
    heads: Any,
    kind: int,
    threshold: float,
    total: Any,
    adjoint: bool,
) -> None:
    """Add Σ |x|² f(E) to the vector `total`; with `adjoint`, y = f(E)·x as well.

    `values` holds, from line `first` on, what each item adds to the energy and, last, the energy of the empty set.
    """
    lanes = 64 // x.itemsize
    tail = 0
    for j in range(tables.heads):
        for i in range(j if tables.tail == 2 else 1):
            one = load(values, first + j)
            store(heads, tail, add(one, load(values, first + i)) if tables.tail == 2 else one)
            tail += 1
    depth = tables.group_rest.shape[1]
    row = base
    sum_ = load(total, 0)
    for group in range(tables.group_count.size):
        for level in range(tables.group_kept[group], depth):
            store(stack, level + 1, add(load(stack, level), load(values, first + tables.group_rest[group, level])))
        rest = load(stack, depth)
        for tail in range(tables.group_count[group]):
            value = add(rest, load(heads, tail))
            if kind != 0:
                scratch = depth + 1
                store(stack, scratch, value)
                for lane in range(scratch * lanes, scratch * lanes + lanes):
                    if kind == 1:
                        stack[lane] = 1.0 if stack[lane] <= threshold else 0.0
                    else:
                        stack[lane] = min(stack[lane] - threshold, 0.0)
                value = load(stack, scratch)
            xr, xi = load(x, row), load(x, row + 1)
            wr, wi = mul(value, xr), mul(value, xi)
            sum_ = muladd(wr, xr, muladd(wi, xi, sum_))
            if adjoint:
                store(y, row, wr)
                store(y, row + 1, wi)
            row += 2
    store(total, 0, sum_)


@njit(**INNER)
def fill(x: Any, base: int, rows: int, amplitude: Any, at: int) -> None:
    """Every basis state gets the same real vector."""
    value, zero = load(amplitude, at), splat(x, 0.0)
    for row in range(rows):
        store(x, base + 2 * row, value)
        store(x, base + 2 * row + 1, zero)


@njit(**INNER)
def item_factors(
    factors: Any, own: Any, other: Any, pair: Any, basis: Any, kept: Any, sign: float, begin: int, end: int
) -> None:
    """Phase factors of the active register's items, for every basis state of the other register.

    For state o of the other register, item i gets exp(i·sign·(own_i + Σ_{j∈o} pair_ij)), and the empty set
    exp(i·sign·Σ_{j∈o} other_j). Products over o are shared between neighbours, so only about N·D sines are taken.
    Only the states begin to end of the other register are filled.
    """
    n, d = pair.shape
    width = n + 1
    lanes = 64 // factors.itemsize
    step_real, step_imag = np.empty((d, width)), np.empty((d, width))
    for j in range(d):
        for i in range(n):
            step_real[j, i], step_imag[j, i] = np.cos(pair[i, j]), sign * np.sin(pair[i, j])
        step_real[j, n], step_imag[j, n] = np.cos(other[j]), sign * np.sin(other[j])
    depth = basis.shape[1]
    real, imag = np.empty((depth + 1, width)), np.empty((depth + 1, width))
    for i in range(n):
        real[0, i], imag[0, i] = np.cos(own[i]), sign * np.sin(own[i])
    real[0, n], imag[0, n] = 1.0, 0.0
    for o in range(begin, min(end, basis.shape[0])):
        for level in range(kept[o] if o > begin else 0, depth):
            j = basis[o, depth - 1 - level]
            for i in range(width):
                ar, ai, br, bi = real[level, i], imag[level, i], step_real[j, i], step_imag[j, i]
                real[level + 1, i] = ar * br - ai * bi
                imag[level + 1, i] = ar * bi + ai * br
        place = (o // lanes) * 2 * width * lanes + o % lanes
        for i in range(width):
            factors[place] = real[depth, i]
            factors[place + lanes] = imag[depth, i]
            place += 2 * lanes
