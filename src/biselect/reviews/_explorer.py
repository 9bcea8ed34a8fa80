"""What pages draw, as plain data: neighbouring budgets over one shared block of cells, and a picture of each column."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.columns.category import NO_LABEL
from biselect.core import Selection, SelectionProblem
from biselect.errors import InfeasibleError, InputError
from biselect.solvers import solve
from biselect.weights.evidence import Evidence, WeighedPool, histograms

MOST_CELLS = 6_000  # of the shared block, so that a page stays below about a megabyte
LETTERS = {"high": "h", "low": "l", "rare": "r", "missing": "m", "middle": "-"}  # of the sides of cells
NEAR_ROWS = 20  # rows that no budget chose, shown beside the chosen ones


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """The rows and columns that the page can show: those of any budget first, then the nearest rows left out.

    Attributes:
        samples: positions of the rows, strongest first.
        features: positions of the columns, strongest first.
    """

    samples: NDArray[np.int64]
    features: NDArray[np.int64]


def shared_block(selection: Selection, nearby: Sequence[Selection]) -> Block:
    """The block of a selection and its neighbours; beyond MOST_CELLS the weakest rows are left out."""
    problem = selection.problem
    weight = problem.coupling_weight
    features = np.unique(np.concatenate([near.features for near in nearby]))
    column_values = problem.feature_scores[features] + weight * problem.coupling[
        np.ix_(selection.samples, features)
    ].sum(axis=0, dtype=np.float64)
    features = features[np.argsort(-column_values, kind="stable")]
    row_values = problem.sample_scores + weight * problem.coupling[:, selection.features].sum(axis=1, dtype=np.float64)
    rows = np.unique(np.concatenate([near.samples for near in nearby]))
    rows = rows[np.argsort(-row_values[rows], kind="stable")]
    others = np.setdiff1d(np.argsort(-row_values, kind="stable")[: rows.size + NEAR_ROWS], rows)
    others = others[np.argsort(-row_values[others], kind="stable")][:NEAR_ROWS]
    most = max(1, MOST_CELLS // features.size)
    return Block(samples=np.concatenate([rows, others])[:most], features=features)


def explore(selection: Selection, nearby: Sequence[Selection], table: WeighedPool | None = None) -> dict[str, Any]:
    """Budgets, rows, columns and cells of the interactive page.

    Args:
        selection: the report's answer, one of `nearby`.
        nearby: from `biselect.solvers.neighbours`.
        table: what stands behind the problem; None for a problem of weights.
    """
    block = shared_block(selection, nearby)
    evidence = None if table is None else table.evidence(block.samples, block.features)
    bins = None if table is None else histograms(block.features, table.calibrator)
    labels, beside = (None, {}) if table is None else (table.pool.labels, table.pool.shown)

    def each_cell(what: str) -> list[list[Any]] | None:
        return None if evidence is None else [[getattr(cell, what) for cell in row] for row in evidence]

    words, filled = each_cell("words"), each_cell("filled")
    texts = sorted({text for row in words or () for text in row})  # each once: many cells are alike
    at = {text: position for position, text in enumerate(texts)}
    problem = selection.problem
    cells = problem.coupling_weight * problem.coupling[np.ix_(block.samples, block.features)].astype(np.float64)
    by_budget = {(near.problem.k, near.problem.m): near for near in nearby}
    return {
        "answer": next(position for position, near in enumerate(nearby) if near is selection),
        "budgets": [_budget(near, by_budget, block) for near in nearby],
        "rows": [
            {
                "name": problem.sample_name(i),
                "own": float(problem.sample_scores[i]),
                "label": None if labels is None else bool(labels[i]),
                "shown": [[name, texts_beside[i]] for name, texts_beside in beside.items()],
            }
            for i in block.samples.tolist()
        ],
        "columns": [
            {"name": problem.feature_name(j), "histogram": None if bins is None else bins[position]}
            for position, j in enumerate(block.features.tolist())
        ],
        "adds": [[float(f"{cell:.9g}") for cell in row] for row in cells.tolist()],
        "values": each_cell("value"),
        "filled": filled if filled is not None and any(map(any, filled)) else None,
        "texts": texts,
        "words": None if words is None else [[at[text] for text in row] for row in words],
        "sides": None if evidence is None else ["".join(LETTERS[cell.side] for cell in row) for row in evidence],
        "below": each_cell("below"),
        "above": each_cell("above"),
    }


def _budget(near: Selection, by_budget: dict[tuple[int, int], Selection], block: Block) -> dict[str, Any]:
    k, m = near.problem.k, near.problem.m
    return {
        "k": k,
        "m": m,
        "score": near.score,
        "proven": near.proven_optimal,
        "gap": near.gap if np.isfinite(near.gap) else None,
        "rows": np.flatnonzero(np.isin(block.samples, near.samples)).tolist(),
        "columns": np.flatnonzero(np.isin(block.features, near.features)).tolist(),
        "one_more_row": one_more(near, by_budget.get((k + 1, m)), "row"),
        "one_more_column": one_more(near, by_budget.get((k, m + 1)), "column"),
    }


def one_more(near: Selection, larger: Selection | None, side: str) -> dict[str, Any] | None:
    """What a budget larger by one adds to the score.

    Exact where both answers are proven. Where nobody solved the larger budget, at least what the best response to the
    side that stays adds. Where a proof is missing, about that.
    """
    if larger is not None:
        kind = "exactly" if near.proven_optimal and larger.proven_optimal else "about"
        return {"adds": larger.score - near.score, "kind": kind}
    try:
        response = solve(_other_side_held(near, side), check_work=0)
    except (InputError, InfeasibleError):  # nothing is left to choose
        return None
    return {"adds": response.score - near.score, "kind": "at least" if near.proven_optimal else "about"}


def _other_side_held(near: Selection, side: str) -> SelectionProblem:
    """The problem with one more row while the columns stay, or one more column while the rows stay."""
    problem = near.problem
    if side == "row":
        rules = replace(problem.feature_rules, forced_in=tuple(near.features))
        return replace(problem, k=problem.k + 1, feature_rules=rules)
    rules = replace(problem.sample_rules, forced_in=tuple(near.samples))
    return replace(problem, m=problem.m + 1, sample_rules=rules)


WIDTH, END = 200, 24  # of the picture, and of each of its ends, which hold the outermost values by rank
TICKS = (("standing", True), ("rest", False))  # which rows each kind of tick is for
MOST_UNSEEN = 4  # categories of chosen rows that are not among the most common of the reference


def column_pictures(
    selection: Selection,
    table: WeighedPool,
    evidence: Sequence[Sequence[Evidence]],
    carrying: NDArray[np.bool_],
    standing: Collection[int],
) -> list[dict[str, Any]]:
    """One picture for each chosen column, as `selection.features` stand.

    Args:
        selection: the answer.
        table: what stands behind the problem.
        evidence: of the chosen rows and columns.
        carrying: which of these cells are reasons; sides are counted among them.
        standing: positions of the rows that stand out.
    """
    stands = [i in standing for i in selection.samples.tolist()]
    pictures = []
    for at, spread in enumerate(histograms(selection.features, table.calibrator)):
        cells = [row[at] for row in evidence]
        sides = Counter(cell.side for cell, reason in zip(cells, carrying[:, at], strict=True) if reason)
        picture = _bars(spread, cells) if "labels" in spread else _ticks(spread, cells, stands)
        pictures.append({"sides": dict(sides.most_common()), **picture})
    return pictures


def _ticks(spread: Mapping[str, Any], cells: Sequence[Evidence], stands: Sequence[bool]) -> dict[str, Any]:
    """The bins, and at which of WIDTH places chosen rows lie; a place holds one tick, however many rows."""
    places: dict[int, bool] = {}
    for cell, out in zip(cells, stands, strict=True):
        if isinstance(cell.value, float):
            place = _across(spread, cell)
            places[place] = places.get(place, False) or out
    return {**spread, "ticks": {key: sorted(at for at, out in places.items() if out is flag) for key, flag in TICKS}}


def _across(spread: Mapping[str, Any], cell: Evidence) -> int:
    """Where a value lies; beyond the bins its rank among the outermost values decides."""
    first, last, value = spread["first"], spread["last"], cell.value
    assert isinstance(value, float)
    if value < first:
        return round(END * min(1.0, cell.below / spread["below"])) if spread["below"] else 0
    if value > last:
        return WIDTH - (round(END * min(1.0, cell.above / spread["above"])) if spread["above"] else 0)
    return round(END + (WIDTH - 2 * END) * (value - first) / (last - first)) if last > first else WIDTH // 2


def _bars(spread: Mapping[str, Any], cells: Sequence[Evidence]) -> dict[str, Any]:
    """The most common categories of the reference and those of the chosen rows, with both counts."""
    counts_here = Counter(_label(cell) for cell in cells)
    counts = dict(zip(spread["labels"], spread["counts"], strict=True))
    by_label = {_label(cell): cell.seen or 0 for cell in cells}
    unseen = [label for label, _ in counts_here.most_common() if label not in counts][:MOST_UNSEEN]
    labels = [*counts, *unseen]
    return {
        "bars": [
            {
                "label": label,
                "reference": counts.get(label, by_label.get(label, 0)),
                "chosen": counts_here.get(label, 0),
            }
            for label in labels
        ],
        "others": {
            "reference": spread["others"] - sum(by_label[label] for label in unseen),
            "chosen": sum(counts_here.values()) - sum(counts_here.get(label, 0) for label in labels),
        },
    }


def _label(cell: Evidence) -> str:
    if cell.absent:
        return NO_LABEL
    return cell.value if isinstance(cell.value, str) else f"{cell.value:.15g}"
