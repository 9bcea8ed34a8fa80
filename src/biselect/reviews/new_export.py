"""A new export in a session: how far it has moved from the reference, and yesterday's rows as a new reference."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from biselect.calibrate.dates import parts_of_dates
from biselect.core.files import write_file
from biselect.errors import InputError
from biselect.progress import Steps, steps_of
from biselect.reviews.drift_watch import monitor_drift
from biselect.reviews.inputs import CSV_OPTIONS
from biselect.reviews.session import ReviewSession
from biselect.reviews.session_file import NOT_FINE, UNSURE, is_begun

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

    It lies in the session's folder, a Parquet file with the columns that were weighed. Other answers make another file,
    so that tables that were compared with an earlier one can still be reviewed.
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
    digest = hashlib.sha256(content.getvalue()).hexdigest()[:8]
    place = session.file.folder / f"{USUAL}{name.removesuffix('.parquet')}-{digest}.parquet"
    write_file(place, content.getvalue())
    return place


def turn_to(
    session: ReviewSession,
    export: Any,
    reference: Any = None,
    *,
    from_last: bool = False,
    who: str = "",
    when: str = "",
    progress: Steps | bool | None = None,
    **options: Any,
) -> ReviewSession:
    """Go on in the same session with a new export, with the options and roles of the last one.

    Args:
        session: the last one.
        export: rows to review, as `biselect.review` takes a pool.
        reference: normal rows; None for those of the session, or where it splits its pool in time, to do so again.
        from_last: take the last export as reference, see `usual_rows`.
        who: as they want to be called.
        when: in whatever words.
        progress: as for `biselect.review`.
        options: of `ReviewSession`, instead of those of the last export.
    """
    if from_last:
        if reference is not None:
            raise InputError("reference= and from_last= both name the reference; give one of them")
        with steps_of(progress)("Writing the new reference"):
            reference = usual_rows(session)
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
        **{**kept, **record.get("wanted", {}), **record["roles"], **options},
    )


def go_on(
    folder: str | Path,
    pool: Any = None,
    reference: Any = None,
    *,
    from_last: bool = False,
    reference_until: Any = None,
    options: Mapping[str, Any] | None = None,
    tell_drift: Callable[[Mapping[str, Any]], None] = lambda drift: None,
    who: str = "",
    when: str = "",
    progress: Steps | bool | None = None,
    **roles: Any,
) -> ReviewSession:
    """The session of a folder, whatever was done there before: open it, turn it to a new export, or begin it.

    A session is begun where there is none, and anew where anything is said about columns or a split in time. Otherwise
    a new export is taken as the last one was.

    Args:
        folder: of the session.
        pool: a new export; None for the one that was last reviewed.
        reference: normal rows; None for those in use.
        from_last: take the last export as reference, see `usual_rows`.
        reference_until: see `biselect.review`.
        options: of `ReviewSession`, such as `m` and `kinds`; None among them for the last or the usual ones.
        tell_drift: called with how far a new export has moved from the reference in use, before rows are chosen.
        who: as they want to be called.
        when: in whatever words.
        progress: as for `biselect.review`.
        roles: of the columns, as for `biselect.review`.
    """
    told: dict[str, Any] = {"who": who, "when": when, "progress": progress}
    wanted = {name: value for name, value in (options or {}).items() if value is not None}
    anew = bool(roles) or reference_until is not None
    if pool is None:
        if anew or wanted or reference is not None or from_last:
            raise InputError("options about tables go with the table to review; give it after the folder")
        return ReviewSession.open(folder, progress=progress)
    if is_begun(folder) and not anew:
        last = ReviewSession.open(folder, progress=progress)
        tell_drift(drift_from_reference(last, pool, progress=progress))
        return turn_to(last, pool, reference, from_last=from_last, **told, **wanted)
    if from_last:
        raise InputError("from_last= goes on with the roles of the last export; leave out what is said about columns")
    return ReviewSession(pool, reference, folder=folder, reference_until=reference_until, **told, **wanted, **roles)
