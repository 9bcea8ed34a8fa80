"""The order of passes for a whole circuit.

Every thread runs it on its own share of the tiles, and waits for the others after each pass.
"""

from typing import Any, NamedTuple

from numba import njit
from numpy.typing import NDArray

from biselect.simulate.kernels import COMPILED, INNER
from biselect.simulate.passes import backward_pass, final_pass, forward_pass
from biselect.simulate.simd import arrive, arrived


class PassLayers(NamedTuple):
    """Layers as the passes want them.

    Attributes:
        sample: (p, N) phases.
        feature: (p, D).
        pair: (p, N, D).
        pair_turned: the same, (p, D, N).
        mixing: (p, 2): cos β and tan β.
    """

    sample: NDArray[Any]
    feature: NDArray[Any]
    pair: NDArray[Any]
    pair_turned: NDArray[Any]
    mixing: NDArray[Any]


class Team(NamedTuple):
    """Which thread this is, of how many, and where they wait for each other."""

    thread: int
    threads: int
    counter: NDArray[Any]


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
def _layer(program: Any, layer: int, turned: bool) -> Any:
    """Phases of a layer, seen from the active register: own, other, pair."""
    if turned:
        return program.feature[layer], program.sample[layer], program.pair_turned[layer]
    return program.sample[layer], program.feature[layer], program.pair[layer]


@njit(**INNER)
def _angle(program: Any, layer: int) -> Any:
    """(cos β, tan β) of a layer; (0, 0), no mixing, before the first."""
    if layer < 0:
        return 0.0, 0.0
    return program.mixing[layer, 0], program.mixing[layer, 1]


@njit(**INNER)
def evolve(
    state: Any, samples: Any, features: Any, grid: Any, program: Any, uniform: bool, work: Any, team: Any
) -> int:
    """All layers but the last mixing of one register; gives the number of passes made."""
    passes = 0
    for layer in range(program.mixing.shape[0]):
        side = samples if layer % 2 == 0 else features
        begin, end = _share(side, team)
        start = uniform and layer == 0
        phases = _layer(program, layer, side.turned)
        before, after = _angle(program, layer - 1), _angle(program, layer)
        forward_pass(state, side, grid, work, begin, end, start, before, phases, after)
        passes = _wait(team, passes)
    return passes


@njit(**COMPILED)
def evaluate(
    state: Any,
    samples: Any,
    features: Any,
    grid: Any,
    program: Any,
    uniform: bool,
    observed: bool,
    kind: int,
    threshold: float,
    keep: bool,
    work: Any,
    team: Any,
    out: Any,
) -> None:
    """Run the circuit; out[0] is the expectation value. With `keep` the final state is left in `state`."""
    passes = evolve(state, samples, features, grid, program, uniform, work, team)
    depth = program.mixing.shape[0]
    side = features if depth % 2 == 1 else samples
    begin, end = _share(side, team)
    angle = _angle(program, depth - 1)
    final_pass(state, state, side, grid, work, begin, end, angle, observed, kind, threshold, False, keep, out)
    _wait(team, passes)


@njit(**COMPILED)
def differentiate(
    state: Any,
    adjoint: Any,
    samples: Any,
    features: Any,
    grid: Any,
    program: Any,
    uniform: bool,
    observed: bool,
    kind: int,
    threshold: float,
    work: Any,
    team: Any,
    value: Any,
    mixing: Any,
    pair: Any,
    pair_turned: Any,
) -> None:
    """Expectation value and all derivatives by the adjoint method.

    With `observed` the circuit is run first and the adjoint formed from the observable; otherwise `state` and
    `adjoint` are taken as the final ones. The results are this thread's shares: value[0], mixing[l], pair[l] (from
    passes over the sample register) and pair_turned[l] (from those over the feature register).
    """
    passes = 0
    if observed:
        passes = evolve(state, samples, features, grid, program, uniform, work, team)
    depth = program.mixing.shape[0]
    side = features if depth % 2 == 1 else samples
    begin, end = _share(side, team)
    out = value  # value[0] the expectation, value[1] the derivative by the last β on this register
    angle = _angle(program, depth - 1)
    final_pass(state, adjoint, side, grid, work, begin, end, angle, observed, kind, threshold, True, True, out)
    mixing[depth - 1] += out[1]
    passes = _wait(team, passes)
    for layer in range(depth - 1, -1, -1):
        side = samples if side.turned else features
        begin, end = _share(side, team)
        phases = _layer(program, layer, side.turned)
        before, after = _angle(program, layer - 1), _angle(program, layer)
        target = pair_turned[layer] if side.turned else pair[layer]
        derivatives = value[2:4]
        derivatives[:] = 0.0
        backward_pass(state, adjoint, side, grid, work, begin, end, before, phases, after, target, derivatives)
        mixing[layer] += derivatives[1]
        if layer > 0:
            mixing[layer - 1] += derivatives[0]
        passes = _wait(team, passes)
