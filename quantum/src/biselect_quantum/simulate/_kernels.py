"""Compiled kernels on one tile: all basis states of the active register, each by one vector.

A vector holds one state of the active register for 8 or 16 states of the other register (`passes`), or for 8 or 16
circuits (`batch_passes`). A tile is one complex vector for each basis state, real parts in one cache line, imaginary
parts in the next: state r begins at line base + step·r. Everything that touches a tile while it is in cache is here.
"""

from typing import Any

import numpy as np
from numba import njit

from biselect_quantum.simulate._simd import (
    add,
    load,
    mul,
    muladd,
    mulsub,
    one_up_to,
    rotate_2,
    rotate_4,
    rotate_8,
    splat,
    store,
    unrotate_2,
    unrotate_4,
    unrotate_8,
    where_less,
)

# Numba looks up cached code by a function's name and line, and what it finds there names our classes. Whoever renames
# or moves a class that kernels take must shift the lines of the kernels too, or an old cache cannot be read.
COMPILED = {"cache": True, "nogil": True, "error_model": "numpy", "boundscheck": False}
INNER = {**COMPILED, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # called from compiled code only
ANGLE = 4  # lines of a mixing angle: cos β, its square, its cube, tan β


@njit(**INNER)
def mix(x: Any, base: int, step: int, tables: Any, angles: Any, at: int) -> None:
    """exp(-iβ(XX+YY)/2) on every edge, class by class; the angle's lines begin at `at`."""
    c, c2, c3, t = load(angles, at), load(angles, at + 1), load(angles, at + 2), load(angles, at + 3)
    cubes = tables.cubes
    for stage in range(tables.spans.shape[0]):
        span = tables.spans[stage]
        for cube in range(span[0], span[1], 2):
            rotate_2(x, base, step, cubes, cube, c, t)
        for cube in range(span[1], span[2], 4):
            rotate_4(x, base, step, cubes, cube, c2, t)
        for cube in range(span[2], span[3], 8):
            rotate_8(x, base, step, cubes, cube, c3, t)


@njit(**INNER)
def unmix(x: Any, y: Any, base: int, step: int, tables: Any, angles: Any, at: int, total: Any) -> None:
    """Undo the mixing of state x and adjoint y.

    Half the derivative by β of what y stands for is added to line 0 of `total`, less what is added to line 1.
    """
    c, c2, c3, t = load(angles, at), load(angles, at + 1), load(angles, at + 2), load(angles, at + 3)
    cubes = tables.cubes
    plus, minus = load(total, 0), load(total, 1)
    for back in range(tables.spans.shape[0]):
        span = tables.spans[tables.spans.shape[0] - 1 - back]
        for cube in range(span[0], span[1], 2):
            plus, minus = unrotate_2(x, y, base, step, cubes, cube, c, t, plus, minus)
        for cube in range(span[1], span[2], 4):
            plus, minus = unrotate_4(x, y, base, step, cubes, cube, c2, t, plus, minus)
        for cube in range(span[2], span[3], 8):
            plus, minus = unrotate_8(x, y, base, step, cubes, cube, c3, t, plus, minus)
    store(total, 0, plus)
    store(total, 1, minus)


@njit(**INNER)
def times(x: Any, place: int, a: Any, at: int, b: Any, bt: int) -> None:
    """x[place] = a[at]·b[bt], complex."""
    ar, ai, br, bi = load(a, at), load(a, at + 1), load(b, bt), load(b, bt + 1)
    store(x, place, mulsub(ar, br, mul(ai, bi)))
    store(x, place + 1, muladd(ar, bi, mul(ai, br)))


@njit(**INNER)
def tail_products(heads: Any, tables: Any, factors: Any, first: int) -> None:
    """Products of the factors of every tail."""
    tails = tables.tails
    for tail in range(tails.shape[0]):
        if tails.shape[1] == 1:
            place = first + 2 * tails[tail, 0]
            store(heads, 2 * tail, load(factors, place))
            store(heads, 2 * tail + 1, load(factors, place + 1))
        else:
            times(heads, 2 * tail, factors, first + 2 * tails[tail, 0], factors, first + 2 * tails[tail, 1])


@njit(**INNER)
def phase(x: Any, base: int, step: int, tables: Any, factors: Any, first: int, stack: Any, heads: Any) -> None:
    """Multiply each basis state by the product of its items' factors.

    `factors` holds, from line `first` on, one complex vector for each item and one for the empty set; products of all
    but the tail are kept on `stack` and shared by the group, those of the tails in `heads` and shared by all groups.
    """
    tail_products(heads, tables, factors, first)
    depth = tables.group_rest.shape[1]
    top = 2 * depth
    row, state = base, 0
    for group in range(tables.group_count.size):
        for level in range(tables.group_shared[group], depth):
            times(stack, 2 * level + 2, stack, 2 * level, factors, first + 2 * tables.group_rest[group, level])
        pr, pi = load(stack, top), load(stack, top + 1)
        for _ in range(tables.group_count[group]):
            tail = tables.tail_of[state]
            fr, fi = load(heads, 2 * tail), load(heads, 2 * tail + 1)
            cr, ci = mulsub(pr, fr, mul(pi, fi)), muladd(pr, fi, mul(pi, fr))
            xr, xi = load(x, row), load(x, row + 1)
            store(x, row, mulsub(xr, cr, mul(xi, ci)))
            store(x, row + 1, muladd(xr, ci, mul(xi, cr)))
            row += step
            state += 1


@njit(**INNER)
def unphase(
    x: Any, y: Any, base: int, step: int, tables: Any, factors: Any, first: int, stack: Any, heads: Any, items: Any
) -> None:
    """Undo the phase of x and y, and add Σ Im(ȳx) over the basis states that hold item i to the vector items[i].

    `factors` holds the conjugate factors here.
    """
    tail_products(heads, tables, factors, first)
    tails = tables.tails
    sums = 2 * tails.shape[0]  # a sum for each tail, behind the products
    for tail in range(tails.shape[0]):
        store(heads, sums + tail, splat(x, 0.0))
    depth = tables.group_rest.shape[1]
    top = 2 * depth
    row, state = base, 0
    for group in range(tables.group_count.size):
        shared = tables.group_shared[group]
        for level in range(shared, depth):
            times(stack, 2 * level + 2, stack, 2 * level, factors, first + 2 * tables.group_rest[group, level])
        pr, pi = load(stack, top), load(stack, top + 1)
        sum_ = splat(x, 0.0)
        for _ in range(tables.group_count[group]):
            tail = tables.tail_of[state]
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
            row += step
            state += 1
        for level in range(depth):
            item = tables.group_rest[group, level]
            store(items, item, add(load(items, item), sum_))
    for tail in range(tails.shape[0]):
        for place in range(tails.shape[1]):
            item = tails[tail, place]
            store(items, item, add(load(items, item), load(heads, sums + tail)))


@njit(**INNER)
def observe(
    x: Any, y: Any, base: int, tables: Any, values: Any, first: int, scratch: Any, kind: int, threshold: float
) -> Any:
    """Gives the vector Σ |x|² f(E); where y is not None, y = f(E)·x as well.

    `values` holds, from line `first` on, what each item adds to the energy and, last, the energy of the empty set.
    `scratch` is a stack, with that energy at its bottom, and room for the sums of all tails.
    """
    stack, heads = scratch
    tails = tables.tails
    for tail in range(tails.shape[0]):
        value = load(values, first + tails[tail, 0])
        if tails.shape[1] == 2:
            value = add(value, load(values, first + tails[tail, 1]))
        store(heads, tail, value)
    depth = tables.group_rest.shape[1]
    row, state = base, 0
    total, zero = splat(x, 0.0), splat(x, 0.0)
    limit, minus_limit = splat(x, threshold), splat(x, -threshold)
    for group in range(tables.group_count.size):
        for level in range(tables.group_shared[group], depth):
            store(stack, level + 1, add(load(stack, level), load(values, first + tables.group_rest[group, level])))
        rest = load(stack, depth)
        for _ in range(tables.group_count[group]):
            tail = tables.tail_of[state]
            value = add(rest, load(heads, tail))
            if kind == 1:
                value = one_up_to(value, limit)
            elif kind == 2:
                value = add(value, minus_limit)
                value = where_less(value, zero, value, zero)
            xr, xi = load(x, row), load(x, row + 1)
            wr, wi = mul(value, xr), mul(value, xi)
            total = muladd(wr, xr, muladd(wi, xi, total))
            if y is not None:
                store(y, row, wr)
                store(y, row + 1, wi)
            row += 2
            state += 1
    return total


@njit(**INNER)
def item_factors(
    factors: Any, own: Any, other: Any, pair: Any, basis: Any, shared: Any, conjugate: bool, begin: int, end: int
) -> None:
    """Phase factors of the active register's items, for the states begin to end of the other register.

    `own`, `other` and `pair` hold exp(i·phase) of each item and pair. For state o of the other register, item i gets
    own_i·Π_{j∈o} pair_ij, and the empty set Π_{j∈o} other_j, or their conjugates. Products are shared between
    neighbours, and only about N·D sines are taken a layer.
    """
    n, depth = own.size, basis.shape[1]
    lanes = 64 // factors.itemsize
    sign = -1.0 if conjugate else 1.0
    products = np.empty((depth + 1, n + 1), dtype=np.complex128)
    for i in range(n):
        products[0, i] = own[i]
    products[0, n] = 1.0
    for o in range(begin, min(end, basis.shape[0])):
        for level in range(shared[o] if o > begin else 0, depth):
            j = basis[o, depth - 1 - level]
            for i in range(n):
                products[level + 1, i] = products[level, i] * pair[i, j]
            products[level + 1, n] = products[level, n] * other[j]
        place = (o // lanes) * 2 * (n + 1) * lanes + o % lanes
        for i in range(n + 1):
            factors[place] = products[depth, i].real
            factors[place + lanes] = sign * products[depth, i].imag
            place += 2 * lanes
