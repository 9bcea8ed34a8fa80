"""Compiled kernels on one tile: all basis states of the active register by one vector of states of the other.

A tile is a stretch of cache lines, two for each basis state of the active register: real parts, imaginary parts.
`base` is the tile's first line. Everything that touches a tile while it is in cache happens here.
"""

from typing import Any

import numpy as np
from numba import njit

from biselect.simulate.simd import add, load, mul, muladd, mulsub, splat, store

# Numba looks up cached code by a function's name and line, and what it finds there names our classes. Whoever renames
# or moves a class that kernels take must shift the lines of the kernels too, or an old cache cannot be read.
COMPILED = {"cache": True, "nogil": True, "error_model": "numpy", "boundscheck": False}
INNER = {**COMPILED, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # called from compiled code only
INLINE = {**INNER, "forceinline": True}


@njit(**INLINE)
def _get(x: Any, place: int) -> Any:
    return load(x, place), load(x, place + 1)


@njit(**INLINE)
def _put(x: Any, place: int, value: Any) -> None:
    store(x, place, value[0])
    store(x, place + 1, value[1])


@njit(**INLINE)
def _times_real(scale: Any, value: Any) -> Any:
    return mul(scale, value[0]), mul(scale, value[1])


@njit(**INLINE)
def _plus(a: Any, b: Any) -> Any:
    return add(a[0], b[0]), add(a[1], b[1])


@njit(**INLINE)
def _edge(a: Any, b: Any, t: Any, minus_t: Any) -> Any:
    """(a, b) → (a - i t b, b - i t a): a mixer edge up to the factor cos β, with t = tan β."""
    return (
        (muladd(t, b[1], a[0]), muladd(minus_t, b[0], a[1])),
        (muladd(t, a[1], b[0]), muladd(minus_t, a[0], b[1])),
    )


@njit(**INLINE)
def _square(a: Any, b: Any, c: Any, d: Any, t: Any, minus_t: Any) -> Any:
    """Two edges on four corners."""
    a, b = _edge(a, b, t, minus_t)
    c, d = _edge(c, d, t, minus_t)
    a, c = _edge(a, c, t, minus_t)
    b, d = _edge(b, d, t, minus_t)
    return a, b, c, d


@njit(**INLINE)
def _pair_of_rows(x: Any, p: int, q: int, scale: Any, t: Any, minus_t: Any) -> None:
    """One edge on two rows."""
    a, b = _edge(_times_real(scale, _get(x, p)), _times_real(scale, _get(x, q)), t, minus_t)
    _put(x, p, a)
    _put(x, q, b)


@njit(**INLINE)
def _four_rows(x: Any, p: int, q: int, r: int, s: int, scale: Any, t: Any, minus_t: Any) -> None:
    """Two edges on four rows."""
    a, b = _times_real(scale, _get(x, p)), _times_real(scale, _get(x, q))
    c, d = _times_real(scale, _get(x, r)), _times_real(scale, _get(x, s))
    a, b, c, d = _square(a, b, c, d, t, minus_t)
    _put(x, p, a)
    _put(x, q, b)
    _put(x, r, c)
    _put(x, s, d)


@njit(**INLINE)
def _eight_rows(
    x: Any, p: int, q: int, r: int, s: int, u: int, v: int, w: int, z: int, scale: Any, t: Any, minus_t: Any
) -> None:
    """Three edges on eight rows: they fill the vector registers."""
    a, b = _times_real(scale, _get(x, p)), _times_real(scale, _get(x, q))
    c, d = _times_real(scale, _get(x, r)), _times_real(scale, _get(x, s))
    e, f = _times_real(scale, _get(x, u)), _times_real(scale, _get(x, v))
    g, h = _times_real(scale, _get(x, w)), _times_real(scale, _get(x, z))
    a, b, c, d = _square(a, b, c, d, t, minus_t)
    e, f, g, h = _square(e, f, g, h, t, minus_t)
    a, e = _edge(a, e, t, minus_t)
    b, f = _edge(b, f, t, minus_t)
    c, g = _edge(c, g, t, minus_t)
    d, h = _edge(d, h, t, minus_t)
    _put(x, p, a)
    _put(x, q, b)
    _put(x, r, c)
    _put(x, s, d)
    _put(x, u, e)
    _put(x, v, f)
    _put(x, w, g)
    _put(x, z, h)


@njit(**INNER)
def rotate(x: Any, base: int, cubes: Any, span: Any, cosine: float, tangent: float) -> None:
    """One stage: exp(-iβ(XX+YY)/2) on each of its edges."""
    t, minus_t = splat(x, tangent), splat(x, -tangent)
    scale = splat(x, cosine)
    for at in range(span[0], span[1], 2):
        _pair_of_rows(x, base + 2 * cubes[at], base + 2 * cubes[at + 1], scale, t, minus_t)
    scale = splat(x, cosine**2)
    for at in range(span[1], span[2], 4):
        p, q = base + 2 * cubes[at], base + 2 * cubes[at + 1]
        r, s = base + 2 * cubes[at + 2], base + 2 * cubes[at + 3]
        _four_rows(x, p, q, r, s, scale, t, minus_t)
    scale = splat(x, cosine**3)
    for at in range(span[2], span[3], 8):
        p, q = base + 2 * cubes[at], base + 2 * cubes[at + 1]
        r, s = base + 2 * cubes[at + 2], base + 2 * cubes[at + 3]
        u, v = base + 2 * cubes[at + 4], base + 2 * cubes[at + 5]
        w, z = base + 2 * cubes[at + 6], base + 2 * cubes[at + 7]
        _eight_rows(x, p, q, r, s, u, v, w, z, scale, t, minus_t)


@njit(**INNER)
def mix(x: Any, base: int, tables: Any, cosine: float, tangent: float) -> None:
    """All classes, in order."""
    for stage in range(tables.spans.shape[0]):
        rotate(x, base, tables.cubes, tables.spans[stage], cosine, tangent)


@njit(**INLINE)
def _slope(y: Any, place: int, neighbours: Any, total: Any) -> Any:
    """Add Re(ȳ·(-i)·neighbours) to a total in two parts, the second to be subtracted."""
    return muladd(load(y, place), neighbours[1], total[0]), muladd(load(y, place + 1), neighbours[0], total[1])


@njit(**INNER)
def unrotate(x: Any, y: Any, base: int, cubes: Any, span: Any, cosine: float, tangent: float, total: Any) -> None:
    """Undo a stage of state x and adjoint y, and add Σ Re⟨y|-i hop|x⟩ over its edges to the vectors of `total`.

    The edges of a stage commute, so it does not matter when the sum is taken: here while the rows are near.
    """
    t, minus_t = splat(x, -tangent), splat(x, tangent)
    sums = load(total, 0), load(total, 1)
    scale = splat(x, cosine)
    for at in range(span[0], span[1], 2):
        p, q = base + 2 * cubes[at], base + 2 * cubes[at + 1]
        sums = _slope(y, p, _get(x, q), sums)
        sums = _slope(y, q, _get(x, p), sums)
        _pair_of_rows(x, p, q, scale, t, minus_t)
        _pair_of_rows(y, p, q, scale, t, minus_t)
    scale = splat(x, cosine**2)
    for at in range(span[1], span[2], 4):
        p, q = base + 2 * cubes[at], base + 2 * cubes[at + 1]
        r, s = base + 2 * cubes[at + 2], base + 2 * cubes[at + 3]
        near = _plus(_get(x, q), _get(x, r))
        sums = _slope(y, p, near, sums)
        sums = _slope(y, s, near, sums)
        near = _plus(_get(x, p), _get(x, s))
        sums = _slope(y, q, near, sums)
        sums = _slope(y, r, near, sums)
        _four_rows(x, p, q, r, s, scale, t, minus_t)
        _four_rows(y, p, q, r, s, scale, t, minus_t)
    scale = splat(x, cosine**3)
    others = splat(x, 0.0), splat(x, 0.0)  # so that additions need not wait for each other
    for at in range(span[2], span[3], 8):
        p, q = base + 2 * cubes[at], base + 2 * cubes[at + 1]
        r, s = base + 2 * cubes[at + 2], base + 2 * cubes[at + 3]
        u, v = base + 2 * cubes[at + 4], base + 2 * cubes[at + 5]
        w, z = base + 2 * cubes[at + 6], base + 2 * cubes[at + 7]
        sums = _slope(y, p, _plus(_plus(_get(x, q), _get(x, r)), _get(x, u)), sums)
        others = _slope(y, q, _plus(_plus(_get(x, p), _get(x, s)), _get(x, v)), others)
        sums = _slope(y, r, _plus(_plus(_get(x, p), _get(x, s)), _get(x, w)), sums)
        others = _slope(y, s, _plus(_plus(_get(x, q), _get(x, r)), _get(x, z)), others)
        sums = _slope(y, u, _plus(_plus(_get(x, v), _get(x, w)), _get(x, p)), sums)
        others = _slope(y, v, _plus(_plus(_get(x, u), _get(x, z)), _get(x, q)), others)
        sums = _slope(y, w, _plus(_plus(_get(x, u), _get(x, z)), _get(x, r)), sums)
        others = _slope(y, z, _plus(_plus(_get(x, v), _get(x, w)), _get(x, s)), others)
        _eight_rows(x, p, q, r, s, u, v, w, z, scale, t, minus_t)
        _eight_rows(y, p, q, r, s, u, v, w, z, scale, t, minus_t)
    store(total, 0, add(sums[0], others[0]))
    store(total, 1, add(sums[1], others[1]))


@njit(**INNER)
def unmix(x: Any, y: Any, base: int, tables: Any, cosine: float, tangent: float, total: Any) -> None:
    """Undo the mixing of state x and adjoint y; `total` gathers half the derivative by β of what y stands for."""
    for back in range(tables.spans.shape[0]):
        span = tables.spans[tables.spans.shape[0] - 1 - back]
        unrotate(x, y, base, tables.cubes, span, cosine, tangent, total)


@njit(**INNER)
def _times(x: Any, place: int, a: Any, at: int, b: Any, bt: int) -> None:
    """x[place] = a[at]·b[bt], complex."""
    ar, ai, br, bi = load(a, at), load(a, at + 1), load(b, bt), load(b, bt + 1)
    store(x, place, mulsub(ar, br, mul(ai, bi)))
    store(x, place + 1, muladd(ar, bi, mul(ai, br)))


@njit(**INNER)
def tail_products(heads: Any, tables: Any, factors: Any, first: int) -> int:
    """Products of the factors of every tail, in the order of the basis states; gives their number."""
    if tables.tail == 0:
        store(heads, 0, splat(heads, 1.0))
        store(heads, 1, splat(heads, 0.0))
        return 1
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
    for j in range(tables.heads if tables.tail else 0):
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
    if tables.tail == 0:
        store(heads, 0, splat(heads, 0.0))
    for j in range(tables.heads if tables.tail else 0):
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
