"""Surrogates on hardware edges against the dense objective: the plain mask, and mean fields in its place.

Several families of problems on patches of FakeBoston, each placed by the exact program. For every surrogate: the dense
gain that its exact optimum keeps (1 at the dense optimum, 0 at the random-feasible mean), and the share of the 100
lowest dense choices that are among its own 100 lowest. The last control has the chosen mean field and no couplings: it
shows how much of the gain the fields alone bring.

    python benchmarks/bench_surrogates.py
    python benchmarks/bench_surrogates.py --seeds 3 --sizes 12,8,3,4
"""

import argparse
from collections.abc import Callable

import numpy as np

from biselect.core import SelectionProblem
from biselect.solvers import solve
from biselect_quantum.devices import (
    choose_patch,
    hardware_mask,
    load_target,
    masked,
    place,
    retained_mass,
)
from biselect_studies.data.synthetic import benchmark
from biselect_studies.experiments.heron import credit_card
from biselect_studies.quantum.mean_field import agreement, choose_surrogate, low_energy_overlap, mean_field

LISTED = 1_000_000


def normal(n: int, d: int, k: int, m: int, seed: int) -> SelectionProblem:
    """Weights of both signs, no marginals."""
    return SelectionProblem(coupling=np.random.default_rng(seed).normal(size=(n, d)), k=k, m=m)


def with_marginals(n: int, d: int, k: int, m: int, seed: int) -> SelectionProblem:
    """The same with strong marginals that agree with the coupling's means."""
    weights = np.random.default_rng(seed).normal(size=(n, d))
    scores = {"sample_scores": 3 * weights.mean(axis=1), "feature_scores": 3 * weights.mean(axis=0)}
    return SelectionProblem(coupling=weights, k=k, m=m, **scores)


def heavy(n: int, d: int, k: int, m: int, seed: int) -> SelectionProblem:
    """Heavy-tailed weights: a few couplings hold much of the mass."""
    weights = np.minimum(np.random.default_rng(seed).pareto(1.5, size=(n, d)), 20)
    scores = {"sample_scores": 0.2 * weights.mean(axis=1), "feature_scores": 0.2 * weights.mean(axis=0)}
    return SelectionProblem(coupling=weights, k=k, m=m, **scores)


def marginals_only(n: int, d: int, k: int, m: int, seed: int) -> SelectionProblem:
    """Marginals that outweigh weak couplings: nothing to mend."""
    rng = np.random.default_rng(seed)
    scores = {"sample_scores": rng.normal(size=n), "feature_scores": rng.normal(size=d)}
    return SelectionProblem(coupling=0.01 * rng.normal(size=(n, d)), k=k, m=m, **scores)


def planted(n: int, d: int, k: int, m: int, seed: int) -> SelectionProblem:
    """The paper's benchmark with 30 % noise features, no marginals."""
    return benchmark(n, d, k, 0.3, seed=seed).problem(k, m)


def transactions(n: int, d: int, k: int, m: int, seed: int) -> SelectionProblem:
    """Frauds and others of the Credit Card excerpt."""
    return credit_card((n, d, k, m), seed, cap=10.0, marginals="bounded")


FAMILIES: dict[str, Callable[..., SelectionProblem]] = {
    "normal": normal,
    "with marginals": with_marginals,
    "heavy-tailed": heavy,
    "marginals only": marginals_only,
    "planted": planted,
    "credit card": transactions,
}


def surrogates(problem: SelectionProblem, mask: np.ndarray) -> dict[str, SelectionProblem]:
    """What is compared."""
    chosen = choose_surrogate(problem, mask)
    nothing = np.zeros_like(mask)
    bare = masked(problem, nothing) if chosen.temperature is None else mean_field(problem, nothing, chosen.temperature)
    return {
        "plain mask": masked(problem, mask),
        "uniform mean field": mean_field(problem, mask),
        "chosen": chosen.problem,
        "chosen, no couplings": bare,
    }


def main() -> None:
    """Print a table for every size and family."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sizes", nargs="+", default=["12,8,3,4", "14,10,4,4"], help="N,D,k,m")
    options = parser.parse_args()
    target = load_target("boston")
    for size in options.sizes:
        n, d, k, m = map(int, size.split(","))
        patch = choose_patch(target, n, d)
        print(
            f"\n{n} + {d} qubits, k = {k}, m = {m}, {len(patch.cross_edges)} cross edges, {options.seeds} problems each"
        )
        print(f"{'family':16}{'kept mass':>10}  {'surrogate':22}{'dense gain':>11}{'lowest':>8}{'overlap':>9}")
        for family, make in FAMILIES.items():
            found: dict[str, list[tuple[float, float]]] = {}
            shares = []
            for seed in range(options.seeds):
                problem = make(n, d, k, m, seed)
                mask = hardware_mask(place(problem, patch).patch)
                shares.append(retained_mass(problem, mask)[1])
                reference = solve(problem, "exact").energy
                for name, surrogate in surrogates(problem, mask).items():
                    listed = problem.sector.size <= LISTED
                    overlap = low_energy_overlap(problem, surrogate) if listed else np.nan
                    found.setdefault(name, []).append((agreement(problem, surrogate, reference).dense_gain, overlap))
            for name, values in found.items():
                gain, overlap = np.mean(values, axis=0)
                lowest = min(value for value, _ in values)
                print(
                    f"{family:16}{np.mean(shares):10.3f}  {name:22}{gain:11.3f}{lowest:8.3f}{overlap:9.3f}", flush=True
                )


if __name__ == "__main__":
    main()
