"""The GPU backend: evaluations and gradients a second on small sectors, seconds on large ones. Needs CuPy and a GPU.

    python benchmarks/bench_gpu.py [--training INSTANCES] [OUT.json]

With --training: hit rates on instances of `bench_training.py`, (12, 8, 3, 5), p = 3, canonical start, seeds 0 up,
trained for as long as the paper's protocol takes on one core in single precision, and for 20 times as long.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect.core.files import write_file
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.mixers import mixer_classes
from biselect_quantum.simulate._gpu import GpuSimulator, require_cupy
from biselect_quantum.simulate._plain import PlainSimulator
from biselect_quantum.simulate.layers import ENERGY, Layers, Observable, Register
from biselect_studies.data.synthetic import panel_problem
from biselect_studies.experiments.planted import evidence_threshold


def case(n: int, d: int, k: int, m: int, p: int) -> tuple[Any, ...]:
    """A problem, its registers, layers and the layer angles behind them."""
    rng = np.random.default_rng(0)
    problem = SelectionProblem(
        coupling=rng.exponential(size=(n, d)) * 0.3, sample_scores=rng.random(n), feature_scores=rng.random(d), k=k, m=m
    )
    registers = [Register(n=s, ones=c, classes=mixer_classes("ring", s)) for s, c in ((n, k), (d, m))]
    angles = rng.uniform(-1, 1, size=(p, 4))
    layers = Layers(
        sample=angles[:, :1] * problem.sample_scores,
        feature=angles[:, 1:2] * problem.feature_scores,
        pair=angles[:, 2, None, None] * problem.coupling,
        mixing=angles[:, 3].copy(),
    )
    return problem, registers, layers


def seconds(cp: Any, work: Any, repeats: int, in_a_row: int = 1) -> float:
    """Median device time of a call; with several in a row the host prepares one while the device runs another."""
    work()
    times = []
    for _ in range(repeats):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        for _ in range(in_a_row):
            work()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(begin, end) / 1e3 / in_a_row)
    return float(np.median(times))


def copy_rate(cp: Any) -> float:
    """Bytes read and written a second by a plain copy on the device."""
    source = cp.zeros(2**28, dtype=cp.float32)
    target = cp.empty_like(source)
    return 2 * source.nbytes / seconds(cp, lambda: cp.copyto(target, source), 10)


def large_sector(cp: Any, size: tuple[int, ...]) -> dict[str, Any]:
    """One circuit that fills the device."""
    problem, registers, layers = case(*size)
    simulator = GpuSimulator(problem, *registers)
    amplitudes = simulator.rows * simulator.columns
    repeats = 3 if amplitudes > 1e9 else 10
    key = f"{size} {amplitudes:.3g} amplitudes"
    evaluate = partial(simulator.expectation, layers, None, ENERGY)
    found = {f"{key} evaluation seconds": seconds(cp, evaluate, repeats)}
    everything = Observable(kind="hit", threshold=1.0)  # no energy exceeds 1
    found[f"{key} norm error"] = abs(simulator.expectation(layers, None, everything) - 1)
    if 2 * simulator.psi.nbytes < 0.9 * cp.cuda.Device().mem_info[1]:
        differentiate = partial(simulator.value_and_gradient, layers, None, ENERGY)
        found[f"{key} value and gradient seconds"] = seconds(cp, differentiate, repeats)
    return found


def accuracy() -> dict[str, float]:
    """Largest deviations of the GPU from double precision on the CPU, relative to the largest value."""
    problem, registers, layers = case(12, 8, 3, 5, 5)
    plain = PlainSimulator(problem, *registers, np.complex128).value_and_gradient(layers, None, ENERGY)
    gpu = GpuSimulator(problem, *registers).value_and_gradient(layers, None, ENERGY)
    return {
        "relative energy error": abs(gpu[0] / plain[0] - 1),
        "relative pair gradient error": float(np.abs(gpu[1].pair - plain[1].pair).max() / np.abs(plain[1].pair).max()),
        "relative mixing gradient error": float(
            np.abs(gpu[1].mixing - plain[1].mixing).max() / np.abs(plain[1].mixing).max()
        ),
    }


def training(seeds: range) -> dict[str, Any]:
    """Hit rates after the seconds of the paper's protocol on one core, and after 20 times as many, both on the GPU."""
    rows = []
    for seed in seeds:
        problem = panel_problem(seed=seed, size=(12, 8, 3, 5))
        goal = {"objective": "hit-rate", "threshold": evidence_threshold(problem, 3, seed).of(problem), "seed": seed}
        how = {"start": "canonical", "dtype": np.complex64}
        peer, ansatz = (Ansatz(problem, 3, backend=name, **how) for name in ("compiled", "gpu"))
        for warmed in (peer, ansatz):  # compiling is not training
            warmed.train(evaluations=300, progress=False, **goal)
        begin = time.perf_counter()
        paper = peer.train(strategy="threshold", progress=False, **goal)
        spent = time.perf_counter() - begin
        ours, longer = (ansatz.train(seconds=spent * times, progress=False, **goal) for times in (1, 20))
        row = {
            "seed": seed,
            "seconds": spent,
            "paper": paper.hit_rate,
            "ours": ours.hit_rate,
            "longer": longer.hit_rate,
        }
        rows.append(row | {"share": ours.hit_rate / longer.hit_rate, "evaluations": ours.evaluations})
        print(" ".join(f"{name} {value:.4g}" for name, value in rows[-1].items()), flush=True)
    return {"instances": rows, "median share": float(np.median([row["share"] for row in rows]))}


def rates() -> dict[str, Any]:
    """All cases of large sectors."""
    cp = require_cupy()
    results: dict[str, Any] = {"device": cp.cuda.runtime.getDeviceProperties(0)["name"].decode()}
    results["copy_bytes_per_second"] = copy_rate(cp)
    results |= accuracy()
    for size in ((20, 12, 5, 4, 3), (20, 16, 6, 5, 3), (24, 16, 8, 6, 3), (24, 18, 8, 6, 3)):
        results |= large_sector(cp, size)
        cp.get_default_memory_pool().free_all_blocks()
    return results


def main() -> None:
    """Print what was asked for, and write it."""
    parser = argparse.ArgumentParser(description="Speed of the GPU backend.")
    parser.add_argument("--training", type=int, help="train so many instances instead")
    parser.add_argument("out", nargs="?", help="JSON file; standard output otherwise")
    asked = parser.parse_args()
    results = rates() if asked.training is None else training(range(asked.training))
    text = json.dumps(results, indent=1)
    print(text)
    if asked.out:
        write_file(Path(asked.out), text + "\n")


if __name__ == "__main__":
    main()
