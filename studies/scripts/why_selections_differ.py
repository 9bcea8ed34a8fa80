"""Those of the experiments of `why_it_differs.py` that are about selections, not about circuits."""

from pathlib import Path

import numpy as np


def temperature() -> None:
    """Ring-local Kawasaki by its temperature (table joint_vs_sequential_practical)."""
    from biselect.solvers import solve
    from biselect_studies.data.synthetic import benchmark
    from biselect_studies.experiments.benchmark import combined_f1
    from biselect_studies.studies.synthetic import NOISE

    print("T, combined F1 by noise; paper: 0.833 0.884 0.935 0.946 0.907; ours is T = 3")
    for degrees in (2.0, 2.5, 3.0, 3.5, 4.0):
        means = []
        for noise in NOISE:
            found = []
            for seed in range(200):
                planted = benchmark(20, 10, 3, noise, seed=seed)
                walk = solve(planted.problem(3, 5), "kawasaki", seed=seed, temperature=degrees)
                found.append(combined_f1(walk.samples, walk.features, planted))
            means.append(np.mean(found))
        print(degrees, *np.round(means, 3), flush=True)


def decoys() -> None:
    """Redundant decoys by the feature budget, on our seeds and on others (table synthetic_mechanism_stable)."""
    from biselect_studies.experiments.benchmark import mechanism

    cell = {"mechanism": "redundant-decoys", "k": 4, "shift": 3.0, "center": "median"}
    print("seeds, lift by MAD z at m = 3, 4, 5 and 6; paper: 0.216, largest at m = 4")
    for first in (0, 50, 100):
        lifts = [np.mean(mechanism({**cell, "m": m}, range(first, first + 50))["active"]) for m in (3, 4, 5, 6)]
        print(first, *np.round(lifts, 3), flush=True)


def slices() -> None:
    """How often a few of our slices give the paper's difference (table ..._creditcard_protocol_stress); needs its run.

    Reads `reproduction/cells`, where `biselect reproduce` of that study leaves them.
    """
    from biselect_studies.runner import collect
    from biselect_studies.studies import creditcard as stress
    from biselect_studies.studies.slices import HEURISTICS

    records = collect(stress.PROTOCOL_GRID.tasks(False), Path("reproduction/cells"))
    rng = np.random.default_rng(0)
    for title in (stress.UNBALANCED, "Balanced, 40/20/40"):
        _, count, paper = stress.PROTOCOLS[title]
        values, printed = records.of(stress.protocol_cell(title, 20)), paper[20]
        methods = np.array([values[name] for name in HEURISTICS])
        rival = values[stress.RIVAL]
        picks = np.array([rng.choice(len(rival), count, replace=False) for _ in range(20_000)])
        best = methods[:, picks].mean(axis=2).max(axis=0) - rival[picks].mean(axis=1)
        below, above = (best <= printed + 5e-4).mean(), (best >= printed - 5e-4).mean()
        gains = ", ".join(f"{name} {values[name].mean() - rival.mean():+.3f}" for name in HEURISTICS)
        print(
            f"{title}: at or below {printed} in {100 * below:.1f} %, at or above in {100 * above:.1f} %; all: {gains}"
        )
