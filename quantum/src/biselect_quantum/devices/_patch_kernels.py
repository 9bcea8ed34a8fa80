"""The compiled walks over patches: two connected registers, or two paths, on a device's graph.

`device` is a `DeviceArrays`. A qubit's label says which register it is in: 0 none, 1 the samples, 2 the features. Both
walks maximise worth·|cross edges| - Σ costs. They begin with two registers that touch, and keep the best such pair.
"""

from typing import Any

import numpy as np
from numba import njit

from biselect.solvers.kernels import next_below, next_unit


@njit(cache=True, nogil=True)
def _gain(qubit: int, label: int, device: Any, labels: Any, worth: float) -> float:
    """What one qubit adds under a label, given its neighbours."""
    if label == 0:
        return 0.0
    total = -device.qubit_costs[qubit]
    for slot in range(device.neighbours.shape[1]):
        other = device.neighbours[qubit, slot]
        if other < 0:
            break
        if labels[other] == label:
            total -= 2 * device.edge_costs[qubit, slot]  # a mixer edge holds two gates a layer, a cross edge one
        elif labels[other] != 0:
            total += worth - device.edge_costs[qubit, slot]
    return total


@njit(cache=True, nogil=True)
def score_labels(device: Any, labels: Any, worth: float) -> float:
    """The whole score of labelled qubits, every edge inside a register counted."""
    total = 0.0
    for qubit in range(device.neighbours.shape[0]):
        if labels[qubit]:
            alone = _gain(qubit, labels[qubit], device, labels, worth)
            total += 0.5 * (alone - device.qubit_costs[qubit])  # each edge is met twice, each qubit once
    return total


@njit(cache=True, nogil=True)
def _is_connected(
    label: int, size: int, start: int, device: Any, labels: Any, visits: Any, stack: Any, mark: int
) -> bool:
    visits[start] = mark
    stack[0] = start
    top, met = 1, 1
    while top:
        top -= 1
        qubit = stack[top]
        for other in device.neighbours[qubit]:
            if other < 0:
                break
            if labels[other] == label and visits[other] != mark:
                visits[other] = mark
                stack[top] = other
                top += 1
                met += 1
    return met == size


@njit(cache=True, nogil=True)
def _touch(device: Any, labels: Any) -> bool:
    """Whether any edge joins the registers; a walk may part them on its way."""
    for qubit in range(device.neighbours.shape[0]):
        if labels[qubit] == 1:
            for other in device.neighbours[qubit]:
                if other >= 0 and labels[other] == 2:
                    return True
    return False


@njit(cache=True, nogil=True)
def anneal_registers(device: Any, labels: Any, worth: float, temperatures: Any, state: Any) -> Any:
    """Walk over pairs of connected registers from `labels`; returns the best labels and their score.

    A step moves a qubit next to a register into it, and one of the register's own qubits out: to the other register if
    the new qubit came from there, else to none.
    """
    members = np.flatnonzero(labels)
    sizes = np.array([0, (labels == 1).sum(), (labels == 2).sum()])
    visits, stack = np.zeros(labels.size, dtype=np.int64), np.empty(labels.size + 1, dtype=np.int64)
    mark = 0
    now = score_labels(device, labels, worth)
    best, best_labels = now, labels.copy()
    for temperature in temperatures:
        anchor = members[next_below(state, members.size)]
        incoming = device.neighbours[anchor, next_below(state, device.neighbours.shape[1])]
        place = next_below(state, members.size)
        outgoing = members[place]
        mine = labels[anchor]
        if incoming < 0 or labels[incoming] == mine or labels[outgoing] != mine or outgoing == anchor:
            continue
        theirs = labels[incoming]
        change = -_gain(outgoing, mine, device, labels, worth)
        labels[outgoing] = 0
        change -= _gain(incoming, theirs, device, labels, worth)
        labels[incoming] = mine
        change += _gain(incoming, mine, device, labels, worth)
        labels[outgoing] = theirs
        change += _gain(outgoing, theirs, device, labels, worth)
        keep = change >= 0 or next_unit(state) < np.exp(change / temperature)
        if keep:
            mark += 2
            keep = _is_connected(mine, sizes[mine], anchor, device, labels, visits, stack, mark)
            if keep and theirs:
                keep = _is_connected(theirs, sizes[theirs], outgoing, device, labels, visits, stack, mark + 1)
        if not keep:
            labels[outgoing], labels[incoming] = mine, theirs
            continue
        if theirs == 0:
            members[place] = incoming
        now += change
        if now > best + 1e-12 and _touch(device, labels):
            best = now
            best_labels[:] = labels
    return best_labels, best


@njit(cache=True, nogil=True)
def score_paths(device: Any, labels: Any, next_on_path: Any, worth: float) -> float:
    """The whole score of two paths; edges inside a register that its path does not walk are not counted."""
    total = 0.0
    for qubit in range(device.neighbours.shape[0]):
        if labels[qubit] == 0:
            continue
        total -= device.qubit_costs[qubit]
        for slot in range(device.neighbours.shape[1]):
            other = device.neighbours[qubit, slot]
            if other < 0:
                break
            if next_on_path[qubit] == other:
                total -= 2 * device.edge_costs[qubit, slot]
            elif labels[qubit] == 1 and labels[other] == 2:
                total += worth - device.edge_costs[qubit, slot]
    return total


@njit(cache=True, nogil=True)
def _bite(path: Any, size: int, other: int) -> bool:
    """The last qubit is a neighbour of `other`, on the path: from there walk to the end, then back."""
    for step in range(size - 2):
        if path[step] == other:
            path[step + 1 : size] = path[step + 1 : size][::-1].copy()
            return True
    return False


@njit(cache=True, nogil=True)
def grow_path(device: Any, labels: Any, label: int, start: int, size: int, tries: int, state: Any) -> Any:
    """A path of `size` free qubits from `start`, owned by `label`; fewer where it got stuck."""
    path = np.full(size, -1, dtype=np.int64)
    path[0] = start
    labels[start] = label
    length = 1
    for _ in range(tries):
        if length == size:
            break
        if next_below(state, 2):
            path[:length] = path[:length][::-1].copy()  # from its other end
        other = device.neighbours[path[length - 1], next_below(state, device.neighbours.shape[1])]
        if other < 0:
            continue
        if labels[other] == 0:
            path[length] = other
            labels[other] = label
            length += 1
        elif labels[other] == label:
            _bite(path, length, other)
    return path, length


@njit(cache=True, nogil=True)
def _link(path: Any, next_on_path: Any) -> None:
    for step in range(path.size - 1):
        next_on_path[path[step]] = path[step + 1]
    next_on_path[path[-1]] = -1


@njit(cache=True, nogil=True)
def anneal_paths(
    device: Any, labels: Any, samples: Any, features: Any, worth: float, temperatures: Any, state: Any
) -> Any:
    """Walk over pairs of paths: a path creeps forward by one qubit, or bites into itself and goes on from there."""
    next_on_path = np.full(labels.size, -1, dtype=np.int64)
    _link(samples, next_on_path)
    _link(features, next_on_path)
    now = score_paths(device, labels, next_on_path, worth)
    best, best_samples, best_features = now, samples.copy(), features.copy()
    for temperature in temperatures:
        label = 1 + next_below(state, 2)
        path = samples if label == 1 else features
        if next_below(state, 2):
            path[:] = path[::-1].copy()
        before = path.copy()
        other = device.neighbours[path[-1], next_below(state, device.neighbours.shape[1])]
        if other < 0:
            continue
        crept = labels[other] == 0
        if crept:
            labels[path[0]], labels[other] = 0, label
            next_on_path[path[0]] = -1
            path[:-1] = before[1:]
            path[-1] = other
        elif labels[other] != label or not _bite(path, path.size, other):
            continue
        _link(path, next_on_path)
        changed = score_paths(device, labels, next_on_path, worth)
        if changed >= now or next_unit(state) < np.exp((changed - now) / temperature):
            now = changed
            if now > best + 1e-12 and _touch(device, labels):
                best = now
                best_samples[:], best_features[:] = samples, features
            continue
        if crept:
            labels[other], labels[before[0]] = 0, label
            next_on_path[other] = -1
        path[:] = before
        _link(path, next_on_path)
    return best_samples, best_features, best


@njit(cache=True, nogil=True)
def cost_of_line(device: Any, path: Any, uses: Any) -> float:
    """Expected errors of a line whose edges are used so many times each."""
    total = 0.0
    for step in range(path.size):
        total += device.qubit_costs[path[step]]
        if step + 1 < path.size:
            for slot in range(device.neighbours.shape[1]):
                if device.neighbours[path[step], slot] == path[step + 1]:
                    total += uses[step] * device.edge_costs[path[step], slot]
    return total


@njit(cache=True, nogil=True)
def anneal_line(device: Any, labels: Any, path: Any, uses: Any, temperatures: Any, state: Any) -> Any:
    """Walk over lines, as `anneal_paths` does over pairs of paths; returns the best line and its cost."""
    now = cost_of_line(device, path, uses)
    best, best_path = now, path.copy()
    for temperature in temperatures:
        before = path.copy()
        if next_below(state, 2):
            path[:] = path[::-1].copy()
        other = device.neighbours[path[-1], next_below(state, device.neighbours.shape[1])]
        crept = other >= 0 and labels[other] == 0
        if crept:
            tail = path[0]
            path[:-1] = path[1:].copy()
            path[-1] = other
        elif other < 0 or not _bite(path, path.size, other):
            path[:] = before
            continue
        changed = cost_of_line(device, path, uses)
        if changed <= now or next_unit(state) < np.exp((now - changed) / temperature):
            now = changed
            if crept:
                labels[tail], labels[other] = 0, 1
            if now < best - 1e-12:
                best = now
                best_path[:] = path
        else:
            path[:] = before
    return best_path, best
