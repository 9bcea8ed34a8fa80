"""What one more row or column would add, for any budgets, before anything is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from biselect.core import SelectionProblem
from biselect.progress import Steps, steps_of
from biselect.reviews.one_more import one_more
from biselect.reviews.presets import PRESETS
from biselect.reviews.review_tables import ReviewTables
from biselect.solvers import solve


class BudgetPreview:
    """Two tables, calibrated once as `biselect.review` does; then asked about one pair of budgets after the other.

    Args:
        pool: rows to choose from, as `biselect.review` takes it.
        reference: normal rows, or None with `reference_until`.
        reference_until: see `biselect.review`.
        missing: see `biselect.review`.
        seed: fixes every draw.
        progress: as for `biselect.review`.
        roles: as for `biselect.review`.
    """

    def __init__(
        self,
        pool: Any,
        reference: Any = None,
        *,
        reference_until: Any = None,
        missing: str = "weigh",
        seed: int = 0,
        progress: Steps | bool | None = None,
        **roles: Any,
    ) -> None:
        usual: Mapping[str, Any] = PRESETS["default"]
        self._marginals, self._seed = usual["marginals"], seed
        with steps_of(progress)("Calibrating on the reference"):
            tables = ReviewTables.read(
                pool,
                reference,
                map=usual["map"],
                missing=missing,
                drift=usual["drift"],
                seed=seed,
                reference_until=reference_until,
                roles=roles,
            )
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
        near = solve(self._problem(k, m), "coordinate-ascent", seed=self._seed)
        return {
            "k": k,
            "m": m,
            "score": near.score,
            "row": one_more(near, None, "row"),
            "column": one_more(near, None, "column"),
        }
