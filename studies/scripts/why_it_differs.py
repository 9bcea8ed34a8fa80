"""Small experiments behind the readings of the reproduction page: what moves a number towards the paper's.

    python studies/scripts/why_it_differs.py kawasaki     # one of them; without a name it lists all

Each changes one thing that the paper leaves open, or that we do otherwise, and prints what the table would then say.
"""

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from why_selections_differ import decoys, slices, temperature


def bilinear() -> None:
    """Bilinear-CG with its angles of the cost tied or free, and by fewer starts (the two threshold tables)."""
    from biselect_quantum.circuits.ansatz import Ansatz
    from biselect_quantum.circuits.schedule import Schedule
    from biselect_quantum.circuits.training import train
    from biselect_studies.data.synthetic import panel_problem
    from biselect_studies.experiments.planted import evidence_threshold, mixing_alone

    full = Schedule.named("bilinear", 3)
    # one γ_SF for all layers: columns γ_marg, γ_SF,1..3, β become γ_marg, γ_SF, β
    merged = np.stack([full.matrix[..., 0], full.matrix[..., 1:4].sum(axis=-1), full.matrix[..., 4]], axis=-1)
    shared = replace(full, matrix=merged, angle_names=("γ_marg", "γ_SF", "β"))
    rates: dict[str, list[float]] = {}
    for seed in range(16):
        problem = panel_problem(seed=seed)
        threshold = evidence_threshold(problem, 3, seed).of(problem)
        if mixing_alone(problem, 3, threshold) > 0.01:
            continue
        means = {"objective": "hit-rate", "threshold": threshold, "seed": seed, "strategy": "threshold"}
        for name, schedule in (("tied", "tied"), ("bilinear", "bilinear"), ("one γ_SF", shared)):
            ansatz = Ansatz(problem, 3, schedule, start="canonical", backend="compiled")
            rates.setdefault(name, []).append(1e4 * train(ansatz, **means).hit_rate)
            if name == "tied":
                tied = train(ansatz, **means)
        ansatz = Ansatz(problem, 3, "bilinear", start="canonical", backend="compiled")
        start = Schedule.named("tied", 3).embed(tied.angles, full)
        rates.setdefault("from tied angles", []).append(1e4 * _local(ansatz, start, threshold, seed))
    print("name, mean, geometric mean, improved of all; paper: XY 7.98, 3.2; Bilinear 8.60, 4.7, 5 of 8")
    for name, found in rates.items():
        better = int((np.array(found) > 1.001 * np.array(rates["tied"])).sum())
        print(name, round(np.mean(found), 2), round(float(np.exp(np.mean(np.log(found)))), 2), better, len(found))


def _local(ansatz, start, threshold, seed) -> float:
    """96 random local steps from given angles."""
    from biselect_quantum.circuits.training._paper_protocols import LOCAL_STEP

    rng = np.random.default_rng([seed, 7])
    best, angles = ansatz.hit_rate(start, threshold), start
    for _ in range(96):
        tried = np.clip(angles + rng.normal(scale=LOCAL_STEP, size=len(angles)), 0, np.pi)
        if (rate := ansatz.hit_rate(tried, threshold)) > best:
            best, angles = rate, tried
    return best


def caps() -> None:
    """Retained cross mass and dense gain by w_max and marginals (figure submitted_coupling_diagnostic)."""
    from biselect_studies.experiments.heron import coupling
    from biselect_studies.studies.coupling import CAPS, MARGINALS, SIZES, _swept

    print("marginals, w_max, kept % by width, dense gain kept % by width, gain over the diagonal at 20 qubits")
    print("paper: 4.6 3.6 2.3 2.6 2.1 % from 32 to 64 qubits; dense gains 47.1 to 67.7 %; gain at 20 qubits 0")
    for kind, title in MARGINALS.items():
        for cap in CAPS:
            found = {}
            for width in SIZES:
                values = coupling(_swept(width, cap, *kind), range(5))
                found[width] = {name: np.mean(each) for name, each in values.items()}
            kept, gains = ([round(each[name], 1) for each in found.values()] for name in ("share", "dense_gain"))
            print(title, cap, kept, gains, round(found[20]["over_diagonal"], 2), flush=True)


def ring() -> None:
    """A mixer that needs routing too (figure cross_platform_compilation)."""
    from biselect_quantum.circuits import AnsatzSpec
    from biselect_quantum.circuits.mixers import mixer_classes
    from biselect_quantum.devices import compile_circuit
    from biselect_studies.experiments.compile_case import NATIVE, angles, dense_problem, device, patch, retained

    print("device, width, p, mixer, cut of 2Q count %, cut of 2Q depth %; paper: 42.3 to 82.6 and 54.5 to 84.8")
    for name in ("boston", "iqm-54"):
        for width in (8, 16, 24):
            spot = patch(name, width, "trees")
            dense = dense_problem(spot.n_samples, spot.n_features)
            mixers = {
                "tree": (spot.sample_classes, spot.feature_classes),
                "ring": tuple(mixer_classes("ring", count) for count in (spot.n_samples, spot.n_features)),
            }
            for kind, mixer in mixers.items():
                for depth in (1, 3):
                    medians = []
                    for problem in (dense, retained(dense, spot)):
                        found = []
                        for seed in range(3):
                            spec = AnsatzSpec(problem, depth, "bilinear", mixer, "random", seed=seed)
                            program = spec.program(angles(depth))
                            made = compile_circuit(program, device(name), spot.layout, NATIVE, seed=seed).resources
                            found.append((made.two_qubit_gates, made.two_qubit_depth))
                        medians.append(np.median(found, axis=0))
                    print(name, width, depth, kind, *(100 * (1 - medians[1] / medians[0])).round(1), flush=True)


def recorded() -> None:
    """The cut of the complete paths by the order in which edges were recorded (table implementation_path_factorial)."""
    from biselect_quantum.circuits import AnsatzSpec
    from biselect_quantum.devices import compile_circuit
    from biselect_quantum.devices.paths import COMPLETE_CZ, COMPLETE_FRACTIONAL, OPT3_CZ
    from biselect_studies.experiments.compile_case import angles, dense_problem, device, patch, retained

    print("order, cuts of complete CZ against Opt-3 CZ in depth, 2Q depth, duration %, and of complete fractional")
    print("paper: 25.9 23.1 15.3 and 47.4 23.1 20.0")
    found: dict[str, list[list[float]]] = {}
    for width in (16, 40, 64):
        spot = patch("boston", width, "paths")
        problem = retained(dense_problem(spot.n_samples, spot.n_features), spot)
        for shuffled in (1.0, 0.75, 0.5, 0.0):
            for seed in range(2):
                rng = np.random.default_rng([seed, width])
                orders = tuple(_shuffled(edges, shuffled, rng) for edges in (spot.sample_edges, spot.feature_edges))
                program = AnsatzSpec(problem, 2, "bilinear", orders, "random", seed=seed).program()
                made = [
                    compile_circuit(program, device("boston"), spot.layout, path, angles=angles(2)).resources
                    for path in (OPT3_CZ, COMPLETE_CZ, COMPLETE_FRACTIONAL)
                ]
                cz, *ours = (np.array([each.depth, each.two_qubit_depth, each.duration]) for each in made)
                name = f"{100 * shuffled:.0f} % of the edges shuffled, the rest along the register"
                found.setdefault(name, []).append(np.concatenate([100 * (1 - each / cz) for each in ours]).tolist())
    for name, cuts in found.items():
        print(name, *np.median(cuts, axis=0).round(1), flush=True)


def crossing() -> None:
    """2Q gates that the fractional target saves, by the share of cross edges (table implementation_path_factorial)."""
    from biselect_quantum.devices import compile_circuit, hardware_mask
    from biselect_quantum.devices.paths import OPT3_CZ, OPT3_FRACTIONAL
    from biselect_studies.experiments.compile_case import angles, device, recorded_circuit

    print("device, qubits, cross edges, mixer's edges, cut if each cross edge saves one gate of two %, measured cut %")
    for name in ("boston", "pittsburgh"):
        for width in (16, 28, 40, 64):
            cell = {"device": name, "width": width, "registers": "paths", "depth": 2}
            program, spot = recorded_circuit(cell, 0)
            counts = [
                compile_circuit(program, device(name), spot.layout, path, angles=angles(2)).resources.two_qubit_gates
                for path in (OPT3_CZ, OPT3_FRACTIONAL)
            ]
            cross, mixing = int(hardware_mask(spot).sum()), len(spot.sample_edges) + len(spot.feature_edges)
            expected = 100 * cross / (2 * cross + 2 * mixing)
            print(
                name, width, cross, mixing, round(expected, 1), round(100 * (1 - counts[1] / counts[0]), 1), flush=True
            )


def _shuffled(edges, share, rng) -> list[tuple[tuple[int, int]]]:
    """Edges in the order of the register, a share of them in places drawn at random."""
    order = np.arange(len(edges))
    moved = rng.permutation(len(edges))[: round(share * len(edges))]
    order[np.sort(moved)] = moved
    return [(tuple(sorted(edges)[place]),) for place in order]


def control() -> None:
    """Shares above the 95th percentile by size, signal and λ (table cgxy_grouping_randomization_control)."""
    from biselect_studies.experiments.planted import CONTROLS, grouping_control
    from biselect_studies.studies.grouping import SIGNALS, SIZES, WEIGHTS
    from biselect_studies.task import crossed

    cells = crossed(size=SIZES, signal=SIGNALS, weight=WEIGHTS, mode=("residual", "mixed"))
    found = [grouping_control(cell, range(16)) for cell in cells]
    print("which, type-preserving %, same-size %; paper: 54.8 and 8.1")
    for name, values in (("N", {size[0] for size in SIZES}), ("signal", SIGNALS), ("weight", WEIGHTS)):
        for value in sorted(values):
            picked = [one for cell, one in zip(cells, found, strict=True) if cell[name] == value]
            shares = [100 * np.mean([one[f"{kind} above"] for one in picked]) for kind in CONTROLS]
            print(name, value, *np.round(shares, 1), flush=True)


def recovery() -> None:
    """Recovery and lift by size and mixer, small sizes to p = 4 (table qaoa_calibration_grouped_multiangle)."""
    from biselect_studies.experiments.planted import depth_ladder
    from biselect_studies.quantum.small_angle import depth_efficiency
    from biselect_studies.studies.grouping import MODES, SIGNALS, SIZES, WEIGHTS
    from biselect_studies.task import crossed

    print("mixer, size, p, quartiles of recovery %, mean lift")
    print("paper: 17.7 30.3 46.2, 0.374; 19.3 36.4 61.4, 0.487; 23.6 33.8 50.6, 0.455; 24.3 29.6 42.2, 0.37")
    for mixer in ("product", "continuous"):
        for size in ((4, 4, 2, 2), (5, 4, 2, 2), *SIZES):
            deepest = 4 if size[0] < 6 else 2
            axes = {"size": [size], "signal": SIGNALS, "mode": MODES, "weight": WEIGHTS}
            cells = crossed(**axes, tied=(2 * deepest,), grouped=(deepest,), mixer=(mixer,))
            found = [depth_ladder(cell, range(1)) for cell in cells]
            three = [(one["tied alpha"][0], one["grouped alpha"][0], one["range"][0]) for one in found]
            for p in range(1, deepest + 1):
                shares = [depth_efficiency(a[p - 1], g[p - 1], a[2 * p - 1]) for a, g, _ in three]
                quartiles = 100 * np.quantile(shares, [0.25, 0.5, 0.75])
                lift = np.mean([span * (g[p - 1] - a[p - 1]) for a, g, span in three])
                print(mixer, size, p, *quartiles.round(1), lift.round(3), flush=True)


EXPERIMENTS: dict[str, Callable[[], None]] = {
    one.__name__: one
    for one in (
        temperature,
        decoys,
        control,
        recovery,
        bilinear,
        caps,
        ring,
        recorded,
        crossing,
        slices,
    )
}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in EXPERIMENTS:
        for name, one in EXPERIMENTS.items():
            print(f"{name}: {(one.__doc__ or '').splitlines()[0]}")
        sys.exit(len(sys.argv) > 1)
    EXPERIMENTS[sys.argv[1]]()
