"""Exact-budget mass under one noise model: our path, with the quieter entangling gates, against the paper's.

    python benchmarks/bench_noise.py                  # three devices, two patches and instances each, p = 3 and 5
    python benchmarks/bench_noise.py --devices boston --patches 1
    python benchmarks/bench_noise.py --start random   # from a random feasible state instead of the canonical one
    python benchmarks/bench_noise.py --idle           # waiting qubits relax too

(12, 8, 3, 5), Credit Card instances placed by the exact program. Ours is the Y-frame that takes the gate with the lower
recorded error on each edge, the paper's its complete fractional path. All compile the same circuit, in the same mixer
order, onto the same qubits; each register is run as an exact density matrix under the device's recorded errors, readout
included, cross gates left out. Noise model, not hardware. Figures are written to benchmarks/results/.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from biselect.hardware import choose_patch, hardware_mask, load_target, masked, place
from biselect.hardware.noise import LABEL, register_mass
from biselect.hardware.paths import COMPLETE_FRACTIONAL, IN_ORDER, Y_FRAME
from biselect.qaoa import AnsatzSpec
from biselect_studies.experiments.compile_case import angles
from biselect_studies.experiments.heron_case import problem

DEVICES = ("boston", "pittsburgh", "aachen")
DEPTHS = (3, 5)
WIDTH, N, D = 20, 12, 8
WANTED = 4.0  # points
PATHS = {
    "ours": IN_ORDER,
    "y-frame": replace(Y_FRAME, coloured=False),
    "paper": replace(COMPLETE_FRACTIONAL, coloured=False),
}
RESULTS = Path(__file__).parent / "results"


def masses(device: str, seed: int, depth: int, start: str, idle: bool) -> dict[str, float]:
    """Mass by each path, in per cent."""
    target = load_target(device)
    patch = choose_patch(target, N, D, seed=seed)
    dense = problem("creditcard", WIDTH, seed)
    sparse = masked(place(dense, patch).placed(dense), hardware_mask(patch))
    mixer = (patch.sample_classes, patch.feature_classes)
    program = AnsatzSpec(sparse, depth, "bilinear", mixer, start, seed=seed).program()
    return {
        name: 100 * register_mass(program, target, patch.layout, path, angles=angles(depth), idle=idle).mass
        for name, path in PATHS.items()
    }


def main() -> None:
    """Print every point and what is gained."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", nargs="+", default=DEVICES)
    parser.add_argument("--patches", type=int, default=2)
    parser.add_argument("--start", choices=["canonical", "random"], default="canonical")
    parser.add_argument("--idle", action="store_true")
    options = parser.parse_args()
    print(f"{LABEL}; start {options.start}; waiting qubits {'relax' if options.idle else 'do not relax'}")
    points = []
    for device in options.devices:
        for seed in range(options.patches):
            for depth in DEPTHS:
                found = masses(device, seed, depth, options.start, options.idle)
                points.append({"device": device, "patch and instance": seed, "p": depth, **found})
                gain = found["ours"] - found["paper"]
                where = f"{device} {seed} p = {depth}"
                plain = f"without the quieter gates {found['y-frame']:5.1f}"
                print(
                    f"{where:22s} ours {found['ours']:5.1f} paper {found['paper']:5.1f} gain {gain:+.1f}; {plain}",
                    flush=True,
                )
    gains = np.array([point["ours"] - point["paper"] for point in points])
    met = "met" if gains.min() >= WANTED else "MISSED"
    print(f"gain {np.median(gains):+.1f} [{gains.min():+.1f}, {gains.max():+.1f}] points, promised {WANTED:g}: {met}")
    name = f"noise-{options.start}{'-idle' if options.idle else ''}.json"
    (RESULTS / name).write_text(json.dumps({"label": LABEL, "points": points}, indent=1) + "\n")


if __name__ == "__main__":
    main()
