"""Noisy shots of a 20-qubit circuit: ours against Aer's own matrix product states under the same errors.

    python benchmarks/bench_trajectories.py

Credit Card instance (12, 8, 3, 5) on FakeBoston's best patch, p = 3, Y-frame. Aer samples relaxation state by state;
ours twirls errors to Paulis and draws them first. Also prints what twirling does to the exact-budget mass of a
register. Noise model, not hardware.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter, process_time
from typing import Any

from qiskit_aer import AerSimulator
from qiskit_aer.noise import pauli_error

from biselect.hardware import compile_circuit
from biselect.hardware.noise import LABEL, cut_noise
from biselect.hardware.noise.courses import pauli_labels, twirled
from biselect.hardware.noise.registers import distribution
from biselect.hardware.noise.trajectories import DISCARDED, noisy_table
from biselect.hardware.paths import Y_FRAME
from biselect.qaoa import AnsatzSpec
from biselect.simulate.program import RZZ
from biselect_studies.experiments.compile_case import angles, device
from biselect_studies.experiments.heron_case import DEVICE, case

OURS, THEIRS = 256, 16  # shots
DEPTH = 3


def compiled(width: int, *, cross: bool) -> Any:
    """The circuit of a width, with or without its cross gates."""
    found = case("creditcard", width, 0)
    program = AnsatzSpec(found.sparse, DEPTH, "bilinear", found.mixer, "canonical").program()
    if not cross:
        layers = tuple(tuple(op for op in layer if op.kind != RZZ) for layer in program.layers)
        program = replace(program, layers=layers)
    path = replace(Y_FRAME, coloured=False)
    return compile_circuit(program, device(DEVICE), found.patch.layout, path, angles=angles(DEPTH))


def speed() -> None:
    """Seconds a shot."""
    noisy = cut_noise(compiled(20, cross=True), device(DEVICE))
    simulator = AerSimulator(
        method="matrix_product_state",
        noise_model=noisy.noise_model(),
        matrix_product_state_truncation_threshold=DISCARDED,
        max_parallel_threads=1,
    )
    noisy_table(noisy, 1, 0)
    spent = []
    for shots, work in (
        (OURS, lambda: noisy_table(noisy, OURS, 1)),
        (THEIRS, lambda: simulator.run(noisy.circuit, shots=THEIRS, seed_simulator=1).result()),
    ):
        clock, busy = perf_counter(), process_time()
        found = work()
        spent.append(((perf_counter() - clock) / shots, (process_time() - busy) / shots))
        if shots == OURS:
            print(f"flawless shots {found[1]:.0%}")
    for name, (clock, busy) in zip(("ours", "Aer"), spent, strict=True):
        print(f"{name}: {clock:.3f} s a shot, {busy:.3f} s of the processor")
    print(f"ratio by the processor's time: {spent[1][1] / spent[0][1]:.1f}×")


def twirling() -> None:
    """Exact-budget mass of the samples' register, with and without twirling."""
    made = compiled(13, cross=False)
    program = made.program
    bits = range(program.n_samples)
    noisy = cut_noise(made, device(DEVICE), bits=bits)
    channels = {
        place: pauli_error(list(zip(pauli_labels(len(place[1])), twirled(error), strict=True)))
        for place, error in noisy.errors.items()
    }
    for name, model in (("as recorded", noisy), ("twirled", replace(noisy, errors=channels))):
        found = distribution(model, bits)
        inside = [state.bit_count() == program.k for state in range(found.size)]
        print(f"{program.n_samples} qubits, {name}: {100 * found[inside].sum():.3f} % keep the budget")


if __name__ == "__main__":
    print(LABEL)
    twirling()
    speed()
