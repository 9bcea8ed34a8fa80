"""What the paper's tables would say under settings that it leaves open: one cell is one setting of one table."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.solvers import solve
from biselect.tables.demo import demo_pool
from biselect.weights import Weigher
from biselect_quantum.devices import hardware_mask, place, retained_mass
from biselect_studies.data import synthetic
from biselect_studies.data.synthetic import MARGINALS
from biselect_studies.experiments import by_seed
from biselect_studies.experiments import creditcard as fields
from biselect_studies.experiments.benchmark import HIT, OPTIONS, combined_f1
from biselect_studies.inference import f1_at_k
from biselect_studies.task import Cell, Values

MARKS = tuple(round(100 * 10 ** (step / 6)) for step in range(22))
"""Numbers of steps at which a walk is read, six to a factor of ten: 100 to 316,228."""


@by_seed
def walk_settings(cell: Cell, seed: int) -> dict[str, Any]:
    """Ring-local Kawasaki at a temperature, read at every one of `MARKS`: F1, gap to the optimum, whether it was hit.

    On the synthetic benchmark (`noise`) F1 is the combined one, on Credit Card pools (`map`) that of the samples.
    """
    if "map" in cell:
        pool = fields.draw("balanced", fields.SPLIT, "test", cell["N"], cell["k"], seed)
        field = fields.weights(fields.SPLIT, "test", cell["map"], "first")
        problem = SelectionProblem(coupling=field[pool.rows, : cell["D"]], k=cell["k"], m=cell["m"])
        found = [f1_at_k(chosen[0], pool.positive) for chosen in walk(problem, seed, cell["temperature"], MARKS)]
        return {"f1": found}
    planted = synthetic.benchmark(cell["N"], cell["D"], cell["k"], cell["noise"], seed=seed)
    problem = planted.problem(cell["k"], cell["m"])
    optimum = solve(problem, "exact", workers=1).energy
    states = list(walk(problem, seed, cell["temperature"], MARKS))
    gaps = [max(0.0, problem.energy(*state) - optimum) for state in states]
    return {
        "f1": [combined_f1(*state, planted) for state in states],
        "gap": gaps,
        "hit": [int(gap <= HIT * abs(optimum)) for gap in gaps],
    }


def walk(
    problem: SelectionProblem, seed: int, temperature: float, marks: Sequence[int]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The best state of one walk after each number of steps, ascending."""
    from biselect_studies.extensions.kawasaki import ring_walk  # loads numba

    rng = np.random.default_rng(seed)
    in_s = rng.permutation(problem.n_samples) < problem.k
    in_f = rng.permutation(problem.n_features) < problem.m
    state = rng.integers(0, 2**63, size=1).astype(np.uint64)
    best, best_s, best_f, noted = -np.inf, in_s.copy(), in_f.copy(), np.empty((0, 2))
    scores = problem.coupling_weight, problem.sample_scores, problem.feature_scores
    for steps in np.diff(marks, prepend=0):
        best, _ = ring_walk(
            problem.coupling, *scores, in_s, in_f, temperature, int(steps), state, best, best_s, best_f, noted
        )
        yield np.flatnonzero(best_s), np.flatnonzero(best_f)


def marginal_settings(cell: Cell, seeds: Iterable[int]) -> Values:
    """Combined F1 of `methods` on the synthetic benchmark with marginals of a kind, and λ."""
    values: Values = {method: [] for method in cell["methods"]}
    for seed in seeds:
        planted = synthetic.benchmark(cell["N"], cell["D"], cell["k"], cell["noise"], seed=seed)
        a, b = MARGINALS[cell["marginals"]](planted.weights, planted.residuals)
        problem = SelectionProblem(
            coupling=planted.weights,
            sample_scores=a,
            feature_scores=b,
            k=cell["k"],
            m=cell["m"],
            coupling_weight=cell["weight"],
        )
        for method, found in values.items():
            chosen = solve(problem, method, seed=seed, **OPTIONS.get(method, {}))
            found.append(combined_f1(chosen.samples, chosen.features, planted))
    return values


@by_seed
def cap_settings(cell: Cell, seed: int) -> dict[str, float]:
    """What a chip's edges keep of the weights of the Credit Card excerpt, cut at w_max (`cap`)."""
    from biselect_studies.experiments.heron import _named_patch

    pool = demo_pool()
    assert pool.labels is not None
    n, d, k, m = (cell[name] for name in "NDkm")
    rng = np.random.default_rng(seed)
    frauds = rng.choice(np.flatnonzero(pool.labels), k, replace=False)
    others = rng.choice(np.flatnonzero(~pool.labels), n - k, replace=False)
    names = [pool.reference.column_names[column] for column in sorted(rng.permutation(pool.reference.num_columns)[:d])]
    calibrator = Weigher("ecdf-paper", cap=cell["cap"]).fit(pool.reference.select(names))
    rows = pool.candidates.select(names).take(np.sort(np.concatenate([frauds, others])))
    problem = calibrator.plain_problem(rows, k, m)  # marginals play no part in what is kept
    patch = _named_patch(cell["device"], n, d)
    return {"share": 100 * retained_mass(problem, hardware_mask(place(problem, patch).patch))[1]}


def pool_settings(cell: Cell, seeds: Iterable[int]) -> Values:
    """F1@k on balanced Credit Card pools with weights cut at w_max (`cap`) and marginals of a kind."""
    values: Values = {"joint": [], "sequential": []}
    form = (fields.SPLIT, "test", cell["map"], "first")
    for seed in seeds:
        pool = fields.draw("balanced", fields.SPLIT, "test", cell["N"], cell["k"], seed)
        sector = {"d": cell["D"], "k": cell["k"], "m": cell["m"], "marginals": cell["marginals"]}
        problem = fields.problem(*form, pool.rows, **sector)
        cut = np.minimum(problem.coupling, cell["cap"])
        a = cut.max(axis=1) if cell["marginals"] != "none" else problem.sample_scores
        problem = replace(problem, coupling=cut, sample_scores=a)
        joint = solve(problem, "coordinate-ascent", seed=seed).samples
        first = solve(problem, "feature-first", aggregate="sum").samples
        for name, chosen in (("joint", joint), ("sequential", first)):
            values[name].append(f1_at_k(chosen.tolist(), pool.positive.tolist()))
    return values
