"""What a hardware mask keeps of Credit Card problems, and what its surrogates' optima are worth to the dense ones."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.columns.distribution import exact_distribution, fit_scale
from biselect.core import SelectionProblem
from biselect.solvers import solve
from biselect.tables import as_matrix
from biselect.tables.demo import demo_pool
from biselect.weights import Weigher
from biselect_quantum.devices import Patch, choose_patch, hardware_mask, masked, place, retained_mass
from biselect_studies.data.marginals import MARGINALS
from biselect_studies.experiments.compile_case import device
from biselect_studies.quantum.mean_field import agreement, choose_surrogate, low_energy_overlap, mean_field
from biselect_studies.task import Cell, Values

LISTED = 1_000_000  # choices of a sector whose low-energy states are compared


def coupling(cell: Cell, seeds: Iterable[int]) -> Values:
    """One problem a seed, on one patch; `plain` leaves out what is ours, the mean field."""
    patch = _patch(cell["device"], cell["N"], cell["D"])
    values: dict[str, list[Any]] = {}
    for seed in seeds:
        size = (cell["N"], cell["D"], cell["k"], cell["m"])
        problem = credit_card(size, seed, **{name: cell[name] for name in ("cap", "marginals", "center")})
        found = _measure(problem, patch, plain=cell["plain"])
        for name, value in found.items():
            values.setdefault(name, []).append(value)
    return values


def _measure(problem: SelectionProblem, patch: Patch, *, plain: bool) -> dict[str, float]:
    placement = place(problem, patch)
    mask = hardware_mask(placement.patch)
    sparse = masked(problem, mask)
    reference = solve(problem, "exact", workers=1).energy
    kept, share = retained_mass(problem, mask)
    of_sparse = agreement(problem, sparse, reference)
    fields = float(np.abs(problem.sample_scores).sum() + np.abs(problem.feature_scores).sum())
    found = {
        "share": 100 * share,
        "to_fields": 100 * problem.coupling_weight * kept / fields,
        "dense_gain": 100 * of_sparse.dense_gain,
        "over_diagonal": of_sparse.gain_over_diagonal,
        "gap": placement.gap,
    }
    if plain:
        return found
    chosen, nothing = choose_surrogate(problem, mask), np.zeros_like(mask)
    mended = chosen.problem
    bare = masked(problem, nothing) if chosen.temperature is None else mean_field(problem, nothing, chosen.temperature)
    of_mended, of_bare = (agreement(problem, each, reference) for each in (mended, bare))
    found |= {"mended_gain": 100 * of_mended.dense_gain, "bare_gain": 100 * of_bare.dense_gain}
    if problem.sector.size <= LISTED:
        found["overlap"] = 100 * low_energy_overlap(problem, sparse)
        found["mended_overlap"] = 100 * low_energy_overlap(problem, mended)
    return found


def credit_card(
    size: tuple[int, int, int, int], seed: int, *, cap: float, marginals: str, center: str = "median"
) -> SelectionProblem:
    """A problem of k frauds and N - k other transactions of the excerpt, on D of its columns, drawn by the seed."""
    n, d, k, m = size
    pool = demo_pool()
    assert pool.labels is not None
    rng = np.random.default_rng(seed)
    frauds = rng.choice(np.flatnonzero(pool.labels), k, replace=False)
    others = rng.choice(np.flatnonzero(~pool.labels), n - k, replace=False)
    rows = np.sort(np.concatenate([frauds, others]))
    names = [pool.reference.column_names[column] for column in sorted(rng.permutation(pool.reference.num_columns)[:d])]
    reference, candidates = (as_matrix(table.select(names)) for table in (pool.reference, pool.candidates.take(rows)))
    scale = fit_scale([exact_distribution(column) for column in reference.values.T], center)

    def scores(W: NDArray[np.float64], _: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return MARGINALS[marginals](W, scale.residuals(candidates.values))

    return Weigher("ecdf", cap=cap).fit(reference).problem(candidates, k, m, marginals=scores)


@cache
def _patch(name: str, n: int, d: int) -> Patch:
    return choose_patch(device(name), n, d)
