"""What one more row or column would add, for any budgets, before anything is chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from biselect.core import SelectionProblem
from biselect.options import Split, Weighing
from biselect.progress import Steps, steps_of
from biselect.reviews._explorer import one_more
from biselect.reviews.weighed_tables import WeighedTables
from biselect.solvers import solve
from biselect.tables import tables_of
from biselect.weights.paper import Form


class BudgetPreview:
    """Two tables, calibrated once as `biselect.review` does; then asked about one pair of budgets after the other.

    Args:
        pool: rows to choose from, as `biselect.review` takes it.
        reference: normal rows, or None with `split`.
        split: see `biselect.review`.
        progress: as for `biselect.review`.
    """

    def __init__(
        self,
        pool: Any,
        reference: Any = None,
        *,
        split: Split = Split(),
        progress: Steps | bool | None = None,
    ) -> None:
        table, reference = tables_of(pool, reference)
        form = Form.of(Weighing())
        self._tables = WeighedTables.read(table, reference, form, seed=0, step=steps_of(progress), split=split)
        self._last: SelectionProblem | None = None
        self.rows, self.columns = self._tables.raw.values.shape

    def _problem(self, k: int, m: int) -> SelectionProblem:
        if self._last is None or self._last.m != m:  # a slider is moved to and fro
            self._last = self._tables.problem(1, m)
        return replace(self._last, k=k)

    def at(self, k: int, m: int) -> dict[str, Any]:
        """Score of a quick choice of k rows and m columns, and what one more of each would add to it.

        The choice climbs and is not proven, so the gains are about what a proof would give.
        """
        near = solve(self._problem(k, m), "coordinate-ascent")
        return {
            "k": k,
            "m": m,
            "score": near.score,
            "row": one_more(near, None, "row"),
            "column": one_more(near, None, "column"),
        }
