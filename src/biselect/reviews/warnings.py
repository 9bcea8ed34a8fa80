"""What could mislead a reader, as data: columns that look like clocks or ids, constants, filled cells, idle rules."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate import Calibrator
from biselect.calibrate.frames import NamedMatrix
from biselect.core import SelectionProblem
from biselect.reviews.recentre import MovedColumn

MOSTLY = 0.5  # a column in which more of the pool than this lies beyond the reference gets a warning
LOOKS = {
    "clock": "it only ever rises, like a clock or a running number",
    "id": "whole numbers of which no two are equal, like an id",
    "mostly-beyond": "it has drifted, or it looks like an id or a clock",
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that a reader should know.

    Attributes:
        kind: `clock`, `id`, `mostly-beyond`, `constant`, `changed-constant`, `not-in-reference`, `all-rows`,
            `all-columns`, `drift`, `rule-idle`, `filled`, `map-chosen` or `interrupted`.
        text: for people.
        columns: which columns it is about, if any.
        share: of the pool's rows (or the chosen cells) that it is about, from 0 to 1; None where that means nothing.
        serious: whether an answer read without it could be misread.
    """

    kind: str
    text: str
    columns: tuple[str, ...] = ()
    share: float | None = None
    serious: bool = False


def table_findings(
    calibrator: Calibrator, problem: SelectionProblem, reference: NamedMatrix, pool: NamedMatrix
) -> Iterator[Finding]:
    """What reference and pool show before anything is chosen."""
    constant = [name for name in calibrator.facts.constant if name in reference.names]
    changed = [found for name in constant if (found := _changed_constant(name, reference, pool))]
    if still := [name for name in constant if not any(name in found.columns for found in changed)]:
        text = f"Left out, constant in the reference: {', '.join(still)}."
        yield Finding(kind="constant", columns=tuple(still), text=text)
    if calibrator.facts.why:
        yield Finding(kind="map-chosen", text=f"Calibration map {calibrator.facts.map}: {calibrator.facts.why}.")
    yield from beyond_findings(calibrator, problem, reference, pool)
    if problem.k == problem.n_samples:
        text = "k equals the size of the pool: every row is chosen, only the columns were selected."
        yield Finding(kind="all-rows", text=text)
    if problem.m == problem.n_features:
        text = "m equals the number of features: every column is chosen, only the rows were selected."
        yield Finding(kind="all-columns", text=text)
    yield from changed


def drift_findings(moved: Sequence[MovedColumn], names: Sequence[str], drift: str) -> Iterator[Finding]:
    """Columns whose bulk moved against the reference, and what was done about it."""
    if not moved:
        return
    farthest = sorted(moved, key=lambda column: -max(abs(column.shift), abs(np.log(column.stretch))))
    columns = tuple(names[column.position] for column in farthest)
    shown = ", ".join(columns[:5]) + (" …" if len(columns) > 5 else "")
    done = (
        "they were moved back to the reference's median and quartile range before weighing, so that drift is not the "
        "finding"
        if drift == "recentre"
        else "they were weighed as they are, so drift may be the finding"
    )
    many = f"{len(columns)} column{'s' * (len(columns) != 1)}"
    text = f"The bulk of the pool moved against the reference in {many} ({shown}): {done}."
    yield Finding(kind="drift", columns=columns, share=len(columns) / len(names), text=text, serious=drift == "keep")


def beyond_findings(
    calibrator: Calibrator,
    problem: SelectionProblem,
    reference: NamedMatrix | None = None,
    pool: NamedMatrix | None = None,
) -> Iterator[Finding]:
    """Columns in which most of the pool lies beyond everything in the reference; the tables help to say why."""
    beyond = (problem.coupling >= calibrator.facts.largest_weight).mean(axis=0)
    for j in np.flatnonzero(beyond > MOSTLY):
        name, share, kind = problem.feature_name(int(j)), float(beyond[j]), "mostly-beyond"
        if reference is not None and pool is not None:
            at = int(calibrator.kept[j])
            kind = _looks_like(reference.values[:, at], pool.values[:, at])
        text = (
            f"Column {name!r} lies beyond the reference in {100 * share:.0f} % of the pool: {LOOKS[kind]}; "
            "leave it out unless that is what you look for."
        )
        yield Finding(kind=kind, columns=(name,), share=share, text=text)


def _looks_like(before: NDArray[np.float64], now: NDArray[np.float64]) -> str:
    before, now = before[np.isfinite(before)], now[np.isfinite(now)]
    rises = all((np.diff(values) >= 0).all() for values in (before, now))
    whole = all((values == np.round(values)).all() for values in (before, now))
    counted = whole and all(np.unique(values).size == values.size for values in (before, now))
    if now.min() > before.max() and (rises or counted):
        return "clock"
    return "id" if counted else "mostly-beyond"


def _changed_constant(name: str, reference: NamedMatrix, pool: NamedMatrix) -> Finding | None:
    """A column that the reference knows one value of, and the pool others: nothing to calibrate, but worth a look."""
    before, now = (table.values[:, table.names.index(name)] for table in (reference, pool))
    known = before[~np.isnan(before)]
    if known.size == 0 or (known != known[0]).any():  # a split reference may be constant in one part only
        return None
    differs = int((~np.isnan(now) & (now != known[0])).sum())
    if not differs:
        return None
    text = (
        f"{name}: constant ({known[0]:g}) in the reference, differs in {differs:,} pool row{'s' * (differs != 1)}; "
        "it cannot be calibrated, so it was not used to choose: look at it yourself."
    )
    return Finding(kind="changed-constant", columns=(name,), share=differs / now.size, text=text, serious=True)


def filled_findings(cells: Sequence[Sequence[Any]]) -> Iterator[Finding]:
    """How much of the chosen block was never measured; `cells` is its evidence."""
    absent = [cell.absent for row in cells for cell in row]
    if filled := sum(absent):
        text = (
            f"{filled} of the {len(absent)} chosen cells {'is' if filled == 1 else 'are'} missing in the pool: the "
            "reference median stands in, marked as filled."
        )
        yield Finding(kind="filled", share=filled / len(absent), text=text, serious=True)
