"""Noisy shots of whole circuits: ours against Aer's own simulators under the same errors, in one process.

    python benchmarks/bench_trajectories.py              # the masked 20-qubit circuit, and dense ones of 14 qubits
    python benchmarks/bench_trajectories.py --wide       # dense ones of 20 qubits too
    python benchmarks/bench_trajectories.py --chances    # exact-budget mass and hit rate, masked

Credit Card instance (12, 8, 3, 5) on FakeBoston's best patch, p = 3, Y-frame; and random problems with all their
couplings, by a SWAP network there. Aer samples relaxation state by state; ours twirls errors to Paulis and draws them
first. Also prints what twirling does to the exact-budget mass of a register. Noise model, not hardware.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
from qiskit_aer import AerSimulator
from qiskit_aer.noise import NoiseModel, pauli_error

from biselect import SelectionProblem, solve
from biselect_quantum.circuits import Ansatz, AnsatzSpec
from biselect_quantum.devices import DeviceCircuit, compile_circuit, compile_problem, place_circuit
from biselect_quantum.devices.noise import cut_noise, noisy_probabilities
from biselect_quantum.devices.noise.noisy_circuit import LABEL, pauli_labels
from biselect_quantum.devices.noise.sampling import DISCARDED, noisy_table, runs_faster_as_vectors
from biselect_quantum.devices.paths import Y_FRAME
from biselect_quantum.simulate.program import RZZ
from biselect_studies.experiments.compile_case import angles, device
from biselect_studies.experiments.heron import DEVICE, case, problem
from biselect_studies.quantum.registers import distribution

DEPTH = 3
EVALUATIONS = 2000


def compiled(width: int, *, cross: bool) -> Any:
    """The circuit of a width, with or without its cross gates."""
    found = case("creditcard", width, 0)
    program = AnsatzSpec(found.sparse, DEPTH, "bilinear", found.mixer, "canonical").program()
    if not cross:
        layers = tuple(tuple(op for op in layer if op.kind != RZZ) for layer in program.layers)
        program = replace(program, layers=layers)
    path = replace(Y_FRAME, coloured=False)
    return compile_circuit(program, device(DEVICE), found.patch.layout, path, angles=angles(DEPTH))


def dense(n: int, d: int, depth: int = DEPTH) -> DeviceCircuit:
    """A random problem with all its couplings, compiled as a network."""
    rng = np.random.default_rng(n)
    scores = {"sample_scores": rng.random(n), "feature_scores": rng.random(d)}
    full = SelectionProblem(coupling=rng.random((n, d)), k=n // 4, m=d // 2 + 1, **scores)
    return compile_problem(full, device(DEVICE), angles(depth), depth=depth, start="random", keep=1.0, compare=False)


def spent(work: Any, shots: int) -> tuple[float, Any]:
    """Seconds of the processor a shot, and what came of it."""
    busy = process_time()
    found = work()
    return (process_time() - busy) / shots, found


def speed(wide: bool) -> None:
    """Processor time a shot, both ways of ours and both of Aer's."""
    cases = [("masked, 20 qubits, boston", compiled(20, cross=True), 256, 16)]
    for n, d, ours, theirs in ((8, 6, 256, 16), (12, 8, 64, 1 if wide else 0)):
        cases.append((f"dense, {n + d} qubits, boston", dense(n, d), ours, theirs))
    for name, made, ours, theirs in cases:
        noisy = cut_noise(made)
        noisy_table(noisy, 1, 0)  # compiles the kernels
        fast = runs_faster_as_vectors(noisy)
        model, gates = NoiseModel(), noisy.gates()
        for gate, qubits, channel in {(step.name, step.qubits, step.channel) for step in noisy.steps if step.channel}:
            model.add_quantum_error(channel, gate, list(qubits))
        seconds, (_, flawless) = spent(lambda noisy=noisy, ours=ours: noisy_table(noisy, ours, 1), ours)
        chosen = "state vectors" if fast else "matrix product states"
        print(f"{name}: ours {1e3 * seconds:.2f} ms a shot by {chosen}, {flawless:.0%} flawless", flush=True)
        methods = ("statevector", "matrix_product_state")[: min(theirs, 2)]  # one shot: a dense chain takes too long
        for method in methods:
            simulator = AerSimulator(
                method=method,
                noise_model=model,
                matrix_product_state_truncation_threshold=DISCARDED,
                max_parallel_threads=1,
            )
            run = lambda: simulator.run(gates, shots=theirs, seed_simulator=1).result()  # noqa: B023, E731
            taken, _ = spent(run, theirs)
            print(f"    Aer, {method}: {1e3 * taken:.2f} ms a shot, {taken / seconds:.1f}×", flush=True)


def chances(instances: int, trajectories: int, threads: int) -> None:
    """Hit rate of the proven optimum and exact-budget mass, 20 qubits, p = 3, angles trained for each circuit."""
    for instance in range(instances):
        dense_problem = problem("creditcard", 20, instance)
        optimum = solve(dense_problem)
        placed = place_circuit(dense_problem, DEVICE, depth=DEPTH, schedule="bilinear", seed=instance)
        ansatz = Ansatz.from_spec(placed.spec, backend="compiled")
        trained = ansatz.train(objective="optimum", evaluations=EVALUATIONS, seed=instance)
        made = placed.compile(trained, compare=False)
        found = noisy_probabilities(
            made,
            optimum,
            trajectories=trajectories,
            threads=threads,
        )
        hit, mass = (
            f"{100 * value:.3f} ± {100 * error:.3f} %"
            for value, error in ((found.hit, found.hit_error), (found.mass, found.mass_error))
        )
        print(
            f"instance {instance}, {DEVICE}: hits {hit}, ideally {100 * found.ideal_hit:.3f} %; budgets {mass}; "
            f"{found.flawless:.1%} flawless, {made.resources.two_qubit_gates} two-qubit gates",
            flush=True,
        )


def twirling() -> None:
    """Exact-budget mass of the samples' register, with and without twirling."""
    made = compiled(13, cross=False)
    program = made.program
    noisy = cut_noise(made, variables=range(program.n_samples))
    twirled = [
        step._replace(channel=pauli_error([*zip(pauli_labels(len(step.qubits)), step.chances, strict=True)]))
        if step.channel is not None
        else step
        for step in noisy.steps
    ]
    for name, model in (("as recorded", noisy), ("twirled", replace(noisy, steps=tuple(twirled)))):
        found = distribution(model)
        inside = [state.bit_count() == program.k for state in range(found.size)]
        print(f"{program.n_samples} qubits, {name}: {100 * found[inside].sum():.3f} % keep the budget")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--chances", action="store_true")
    parser.add_argument("--instances", type=int, default=3)
    parser.add_argument("--trajectories", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    print(LABEL)
    if options.chances:
        chances(options.instances, options.trajectories, options.threads)
    else:
        twirling()
        speed(options.wide)
