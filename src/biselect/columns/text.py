"""Texts of which nobody said what they are: categories where labels come back, otherwise never weighed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import narwhals as nw
import pyarrow as pa

from biselect.columns.category import CATEGORY, FEWEST_TEXTS, Category
from biselect.columns.column_type import Claim, ColumnReference
from biselect.columns.distinct_texts import is_text
from biselect.errors import InputError
from biselect.options import Columns, spell

FREE_TEXT = 0.5  # share of texts that stand once from which on they are not categories


class Text(Category):
    """Plain text. Free text and ids are refused: a new one means nothing, so it can be shown or name rows only."""

    name: ClassVar[str] = "text"

    def holds(self, kind: Any) -> bool:
        """Plain text."""
        return bool(kind == nw.String)

    def claim(self, column: pa.ChunkedArray, name: str) -> Claim | None:
        """Texts most of which stand once, and addresses."""
        return Claim(role="free text") if is_text(column.type) else None

    def fit(self, reference: ColumnReference, name: str, missing: str) -> ColumnReference:
        """A category, unless most texts stand once."""
        fitted = CATEGORY.fit(replace(reference, type=CATEGORY), name, missing)
        texts, present = len(fitted.counts.counts.keys() - {None}), fitted.counts.rows - reference.gaps
        if texts > FEWEST_TEXTS and fitted.counts.singles > FREE_TEXT * present:
            raise InputError(
                f"column {name!r} holds free text or ids: {texts:,} different ones in {present:,} reference rows, most "
                f"of them once, so a new one means nothing. Leave it out with {spell(Columns(exclude=[name]))}, only "
                f"show it with {spell(Columns(show=[name]))}, make it {spell(Columns(id=name))}, or insist with "
                f"{spell(Columns(types={name: 'category'}))}"
            )
        return fitted


TEXT = Text()
