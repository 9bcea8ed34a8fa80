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

from biselect.simulate.cube_tables import Tables
from biselect.simulate.kernels import COMPILED, INNER, fill, item_factors, mix, observe, phase, unmix, unphase
from biselect.simulate.simd import arrive, arrived, load, splat, store, transpose


class Side(NamedTuple):
    """One register as the active one, with the other register in the lanes."""

    tables: Tables  # of the active register
    turned: bool  # whether tiles must be turned to have the other register in the lanes
    tiles: int  # vectors of the other register
    basis: NDArray[np.int64]  # subsets of the other register
    kept: NDArray[np.int64]  # how many leading elements (largest first) of each are the same as in the one before
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
    """Layers as the passes want them."""

    sample: NDArray[Any]  # (p, N) phases
    feature: NDArray[Any]  # (p, D)
    pair: NDArray[Any]  # (p, N, D)
    pair_turned: NDArray[Any]  # the same, (p, D, N)
    mixing: NDArray[Any]  # (p, 2): cos β and tan β


class Circuit(NamedTuple):
    """What a run needs beside states and scratch."""

    samples: Side
    features: Side
    grid: Grid
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
def _wait(team: Any, passes: int) -> int:
    """Count a finished pass (whoever watches reads the counter) and wait until all threads have finished it."""
    arrive(team.counter)
    while arrived(team.counter) < team.threads * (passes + 1):
        pass
    return passes + 1


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
def _angle(layers: Any, layer: int) -> Any:
    """(cos β, tan β) of a layer; (0, 0), no mixing, before the first."""
    if layer < 0:
        return 0.0, 0.0
    return layers.mixing[layer, 0], layers.mixing[layer, 1]


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


@njit(**INNER)
def _unmix_tile(x: Any, y: Any, base: int, side: Any, angle: Any, work: Any) -> float:
    """Undo a mixing of state x and adjoint y on one tile; gives the derivative by β."""
    store(work.total, 0, splat(x, 0.0))
    store(work.total, 1, splat(x, 0.0))
    unmix(x, y, base, side.tables, angle[0], angle[1], work.total)
    return 2 * (_lane_sum(work.total, 0) - _lane_sum(work.total, 1))


@njit(**INNER)
def forward_pass(
    state: Any, side: Any, grid: Any, work: Any, team: Any, start: bool, before: Any, phases: Any, after: Any
) -> None:
    """[uniform start], [mixing before], phase, mixing after.

    `phases` is (own, other, pair); `before` and `after` are (cos β, tan β), with cos β = 0 for no mixing.
    """
    begin, end = _share(side, team)
    x = work.x if side.turned else state
    lanes = 64 // state.itemsize
    item_factors(side.factors, *phases, side.basis, side.kept, 1.0, begin * lanes, end * lanes)
    for tile in range(begin, end):
        if team.stop[0]:
            break
        base = 0 if side.turned else 2 * tile * grid.rows
        if start:
            fill(x, base, side.tables.dimension, side.amplitude, tile)
        elif side.turned:
            _turn(state, grid, tile, work.x, False)
        if before[0] != 0.0:
            mix(x, base, side.tables, before[0], before[1])
        first = _begin_products(side, tile, work)
        phase(x, base, side.tables, side.factors, first, work.stack, work.heads)
        mix(x, base, side.tables, after[0], after[1])
        if side.turned:
            _turn(state, grid, tile, work.x, True)


@njit(**INNER)
def final_pass(
    state: Any, adjoint: Any, side: Any, circuit: Any, work: Any, team: Any, gradient: bool, keep: bool, out: Any
) -> None:
    """The last mixing; the expectation value, if one is wanted, goes to out[0].

    With `gradient` the adjoint is formed (or taken as given, where nothing is observed) and the mixing is undone at
    once, its derivative going to out[1].
    """
    grid, observed = circuit.grid, circuit.observed
    angle = _angle(circuit.layers, circuit.layers.mixing.shape[0] - 1)
    begin, end = _share(side, team)
    x, y = (work.x, work.y) if side.turned else (state, adjoint)
    n = side.values.size // (64 // side.values.itemsize) // side.tiles - 1
    for tile in range(begin, end):
        if team.stop[0]:
            break
        base = 0 if side.turned else 2 * tile * grid.rows
        if side.turned:
            _turn(state, grid, tile, work.x, False)
            if gradient and not observed:
                _turn(adjoint, grid, tile, work.y, False)
        if observed or not gradient:
            mix(x, base, side.tables, angle[0], angle[1])
        if observed:
            first = tile * (n + 1)
            store(work.stack, 0, load(side.values, first + n))
            store(work.total, 0, splat(x, 0.0))
            scratch = (work.stack, work.heads)
            goal = (circuit.kind, circuit.threshold)
            observe(x, y, base, side.tables, side.values, first, *scratch, *goal, work.total, gradient)
            out[0] += _lane_sum(work.total, 0)
        if gradient:
            out[1] += _unmix_tile(x, y, base, side, angle, work)
        if side.turned and (gradient or keep):
            _turn(state, grid, tile, work.x, True)
            if gradient:
                _turn(adjoint, grid, tile, work.y, True)


@njit(**INNER)
def backward_pass(
    state: Any,
    adjoint: Any,
    side: Any,
    grid: Any,
    work: Any,
    team: Any,
    before: Any,
    phases: Any,
    after: Any,
    pair: Any,
    out: Any,
) -> None:
    """Undo a forward pass. Derivatives by the mixing before and after go to out[0] and out[1], by pairs to `pair`."""
    begin, end = _share(side, team)
    x, y = (work.x, work.y) if side.turned else (state, adjoint)
    lanes = 64 // state.itemsize
    n, chosen = pair.shape[0], side.basis.shape[1]
    item_factors(side.factors, *phases, side.basis, side.kept, -1.0, begin * lanes, end * lanes)
    for tile in range(begin, end):
        if team.stop[0]:
            break
        base = 0 if side.turned else 2 * tile * grid.rows
        if side.turned:
            _turn(state, grid, tile, work.x, False)
            _turn(adjoint, grid, tile, work.y, False)
        out[1] += _unmix_tile(x, y, base, side, after, work)
        for i in range(n):
            store(work.items, i, splat(x, 0.0))
        first = _begin_products(side, tile, work)
        unphase(x, y, base, side.tables, side.factors, first, work.stack, work.heads, work.items)
        for lane in range(min(lanes, side.basis.shape[0] - tile * lanes)):
            for c in range(chosen):
                j = side.basis[tile * lanes + lane, c]
                for i in range(n):
                    pair[i, j] -= 2 * work.items[i * lanes + lane]
        if before[0] != 0.0:
            out[0] += _unmix_tile(x, y, base, side, before, work)
            if side.turned:
                _turn(state, grid, tile, work.x, True)
                _turn(adjoint, grid, tile, work.y, True)


@njit(**INNER)
def evolve(state: Any, circuit: Any, work: Any, team: Any) -> int:
    """All layers but the last mixing of one register; gives the number of passes made."""
    passes, layers = 0, circuit.layers
    for layer in range(layers.mixing.shape[0]):
        side = circuit.samples if layer % 2 == 0 else circuit.features
        start = circuit.uniform and layer == 0
        before, after = _angle(layers, layer - 1), _angle(layers, layer)
        forward_pass(state, side, circuit.grid, work, team, start, before, _layer(layers, layer, side.turned), after)
        passes = _wait(team, passes)
    return passes


@njit(**COMPILED)
def evaluate(state: Any, circuit: Any, keep: bool, work: Any, team: Any, out: Any) -> None:
    """Run the circuit; out[0] is the expectation value. With `keep` the final state is left in `state`."""
    passes = evolve(state, circuit, work, team)
    side = circuit.features if circuit.layers.mixing.shape[0] % 2 == 1 else circuit.samples
    final_pass(state, state, side, circuit, work, team, False, keep, out)
    _wait(team, passes)


@njit(**COMPILED)
def differentiate(
    state: Any, adjoint: Any, circuit: Any, work: Any, team: Any, value: Any, mixing: Any, pair: Any, pair_turned: Any
) -> None:
    """Expectation value and all derivatives by the adjoint method.

    Where something is observed the circuit is run first and the adjoint formed from the observable; otherwise `state`
    and `adjoint` are taken as the final ones. The results are this thread's shares: value[0], mixing[l], pair[l] (from
    passes over the sample register) and pair_turned[l] (from those over the feature register).
    """
    passes, layers, grid = 0, circuit.layers, circuit.grid
    if circuit.observed:
        passes = evolve(state, circuit, work, team)
    depth = layers.mixing.shape[0]
    side = circuit.features if depth % 2 == 1 else circuit.samples
    # value[0] is the expectation, value[1] the derivative by the last β on this register
    final_pass(state, adjoint, side, circuit, work, team, True, True, value)
    mixing[depth - 1] += value[1]
    passes = _wait(team, passes)
    for layer in range(depth - 1, -1, -1):
        side = circuit.samples if side.turned else circuit.features
        phases = _layer(layers, layer, side.turned)
        before, after = _angle(layers, layer - 1), _angle(layers, layer)
        target = pair_turned[layer] if side.turned else pair[layer]
        derivatives = value[2:4]
        derivatives[:] = 0.0
        backward_pass(state, adjoint, side, grid, work, team, before, phases, after, target, derivatives)
        mixing[layer] += derivatives[1]
        if layer > 0:
            mixing[layer - 1] += derivatives[0]
        passes = _wait(team, passes)
