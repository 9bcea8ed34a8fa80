"""CG-XY-QAOA as a gate circuit for registers too wide for `Ansatz`: sparse cost and mixer, a basis start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.qaoa.groups import CostGroup, components
from biselect.qaoa.mixers import both_mixers, mixer_classes
from biselect.qaoa.schedule import Schedule
from biselect.qaoa.starts import Start, start_choice
from biselect.simulate.circuit import Layers, Register
from biselect.simulate.gates import GateCircuit, basis_bits, layered_circuit


def surrogate(problem: SelectionProblem, cost_edges: Iterable[tuple[int, int]]) -> tuple[CostGroup, ...]:
    """The components S, F and SF with the products of `cost_edges` (sample, feature) only; all marginals stay."""
    kept = np.zeros(problem.coupling.shape, dtype=bool)
    for sample, feature in cost_edges:
        if not (0 <= sample < problem.n_samples and 0 <= feature < problem.n_features):
            raise InputError(f"cost edge ({sample}, {feature}) does not join a sample and a feature of the problem")
        kept[sample, feature] = True
    return tuple(replace(group, pair=np.where(kept, group.pair, 0.0)) for group in components(problem))


def wide_circuit(
    problem: SelectionProblem,
    angles: ArrayLike,
    depth: int,
    schedule: str | Schedule = "fully-grouped",
    mixer: Any = "path",
    start: Start = "canonical",
    *,
    groups: Sequence[CostGroup],
    seed: int | np.random.Generator | None = 0,
) -> GateCircuit:
    """The circuit of `Ansatz(problem, depth, schedule, mixer, start, groups=groups)`, gate by gate.

    Args:
        problem: whose budgets it keeps.
        angles: of the schedule.
        depth: p, how many layers.
        schedule: a name or a Schedule.
        mixer: as for Ansatz; every edge is a gate.
        start: `canonical`, `random`, a Selection, or a pair (samples, features).
        groups: cost groups; every pair that any of them couples is a gate, so take a `surrogate`.
        seed: for start `random`.

    >>> problem = SelectionProblem(coupling=np.ones((3, 2)), k=1, m=1)
    >>> circuit = wide_circuit(problem, [0.2, 0.5], 1, "tied", groups=surrogate(problem, [(2, 0)]))
    >>> [gate.kind for gate in circuit.gates]
    ['rz', 'rz', 'rzz', 'xy', 'xy', 'xy']
    """
    if isinstance(schedule, str):
        schedule = Schedule.named(schedule, depth, tuple(group.name for group in groups))
    if schedule.depth != depth or schedule.groups != len(groups):
        raise InputError(
            f"the schedule is for depth {schedule.depth} and {schedule.groups} groups, "
            f"the circuit has depth {depth} and {len(groups)} groups"
        )
    if any(group.pair.shape != problem.coupling.shape for group in groups):
        raise InputError("every cost group must have the shape of the problem")
    if isinstance(start, str) and start == "dicke":
        raise InputError("a wide circuit starts from a basis state: give canonical, random, or a choice")
    table = schedule.expand(angles)
    gammas = table[:, :-1]
    layers = Layers(
        sample=gammas @ np.array([group.sample for group in groups]),
        feature=gammas @ np.array([group.feature for group in groups]),
        pair=np.tensordot(gammas, np.array([group.pair for group in groups]), axes=1),
        mixing=table[:, -1],
    )
    n, d = problem.n_samples, problem.n_features
    sample_mixer, feature_mixer = both_mixers(mixer)
    return layered_circuit(
        layers,
        Register(n=n, chosen=problem.k, classes=mixer_classes(sample_mixer, n)),
        Register(n=d, chosen=problem.m, classes=mixer_classes(feature_mixer, d)),
        basis_bits(n, d, *start_choice(problem, start, seed)),
    )
