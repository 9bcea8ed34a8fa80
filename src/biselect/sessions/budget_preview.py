"""What one more row or column would add, for any budgets, before anything is chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from biselect.core import SelectionProblem
from biselect.options import Split, Weighing
from biselect.pages.words import phrase
from biselect.progress import Steps, steps_of
from biselect.reviews._explorer import one_more
from biselect.sessions.review_tables import ReviewTables
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
        form = Form.of(Weighing())
        self._marginals = form.marginals
        with steps_of(progress)(phrase("steps.reference")):
            table, reference = tables_of(pool, reference)
            weighing = Weighing(map=form.map, drift=form.drift)
            tables = ReviewTables.read(table, reference, split=split, weighing=weighing, seed=0)
            self._tables, self._known = tables, dict[int, SelectionProblem]()
        self.rows, self.columns = len(tables.names), len(tables.now.names)

    def _problem(self, k: int, m: int) -> SelectionProblem:
        if m not in self._known:
            tables = self._tables
            self._known = {  # of the last number of columns alone: a slider is moved to and fro
                m: tables.calibrator.problem(tables.weighed, 1, m, marginals=self._marginals, sample_names=tables.names)
            }
        return replace(self._known[m], k=k)

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
