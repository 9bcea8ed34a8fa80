"""Circuits of one small sector, 8 or 16 at a time: each lane of a vector holds a circuit of its own.

All circuits have the same mixers, so they take the same steps on the same tables, and a tile is one state of the other
register by all states of the active one. Passes alternate between the registers as in `passes`; nothing is turned,
since neither register is in the lanes, and no lane is idle.

Two shortcuts save whole passes, for a start and an end that are products of a sample and a feature vector. From a
basis state the first phase is global and the first mixing stays within each register: u ⊗ v. And an amplitude ⟨hit|ψ⟩
can be read before the last mixing, from ⟨hit| pulled back through it: a ⊗ b. So a hit rate takes p - 2 mixings of the
whole state instead of p (`hits`), and its gradient about as many more.
"""

from typing import Any, NamedTuple

from numba import njit
from numpy.typing import NDArray

from biselect_quantum.simulate._cube_tables import Tables
from biselect_quantum.simulate._kernels import ANGLE, COMPILED, INNER, mix, phase, times, unmix, unphase
from biselect_quantum.simulate._simd import add, load, mul, muladd, mulsub, splat, store, sub, where_less


class Side(NamedTuple):
    """One register as the active one."""

    tables: Tables
    back: Tables  # the same with the mixer's stages in reverse
    samples: bool  # whether this is the sample register
    basis: NDArray[Any]  # subsets of the other register, one tile each
    shared: NDArray[Any]  # how many leading elements (largest first) of each are the same as in the one before
    step: int  # lines between neighbouring states of this register
    tile_step: int  # lines between neighbouring states of the other
    items: int  # of this register
    own_at: int  # where its phases begin, in complex lines of a layer
    other_at: int  # where the other register's begin
    pair_own: int  # the phase of a pair is at pair_own·(own item) + pair_other·(other item)
    pair_other: int


class Circuits(NamedTuple):
    """All circuits of a call, in blocks of as many as a vector has lanes."""

    depth: int
    first: int  # the first layer that acts on the whole state: 1 from a basis state, else 0
    phases: NDArray[Any]  # complex lines exp(i·phase): block, layer, pairs and samples and features
    layer_lines: int  # lines of one layer in `phases`
    mixing: NDArray[Any]  # `ANGLE` lines: block, layer
    start: NDArray[Any]  # the basis state (row, column), or empty
    amplitudes: NDArray[
        Any
    ]  # any other start, real and imaginary part of each amplitude, or empty for the uniform state
    hits: NDArray[Any]  # (hits, 2): basis states whose amplitudes are wanted, or empty where a diagonal is observed
    ends_in_hits: bool
    table: NDArray[Any]  # the diagonal, one number for each amplitude
    order: NDArray[Any]  # positions in the table from the lowest on, for CVaR; else empty
    share: float  # of CVaR


class Scratch(NamedTuple):
    """Lines of one thread."""

    x: NDArray[Any]  # the state
    factors: NDArray[Any]
    stack: NDArray[Any]
    heads: NDArray[Any]
    items: NDArray[Any]
    total: NDArray[Any]
    start: NDArray[Any]  # u ⊗ v: rows, then columns
    start_adjoint: NDArray[Any]
    end: NDArray[Any]  # a ⊗ b of every hit
    end_inner: NDArray[Any]  # the state contracted with b, and with a, for every hit
    unit: NDArray[Any]  # the hits themselves, weighted


class Results(NamedTuple):
    """Lines for every block."""

    value: NDArray[Any]
    low: NDArray[Any]  # share-quantile of the energies, where CVaR is asked for
    amplitudes: NDArray[Any]  # complex, of the hits
    weights: NDArray[Any]  # complex: gradients are those of 2 Re Σ weight̄·amplitude
    mixing: NDArray[Any]  # by β, for every layer, halved
    pair: NDArray[Any]  # by pair phase, for every layer, times -1/2


@njit(**INNER)
def _factors(side: Any, tile: int, scratch: Any, phases: Any, at: int, sign: float) -> int:
    """Phase factors of the active items beside the other register's state `tile`; gives their first line.

    Products over the other register's items are kept level by level and shared with the tile before.
    """
    n, depth = side.items, side.basis.shape[1]
    factors, flip = scratch.factors, splat(phases, sign)
    if tile == 0:
        for i in range(n):
            source = at + 2 * (side.own_at + i)
            store(factors, 2 * i, load(phases, source))
            store(factors, 2 * i + 1, mul(flip, load(phases, source + 1)))
        store(factors, 2 * n, splat(phases, 1.0))
        store(factors, 2 * n + 1, splat(phases, 0.0))
    for level in range(side.shared[tile], depth):
        j = side.basis[tile, depth - 1 - level]
        below = 2 * (n + 1) * level
        for i in range(n + 1):
            source = at + 2 * (side.pair_own * i + side.pair_other * j if i < n else side.other_at + j)
            er, ei = load(phases, source), mul(flip, load(phases, source + 1))
            fr, fi = load(factors, below), load(factors, below + 1)
            store(factors, below + 2 * (n + 1), mulsub(fr, er, mul(fi, ei)))
            store(factors, below + 2 * (n + 1) + 1, muladd(fr, ei, mul(fi, er)))
            below += 2
    first = 2 * (n + 1) * depth
    store(scratch.stack, 0, load(factors, first + 2 * n))
    store(scratch.stack, 1, load(factors, first + 2 * n + 1))
    return first


@njit(**INNER)
def _dot(x: Any, base: int, step: int, a: Any, at: int, count: int, sign: float) -> Any:
    """Σ_r a_r·x_r, or with sign -1 Σ_r ā_r·x_r."""
    rr, ii, ri, ir = splat(x, 0.0), splat(x, 0.0), splat(x, 0.0), splat(x, 0.0)
    for r in range(count):
        ar, ai, xr, xi = load(a, at + 2 * r), load(a, at + 2 * r + 1), load(x, base), load(x, base + 1)
        rr, ii, ri, ir = muladd(ar, xr, rr), muladd(ai, xi, ii), muladd(ar, xi, ri), muladd(ai, xr, ir)
        base += step
    flip = splat(x, sign)
    return sub(rr, mul(flip, ii)), muladd(flip, ir, ri)


@njit(**INNER)
def _gather(x: Any, base: int, step: int, factor: Any, sums: Any, at: int, count: int) -> None:
    """sums_r += factor·x_r."""
    fr, fi = factor
    minus = sub(splat(x, 0.0), fi)
    for r in range(count):
        xr, xi = load(x, base), load(x, base + 1)
        store(sums, at + 2 * r, muladd(minus, xi, muladd(fr, xr, load(sums, at + 2 * r))))
        store(sums, at + 2 * r + 1, muladd(fi, xr, muladd(fr, xi, load(sums, at + 2 * r + 1))))
        base += step


@njit(**INNER)
def _clear(lines: Any, begin: int, end: int) -> None:
    for line in range(begin, end):
        store(lines, line, splat(lines, 0.0))


@njit(**INNER)
def _basis_vector(lines: Any, at: int, count: int, state: int) -> None:
    """A basis state of one register, from line `at` on."""
    _clear(lines, at, at + 2 * count)
    store(lines, at + 2 * state, splat(lines, 1.0))


@njit(**INNER)
def _cvar(x: Any, circuits: Any, block: int, norm: Any, out: Any) -> None:
    """CVaR = q + E[min(E - q, 0)] / share; q is the lowest energy up to which a lane holds this share of its weight."""
    goal, inside, low = mul(splat(x, circuits.share), norm), splat(x, 0.0), splat(x, 0.0)
    for place in range(circuits.order.size):
        state = circuits.order[place]
        xr, xi = load(x, 2 * state), load(x, 2 * state + 1)
        low = where_less(inside, goal, splat(x, circuits.table[state]), low)
        inside = add(inside, muladd(xr, xr, mul(xi, xi)))
    store(out.low, block, low)
    minus, zero, value = sub(splat(x, 0.0), low), splat(x, 0.0), splat(x, 0.0)
    for state in range(circuits.table.size):
        xr, xi = load(x, 2 * state), load(x, 2 * state + 1)
        excess = add(splat(x, circuits.table[state]), minus)
        value = muladd(where_less(excess, zero, excess, zero), muladd(xr, xr, mul(xi, xi)), value)
    store(out.value, block, muladd(splat(x, 1 / circuits.share), value, low))


@njit(**COMPILED)
def run_block(samples: Any, features: Any, circuits: Any, scratch: Any, block: int, stop: Any, out: Any) -> None:
    """Values of the circuits of a block; their state is left for `undo_block`."""
    rows, columns = samples.tables.dimension, features.tables.dimension
    depth, first, x = circuits.depth, circuits.first, scratch.x
    mixing, hits = circuits.mixing, circuits.hits.shape[0]
    last_turn = depth - 1 if circuits.ends_in_hits else depth
    v_at = 2 * rows  # where the feature vector of a product begins
    product = v_at + 2 * columns  # lines of a product
    phases_at, angles = block * depth * circuits.layer_lines, block * depth * ANGLE
    if circuits.start.size:
        _basis_vector(scratch.start, 0, rows, circuits.start[0])
        mix(scratch.start, 0, 2, samples.tables, mixing, angles)
        _basis_vector(scratch.start, v_at, columns, circuits.start[1])
        mix(scratch.start, v_at, 2, features.tables, mixing, angles)
    elif circuits.amplitudes.size:
        for line in range(circuits.amplitudes.size):
            store(x, line, splat(x, circuits.amplitudes[line]))
    else:
        _clear(scratch.start, 0, product)
        for state in range(rows + columns):
            store(scratch.start, 2 * state, splat(x, (rows if state < rows else columns) ** -0.5))
    for hit in range(hits):
        at, last = hit * product, angles + ANGLE * (depth - 1)
        _basis_vector(scratch.end, at, rows, circuits.hits[hit, 0])
        mix(scratch.end, at, 2, samples.back, mixing, last)
        _basis_vector(scratch.end, at + v_at, columns, circuits.hits[hit, 1])
        mix(scratch.end, at + v_at, 2, features.back, mixing, last)
    _clear(out.value, block, block + 1)
    _clear(out.amplitudes, 2 * block * hits, 2 * (block + 1) * hits)
    _clear(scratch.total, 2, 3)
    for turn in range(first, last_turn + 1):
        side = samples if (turn - first) % 2 == 0 else features
        dimension, step = side.tables.dimension, side.step
        own_at, other_at = (0, v_at) if side.samples else (v_at, 0)
        for tile in range(side.basis.shape[0]):
            if stop[0]:
                return
            base = tile * side.tile_step
            if turn > first:
                mix(x, base, step, side.tables, mixing, angles + ANGLE * (turn - 1))
            elif not circuits.amplitudes.size:
                for r in range(dimension):
                    times(x, base + step * r, scratch.start, own_at + 2 * r, scratch.start, other_at + 2 * tile)
            if turn < depth:
                lines = _factors(side, tile, scratch, circuits.phases, phases_at + turn * circuits.layer_lines, 1.0)
                phase(x, base, step, side.tables, scratch.factors, lines, scratch.stack, scratch.heads)
                if turn < last_turn:
                    mix(x, base, step, side.tables, mixing, angles + ANGLE * turn)
            if turn == last_turn:
                for hit in range(hits):
                    inner = _dot(x, base, step, scratch.end, hit * product + own_at, dimension, 1.0)
                    place = hit * product + other_at + 2 * tile
                    store(scratch.end_inner, place, inner[0])
                    store(scratch.end_inner, place + 1, inner[1])
                    br, bi = load(scratch.end, place), load(scratch.end, place + 1)
                    at = 2 * (block * hits + hit)
                    ar, ai = load(out.amplitudes, at), load(out.amplitudes, at + 1)
                    store(out.amplitudes, at, add(ar, mulsub(br, inner[0], mul(bi, inner[1]))))
                    store(out.amplitudes, at + 1, add(ai, muladd(br, inner[1], mul(bi, inner[0]))))
                if not circuits.ends_in_hits:
                    value, norm, line = splat(x, 0.0), splat(x, 0.0), base
                    for _ in range(dimension):
                        xr, xi = load(x, line), load(x, line + 1)
                        weight = muladd(xr, xr, mul(xi, xi))
                        value = muladd(splat(x, circuits.table[line >> 1]), weight, value)
                        norm = add(norm, weight)
                        line += step
                    store(out.value, block, add(load(out.value, block), value))
                    store(scratch.total, 2, add(load(scratch.total, 2), norm))
    for hit in range(hits):
        at = 2 * (block * hits + hit)
        ar, ai = load(out.amplitudes, at), load(out.amplitudes, at + 1)
        store(out.value, block, muladd(ar, ar, muladd(ai, ai, load(out.value, block))))
    if circuits.order.size:
        _cvar(x, circuits, block, load(scratch.total, 2), out)


@njit(**COMPILED)
def undo_block(
    samples: Any, features: Any, circuits: Any, scratch: Any, block: int, stop: Any, y: Any, out: Any
) -> None:
    """Derivatives of what `run_block` has found: undo the circuits on the state and on its adjoint y."""
    rows, columns = samples.tables.dimension, features.tables.dimension
    depth, first, x = circuits.depth, circuits.first, scratch.x
    mixing, hits = circuits.mixing, circuits.hits.shape[0]
    phases_at, angles = block * depth * circuits.layer_lines, block * depth * ANGLE
    last_turn = depth - 1 if circuits.ends_in_hits else depth
    v_at = 2 * rows
    product = v_at + 2 * columns
    pairs = samples.items * features.items
    total = scratch.total
    _clear(out.mixing, block * depth, (block + 1) * depth)
    _clear(out.pair, block * depth * pairs, (block + 1) * depth * pairs)
    if circuits.start.size:
        _clear(scratch.start_adjoint, 0, product)
    for turn in range(last_turn, first - 1, -1):
        side = samples if (turn - first) % 2 == 0 else features
        dimension, step = side.tables.dimension, side.step
        own_at, other_at = (0, v_at) if side.samples else (v_at, 0)
        if turn == last_turn:
            for hit in range(hits):
                _clear(scratch.end_inner, hit * product + own_at, hit * product + own_at + 2 * dimension)
        before, after = splat(x, 0.0), splat(x, 0.0)
        for tile in range(side.basis.shape[0]):
            if stop[0]:
                return
            base = tile * side.tile_step
            if turn == last_turn and circuits.ends_in_hits:
                for hit in range(hits):
                    place = hit * product + other_at + 2 * tile
                    br, bi = load(scratch.end, place), load(scratch.end, place + 1)
                    own = hit * product + own_at
                    _gather(x, base, step, (br, bi), scratch.end_inner, own, dimension)
                    at = 2 * (block * hits + hit)
                    wr, wi = load(out.weights, at), load(out.weights, at + 1)
                    qr, qi = muladd(wr, br, mul(wi, bi)), mulsub(wi, br, mul(wr, bi))  # weight·b̄
                    line = base
                    for r in range(dimension):
                        ar, ai = load(scratch.end, own + 2 * r), load(scratch.end, own + 2 * r + 1)
                        yr, yi = muladd(qr, ar, mul(qi, ai)), mulsub(qi, ar, mul(qr, ai))
                        if hit > 0:
                            yr, yi = add(yr, load(y, line)), add(yi, load(y, line + 1))
                        store(y, line, yr)
                        store(y, line + 1, yi)
                        line += step
                if hits == 0:
                    for r in range(dimension):
                        _clear(y, base + step * r, base + step * r + 2)
            elif turn == last_turn:
                minus, zero, line = sub(splat(x, 0.0), load(out.low, block)), splat(x, 0.0), base
                for _ in range(dimension):
                    value = splat(x, circuits.table[line >> 1])
                    if circuits.order.size:
                        value = add(value, minus)
                        value = where_less(value, zero, value, zero)
                    store(y, line, mul(value, load(x, line)))
                    store(y, line + 1, mul(value, load(x, line + 1)))
                    line += step
            if turn < last_turn:
                _clear(total, 0, 2)
                unmix(x, y, base, step, side.tables, mixing, angles + ANGLE * turn, total)
                after = add(after, sub(load(total, 0), load(total, 1)))
            if turn < depth:
                _clear(scratch.items, 0, side.items)
                lines = _factors(side, tile, scratch, circuits.phases, phases_at + turn * circuits.layer_lines, -1.0)
                work = (scratch.stack, scratch.heads, scratch.items)
                unphase(x, y, base, step, side.tables, scratch.factors, lines, *work)
                for place in range(side.basis.shape[1]):
                    at = (block * depth + turn) * pairs + side.pair_other * side.basis[tile, place]
                    for i in range(side.items):
                        store(out.pair, at, add(load(out.pair, at), load(scratch.items, i)))
                        at += side.pair_own
            if turn > first:
                _clear(total, 0, 2)
                unmix(x, y, base, step, side.tables, mixing, angles + ANGLE * (turn - 1), total)
                before = add(before, sub(load(total, 0), load(total, 1)))
            elif circuits.start.size:
                place = other_at + 2 * tile
                br, bi = load(scratch.start, place), sub(splat(x, 0.0), load(scratch.start, place + 1))
                _gather(y, base, step, (br, bi), scratch.start_adjoint, own_at, dimension)
                inner = _dot(y, base, step, scratch.start, own_at, dimension, -1.0)
                store(scratch.start_adjoint, place, inner[0])
                store(scratch.start_adjoint, place + 1, inner[1])
        at = block * depth + turn
        if turn < depth:
            store(out.mixing, at, add(load(out.mixing, at), after))
        if turn > 0:
            store(out.mixing, at - 1, add(load(out.mixing, at - 1), before))
    for end in range(2):
        side = samples if end == 0 else features
        own_at, dimension = (0, rows) if end == 0 else (v_at, columns)
        _clear(total, 0, 2)
        if circuits.start.size:
            unmix(scratch.start, scratch.start_adjoint, own_at, 2, side.tables, mixing, angles, total)
            at = block * depth
            store(out.mixing, at, add(load(out.mixing, at), sub(load(total, 0), load(total, 1))))
        for hit in range(hits):
            last = angles + ANGLE * (depth - 1)
            own = hit * product + own_at
            mix(scratch.end_inner, own, 2, side.tables, mixing, last)
            _clear(scratch.unit, own, own + 2 * dimension)
            at, weight = own + 2 * circuits.hits[hit, end], 2 * (block * hits + hit)
            store(scratch.unit, at, load(out.weights, weight))
            store(scratch.unit, at + 1, load(out.weights, weight + 1))
            _clear(total, 0, 2)
            unmix(scratch.end_inner, scratch.unit, own, 2, side.tables, mixing, last, total)
            at = (block + 1) * depth - 1
            store(out.mixing, at, add(load(out.mixing, at), sub(load(total, 0), load(total, 1))))
