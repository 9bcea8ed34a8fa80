"""What the answers about earlier tables of a session teach about the present one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.sessions.store import NOT_FINE, UNSURE, SessionFile
from biselect.tables import NamedMatrix
from biselect.weights.alignment import Shift
from biselect.weights.weighed_tables import WeighedTables

Cells = Mapping[str, float | str | None]
"""A row of a pool by column, as its table holds it: numbers, labels of categories, None for missing cells."""


MOST_TAUGHT = 500  # answers about earlier tables, the latest


@dataclass(frozen=True, kw_only=True, eq=False)
class Taught:
    """Rows of earlier tables that were found fine or not fine.

    Attributes:
        rows: of one table each, on the scale of the present reference; NaN for missing cells.
        hits: which of all of them were not fine.
        again: positions in the present pool of records that were answered before and have not changed since.
        changed: of records that were answered before and are others now, by position: what was said.
    """

    rows: tuple[NamedMatrix, ...]
    hits: NDArray[np.bool_]
    again: frozenset[int]
    changed: Mapping[int, str]


def taught_before(file: SessionFile, choice: int, record: Mapping[str, Any], tables: WeighedTables) -> Taught:
    """What was answered about tables that have all columns of the present ones.

    A row comes back as the same record if its id is that of an answered one; it is unchanged if its cells are, too.
    Without an id column rows are known by their position, which says nothing unless the table is the same.

    Args:
        file: the session.
        choice: number of the present tables; those before it count.
        record: of the present tables; `after` is the last answer that counts.
        tables: the present ones.
    """
    names, scales = tables.weighed.names, scales_of(tables)
    matrices, hits = [], []
    verdicts: dict[int, tuple[str, bool]] = {}  # of records in the present pool: what was said, and whether unchanged
    position = {name: row for row, name in enumerate(tables.pool.sample_names)}
    for number, earlier in enumerate(file.choices()[:choice]):
        same_ids = earlier["fingerprint"] == record["fingerprint"] or (
            earlier["columns"].get("id") == record["columns"].get("id") is not None
        )
        shown, cells = file.shown(number), []
        for row, answer in file.standing(number).latest(record.get("after", 0)).items():
            own = shown[row].record.get("cells", {})
            if answer.verdict == UNSURE or not own.keys() >= {*names}:
                continue
            cells.append(own)
            hits.append(answer.verdict == NOT_FINE)
            now = position.get(shown[row].name) if same_ids else None
            if now is not None:
                verdicts[now] = answer.verdict, own.items() >= cells_of(tables, [now])[0].items()
        if cells:
            matrices.append(earlier_rows(tables, cells, earlier["scales"], scales))
    return Taught(
        rows=tuple(matrices),
        hits=np.array(hits, dtype=bool),
        again=frozenset(row for row, (_, same) in verdicts.items() if same),
        changed={row: verdict for row, (verdict, same) in verdicts.items() if not same},
    )


def cells_of(tables: WeighedTables, rows: Sequence[int]) -> list[Cells]:
    """Rows of the pool as the table holds them: nothing is moved back, so that a record is known again another day."""
    part = not tables.pool.reference.num_rows  # of a large table, of which some rows are held
    table = tables.raw if part else tables.pool.matrices[1]
    return [
        {
            name: None if np.isnan(value) else table.labels[j][int(value)] if j in table.labels else float(value)
            for j, (name, value) in enumerate(zip(table.names, table.values[row], strict=True))
        }
        for row in rows
    ]


def scales_of(tables: WeighedTables) -> dict[str, dict[str, Any]]:
    """For each column of numbers a digest of the reference's cells, and how the pool's were moved back to them.

    `moved` holds the pool's median, the factor and the reference's median, as in `Shift`; None where nothing was
    moved. Cells of two pools are on one scale where both were moved back to the same reference.
    """
    before, raw = tables.reference, tables.raw
    shifts = Shift.of(before.values, raw.values, tables.moved if tables.weighed is not raw else ())
    places = zip(shifts.middles.tolist(), shifts.factors.tolist(), shifts.targets.tolist(), strict=True)
    moved = dict(zip(shifts.columns, places, strict=True))
    return {
        name: {
            "reference": hashlib.sha256(np.sort(before.values[:, j]).tobytes()).hexdigest(),
            "moved": moved.get(j),
        }
        for j, name in enumerate(before.names)
        if j not in tables.weighed.labels
    }


def earlier_rows(
    tables: WeighedTables,
    cells: Sequence[Cells],
    earlier: Mapping[str, Mapping[str, Any]],
    scales: Mapping[str, Mapping[str, Any]],
) -> NamedMatrix:
    """Rows of an earlier pool with these columns, on the scale of the present reference.

    A column that was moved back, then or now, to different references cannot be compared and counts as missing.

    Args:
        tables: the present ones.
        cells: as `cells_of` gives them.
        earlier: scales of the earlier tables.
        scales: of the present ones, see `scales_of`.
    """
    weighed = tables.weighed
    values = np.full((len(cells), len(weighed.names)), np.nan)
    labels: dict[int, list[str]] = {}
    for j, name in enumerate(weighed.names):
        column = [row[name] for row in cells]
        if j in weighed.labels:
            labels[j] = sorted({str(cell) for cell in column if cell is not None})
            place = {label: at for at, label in enumerate(labels[j])}
            values[:, j] = [np.nan if cell is None else place[str(cell)] for cell in column]
        elif name in earlier:
            raw = np.array([cell if isinstance(cell, float) else np.nan for cell in column])
            values[:, j] = _rescaled(raw, earlier[name], scales[name])
    return replace(weighed, values=values, labels=labels)


def _rescaled(raw: NDArray[np.float64], then: Mapping[str, Any], now: Mapping[str, Any]) -> NDArray[np.float64]:
    """Cells of an earlier pool on the scale of the present reference; NaN where their scales cannot be compared."""
    if then["reference"] != now["reference"]:
        return raw if then["moved"] is None and now["moved"] is None else np.full(raw.shape, np.nan)
    if then["moved"] is None:
        return raw
    middles, factors, targets = np.array(then["moved"], dtype=np.float64)[:, None]
    return Shift(columns=(0,), middles=middles, factors=factors, targets=targets).applied(raw[:, None])[:, 0]
