"""A new export in a session: how far it has moved from the reference, and yesterday's rows as a new reference."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from biselect.calibrate.dates import parts_of_dates
from biselect.core.files import write_file
from biselect.errors import InputError
from biselect.progress import Steps
from biselect.reviews.drift_watch import monitor_drift
from biselect.reviews.inputs import CSV_OPTIONS
from biselect.reviews.session import ReviewSession
from biselect.reviews.session_file import NOT_FINE, UNSURE

USUAL = "usual-rows-of-"  # begins the name of a reference made from an earlier export


def drift_from_reference(
    session: ReviewSession, export: Any, *, progress: Steps | bool | None = None
) -> dict[str, Any]:
    """Which columns of a new export have changed against the session's reference, as `monitor_drift` tells it.

    Args:
        session: with the reference in use.
        export: a table or a path, as `biselect.review` takes a pool.
        progress: as for `biselect.review`.
    """
    reference, roles = session.tables.pool.reference, session.record["roles"]
    dates = parts_of_dates(roles.get("dates", ()))
    written = {name: roles[name] for name in CSV_OPTIONS if name in roles}
    return monitor_drift(
        export,
        reference,
        features=[name for name in reference.column_names if name not in dates],
        **written,
        progress=progress,
    )


def usual_rows(session: ReviewSession) -> Path:
    """Write the session's pool without the rows found not fine, or not surely fine, as a reference for the next one.

    It lies in the session's folder, a Parquet file with the columns that were weighed.
    """
    if session.file.folder is None:
        raise InputError("a session in memory has no folder to write a reference to; give it one with folder=")
    kept = np.ones(len(session.sample_names), dtype=bool)
    for row, answer in session.standing.latest().items():
        kept[row] = answer.verdict not in (NOT_FINE, UNSURE)
    content = io.BytesIO()
    pq.write_table(session.tables.pool.candidates.filter(kept), content)
    source, _ = session.sources
    name = Path(str(source)).name if isinstance(source, str | Path) else f"table {session.choice + 1}"
    stem = name.removesuffix(".parquet").removeprefix(USUAL)
    place = session.file.folder / f"{USUAL}{stem}.parquet"
    write_file(place, content.getvalue())
    return place


def turn_to(
    session: ReviewSession,
    export: Any,
    reference: Any = None,
    *,
    who: str = "",
    when: str = "",
    progress: Steps | bool | None = None,
) -> ReviewSession:
    """Go on in the same session with a new export, with the options and roles of the last one.

    Args:
        session: the last one.
        export: rows to review, as `biselect.review` takes a pool.
        reference: normal rows; None for those of the session, or where it splits its pool in time, to do so again.
        who: as they want to be called.
        when: in whatever words.
        progress: as for `biselect.review`.
    """
    record = session.record
    again = reference is None and record["reference_until"] is not None
    kept = {name: record["options"][name] for name in ("kinds", "map", "missing", "drift", "seed")}
    return ReviewSession(
        export,
        None if again else session.sources[1] if reference is None else reference,
        folder=session.file.folder,
        reference_until=record["reference_until"] if again else None,
        who=who,
        when=when,
        progress=progress,
        **kept,
        **record["roles"],
    )
