"""What a smaller or an older reference does to weights and choices on the Credit Card table."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate import Calibrator
from biselect.calibrate.decompose import decompose
from biselect.core import SelectionProblem
from biselect.core.metrics import f1_at_k
from biselect.data.creditcard import load_credit_card
from biselect.solvers import solve
from biselect_studies import creditcard_fields as fields
from biselect_studies.baselines import RANKERS, ranked
from biselect_studies.creditcard_table import PARTS, SIZES, SPLIT, D, M
from biselect_studies.task import Cell, Values

REPLICATES = 5
WINDOW = 40_000  # rows of a block in the lag sweep
BLOCKS = 5
FIRST = {"sequential": "sum", "sequential-max": "max", "sequential-median": "median"}


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """F1@k of every selector and the parts of the weights' change, by size and slice; means over replicates.

    `hits SELECTOR` says how often each fraud of a slice, in the order of `frauds`, was chosen.
    With `kind` = `shrink` a part (`fraction`) of the reference window stands against all of it. Slice numbers run
    from `draw` in steps of `PARTS`, so that one cell needs `REPLICATES` fits only. With `kind` = `lag`, `block` 0 ends
    where the test window begins and each further block one window earlier; it stands against block 0.
    """
    values: Values = {}
    shrink = cell["kind"] == "shrink"
    test = load_credit_card().features[fields.split(SPLIT).test, :D]
    if shrink:
        rows = fields.split(SPLIT).reference
        clean = _fitted(cell["map"], rows.start, rows.stop)
        repeats = REPLICATES if cell["fraction"] < 1 else 1
        fits = [_part(cell["map"], rows, cell["fraction"], cell["draw"], repeat) for repeat in range(repeats)]
    else:
        clean, fits = _block(cell["map"], 0), [_block(cell["map"], cell["block"])]
    for seed in seeds:
        number = cell["draw"] + PARTS * seed if shrink else seed
        for size in cell["sizes"]:
            pool = fields.draw("balanced", SPLIT, "test", size, SIZES[size], number)
            newer = clean.weights(test[pool.rows])
            found = [_measure(fit.weights(test[pool.rows]), newer, SIZES[size], pool.positive) for fit in fits]
            for name in found[0]:
                values.setdefault(f"{size} {name}", []).append(np.mean([one[name] for one in found], axis=0).tolist())
            values.setdefault(f"{size} frauds", []).append(pool.rows[pool.positive].tolist())
    return values


def lag_days(block: int) -> float:
    """Days from the end of a block to the beginning of the test window."""
    times, end = load_credit_card().times, fields.split(SPLIT).test.start
    return float(times[end] - times[end - block * _window() - 1]) / 86_400


def _measure(W: NDArray[np.float64], clean: NDArray[np.float64], k: int, positive: NDArray[np.int64]) -> dict[str, Any]:
    problem = SelectionProblem(coupling=W, k=k, m=M)
    parts = decompose(W - clean)
    chosen = {
        "joint": solve(problem, "exact", workers=1).samples,
        **{name: solve(problem, "feature-first", aggregate=aggregate).samples for name, aggregate in FIRST.items()},
        **{name: ranked(name, W, k, M) for name in RANKERS},
    }
    return {
        **{name: f1_at_k(samples.tolist(), positive.tolist()) for name, samples in chosen.items()},
        **{f"hits {name}": np.isin(positive, samples).astype(float) for name, samples in chosen.items()},
        **{f"share {name}": share for name, share in parts.shares.items()},
        **{f"largest {name}": parts.largest[name] for name in ("row", "feature")},
        "spread": float(clean.std()),
    }


def _window() -> int:
    """Rows of a block: fewer where the table is too short for all of them."""
    return min(WINDOW, fields.split(SPLIT).test.start // BLOCKS)


def _block(map_name: str, block: int) -> Calibrator:
    end = fields.split(SPLIT).test.start - block * _window()
    return _fitted(map_name, end - _window(), end)


@lru_cache(maxsize=4)
def _fitted(map_name: str, start: int, stop: int) -> Calibrator:
    table = load_credit_card()
    labels = table.labels[start:stop] if map_name == "logistic" else None
    return Calibrator(map_name).fit(table.features[start:stop, :D], labels=labels)


def _part(map_name: str, rows: slice, fraction: float, draw: int, repeat: int) -> Calibrator:
    total = rows.stop - rows.start
    if fraction == 1:
        return _fitted(map_name, rows.start, rows.stop)
    rng = np.random.default_rng([draw, repeat, round(1000 * fraction)])
    chosen = np.sort(rng.choice(total, size=round(fraction * total), replace=False)) + rows.start
    return Calibrator(map_name).fit(load_credit_card().features[chosen, :D])
