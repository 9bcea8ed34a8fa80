"""Those of the experiments of `why_it_differs.py` that are about selections, not about circuits."""

from pathlib import Path

import numpy as np


def kawasaki() -> None:
    """Ring-local Kawasaki by temperature and number of steps, not by the clock (table solver_matched_compute)."""
    from biselect.data.synthetic import benchmark
    from biselect.solvers import solve
    from biselect_studies.experiments.benchmark import combined_f1

    print("T, steps, combined F1, optimum hit, mean gap; paper: 0.830, 0.02, 6.45 in 10 ms, 0.900, 0.12, 3.61 in 100")
    for temperature in (6.0, 8.0, 10.0):
        for steps in (3000, 10_000, 30_000, 100_000):
            rows = []
            for seed in range(50):
                planted = benchmark(20, 10, 3, 0.5, seed=seed)
                problem = planted.problem(3, 5)
                found = solve(problem, "kawasaki", seed=seed, steps=steps, temperature=temperature)
                gap = found.energy - solve(problem, "exact", workers=1).energy
                rows.append((combined_f1(found.samples, found.features, planted), gap < 1e-9, gap))
            print(temperature, steps, *np.mean(rows, axis=0).round(3), flush=True)


def temperature() -> None:
    """Ring-local Kawasaki by its temperature (table joint_vs_sequential_practical)."""
    from biselect.data.synthetic import benchmark
    from biselect.solvers import solve
    from biselect_studies.experiments.benchmark import combined_f1
    from biselect_studies.synthetic_table import NOISE

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
    """Redundant decoys by constants of the pools that the paper does not print (table synthetic_mechanism_stable)."""
    from biselect.data import synthetic
    from biselect_studies.experiments.benchmark import mechanism

    print("decoys, share of spikes in the pool, largest lift by Abs. z and MAD z; paper: 0.180 and 0.216")
    for count, spikes in ((3, 0.10), (2, 0.10), (5, 0.10), (3, 0.07)):
        synthetic.DECOYS, synthetic.POOL_SPIKES = count, spikes
        cell = {"mechanism": "redundant-decoys", "k": 4, "shift": 3.0}
        lifts = [
            max(np.mean(mechanism({**cell, "m": m, "center": center}, range(50))["active"]) for m in (2, 3, 4, 5, 6))
            for center in ("mean", "median")
        ]
        print(count, spikes, *np.round(lifts, 3), flush=True)


def slices() -> None:
    """How often a few of our slices give the paper's difference (table ..._creditcard_protocol_stress); needs its run.

    Reads `reproduction/cells`, where `biselect reproduce` of that study leaves them.
    """
    from biselect_studies import creditcard_protocols as stress
    from biselect_studies.runner import collect
    from biselect_studies.slices import HEURISTICS

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


def proxies() -> None:
    """The proxy grid by constants of the pools that the paper does not print (table synthetic_mechanism_stable)."""
    from biselect.data import synthetic
    from biselect_studies.experiments.benchmark import mechanism
    from biselect_studies.synthetic_robustness import PROXIES

    print("loading of a proxy, share of spikes in the pool, mean lift by Abs. z and MAD z; paper: 0.025 and 0.060")
    for loading, spikes in ((0.8, 0.10), (0.6, 0.10), (0.95, 0.10), (0.8, 0.07), (0.8, 0.05)):
        synthetic.PROXY_LOADING, synthetic.POOL_SPIKES = loading, spikes
        lifts = [
            np.mean([mechanism({**cell, "center": center}, range(50))["combined"] for cell in PROXIES])
            for center in ("mean", "median")
        ]
        print(loading, spikes, *np.round(lifts, 3), flush=True)
