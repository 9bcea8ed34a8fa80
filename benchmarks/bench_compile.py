"""Circuits of the Y-frame against Qiskit's and pytket's: by depth, by start, on two devices.

Same patch, retained edges, angles and start for all at one point. Ours is compiled in the plain colouring, which the
others are given too; in the order that `choose_order` finds for the device and the start, which is another ansatz; and
so with the best of eight random starts, as `compile_problem` does. The last two are held against Qiskit in its own
colouring, and against Qiskit given the same order and start; `--hits` says how well both orders train. "Propagated" is
our program after the known bits are used, in Qiskit's gates: what is left is compilation alone. Qiskit's strongest
setting: fractional gates, fused mixer edges, angles bound before, single-qubit gates merged at the end. pytket: full
peephole optimisation, then the device's couplings and CZ gates; without pytket-qiskit its rows are left out.

    python benchmarks/bench_compile.py                    # both starts, p = 1, 2, 3, 4, 8; writes results/compile.json
    python benchmarks/bench_compile.py --widths 16 64 --depths 2 3 --devices boston
    python benchmarks/bench_compile.py --hits 40          # trained hit rates of both orders on 40 small problems
"""

import argparse
import json
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from biselect import SelectionProblem
from biselect_quantum.circuits import Ansatz, AnsatzSpec
from biselect_quantum.circuits.starts import start_choice
from biselect_quantum.devices import choose_patch, compile_circuit, load_target
from biselect_quantum.devices._y_frame import PAIR, drop_unmeasured_phases, in_range, propagate
from biselect_quantum.devices.compile import fit_for
from biselect_quantum.devices.masks import hardware_mask, masked
from biselect_quantum.devices.mixer_order import choose_order, choose_start
from biselect_quantum.devices.paths import COMPLETE_FRACTIONAL, IN_ORDER, OPT3_CZ, STRONGEST_QISKIT, Y_FRAME, YFramePath
from biselect_quantum.devices.placement import place
from biselect_quantum.devices.qiskit_circuits import to_qiskit
from biselect_quantum.devices.resources import count_resources
from biselect_quantum.simulate.program import XY
from biselect_studies.experiments.compile_case import angles, dense_problem, device, patch, retained
from biselect_studies.experiments.heron import Case
from biselect_studies.studies.compilation import DEVICES

RESULTS = Path(__file__).parent / "results" / "compile.json"
WIDTHS = (16, 32, 48, 64)
DEPTHS = (1, 2, 3, 4, 8)
STARTS = ("random", "canonical")
DRAWN = 8  # random starts to choose from, as `place_circuit` does; a canonical one is always the same
MEASURES = ("depth", "pulse_depth", "two_qubit_depth", "two_qubit_gates", "gate_duration", "duration")
NO_ORDER = {
    "opt3 cz": replace(OPT3_CZ, coloured=True),
    "complete fractional": COMPLETE_FRACTIONAL,
    "strongest qiskit": STRONGEST_QISKIT,
}
# ours, theirs
CLAIMS = {
    "vs Opt-3 CZ, both coloured": ("y-frame", "opt3 cz"),
    "vs the paper's complete path": ("y-frame", "complete fractional"),
    "vs strongest plain Qiskit": ("y-frame", "strongest qiskit"),
    "vs strongest plain Qiskit given our propagated program": ("y-frame", "propagated, strongest qiskit"),
    "vs pytket": ("y-frame", "pytket"),
    "vs pytket given our propagated program": ("y-frame", "propagated, pytket"),
    "chosen order vs strongest plain Qiskit, coloured": ("chosen", "strongest qiskit"),
    "chosen order vs strongest plain Qiskit, same order": ("chosen", "chosen, strongest qiskit"),
    "chosen order and start vs strongest plain Qiskit, coloured": ("start drawn", "strongest qiskit"),
    "chosen order and start vs strongest plain Qiskit, same": ("start drawn", "start drawn, strongest qiskit"),
}
try:
    from pytket.extensions.qiskit import qiskit_to_tk, tk_to_qiskit

    HAS_PYTKET = True
except ImportError:
    HAS_PYTKET = False


def propagated(program):
    """A bound program after its known bits are used, as an equal program in the same kinds of operation."""
    ops = drop_unmeasured_phases(in_range(propagate(in_range(program.ops), program.bits)))
    plain = tuple(replace(op, kind=XY) if op.kind == PAIR else op for op in ops)
    return replace(program, layers=(plain,))


def by_pytket(program, target, layout):
    """Pytket's strongest passes on the device's couplings, in its CZ gates."""
    from pytket.architecture import Architecture
    from pytket.circuit import Node, OpType, Qubit
    from pytket.passes import AutoRebase, FullPeepholeOptimise, RemoveRedundancies, RoutingPass, SequencePass
    from pytket.placement import Placement

    circuit = qiskit_to_tk(to_qiskit(program, fused=True).decompose())
    FullPeepholeOptimise(allow_swaps=False).apply(circuit)
    n = program.n_samples
    ours = [Qubit("samples", i) for i in range(n)] + [Qubit("features", j) for j in range(program.n_features)]
    where = {qubit: Node("q", place) for qubit, place in zip(ours, layout, strict=True)}
    couplings = sorted({tuple(sorted(pair)) for pair in target["cz"]})
    Placement.place_with_map(circuit, where)
    RoutingPass(Architecture([(Node("q", a), Node("q", b)) for a, b in couplings])).apply(circuit)
    SequencePass([AutoRebase({OpType.CZ, OpType.Rz, OpType.SX, OpType.X}), RemoveRedundancies()]).apply(circuit)
    found = tk_to_qiskit(circuit, replace_implicit_swaps=True)
    from qiskit import QuantumCircuit

    made = QuantumCircuit(target.num_qubits, found.num_clbits)
    for step in found.data:
        where = [found.find_bit(qubit).registers[0][1] for qubit in step.qubits]  # the node's own number
        made.append(step.operation, where, [found.find_bit(bit).index for bit in step.clbits])
    return count_resources(made, target)


def resources(name, registers, width, depth, start, seed):
    """What every way costs at one point, and what a layer more costs by ours."""
    spot, target = patch(name, width, registers), device(name)
    problem = retained(dense_problem(spot.n_samples, spot.n_features), spot)
    mixer = (spot.sample_classes, spot.feature_classes)
    given = AnsatzSpec(problem, depth, "bilinear", mixer, start, seed=np.random.default_rng([seed, width]))
    program, values = given.program(), angles(depth)
    chosen = choose_order(program, target, spot.layout, seed=seed)

    def compiled(what, path, values=values):
        return compile_circuit(what, target, spot.layout, path, angles=values, seed=seed)

    made = {key: compiled(program, path).resources for key, path in NO_ORDER.items()}
    ours = compiled(program, Y_FRAME)
    bound = ours.program
    strongest = replace(STRONGEST_QISKIT, coloured=False)
    best = compiled(chosen, YFramePath(coloured=False))
    draws = [given.changed(start=start, seed=np.random.default_rng([seed, width, n])) for n in range(1, DRAWN)]
    drawn = choose_start([each.program() for each in (given, *draws)], target, spot.layout, seed=seed)
    made |= {
        "y-frame": ours.resources,
        "chosen": best.resources,
        "start drawn": compiled(drawn, YFramePath(coloured=False)).resources,
        "start drawn, strongest qiskit": compiled(drawn, strongest).resources,
        "chosen, quiet": compiled(chosen, IN_ORDER).resources,
        "chosen, strongest qiskit": compiled(chosen, strongest).resources,
        "propagated, strongest qiskit": compiled(propagated(bound), strongest, None).resources,
        "y-frame, a layer more": ours.added_layer(),
        "chosen, a layer more": best.added_layer(),
    }
    if HAS_PYTKET:
        plain = fit_for(OPT3_CZ, target)
        made["pytket"] = by_pytket(bound, plain, spot.layout)
        made["propagated, pytket"] = by_pytket(propagated(bound), plain, spot.layout)
    return made


def cuts(points, ours, theirs, measure):
    """Smallest, median and largest cut in %."""
    ratios = [getattr(each[ours], measure) / getattr(each[theirs], measure) for each in points]
    return [round(float(100 * (1 - ratio)), 2) for ratio in np.quantile(ratios, [1, 0.5, 0])]


def report(points, title):
    """Print every claim over some points, and give them back as data."""
    print(f"\n{title}: cuts in %, median [range], {len(points)} points")
    print(f"  {'':58s}" + "".join(f"{measure.replace('_', ' '):>22s}" for measure in MEASURES))
    found = []
    for claim, (ours, theirs) in CLAIMS.items():
        if theirs not in points[0]:
            continue
        row = {measure: cuts(points, ours, theirs, measure) for measure in MEASURES}
        cells = (f"{middle:5.1f} [{low:5.1f},{high:5.1f}]" for low, middle, high in row.values())
        print(f"  {claim:58s}" + "".join(f"{cell:>22s}" for cell in cells), flush=True)
        found += [
            {
                "points": title,
                "claim": f"{measure.replace('_', ' ')} {claim}",
                "low": low,
                "median": middle,
                "high": high,
            }
            for measure, (low, middle, high) in row.items()
        ]
    return found


def layers(points, title):
    """Print what a layer more costs, ours in both orders."""
    for key in ("y-frame, a layer more", "chosen, a layer more"):
        middle = {name: float(np.median([getattr(each[key], name) for each in points])) for name in MEASURES}
        words = ", ".join(
            f"{name} {1e9 * v:.0f} ns" if "duration" in name else f"{name} {v:g}" for name, v in middle.items()
        )
        print(f"  {title}: {key}, medians: {words}")


def hits(count, depths=(2, 3)):
    """Trained hit rates of small problems in the plain colouring and in the chosen order, all else equal."""
    target = load_target("boston")
    for depth in depths:
        rows = []
        for seed in range(count):
            rng = np.random.default_rng([seed, 8])
            scores = {"sample_scores": rng.random(8), "feature_scores": rng.random(6)}
            dense = SelectionProblem(coupling=rng.random((8, 6)), k=2, m=3, **scores)
            spot = choose_patch(target, 8, 6, seed=seed % 4)
            found = Case(problem=dense, target=target, spot=spot, placement=place(dense, spot))
            start, spot = found.items(start_choice(dense, "random", seed)), found.patch
            spec = AnsatzSpec(dense, depth, "bilinear", found.mixer, start, groups=found.groups)
            other = spec.changed(mixer=choose_order(spec.program(), target, spot.layout).mixer)
            row = []
            for each in (spec, other):
                ansatz = Ansatz.from_spec(each)
                best = ansatz.train(objective="cvar", evaluations=300, seed=0).angles
                made = compile_circuit(each.program(), target, spot.layout, IN_ORDER, angles=best).resources
                row.append(
                    [ansatz.optimum_mass(best), ansatz.expectation(best), made.two_qubit_gates, made.gate_duration]
                )
            rows.append(row)
        (plain, chosen), apart = np.mean(rows, axis=0), np.diff(rows, axis=1)[:, 0]
        error = apart.std(axis=0) / count**0.5
        print(
            f"(8, 6, 2, 3), p = {depth}, {count} problems: plain colouring, chosen order, difference ± standard error"
        )
        names = ("hit rate of the optimum", "mean energy", "two-qubit gates", "gate time, ns")
        for number, (name, scale) in enumerate(zip(names, (1, 1, 1, 1e9), strict=True)):
            a, b, e = (scale * values[number] for values in (plain, chosen, error))
            print(f"  {name:26s} {a:9.4f} {b:9.4f} {b - a:+9.4f} ± {e:.4f}", flush=True)


def whole_compilation():
    """From a problem to a submitted circuit at 64 qubits, p = 2, everything included but imports and JIT."""
    small = choose_patch(load_target("aachen"), 10, 6)  # compiles the kernels
    choose_order(
        AnsatzSpec(dense_problem(10, 6), 1, "bilinear", (small.sample_edges, small.feature_edges), "random").program(),
        load_target("aachen"),
        small.layout,
    )
    clock, worked = [time.perf_counter()], time.process_time()
    target = load_target("boston")
    clock.append(time.perf_counter())
    spot = choose_patch(target, 40, 24)
    clock.append(time.perf_counter())
    problem = dense_problem(40, 24)
    spot = place(problem, spot).patch
    surrogate = masked(problem, hardware_mask(spot))
    clock.append(time.perf_counter())
    mixer = (spot.sample_edges, spot.feature_edges)
    program = choose_order(AnsatzSpec(surrogate, 2, "bilinear", mixer, "random").program(), target, spot.layout)
    made = compile_circuit(program, target, spot.layout, YFramePath(coloured=False), angles=angles(2))
    clock.append(time.perf_counter())
    parts = zip(("load target", "choose patch", "place and mask", "order and compile"), np.diff(clock), strict=True)
    print("64 qubits, p = 2: " + ", ".join(f"{what} {seconds:.2f} s" for what, seconds in parts))
    print(f"whole compilation {clock[-1] - clock[0]:.2f} s, {time.process_time() - worked:.2f} s of a processor")
    print(made.resources)


def main():
    """Every point, then medians by start and by p."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--widths", type=int, nargs="+", default=list(WIDTHS))
    parser.add_argument("--depths", type=int, nargs="+", default=list(DEPTHS))
    parser.add_argument("--devices", nargs="+", default=list(DEVICES))
    parser.add_argument("--hits", type=int, default=0)
    options = parser.parse_args()
    if options.hits:
        hits(options.hits)
        return
    whole_compilation()
    if not HAS_PYTKET:
        print("pytket-qiskit is not installed: no rows of pytket")
    by = defaultdict(list)
    for registers in ("trees", "paths"):
        for start in STARTS:
            for depth in options.depths:
                by[registers, start, depth] = [
                    resources(name, registers, width, depth, start, options.seed)
                    for name in options.devices
                    for width in options.widths
                ]
                layers(by[registers, start, depth], f"{registers}, {start} start, p = {depth}")
    found = []
    for registers in ("trees", "paths"):
        for start in STARTS:
            for depth in options.depths:
                found += report(by[registers, start, depth], f"{registers}, {start} start, p = {depth}")
            usual = [each for depth in options.depths if depth in (2, 3) for each in by[registers, start, depth]]
            if usual:
                found += report(usual, f"{registers}, {start} start, p = 2 and 3")
    if (options.widths, options.depths, options.devices) == (list(WIDTHS), list(DEPTHS), list(DEVICES)):
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
