"""What a picture shows of a review, a selection or an explanation: its block in order, with sides and reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection
from biselect.core.notebook import number, strongest_first
from biselect.core.selection import Explanation
from biselect.errors import InputError
from biselect.plot.canvas import fitted
from biselect.reviews import Review
from biselect.reviews.result import strongest_reason


@dataclass(frozen=True, kw_only=True, eq=False)
class Content:
    """The chosen block, strongest rows and columns first.

    Attributes:
        rows: names.
        columns: names.
        cells: what each cell adds.
        alone: what each row adds on its own.
        sides: of each cell `low`, `high`, or something else for neither; None where nobody knows.
        texts: of each cell the pool's own value, or what it adds.
        reasons: the strongest of each row in words; None where nobody knows.
    """

    rows: list[str]
    columns: list[str]
    cells: NDArray[np.float64]
    alone: NDArray[np.float64]
    sides: list[list[str]] | None
    texts: list[list[str]]
    reasons: list[str] | None

    @property
    def values(self) -> NDArray[np.float64]:
        """What each row adds in all."""
        return self.alone + self.cells.sum(axis=1)


def content_of(found: Review | Selection | Explanation) -> Content:
    """The block of an answer."""
    if not isinstance(found, Review | Selection | Explanation):
        raise InputError(f"a picture needs a Review, a Selection or an Explanation, got {type(found).__name__}")
    why = found if isinstance(found, Explanation) else found.explain(nearest=0)
    rows, columns = strongest_first(why.sample_values), strongest_first(why.feature_values)
    names = [why.problem.feature_name(why.features[j]) for j in columns]
    cells = why.cells[np.ix_(rows, columns)]
    told = {row["index"]: row for row in found.summary["rows"]} if isinstance(found, Review) else {}
    records = [told[int(why.samples[i])] for i in rows] if told else []
    by_name = [{cell["feature"]: cell for cell in record["cells"]} for record in records]
    known = bool(records) and "direction" in records[0]["cells"][0]
    return Content(
        rows=[why.problem.sample_name(why.samples[i]) for i in rows],
        columns=names,
        cells=cells,
        alone=why.sample_marginals[rows],
        sides=[[cell[name]["direction"] for name in names] for cell in by_name] if known else None,
        texts=(
            [[_text(cell[name]) for name in names] for cell in by_name]
            if known
            else [[number(float(adds)) for adds in row] for row in cells]
        ),
        reasons=[_short(strongest_reason(record)) for record in records] if known else None,
    )


def _short(reason: str) -> str:
    """A reason whose column has a short name: what it says stays whole."""
    name, _, words = reason.rpartition(": ")
    return f"{fitted(name, 20)}: {fitted(words, 46)}"


def _text(cell: dict[str, Any]) -> str:
    value = cell["value"]
    if value is None or cell["filled"]:
        return "–"
    return value if isinstance(value, str) else number(value)
