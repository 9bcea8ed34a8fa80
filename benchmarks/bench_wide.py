"""The wide-register sampler against Aer's and quimb's matrix product states, and against exact contraction.

    python benchmarks/bench_wide.py [study] [widths] [exact] [quimb] [aer]

All parts by default. 64 qubits, (38, 26, 10, 10), p = 2, on loop-rich heavy-hex patches, from warm starts, which load
the ends of the cross edges. Ours and a peer run in one process on one circuit, ours before and after; the peers get its
qubits in the order that ours found, which helps them. Aer runs in a child of the process, which is stopped after
ten minutes; the ratio is then what it has reached by that time. Each part prints its figures and writes them to
benchmarks/results/wide.json.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect.solvers import solve
from biselect_quantum.circuits import AnsatzSpec, Program, surrogate
from biselect_quantum.simulate.wide import WideSampler
from biselect_quantum.simulate.wide.order import annealed_order
from heavy_hex import Patch, loop_rich_patch
from needs import need

SIZE = (38, 26, 10, 10)
CANDIDATES, SHOTS, CONFIRM = 6, 384, 4096
LIMIT = 600.0  # seconds that Aer is given
MIDDLE = np.array([0.7, 0.8, 0.8, np.pi / 4])  # γ_marg, γ_SF of each layer, β
WIDTHS = [(19, 13, 5, 5, 3), (22, 14, 6, 5, 3), (31, 21, 8, 8, 2), (34, 22, 8, 8, 2), (38, 26, 10, 10, 2)]
RESULTS = Path(__file__).parent / "results" / "wide.json"
Case = tuple[SelectionProblem, Patch]
Start = tuple[list[int], list[int]]


def case(n: int, d: int, k: int, m: int, seed: int) -> Case:
    """A patch, and a problem whose strong couplings lie on its cross edges, as placement would have it."""
    rng = np.random.default_rng(seed)
    patch = loop_rich_patch(n, d, seed)
    coupling = rng.exponential(size=(n, d))
    for edge in patch.cross_edges:
        coupling[edge] += 2.0
    return SelectionProblem(
        coupling=coupling, sample_scores=rng.gamma(2, 0.5, n), feature_scores=rng.gamma(2, 0.5, d), k=k, m=m
    ), patch


def warm_starts(problem: SelectionProblem, patch: Patch) -> dict[str, Start]:
    """The ends of the cross edges first, which needs the widest bonds; and a good choice of the dense objective."""
    ends = [
        list(dict.fromkeys([*(edge[side] for edge in patch.cross_edges), *np.argsort(-scores).tolist()]))
        for side, scores in ((0, problem.sample_scores), (1, problem.feature_scores))
    ]
    good = solve(problem, "coordinate-ascent", seed=0)
    return {
        "cross-edge ends": (ends[0][: problem.k], ends[1][: problem.m]),
        "coordinate ascent": (good.samples.tolist(), good.features.tolist()),
    }


def circuit_of(problem: SelectionProblem, patch: Patch, start: Start, angles: np.ndarray) -> Program:
    """Bilinear-CG on the patch."""
    mixer = (patch.sample_edges, patch.feature_edges)
    groups = surrogate(problem, patch.cross_edges)
    return AnsatzSpec(problem, len(angles) - 2, "bilinear", mixer, start, groups=groups).program(angles)


def angle_study(problem: SelectionProblem, patch: Patch) -> dict[str, Any]:
    """For each start, candidates by CVaR of few shots, the best confirmed by many; all of it timed."""
    rng = np.random.default_rng(0)
    begin, busy = time.perf_counter(), time.process_time()
    outside, bonds, confirmed = 0, [], []
    for start in warm_starts(problem, patch).values():
        order, best = None, (np.inf, None)
        for candidate in range(CANDIDATES):
            angles = MIDDLE + (rng.normal(scale=0.2, size=MIDDLE.size) if candidate else 0.0)
            sampler = WideSampler(problem, circuit_of(problem, patch, start, angles), order=order)
            order = sampler.report.order
            bonds.append(sampler.report.largest_bond)
            outside += shots_outside(problem, sampler, SHOTS, candidate)
            best = min(best, (sampler.sample(SHOTS, candidate).cvar(), sampler), key=lambda pair: pair[0])
        outside += shots_outside(problem, best[1], CONFIRM, 99)
        confirmed.append(best[1].sample(CONFIRM, 99).cvar())
    return {
        "seconds": time.perf_counter() - begin,
        "processor seconds": time.process_time() - busy,
        "bonds": bonds,
        "shots outside the sector": outside,
        "confirmed CVaR": confirmed,
    }


def shots_outside(problem: SelectionProblem, sampler: WideSampler, shots: int, seed: int) -> int:
    """Shots that miss a budget; there should be none."""
    bits, counts = sampler.draw(shots, seed)
    n = problem.n_samples
    wrong = (bits[:, :n].sum(axis=1) != problem.k) | (bits[:, n:].sum(axis=1) != problem.m)
    return int(counts[wrong].sum())


def timed(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """Seconds of a call by the clock and of the processor, which a busy machine disturbs less; and what it gave."""
    begin, busy = time.perf_counter(), time.process_time()
    found = work()
    return {"seconds": time.perf_counter() - begin, "processor seconds": time.process_time() - busy}, found


def run_aer(circuit: Program, order: tuple[int, ...], shots: int) -> Any:
    """Aer's matrix product state: evolution and shots."""
    from qiskit import QuantumCircuit
    from qiskit_aer import AerSimulator

    place = {qubit: position for position, qubit in enumerate(order)}
    made = QuantumCircuit(circuit.qubits)
    for qubit, bit in enumerate(circuit.bits):
        if bit:
            made.x(place[qubit])
    for op in circuit.ops:
        kind, angle = op.kind, op.angle
        places = [place[qubit] for qubit in op.qubits]
        if kind == "rz":
            made.rz(angle, *places)
        elif kind == "rzz":
            made.rzz(angle, *places)
        else:
            made.unitary(hop(angle), places)
    made.measure_all()
    simulator = AerSimulator(method="matrix_product_state", max_parallel_threads=1, max_memory_mb=2**40)
    result = simulator.run(made, shots=shots, seed_simulator=0).result()
    if not result.success:
        raise RuntimeError(result.status)
    return result.get_counts()


def quimb_circuit(kind: Any, circuit: Program, order: tuple[int, ...], **options: Any) -> Any:
    """The circuit in quimb's words."""
    place = {qubit: position for position, qubit in enumerate(order)}
    made = kind(circuit.qubits, **options)
    for qubit, bit in enumerate(circuit.bits):
        if bit:
            made.x(place[qubit])
    for op in circuit.ops:
        name, angle = op.kind, op.angle
        places = [place[qubit] for qubit in op.qubits]
        if name == "rz":
            made.rz(angle, *places)
        elif name == "rzz":
            made.rzz(angle, *places)
        else:
            made.apply_gate_raw(hop(angle), places)
    return made


def hop(beta: float) -> np.ndarray:
    """exp(-iβ(XX+YY)/2) as a matrix."""
    matrix = np.eye(4, dtype=complex)
    matrix[1:3, 1:3] = [[np.cos(beta), -1j * np.sin(beta)], [-1j * np.sin(beta), np.cos(beta)]]
    return matrix


def run_quimb(circuit: Program, order: tuple[int, ...], shots: int) -> Any:
    """Quimb's CircuitMPS with its own sampler: evolution and shots."""
    import quimb.tensor as qtn

    return list(quimb_circuit(qtn.CircuitMPS, circuit, order).sample(shots, seed=0))


def exactness(problem: SelectionProblem, circuit: Program, order: tuple[int, ...], strings: int) -> dict[str, Any]:
    """Relative errors of the probabilities of drawn strings, against contraction of the whole network."""
    import quimb.tensor as qtn

    samplers = {
        name: WideSampler(problem, circuit, order=order, dtype=dtype)
        for name, dtype in (("complex64", np.complex64), ("complex128", np.complex128))
    }
    bits, _ = samplers["complex64"].draw(strings, seed=1)
    network = quimb_circuit(qtn.Circuit, circuit, order)
    texts = ["".join(map(str, row[list(order)])) for row in bits]
    exact = np.array([abs(network.amplitude(text, dtype="complex128")) ** 2 for text in texts])
    found = {name: sampler.probabilities(bits) for name, sampler in samplers.items()}
    return {
        "strings": len(bits),
        "probabilities": [float(exact.min()), float(exact.max())],
        **{name: float((np.abs(values - exact) / exact).max()) for name, values in found.items()},
    }


def reference() -> tuple[SelectionProblem, Program]:
    """The circuit that ours and the peers run."""
    problem, patch = case(*SIZE, 1)
    start = warm_starts(problem, patch)["cross-edge ends"]
    return problem, circuit_of(problem, patch, start, MIDDLE)


def study() -> dict[str, Any]:
    """The angle study on three patches."""
    found = {}
    for seed in (1, 2, 3):
        problem, patch = case(*SIZE, seed)
        found[f"patch {seed}, {len(patch.cross_edges)} cross edges"] = angle_study(problem, patch)
    return found


def widths() -> dict[str, Any]:
    """What other widths need, from starts at the ends of the cross edges."""
    found = {}
    for *size, depth in WIDTHS:
        problem, patch = case(*size, 1)
        start = warm_starts(problem, patch)["cross-edge ends"]
        angles = np.array([0.7, *[0.8] * depth, np.pi / 4])
        first = WideSampler(problem, circuit_of(problem, patch, start, angles), max_bond=16384).report
        begin = time.process_time()
        again = WideSampler(problem, circuit_of(problem, patch, start, angles), order=first.order, max_bond=16384)
        evolved = time.process_time()
        again.sample(4096, seed=0)
        found[f"{sum(size[:2])} qubits, p = {depth}, {len(patch.cross_edges)} cross edges"] = {
            "bond": first.largest_bond,
            "order": first.order_name,
            "evolution, processor seconds": evolved - begin,
            "4096 shots, processor seconds": time.process_time() - evolved,
            "norm error": first.norm_error,
        }
    return found


def stopped_after(limit: float, work: Callable[[], Any]) -> dict[str, Any]:
    """Seconds of a call in a child process, by the clock and of the processor; at the limit it is ended."""
    child = multiprocessing.get_context("fork").Process(target=work)
    begin, busy = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    child.start()
    child.join(limit)
    finished = not child.is_alive()
    if not finished:
        child.kill()
        child.join()
    elif child.exitcode:
        raise RuntimeError(f"the peer failed with exit code {child.exitcode}")
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - busy
    return {"seconds": time.perf_counter() - begin, "processor seconds": spent, "finished": finished}


def against(peer: Callable[[Program, tuple[int, ...], int], Any], limit: float | None = None) -> dict[str, Any]:
    """Evolution and shots together, theirs over ours; ours tries its orders afresh."""
    problem, circuit = reference()

    def ours() -> WideSampler:
        annealed_order.cache_clear()
        sampler = WideSampler(problem, circuit)
        sampler.sample(CONFIRM, seed=0)
        return sampler

    before, sampler = timed(ours)
    order = sampler.report.order
    theirs: dict[str, Any]
    if limit is None:
        theirs = timed(lambda: peer(circuit, order, CONFIRM))[0]
    else:
        theirs = stopped_after(limit, lambda: peer(circuit, order, CONFIRM))
    after = timed(ours)[0]
    over = "" if theirs.get("finished", True) else "over, "
    return {
        "theirs": theirs,
        "ours": [before, after],
        "bond": sampler.report.largest_bond,
        **{f"{over}ratio of {unit}": 2 * theirs[unit] / (before[unit] + after[unit]) for unit in before},
    }


def exact() -> dict[str, Any]:
    """Relative errors at 64 qubits."""
    problem, circuit = reference()
    return exactness(problem, circuit, WideSampler(problem, circuit).report.order, 8)


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "study": study,
    "widths": widths,
    "exact": exact,
    "quimb": lambda: against(run_quimb),
    "aer": lambda: against(run_aer, LIMIT),
}
PEERS = {"exact": "quimb", "quimb": "quimb", "aer": "qiskit_aer"}


def main() -> None:
    """Run, print, write."""
    names = sys.argv[1:] or list(PARTS)
    need(*sorted({PEERS[name] for name in names if name in PEERS}))
    for name in names:
        found = PARTS[name]()
        print(name, json.dumps(found, indent=1), flush=True)
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        results[name] = found
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
