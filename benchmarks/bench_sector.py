"""The sector simulator against what else there is, side by side in one process, one thread.

    python benchmarks/bench_sector.py [--large] [OUT.json]

`make bench` gives it peers and one thread. Peers that are not installed are left out, with a word. `--large` adds the
36-qubit sector against the machine's own copy speed, and a 40-qubit sector. Ratios are theirs over ours, medians of
repeats.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect_quantum.circuits import Ansatz, Observable
from needs import need
from per_edge import PerEdgeSimulator

SIZES = [(12, 8, 3, 5, 5), (12, 12, 3, 4, 3), (14, 10, 3, 3, 8), (16, 12, 4, 4, 3), (20, 12, 5, 4, 3)]


def case(n: int, d: int, k: int, m: int, p: int, dtype: Any = np.complex128) -> tuple[Ansatz, np.ndarray]:
    """An ansatz on generated weights, and angles for it."""
    rng = np.random.default_rng(0)
    problem = SelectionProblem(
        coupling=0.3 * rng.exponential(size=(n, d)), sample_scores=rng.random(n), feature_scores=rng.random(d), k=k, m=m
    )
    return Ansatz(problem, p, backend="compiled", dtype=dtype), rng.uniform(-1, 1, size=4 * p)


def median(work: Callable[[], Any], repeats: int) -> float:
    """Median seconds of a call, after one to warm up."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def ours(ansatz: Ansatz, angles: np.ndarray, repeats: int) -> dict[str, float]:
    """Evaluation and gradient, and what the gradient costs in evaluations."""
    evaluation = median(lambda: ansatz.expectation(angles), repeats)
    gradient = median(lambda: ansatz.value_and_gradient(angles), repeats)
    return {"evaluation": evaluation, "gradient": gradient, "gradient over evaluation": gradient / evaluation}


def against_per_edge(ansatz: Ansatz, angles: np.ndarray, repeats: int) -> float:
    """Plain numba code on the same sector, an edge at a time; it must give the same energy."""
    peer = PerEdgeSimulator(ansatz)
    layers = ansatz.layers(angles)
    assert abs(peer.expectation(layers) - ansatz.expectation(angles)) < 1e-9
    return median(lambda: peer.expectation(layers), repeats)


def ffsim_layers(ansatz: Ansatz, angles: np.ndarray) -> Callable[[], Any]:
    """The same work in ffsim: its two spin species are our registers, an orbital rotation is a mixer."""
    import ffsim

    problem, layers = ansatz.problem, ansatz.layers(angles)
    n = problem.n_samples
    assert n == problem.n_features, "ffsim needs registers of one size"
    electrons = (problem.k, problem.m)
    start = np.full(problem.sector.size, problem.sector.size**-0.5, dtype=complex)
    hops = np.zeros((n, n))
    for i in range(n - 1):
        hops[i, i + 1] = hops[i + 1, i] = 1.0
    values, vectors = np.linalg.eigh(hops)
    rotations = [vectors @ np.diag(np.exp(-1j * beta * values)) @ vectors.T for beta in layers.mixing]
    energies = ansatz.energies.ravel()

    def run() -> float:
        state = start
        for layer in range(layers.depth):
            pair = layers.pair[layer]
            state = ffsim.apply_diag_coulomb_evolution(state, (None, pair, None), -1.0, n, electrons)
            phases = (layers.sample[layer], layers.feature[layer])
            state = ffsim.apply_num_op_sum_evolution(state, phases, -1.0, n, electrons)
            state = ffsim.apply_orbital_rotation(state, rotations[layer], n, electrons)
        return float(np.abs(state) ** 2 @ energies)

    return run


def qiskit_circuit(ansatz: Ansatz, angles: np.ndarray) -> Any:
    """The logical circuit from a feasible basis state, gate by gate."""
    from qiskit import QuantumCircuit
    from qiskit.circuit.library import XXPlusYYGate

    problem, layers = ansatz.problem, ansatz.layers(angles)
    n, d = problem.n_samples, problem.n_features
    circuit = QuantumCircuit(n + d)
    for q in (*range(problem.k), *range(n, n + problem.m)):
        circuit.x(q)
    for layer in range(layers.depth):
        ising = _layer_ising(layers, layer)
        for q, field in enumerate(ising.fields):
            circuit.rz(2 * float(field), q)
        for i in range(n):
            for j in range(d):
                circuit.rzz(2 * float(ising.couplings[i, j]), i, n + j)
        for register, offset in ((ansatz.samples, 0), (ansatz.features, n)):
            for edges in register.classes:
                for i, j in edges:
                    circuit.append(XXPlusYYGate(2 * float(layers.mixing[layer]), 0.0), [i + offset, j + offset])
    return circuit


def _layer_ising(layers: Any, layer: int) -> Any:
    """The phases of a layer as fields and couplings: -i times their Ising form."""
    problem = SelectionProblem(
        coupling=layers.pair[layer], sample_scores=layers.sample[layer], feature_scores=layers.feature[layer], k=1, m=1
    )
    return problem.ising()


def against_aer(ansatz: Ansatz, angles: np.ndarray, repeats: int) -> float:
    """Aer's statevector on the whole register, expectation of the diagonal cost left out of the time."""
    from qiskit_aer import AerSimulator

    simulator = AerSimulator(method="statevector", max_parallel_threads=1)
    circuit = qiskit_circuit(ansatz, angles)
    circuit.save_statevector()
    from qiskit import transpile

    compiled = transpile(circuit, simulator, optimization_level=0)
    return median(lambda: simulator.run(compiled).result(), repeats)


def against_lightning(ansatz: Ansatz, angles: np.ndarray, repeats: int) -> float:
    """PennyLane's lightning.qubit, adjoint gradient by the 4p angles."""
    import pennylane as qml

    problem = ansatz.problem
    n, d = problem.n_samples, problem.n_features
    parts = problem.components()
    device = qml.device("lightning.qubit", wires=n + d)
    whole = problem.ising()
    terms = [qml.Z(q) for q in range(n + d)] + [qml.Z(i) @ qml.Z(n + j) for i in range(n) for j in range(d)]
    cost = qml.Hamiltonian([*whole.fields, *whole.couplings.ravel()], terms)

    @qml.qnode(device, diff_method="adjoint")
    def energy(free: Any) -> Any:
        for q in (*range(problem.k), *range(n, n + problem.m)):
            qml.X(q)
        for layer in range(ansatz.schedule.depth):
            for group, part in enumerate(parts):
                gamma = free[4 * layer + group]
                for q in np.flatnonzero(part.fields):
                    qml.RZ(2 * gamma * part.fields[q], wires=int(q))
                for i, j in np.argwhere(part.couplings != 0):
                    qml.IsingZZ(2 * gamma * part.couplings[i, j], wires=[int(i), n + int(j)])
            for register, offset in ((ansatz.samples, 0), (ansatz.features, n)):
                for edges in register.classes:
                    for i, j in edges:
                        qml.IsingXY(-2 * free[4 * layer + 3], wires=[i + offset, j + offset])
        return qml.expval(cost)

    free = qml.numpy.array(angles, requires_grad=True)
    gradient = qml.grad(energy)
    basis = Ansatz(problem, ansatz.schedule.depth, start="canonical", backend="compiled")
    exact = basis.value_and_gradient(angles)[1]
    assert np.abs(gradient(free) - exact).max() < 1e-6 * np.abs(exact).max()
    return median(lambda: gradient(free), repeats)


def copy_rate() -> float:
    """Bytes read and written a second by a plain copy."""
    source = np.ones(2**27, dtype=np.float32)  # written, so that its pages are its own
    target = np.empty_like(source)
    return 2 * source.nbytes / median(lambda: np.copyto(target, source), 10)


def large_sectors() -> dict[str, Any]:
    """36 qubits against the machine's copy speed, and 40 qubits for the norm."""
    results: dict[str, Any] = {}
    ansatz, angles = case(20, 16, 6, 5, 3, np.complex64)
    spent = median(lambda: ansatz.expectation(angles), 3)
    results["36 qubits, seconds"] = spent
    results["36 qubits, peak GiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    copy = copy_rate()
    passes = 4 - 0.5 - 0.5  # p + 1, the first only writes and the last only reads
    floor = passes * 2 * ansatz.problem.sector.size * 8 / copy
    results["36 qubits, share of the copy-bandwidth floor"] = floor / spent
    del ansatz
    ansatz, angles = case(20, 20, 6, 6, 2, np.complex64)
    results["40 qubits, amplitudes"] = ansatz.problem.sector.size
    start = time.perf_counter()
    norm = ansatz.expectation(angles, Observable(kind="hit", threshold=1.0))  # no energy exceeds 1
    results["40 qubits, seconds"] = time.perf_counter() - start
    results["40 qubits, norm error"] = abs(norm - 1)
    return results


def main() -> None:
    """Run, print, write."""
    need("ffsim", "pennylane", "qiskit_aer")
    arguments = [argument for argument in sys.argv[1:] if argument != "--large"]
    results: dict[str, Any] = {}
    if "--large" in sys.argv:  # first, so that the peak memory is its own
        results["large"] = large_sectors()
        print(json.dumps(results["large"]), flush=True)
    for size in SIZES:
        repeats = 5 if size[0] == 20 else 15
        ansatz, angles = case(*size)
        mine = ours(ansatz, angles, repeats)
        row: dict[str, Any] = {"double": mine, "single": ours(*case(*size, np.complex64), repeats)}
        row["per-edge numba over ours"] = against_per_edge(ansatz, angles, max(3, repeats // 3)) / mine["evaluation"]
        try:
            if size == (12, 12, 3, 4, 3):
                row["ffsim over ours"] = median(ffsim_layers(ansatz, angles), 5) / mine["evaluation"]
            if size == (12, 8, 3, 5, 5):
                row["Aer statevector over ours"] = against_aer(ansatz, angles, 1) / mine["evaluation"]
                shallow, three = case(12, 8, 3, 5, 3)
                gradient = ours(shallow, three, repeats)["gradient"]
                row["lightning adjoint over ours, p = 3"] = against_lightning(shallow, three, 1) / gradient
        except ImportError as error:
            row["left out"] = str(error)
        results[str(size)] = row
        print(size, json.dumps(row), flush=True)
    if arguments:
        with open(arguments[0], "w") as file:
            json.dump(results, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
