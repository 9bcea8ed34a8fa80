"""Reviews of a table that is its own reference."""

from typing import Any

import biselect as bs
from biselect.options import Kinds, RowRules, Search, Weighing
from biselect.reviews.result import Review


def review_alone(
    frame: Any, k: int, m: int, *, rules: RowRules = RowRules(), weighing: Weighing = Weighing(), kinds: int = 1
) -> Review:
    """Choose from a table whose rows are compared with each other."""
    search = Search(neighbours=(0, 0))
    return bs.review(
        frame, k=k, m=m, rules=rules, weighing=weighing, kinds=Kinds(kinds=kinds), search=search, progress=False
    )
