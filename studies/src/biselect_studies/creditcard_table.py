"""What the Credit Card studies share: sizes, the paper's choices, and cells of the paper's protocol."""

from __future__ import annotations

from typing import Any

from biselect.data.creditcard import find_credit_card
from biselect.errors import MissingDataError

SIZES = {20: 3, 50: 5, 80: 8}  # N and k
D, M = 12, 4
SPLIT = (60, 20, 20)
PARTS = 25  # drawn of a reference, one for each of the paper's slices
PAPER_MAPS = {20: "conformal", 50: "ecdf", 80: "conformal"}


def absent() -> str | None:
    """Why the Credit Card studies cannot run here, or None."""
    try:
        find_credit_card()
    except MissingDataError as error:
        return str(error)
    return None


def cell(size: int, methods: tuple[str, ...], **more: Any) -> dict[str, Any]:
    """A cell of `creditcard_slices`: the paper's protocol unless said otherwise."""
    sector = {"N": size, "D": D, "k": SIZES[size], "m": M}
    usual = {"percent": SPLIT, "window": "test", "pool": "balanced", **sector, "map": PAPER_MAPS[size]}
    return {**usual, "methods": methods, **more}


def heading(size: int) -> str:
    """A size as the paper writes it."""
    return f"({size},{D},{SIZES[size]},{M})"
