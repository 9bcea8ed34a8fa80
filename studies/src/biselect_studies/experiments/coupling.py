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
    """One problem a seed, on one patch."""
    patch = _patch(cell["device"], cell["N"], cell["D"])
    values: dict[str, list[Any]] = {}
    for seed in seeds:
        found = _measure(credit_card(cell["N"], cell["D"], cell["k"], cell["m"], seed), patch)
        for name, value in found.items():
            values.setdefault(name, []).append(value)
    return values


def _measure(problem: SelectionProblem, patch: Patch) -> dict[str, float]:
    placement, mask = place(problem, patch), hardware_mask(patch)
    placed = placement.placed(problem)
    plain, chosen = masked(placed, mask), choose_surrogate(placed, mask)
    mended, nothing = chosen.problem, np.zeros_like(mask)
    bare = masked(placed, nothing) if chosen.temperature is None else mean_field(placed, nothing, chosen.temperature)
    reference = solve(placed, "exact").energy
    kept, share = retained_mass(placed, mask)
    of_plain, of_mended, of_bare = (agreement(placed, each, reference) for each in (plain, mended, bare))
    fields = float(np.abs(placed.sample_scores).sum() + np.abs(placed.feature_scores).sum())
    found = {
        "share": 100 * share,
        "to_fields": 100 * placed.coupling_weight * kept / fields,
        "dense_gain": 100 * of_plain.dense_gain,
        "over_diagonal": of_plain.gain_over_diagonal,
        "mended_gain": 100 * of_mended.dense_gain,
        "bare_gain": 100 * of_bare.dense_gain,
        "gap": placement.gap,
    }
    if placed.sector.size <= LISTED:
        found["overlap"] = 100 * low_energy_overlap(placed, plain)
        found["mended_overlap"] = 100 * low_energy_overlap(placed, mended)
    return found


def credit_card(n: int, d: int, k: int, m: int, seed: int) -> SelectionProblem:
    """A problem of k frauds and N - k other transactions of the excerpt, on D of its columns, drawn by the seed."""
    pool = demo_pool()
    assert pool.labels is not None
    rng = np.random.default_rng(seed)
    frauds = rng.choice(np.flatnonzero(pool.labels), k, replace=False)
    others = rng.choice(np.flatnonzero(~pool.labels), n - k, replace=False)
    rows = np.sort(np.concatenate([frauds, others]))
    names = [pool.reference.column_names[column] for column in sorted(rng.permutation(pool.reference.num_columns)[:d])]
    calibrator = Calibrator("ecdf").fit(pool.reference.select(names))
    return calibrator.problem(pool.candidates.select(names).take(rows), k, m, marginals="bounded")


@cache
def _patch(name: str, n: int, d: int) -> Patch:
    return choose_patch(device(name), n, d)
