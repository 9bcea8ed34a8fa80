"""What a hardware mask keeps of Credit Card problems, and what its surrogates' optima are worth to the dense ones."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from biselect.calibrate import Calibrator
from biselect.core import SelectionProblem
from biselect.data.demo import demo_pool
from biselect.hardware import Patch, choose_patch, choose_surrogate, hardware_mask, masked, place, retained_mass
from biselect.hardware.surrogates import agreement, low_energy_overlap, mean_field
from biselect.solvers import solve
from biselect_studies.experiments.compile_case import device
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
    placement, mask = place(problem, patch), hardware_mask(patch)
    placed = placement.placed(problem)
    sparse = masked(placed, mask)
    reference = solve(placed, "exact", workers=1).energy
    kept, share = retained_mass(placed, mask)
    of_sparse = agreement(placed, sparse, reference)
    fields = float(np.abs(placed.sample_scores).sum() + np.abs(placed.feature_scores).sum())
    found = {
        "share": 100 * share,
        "to_fields": 100 * placed.coupling_weight * kept / fields,
        "dense_gain": 100 * of_sparse.dense_gain,
        "over_diagonal": of_sparse.gain_over_diagonal,
        "gap": placement.gap,
    }
    if plain:
        return found
    chosen, nothing = choose_surrogate(placed, mask), np.zeros_like(mask)
    mended = chosen.problem
    bare = masked(placed, nothing) if chosen.temperature is None else mean_field(placed, nothing, chosen.temperature)
    of_mended, of_bare = (agreement(placed, each, reference) for each in (mended, bare))
    found |= {"mended_gain": 100 * of_mended.dense_gain, "bare_gain": 100 * of_bare.dense_gain}
    if placed.sector.size <= LISTED:
        found["overlap"] = 100 * low_energy_overlap(placed, sparse)
        found["mended_overlap"] = 100 * low_energy_overlap(placed, mended)
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
    calibrator = Calibrator("ecdf", cap=cap, center=center).fit(pool.reference.select(names))
    return calibrator.problem(pool.candidates.select(names).take(rows), k, m, marginals=marginals)


@cache
def _patch(name: str, n: int, d: int) -> Patch:
    return choose_patch(device(name), n, d)
