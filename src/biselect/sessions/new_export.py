"""A new export in a session: how far it has moved from the reference, and yesterday's rows as a new reference."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from biselect.columns.date import parts_of_dates
from biselect.core.files import write_file
from biselect.errors import InputError
from biselect.options import ANY, Columns, Kinds, Rounds, Search, Split, Weighing, non_defaults, spell
from biselect.progress import Steps, steps_of
from biselect.reviews.monitoring import monitor
from biselect.sessions.session import ReviewSession
from biselect.sessions.store import NOT_FINE, UNSURE, is_begun
from biselect.tables import Table, as_described

USUAL = "usual-rows-of-"  # begins the name of a reference made from an earlier export


def drift_from_reference(
    session: ReviewSession, export: Any, *, progress: Steps | bool | None = None
) -> dict[str, Any]:
    """Which columns of a new export have changed against the session's reference, as `biselect.monitor` tells it.

    Args:
        session: with the reference in use.
        export: a table or a path, as `biselect.review` takes a pool.
        progress: as for `biselect.review`.
    """
    reference, table = session.tables.pool.reference, session.sources[0]
    dates = parts_of_dates(session.tables.pool.dates)
    columns = Columns(features=[name for name in reference.column_names if name not in dates])
    csv = replace(table.csv, date_format=None)
    return monitor(Table(as_described(export).source, columns, csv), reference, progress=progress)


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
    table, _ = session.sources
    name = Path(str(table.source)).name if table.is_file else f"table {session.choice + 1}"
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
    rounds: Rounds = Rounds(),
    who: str = "",
    when: str = "",
    progress: Steps | bool | None = None,
) -> ReviewSession:
    """Go on in the same session with a new export, with the options and columns of the last one.

    Args:
        session: the last one.
        export: rows to review, as `biselect.review` takes a pool.
        reference: normal rows; None for those of the session, or where it splits its pool in time, to do so again.
        from_last: take the last export as reference, see `usual_rows`.
        rounds: options instead of those of the last export.
        who: as they want to be called.
        when: in whatever words.
        progress: as for `biselect.review`.
    """
    if from_last:
        if reference is not None:
            both = f"{spell(reference=ANY)} and {spell(from_last=ANY)}"
            raise InputError(f"{both} both name the reference; give one of them")
        with steps_of(progress)("Writing the new reference"):
            reference = usual_rows(session)
    record, (table, before) = session.record, session.sources
    again = reference is None and record["reference_until"] is not None
    options = {**record["options"], "m": None, **record.get("wanted", {}), **non_defaults(rounds)}
    return ReviewSession(
        replace(table, source=as_described(export).source),
        None if again else before if reference is None else reference,
        folder=session.file.folder,
        k=options["k"],
        m=options["m"],
        split=Split(until=record["reference_until"] if again else None),
        weighing=Weighing(**{name: options[name] for name in ("map", "missing", "drift")}),
        kinds=Kinds(kinds=options["kinds"]),
        search=Search(seed=options["seed"]),
        who=who,
        when=when,
        progress=progress,
    )


def go_on(
    folder: str | Path,
    pool: Any = None,
    reference: Any = None,
    *,
    from_last: bool = False,
    split: Split = Split(),
    rounds: Rounds = Rounds(),
    tell_drift: Callable[[Mapping[str, Any]], None] = lambda drift: None,
    who: str = "",
    when: str = "",
    progress: Steps | bool | None = None,
) -> ReviewSession:
    """The session of a folder, whatever was done there before: open it, turn it to a new export, or begin it.

    A session is begun where there is none, and anew where anything is said about columns or a split in time. Otherwise
    a new export is taken as the last one was.

    Args:
        folder: of the session.
        pool: a new export; None for the one that was last reviewed.
        reference: normal rows; None for those in use.
        from_last: take the last export as reference, see `usual_rows`.
        split: see `biselect.review`.
        rounds: what rows are chosen with; None among it for the last or the usual.
        tell_drift: called with how far a new export has moved from the reference in use, before rows are chosen.
        who: as they want to be called.
        when: in whatever words.
        progress: as for `biselect.review`.
    """
    signed: dict[str, Any] = {"who": who, "when": when, "progress": progress}
    table = as_described(pool)
    anew = bool(non_defaults(table.columns) or non_defaults(table.csv) or non_defaults(split))
    if table.source is None:
        if anew or non_defaults(rounds) or reference is not None or from_last:
            raise InputError("options about tables go with the table to review; give it after the folder")
        return ReviewSession.open(folder, progress=progress)
    if is_begun(folder) and not anew:
        last = ReviewSession.open(folder, progress=progress)
        tell_drift(drift_from_reference(last, table, progress=progress))
        return turn_to(last, table, reference, from_last=from_last, rounds=rounds, **signed)
    if from_last:
        from_last_flag = spell(from_last=ANY)
        raise InputError(
            f"{from_last_flag} goes on with the roles of the last export; leave out what is said about columns"
        )
    return ReviewSession(
        *(table, reference),
        folder=folder,
        m=rounds.m,
        split=split,
        weighing=Weighing(missing=rounds.missing or "weigh"),
        kinds=Kinds(kinds=rounds.kinds),
        search=Search(seed=rounds.seed or 0),
        **signed,
    )
