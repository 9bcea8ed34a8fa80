"""What the answers about earlier tables of a session teach about the present one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.sessions.review_tables import ReviewTables
from biselect.sessions.store import NOT_FINE, UNSURE, SessionFile


@dataclass(frozen=True, kw_only=True, eq=False)
class Taught:
    """Rows of earlier tables that were found fine or not fine.

    Attributes:
        values: rows × columns of the present tables, on the scale of the present reference, without gaps.
        hits: which of them were not fine.
        again: positions in the present pool of records that were answered before and have not changed since.
    """

    values: NDArray[np.float64]
    hits: NDArray[np.bool_]
    again: frozenset[int]


def taught_before(file: SessionFile, choice: int, record: Mapping[str, Any], tables: ReviewTables) -> Taught:
    """What was answered about tables that have all columns of the present ones.

    A row comes back as the same record where its id and its cells, as the tables hold them, are those that were
    answered. Without an id column rows are known by their position, which says nothing unless the table is the same.

    Args:
        file: the session.
        choice: number of the present tables; those before it count.
        record: of the present tables; `after` is the last answer that counts, so that a replay learns the same.
        tables: read and calibrated.
    """
    values, hits = [np.empty((0, len(tables.weighed.names)))], []
    again: set[int] = set()
    position = {name: row for row, name in enumerate(tables.names)}
    for number, earlier in enumerate(file.choices()[:choice]):
        same_ids = earlier["fingerprint"] == record["fingerprint"] or (
            earlier["columns"].get("id") == record["columns"].get("id") is not None
        )
        standing = file.standing(number, whole=True)
        asked = {row.row: row for round_ in standing.rounds for row in round_.rows}
        cells: list[Mapping[str, Any]] = []
        for row, answer in standing.latest(record.get("after", 0)).items():
            known = asked[row].told.get("cells", {})
            if answer.verdict == UNSURE or not known.keys() >= {*tables.weighed.names}:
                continue
            cells.append(known)
            hits.append(answer.verdict == NOT_FINE)
            now = position.get(asked[row].name) if same_ids else None
            if now is not None and known.items() >= tables.cells([now])[0].items():
                again.add(now)
        values.append(tables.values_of(cells, earlier["scales"]))
    return Taught(values=np.vstack(values), hits=np.array(hits, dtype=bool), again=frozenset(again))
