"""Passes over the whole state, tile by tile, and their order.

The state is stored as tiles of one vector of feature states by all sample states. A pass over the sample register
works on those tiles in place; a pass over the feature register first turns a vector of sample states into a tile of
its own, and back. The two mixers commute, so mixing of layer l, phase and mixing of layer l+1 on one register are one
pass, and the registers alternate: p + 1 passes instead of 2p, each of which reads and writes the state once. Every
thread runs all passes on its own share of the tiles, and waits for the others after each pass.
Tables, sides, grid and work are tuples, which compiled code takes apart without a call.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from biselect_quantum.simulate._cube_tables import Tables
from biselect_quantum.simulate._kernels import ANGLE, COMPILED, INNER, item_factors, mix, observe, phase, unmix, unphase
from biselect_quantum.simulate._simd import arrive, arrived, load, splat, store, transpose


class Side(NamedTuple):
    """One register as the active one, with the other register in the lanes."""

    tables: Tables  # of the active register
    turned: bool  # whether tiles must be turned to have the other register in the lanes
    tiles: int  # vectors of the other register
    basis: NDArray[np.int64]  # subsets of the other register
    shared: NDArray[np.int64]  # how many leading elements (largest first) of each are the same as in the one before
    amplitude: NDArray[Any]  # one vector a tile: the uniform start, zero in padding lanes
    factors: NDArray[Any]  # phase factors of a layer, refilled for every pass
    values: NDArray[Any]  # what each item adds to the energy, for every state of the other register


class Grid(NamedTuple):
    """The state's tiles: how many, and how many rows each, padded to whole vectors."""

    blocks: int
    rows: int


class Work(NamedTuple):
    """Scratch lines of one thread: two turned tiles, products, products of tails, sums."""

    x: NDArray[Any]
    y: NDArray[Any]
    stack: NDArray[Any]
    heads: NDArray[Any]
    items: NDArray[Any]
    total: NDArray[Any]


class PassLayers(NamedTuple):
    """Layers as the passes want them: phases as exp(i·phase), mixing angles as lines."""

    sample: NDArray[Any]  # (p, N)
    feature: NDArray[Any]  # (p, D)
    pair: NDArray[Any]  # (p, N, D)
    pair_turned: NDArray[Any]  # the same, (p, D, N)
    mixing: NDArray[Any]  # `ANGLE` lines for each layer


class Circuit(NamedTuple):
    """What a run needs beside states and scratch."""

    samples: Side
    features: Side
    grid: Grid
    depth: int
    layers: PassLayers
    uniform: bool  # whether it starts from the uniform state, and not from what the state holds
    observed: bool  # whether an expectation value is wanted
    kind: int  # of the observable, as in `KINDS`
    threshold: float  # of the observable


class Team(NamedTuple):
    """Which thread this is, of how many, where they wait for each other, and the byte that ends their work."""

    thread: int
    threads: int
    counter: NDArray[Any]
    stop: NDArray[np.uint8]


@njit(**INNER)
def _wait(team: Any, passes: int) -> None:
    """Count a finished pass (whoever watches reads the counter) and wait until all threads have finished it."""
    arrive(team.counter)
    while arrived(team.counter) < team.threads * (passes + 1):
        pass


@njit(**INNER)
def _share(side: Any, team: Any) -> Any:
    """This thread's tiles."""
    return side.tiles * team.thread // team.threads, side.tiles * (team.thread + 1) // team.threads


@njit(**INNER)
def _layer(layers: Any, layer: int, turned: bool) -> Any:
    """Phases of a layer, seen from the active register: own, other, pair."""
    if turned:
        return layers.feature[layer], layers.sample[layer], layers.pair_turned[layer]
    return layers.sample[layer], layers.feature[layer], layers.pair[layer]


@njit(**INNER)
def _turn(state: Any, grid: Any, tile: int, buffer: Any, back: bool) -> None:
    """A vector of sample states by all feature states, between the state and a turned tile."""
    lanes = 64 // state.itemsize
    for block in range(grid.blocks):
        line, turned = 2 * (block * grid.rows + tile * lanes), 2 * block * lanes
        for part in range(2):
            if back:
                transpose(buffer, turned + part, 2, state, line + part, 2)
            else:
                transpose(state, line + part, 2, buffer, turned + part, 2)


@njit(**INNER)
def _lane_sum(lines: Any, line: int) -> float:
    lanes = 64 // lines.itemsize
    total = 0.0
    for lane in range(line * lanes, (line + 1) * lanes):
        total += lines[lane]
    return total


@njit(**INNER)
def _begin_products(side: Any, tile: int, work: Any) -> int:
    """Put the empty set's factor at the bottom of the stack; give the first line of the tile's factors."""
    n = side.values.size // (64 // side.values.itemsize) // side.tiles - 1
    first = 2 * tile * (n + 1)
    store(work.stack, 0, load(side.factors, first + 2 * n))
    store(work.stack, 1, load(side.factors, first + 2 * n + 1))
    return first


@njit(**COMPILED)
def run(state: Any, adjoint: Any, circuit: Any, keep: bool, work: Any, team: Any, out: Any) -> None:
    """Run the circuit; out[0] is this thread's share of the expectation value. With `keep` the final state is left.

    Each pass: [uniform start], [mixing of the layer before], phase, mixing; the last only mixes and observes. Where
    `adjoint` is not None, it is formed there from the observable and the last mixing is undone at once on both, so
    that `undo` can go on; the derivative by the last β on this register goes to out[1].
    """
    grid, layers = circuit.grid, circuit.layers
    lanes = 64 // state.itemsize
    for layer in range(circuit.depth + 1):
        side = circuit.samples if layer % 2 == 0 else circuit.features
        last, start = layer == circuit.depth, circuit.uniform and layer == 0
        begin, end = _share(side, team)
        x = work.x if side.turned else state
        if not last:
            phases = _layer(layers, layer, side.turned)
            item_factors(side.factors, *phases, side.basis, side.shared, False, begin * lanes, end * lanes)
        for tile in range(begin, end):
            if team.stop[0]:
                break
            base = 0 if side.turned else 2 * tile * grid.rows
            if start:
                value, zero = load(side.amplitude, tile), splat(state, 0.0)
                for row in range(side.tables.dimension):
                    store(x, base + 2 * row, value)
                    store(x, base + 2 * row + 1, zero)
            elif side.turned:
                _turn(state, grid, tile, work.x, False)
            if layer > 0:
                mix(x, base, 2, side.tables, layers.mixing, ANGLE * (layer - 1))
            if not last:
                first = _begin_products(side, tile, work)
                phase(x, base, 2, side.tables, side.factors, first, work.stack, work.heads)
                mix(x, base, 2, side.tables, layers.mixing, ANGLE * layer)
            elif circuit.observed:
                n = side.values.size // lanes // side.tiles - 1
                store(work.stack, 0, load(side.values, tile * (n + 1) + n))
                goal = (side.values, tile * (n + 1), (work.stack, work.heads), circuit.kind, circuit.threshold)
                if adjoint is None:
                    store(work.total, 0, observe(x, None, base, side.tables, *goal))
                    out[0] += _lane_sum(work.total, 0)
                else:
                    y = work.y if side.turned else adjoint
                    store(work.total, 0, observe(x, y, base, side.tables, *goal))
                    out[0] += _lane_sum(work.total, 0)
                    out[1] += _unmix_tile(x, y, base, side, layers.mixing, ANGLE * (layer - 1), work)
                    if side.turned:
                        _turn(adjoint, grid, tile, work.y, True)
            if side.turned and (keep or not last):
                _turn(state, grid, tile, work.x, True)
        _wait(team, layer)


@njit(**INNER)
def _unmix_tile(x: Any, y: Any, base: int, side: Any, angles: Any, at: int, work: Any) -> float:
    """Undo a mixing of state x and adjoint y on one tile; gives the derivative by β."""
    store(work.total, 0, splat(x, 0.0))
    store(work.total, 1, splat(x, 0.0))
    unmix(x, y, base, 2, side.tables, angles, at, work.total)
    return 2 * (_lane_sum(work.total, 0) - _lane_sum(work.total, 1))


@njit(**COMPILED)
def undo(
    state: Any, adjoint: Any, circuit: Any, work: Any, team: Any, mixing: Any, pair: Any, pair_turned: Any
) -> None:
    """All derivatives by the adjoint method, undoing the circuit on state and adjoint.

    Where something was observed, `run` has undone the last mixing of one register already. The results are this
    thread's shares: mixing[l], pair[l] (from passes over the sample register) and pair_turned[l] (from those over the
    feature register).
    """
    grid, layers, depth = circuit.grid, circuit.layers, circuit.depth
    lanes = 64 // state.itemsize
    for layer_number in range(1 if circuit.observed else 0, depth + 1):
        layer = depth - layer_number  # whose phase this pass undoes; the first pass has none
        side = circuit.samples if layer % 2 == 0 else circuit.features
        begin, end = _share(side, team)
        x, y = (work.x, work.y) if side.turned else (state, adjoint)
        target = pair_turned[min(layer, depth - 1)] if side.turned else pair[min(layer, depth - 1)]
        n, ones = target.shape[0], side.basis.shape[1]
        if layer_number > 0:
            phases = _layer(layers, layer, side.turned)
            item_factors(side.factors, *phases, side.basis, side.shared, True, begin * lanes, end * lanes)
        for tile in range(begin, end):
            if team.stop[0]:
                break
            base = 0 if side.turned else 2 * tile * grid.rows
            if side.turned:
                _turn(state, grid, tile, work.x, False)
                _turn(adjoint, grid, tile, work.y, False)
            if layer_number > 0:
                mixing[layer] += _unmix_tile(x, y, base, side, layers.mixing, ANGLE * layer, work)
                for i in range(n):
                    store(work.items, i, splat(x, 0.0))
                first = _begin_products(side, tile, work)
                unphase(x, y, base, 2, side.tables, side.factors, first, work.stack, work.heads, work.items)
                for lane in range(min(lanes, side.basis.shape[0] - tile * lanes)):
                    for c in range(ones):
                        j = side.basis[tile * lanes + lane, c]
                        for i in range(n):
                            target[i, j] -= 2 * work.items[i * lanes + lane]
            if layer > 0:
                mixing[layer - 1] += _unmix_tile(x, y, base, side, layers.mixing, ANGLE * (layer - 1), work)
                if side.turned:
                    _turn(state, grid, tile, work.x, True)
                    _turn(adjoint, grid, tile, work.y, True)
        _wait(team, layer_number - 1 if circuit.observed else layer_number)
