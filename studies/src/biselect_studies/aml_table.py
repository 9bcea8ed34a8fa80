"""What the AML studies share: where the transactions come from, and how figures of the paper stand beside ours."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from biselect.data.aml.schema import PUBLISHED, find_transactions, is_published
from biselect_studies.aml_fields import GENERATED, VARIANT, source
from biselect_studies.results import Entry, Findings

FULL, QUICK = 2_900_000, 500_000  # generated transactions: 29 test windows, as in the paper, and 5


def origin(quick: bool) -> dict[str, Any]:
    """Which transactions a cell reads."""
    name = source()
    if name == GENERATED:
        return {"source": name, "transactions": QUICK if quick else FULL}
    return {"source": name, "transactions": 0, "file": _fingerprint(find_transactions(VARIANT))}


def published() -> bool:
    """Whether the transactions are those of the published file, not merely of its name."""
    return source() != GENERATED and _published(find_transactions(VARIANT))


@lru_cache(maxsize=1)
def _published(path: Path) -> bool:
    return is_published(path, VARIANT)


def _fingerprint(path: Path) -> str:
    """Tells one file from another of the same name, so that no result of the one is taken for the other's."""
    facts = path.stat()
    return _hashed(path, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=1)
def _hashed(path: Path, changed: int, size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def beside(one: Entry) -> Entry:
    """An entry whose printed figure is judged on the published file only."""
    return one if one.paper is None or published() else replace(one, verdict="not compared")


def place(found: Findings) -> str:
    """What a figure says about where its data come from."""
    if found.notes[0].startswith("GENERATED"):
        return "generated data"
    return "HI-Small" if found.notes[0].startswith("Computed") else "another file than the published HI-Small"


def where_from(quick: bool) -> str:
    """The first note of every AML study."""
    if source() == GENERATED:
        return (
            f"GENERATED DATA: {origin(quick)['transactions']:,} AML-like transactions made by this package, as "
            "HI-Small_Trans.csv is not at hand. The paper's figures stand beside ours for orientation only; nothing "
            "here confirms or refutes them."
        )
    if not published():
        rows, positives = PUBLISHED[VARIANT]
        return (
            f"NOT THE PUBLISHED FILE: {find_transactions(VARIANT).name} does not hold the {rows:,} transactions with "
            f"{positives:,} of laundering that were published. The paper's figures are for orientation only."
        )
    return "Computed from HI-Small_Trans.csv, itself the output of a simulator (Altman et al. 2023)."
