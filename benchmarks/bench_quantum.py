"""`biselect quantum` from a table to its page, at 20, 36 and 64 qubits, and the plugin against Qiskit's level 3.

    python benchmarks/bench_quantum.py [20] [36] [64] [plugin]

All parts by default. Each command runs in a process of its own and prints seconds by the clock and of the processor.
The plugin compiles random angles on patches of three devices; both choose a layout of their own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

from biselect import SelectionProblem

SIZES = {"20": ("12x8", 3, 5, 3), "36": ("22x14", 6, 5, 3), "64": ("38x26", 10, 10, 2)}
DEVICES = ("boston", "pittsburgh", "aachen")
SEEDS = 3


def command(size: str) -> None:
    """One whole command."""
    candidates, k, m, depth = SIZES[size]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        options = ["--candidates", candidates, "-k", k, "-m", m, "--depth", depth, "--out", folder, "--quiet"]
        words = [sys.executable, "-m", "biselect", "quantum", "--demo", "--preset", "paper", *map(str, options)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    print(f"{size} qubits, p = {depth}: {time.perf_counter() - begin:.0f} s, of the processor {seconds:.0f} s")


def plugin() -> None:
    """Duration and two-qubit gates against level 3."""
    from qiskit import transpile

    import biselect_quantum as bq
    from biselect_quantum.devices import load_target, place_circuit, to_qiskit
    from biselect_quantum.devices.resources import count_resources

    ratios = []
    for name in DEVICES:
        target = load_target(name)
        for seed in range(SEEDS):
            rng = np.random.default_rng(seed)
            problem = SelectionProblem(
                coupling=rng.exponential(size=(8, 6)),
                sample_scores=rng.random(8),
                feature_scores=rng.random(6),
                k=3,
                m=2,
            )
            placed = place_circuit(problem, name, depth=3, seed=seed)
            circuit = to_qiskit(placed.program.bind(rng.uniform(-2, 2, placed.spec.size)), fused=True)
            ours = count_resources(bq.y_frame_pass_manager(target, seed=seed).run(circuit), target)
            level_3 = transpile(circuit, target=target, optimization_level=3, seed_transpiler=seed)
            theirs = count_resources(level_3, target)
            ratios.append((ours.two_qubit_gates / theirs.two_qubit_gates, ours.duration / theirs.duration))
    gates, seconds = np.median(ratios, axis=0)
    print(f"plugin against level 3, median of {len(ratios)}: two-qubit gates {100 * gates - 100:+.0f} %, ", end="")
    print(f"duration {100 * seconds - 100:+.0f} %; worst {100 * np.max(ratios) - 100:+.0f} %")


def main() -> None:
    """The parts that were asked for."""
    for part in sys.argv[1:] or [*SIZES, "plugin"]:
        plugin() if part == "plugin" else command(part)


if __name__ == "__main__":
    main()
