"""Patches: which qubits of a device hold the samples, which the features, and which edges they use.

A register is a tree of hardware edges, or a path, whose mixer needs two colours only. Cross edges, the hardware edges
between the registers, carry the retained couplings at no routing cost; a patch is chosen for many of them and few
expected errors. Where a device joins every pair of qubits there is nothing to search: all couplings are carried, and a
register may be a ring or a complete graph too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.core.checks import check_integer, check_positions
from biselect.core.rules import Blocks
from biselect.errors import InputError
from biselect.options import spell
from biselect_quantum.circuits.mixers import Classes, block_classes, mixer_classes
from biselect_quantum.devices.device_errors import DeviceErrors, Edge, device_errors
from biselect_quantum.devices.layout import Qubit
from biselect_quantum.devices.mixer_order import colour_registers

if TYPE_CHECKING:
    from qiskit.transpiler import Target

REGISTERS = ("auto", "trees", "paths", "rings", "complete")
ON_ALL_PAIRS = {"auto": "ring", "trees": "path", "paths": "path", "rings": "ring", "complete": "complete"}
"""The mixer of each kind of register where every pair is joined; a path is a tree, and none is shallower."""
PREFERRED_DEGREE = 3  # a tree of at most this degree needs no more colours
CROSS_WORTH = 0.1  # expected errors of a shot that one more cross edge may cost
WALKS, STEPS = 8, 24_000  # walks, and steps of each for every qubit of the patch
PATH_WALKS, PATH_STEPS = 16, 1_000
HOT, COLD = 0.3, 0.003  # temperatures, in expected errors
TRIES = 5_000  # starts at most: long paths often block one another
WORSE = 1.5  # expected errors of a patch that is still taken, in those when it was chosen
GROWTH = 4_000  # steps of a growing path before it counts as stuck

Table = NDArray[np.int64]
Registers = tuple[list[int], list[int]]
Found = tuple[float, Registers]


@dataclass(frozen=True, kw_only=True)
class Patch:
    """Two connected registers on a device. Positions are logical: sample u is qubit u, feature v is qubit N + v.

    So a patch says where each item of a problem sits; `place` gives the patch on which the heaviest couplings meet.

    Attributes:
        samples: the physical qubit of each sample position.
        features: the physical qubit of each feature position.
        sample_edges: mixer edges between sample positions.
        feature_edges: mixer edges between feature positions.
        cross_edges: E_×, pairs (sample position, feature position) joined on the device.
    """

    samples: tuple[int, ...]
    features: tuple[int, ...]
    sample_edges: tuple[Edge, ...]
    feature_edges: tuple[Edge, ...]
    cross_edges: tuple[Edge, ...]

    @property
    def n_samples(self) -> int:
        """How many samples, N."""
        return len(self.samples)

    @property
    def n_features(self) -> int:
        """How many features, D."""
        return len(self.features)

    @property
    def layout(self) -> tuple[Qubit, ...]:
        """The qubit of each variable, samples first."""
        return tuple(map(Qubit, self.samples + self.features))

    def reordered(self, samples: Sequence[int], features: Sequence[int]) -> Patch:
        """The same qubits and edges with other positions: `samples` and `features` say which qubit is at each."""
        if sorted(samples) != sorted(self.samples) or sorted(features) != sorted(self.features):
            raise InputError("a patch that is reordered must keep the qubits of both registers")
        at_sample, at_feature = [samples.index(q) for q in self.samples], [features.index(q) for q in self.features]

        def moved(edges: Sequence[Edge], at: Sequence[int]) -> tuple[Edge, ...]:
            return tuple(sorted((min(at[u], at[v]), max(at[u], at[v])) for u, v in edges))

        return Patch(
            samples=tuple(samples),
            features=tuple(features),
            sample_edges=moved(self.sample_edges, at_sample),
            feature_edges=moved(self.feature_edges, at_feature),
            cross_edges=tuple(sorted((at_sample[u], at_feature[v]) for u, v in self.cross_edges)),
        )

    @cached_property
    def _classes(self) -> tuple[Classes, Classes]:
        return colour_registers(self.sample_edges, self.feature_edges, self.cross_edges)

    @property
    def sample_classes(self) -> Classes:
        """The sample mixer, edges of one colour together."""
        return self._classes[0]

    @property
    def feature_classes(self) -> Classes:
        """The feature mixer, edges of one colour together."""
        return self._classes[1]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {name: np.array(value).tolist() for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Patch:
        """Build from the JSON form."""
        edges = {name: tuple(map(tuple, content[name])) for name in ("sample_edges", "feature_edges", "cross_edges")}
        return cls(samples=tuple(content["samples"]), features=tuple(content["features"]), **edges)


def choose_patch(
    target: Target,
    n_samples: int,
    n_features: int,
    *,
    registers: str = "auto",
    seed: int | np.random.Generator | None = 0,
    blocks: tuple[Blocks, Blocks] | None = None,
) -> Patch:
    """Choose qubits for both registers by short annealing walks over the usable part of a device.

    Args:
        target: the device.
        n_samples: N, how many samples there are.
        n_features: D, how many features there are.
        registers: `trees`, for as many cross edges as possible; `paths`, for mixers of two colours; `rings` or
            `complete` where every pair of qubits is joined; `auto` for rings there and trees elsewhere.
        seed: fixes the walks.
        blocks: what rules leave of each register; where every pair is joined, the mixer stands in each of them.

    Returns:
        Physical qubits of samples and features, with mixer edges inside each and cross edges between them.

    Raises:
        InputError: no room for registers of that kind.
    """
    _check_registers(registers)
    n_samples, n_features = check_integer("n_samples", n_samples), check_integer("n_features", n_features)
    device = device_errors(target)
    _refuse_too_small(device, n_samples + n_features)
    if device.joins_all_pairs:
        return _patch_of_all_pairs(device, n_samples, n_features, ON_ALL_PAIRS[registers], blocks)
    registers = "trees" if registers == "auto" else registers
    if registers not in ("trees", "paths"):
        raise InputError(f"registers={registers!r} needs a device that joins every pair of qubits; take trees or paths")
    search_result = _search(device, n_samples, n_features, registers, np.random.default_rng(seed))
    if search_result is None:
        raise InputError(
            f"no two joined {registers} of {n_samples} and {n_features} qubits were found among the "
            f"{len(device.usable)} usable ones; use fewer qubits, another device"
            + (f", or {spell(registers='trees')}" if registers == "paths" else "")
        )
    return _patch(device, *search_result, registers)


def make_patch(target: Target, samples: Sequence[int], features: Sequence[int], *, registers: str = "trees") -> Patch:
    """Make the patch on given physical qubits: `trees`, or `paths` in the order of the path.

    Raises:
        InputError: a qubit that is faulty, or registers that are not joined.
    """
    if registers not in ("trees", "paths"):
        raise InputError(f"registers must be trees or paths on given qubits, got {registers!r}")
    device = device_errors(target)
    qubits = check_positions("the physical qubits of a patch", [*samples, *features], len(device.qubit_costs))
    if broken := sorted(set(qubits.tolist()) - set(device.usable)):
        raise InputError(f"the physical qubits {broken} are faulty or lack a gate or a readout; leave them out")
    return _patch(device, list(samples), list(features), registers)


def patch_objections(patch: Patch, before: Target, now: Target) -> list[str]:
    """What speaks against running on a patch that was chosen for an earlier calibration; nothing if it is as good.

    The checks are fixed beforehand: every qubit and every edge that circuits use is still usable, and a shot is
    expected to err at most `WORSE` times as often as when the patch was chosen.
    """
    then, device = device_errors(before), device_errors(now)
    n = patch.n_samples
    pairs = [*patch.sample_edges, *((n + i, n + j) for i, j in patch.feature_edges)]
    pairs += [(i, n + j) for i, j in patch.cross_edges]
    ends = [(patch.layout[i], patch.layout[j]) for i, j in pairs]
    edges = [(min(pair), max(pair)) for pair in ends]
    lost = sorted(set(patch.layout) - set(device.usable))
    lost_edges = sorted(edge for edge in edges if edge not in device.edge_costs)
    parts = (("qubits", lost), ("edges", lost_edges))
    objections = [f"{name} {places} are no longer usable" for name, places in parts if places]
    if not objections:
        old, new = (
            float(each.qubit_costs[list(patch.layout)].sum()) + sum(each.edge_costs[edge] for edge in edges)
            for each in (then, device)
        )
        if new > WORSE * old:
            objections.append(f"a shot is expected to err {new:.2f} times, {old:.2f} when the patch was chosen")
    return objections


def _check_registers(registers: str) -> None:
    if registers not in REGISTERS:
        raise InputError(f"registers must be one of {', '.join(REGISTERS)}, got {registers!r}")


def _patch(device: DeviceErrors, samples: Sequence[int], features: Sequence[int], registers: str) -> Patch:
    edges = _tree if registers == "trees" else _path
    at_sample, at_feature = ({qubit: place for place, qubit in enumerate(side)} for side in (samples, features))
    cross = [
        (at_sample[here], at_feature[there])
        for edge in device.edge_costs
        for here, there in (edge, edge[::-1])
        if here in at_sample and there in at_feature
    ]
    if not cross:
        raise InputError("the patch has no edge between its registers; choose qubits that touch")
    return Patch(
        samples=tuple(int(qubit) for qubit in samples),
        features=tuple(int(qubit) for qubit in features),
        sample_edges=edges(device, samples, "sample"),
        feature_edges=edges(device, features, "feature"),
        cross_edges=tuple(sorted(cross)),
    )


def _patch_of_all_pairs(
    device: DeviceErrors, n: int, d: int, mixer: str, blocks: tuple[Blocks, Blocks] | None
) -> Patch:
    """The best qubits of a device that joins all pairs, with every cross edge; who lies where makes no difference."""
    qubits = _quietest(device, n + d)
    edges = []
    for side, size in enumerate((n, d)):
        classes = mixer_classes(mixer, size) if blocks is None else block_classes(mixer, size, blocks[side])
        edges.append(tuple(sorted({(min(edge), max(edge)) for group in classes for edge in group})))
    return Patch(
        samples=tuple(qubits[:n]),
        features=tuple(qubits[n:]),
        sample_edges=edges[0],
        feature_edges=edges[1],
        cross_edges=tuple((u, v) for u in range(n) for v in range(d)),
    )


def _quietest(device: DeviceErrors, count: int) -> list[int]:
    """So many qubits with few expected errors of their own and between them: the noisiest leaves first."""
    remaining = device.usable
    pairs = np.zeros((len(device.qubit_costs),) * 2)
    for (here, there), cost in device.edge_costs.items():
        pairs[here, there] = pairs[there, here] = cost
    while len(remaining) > count:
        costs = device.qubit_costs[remaining] + pairs[np.ix_(remaining, remaining)].sum(axis=1)
        remaining.pop(int(len(remaining) - 1 - np.argmax(costs[::-1])))  # of equal ones the last
    return remaining


def _tree(device: DeviceErrors, register: Sequence[int], name: str) -> tuple[Edge, ...]:
    """A spanning tree of low degree and low error: good edges first, those that crowd a qubit last."""
    from scipy.cluster.hierarchy import DisjointSet

    at = {qubit: position for position, qubit in enumerate(register)}
    inside = sorted((cost, edge) for edge, cost in device.edge_costs.items() if edge[0] in at and edge[1] in at)
    components, degree = DisjointSet(range(len(register))), [0] * len(register)
    tree: list[Edge] = []
    for limit in (PREFERRED_DEGREE, len(register)):
        for _, edge in inside:
            here, there = sorted(at[qubit] for qubit in edge)
            if max(degree[here], degree[there]) < limit and components.merge(here, there):
                degree[here] += 1
                degree[there] += 1
                tree.append((here, there))
    if components.n_subsets > 1:
        raise InputError(f"the {name} register is not connected by usable edges; choose other qubits")
    return tuple(sorted(tree))


def _path(device: DeviceErrors, register: Sequence[int], name: str) -> tuple[Edge, ...]:
    for step in range(len(register) - 1):
        here, there = sorted(register[step : step + 2])
        if (here, there) not in device.edge_costs:
            raise InputError(f"the {name} register is not a path: no usable edge joins qubits {here} and {there}")
    return tuple((step, step + 1) for step in range(len(register) - 1))


def _refuse_too_small(device: DeviceErrors, needed: int) -> None:
    total, usable = len(device.qubit_costs), device.usable
    if len(usable) < needed:
        raise InputError(
            f"the patch needs {needed} qubits, but only {len(usable)} of the device's {total} are usable; take fewer "
            "samples or features, or a larger device"
        )
    largest = max(map(len, device.parts()))
    if largest < needed:
        raise InputError(
            f"the patch needs {needed} joined qubits, but usable edges join only {largest} of the {len(usable)} usable "
            "ones; use fewer qubits or another device"
        )


def _search(device: DeviceErrors, n: int, d: int, registers: str, rng: np.random.Generator) -> Registers | None:
    """Joined registers of n and d qubits with many cross edges and few errors, by annealing walks; None without any.

    Qubits of paths come in the order of the path. A walk whose start got stuck is tried again.
    """
    from biselect_quantum.devices._patch_kernels import (  # compiles on first use
        anneal_paths,
        anneal_registers,
        grow_path,
    )

    arrays = device.arrays()
    graph = arrays.neighbours
    large = [part for part in device.parts() if len(part) >= n + d]
    starts = [qubit for part in large for qubit in part]
    walks, steps = (WALKS, STEPS * (n + d)) if registers == "trees" else (PATH_WALKS, PATH_STEPS * (n + d))
    temperatures = HOT * (COLD / HOT) ** (np.arange(steps) / steps)

    def over_trees() -> Found | None:
        part = large[int(rng.integers(len(large)))]
        labels = np.zeros(len(graph), dtype=np.int64)
        if not (_grow(graph, labels, 1, part, n, rng) and _grow(graph, labels, 2, _border(graph, labels, 1), d, rng)):
            return None
        state = rng.integers(0, 2**63, size=1).astype(np.uint64)
        labelling, score = anneal_registers(arrays, labels, CROSS_WORTH, temperatures, state)
        return score, (np.flatnonzero(labelling == 1).tolist(), np.flatnonzero(labelling == 2).tolist())

    def over_paths() -> Found | None:
        labels = np.zeros(len(graph), dtype=np.int64)
        state = rng.integers(0, 2**63, size=1).astype(np.uint64)
        paths = []
        for label, size in ((1, n), (2, d)):
            options = starts if label == 1 else _border(graph, labels, 1)
            if not options:
                return None
            path, length = grow_path(arrays, labels, label, _one_of(options, rng), size, GROWTH, state)
            if length < size:
                return None
            paths.append(path)
        *lines, score = anneal_paths(arrays, labels, *paths, CROSS_WORTH, temperatures, state)
        return score, (lines[0].tolist(), lines[1].tolist())

    walk = over_trees if registers == "trees" else over_paths
    ends = islice((end for end in (walk() for _ in range(TRIES)) if end is not None), walks)
    return max(ends, key=lambda end: end[0], default=(0.0, None))[1]


def _grow(graph: Table, labels: Table, label: int, starts: list[int], size: int, rng: np.random.Generator) -> bool:
    """Give a random connected register of free qubits to `label`; whether there was room."""
    options = starts
    for _ in range(size):
        if not options:
            return False
        labels[_one_of(options, rng)] = label
        options = _border(graph, labels, label)
    return True


def _border(graph: Table, labels: Table, label: int) -> list[int]:
    """Free neighbours of a register, in ascending order."""
    near = np.unique(graph[labels == label])
    return [qubit for qubit in near.tolist() if qubit >= 0 and not labels[qubit]]


def _one_of(options: list[int], rng: np.random.Generator) -> int:
    return options[int(rng.integers(len(options)))]
