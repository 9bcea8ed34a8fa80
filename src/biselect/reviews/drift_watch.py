"""Does a calibration still hold? The drift between references over time, as plain data for a page and a scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from biselect._version import __version__
from biselect.calibrate import Calibrator, Question, compare, lag_sweep, map_names
from biselect.calibrate.sweeps import Point, draw_pool
from biselect.data.pools import Roles
from biselect.data.splits import as_times
from biselect.data.tables import line_of_row, names_in, numeric, require_columns
from biselect.errors import InputError
from biselect.report.monitor import FORMAT
from biselect.reviews.inputs import as_table, call_in_words, paths_of, provenance, roles_from
from biselect.reviews.reviewing import Steps
from biselect.solvers import solve


def monitor_drift(
    table: Any,
    older: Any = None,
    *,
    k: int,
    m: int,
    window: int | None = None,
    step: int | None = None,
    pool: Any = None,
    pool_rows: int = 200,
    max_drift: float = 0.5,
    fail_on_change: bool = False,
    time_column: str | None = None,
    time_format: str | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    map: str = "ecdf",
    cap: float = 10.0,
    marginals: str = "bounded",
    coupling_weight: float = 1.0,
    missing: str = "error",
    solver: str = "auto",
    seed: int = 0,
    title: str | None = None,
    command: str | None = None,
    progress: Steps | None = None,
) -> dict[str, Any]:
    """How far weights drift between references, and whether the selection would change, as plain data.

    Tables are what `biselect.review` takes. `biselect.report.render_monitor` makes a page of the result.

    Args:
        table: the newer reference; with `window`, one table in the order of time.
        older: the older reference, the one in use; None with `window`.
        k: how many rows a selection takes.
        m: how many columns.
        window: compare windows of this many rows of `table` with its newest.
        step: rows from one window to the next; a whole window if left out.
        pool: rows to choose from; otherwise `pool_rows` are drawn from the newest.
        pool_rows: how many.
        max_drift: the threshold for the feature-aligned drift, in spreads of the weights.
        fail_on_change: whether a changed selection counts as crossing it.
        time_column: orders the rows; never a feature.
        time_format: how its text is written; None for ISO.
        label_column: never a feature.
        id_column: never a feature.
        features: columns to use; None for all without a role.
        exclude: columns to leave out.
        map: the map in use; the others that need no labels are measured beside it.
        cap: the largest weight.
        marginals: scores of rows and columns on their own.
        coupling_weight: λ.
        missing: `error`, or `median` to fill missing values.
        solver: one of `biselect.solver_names()`.
        seed: fixes every draw.
        title: the heading of the page.
        command: how a reader gets this again; the call itself unless given.
        progress: as for `biselect.review`.
    """
    given = dict(locals())
    stage: Steps = progress or (lambda name: nullcontext())
    known_maps = map_names(supervised=False)
    if (older is None) == (window is None):
        raise InputError("give either older=, or window= to compare windows of the table")
    if step is not None and window is None:
        raise InputError("step= goes with window=")
    if map not in known_maps:
        raise InputError(f"map={map!r}: monitoring needs a map without labels, one of {', '.join(known_maps)}")
    if not max_drift >= 0:
        raise InputError(f"max_drift= must not be negative, got {max_drift:g}")
    sources = [source for source in (table, older, pool) if source is not None]
    files = [path.name for path in paths_of(sources)]
    with stage(f"Reading {' and '.join(files) or 'the tables'}"):
        newest, times = _in_time(as_table(table), _called(table, "the newer reference"), time_column, time_format)
        columns = _features(newest, roles_from(given))
        newest = numeric(newest, columns, _called(table, "the newer reference"))
        previous: Any = None if older is None else _same_columns(older, columns, "the older reference")
        candidates = None if pool is None else _same_columns(pool, columns, "the pool")
    if candidates is None:
        candidates, newest, times = _draw(newest, times, window, pool_rows, seed)
    question = Question(
        pool=candidates,
        k=k,
        m=m,
        select=partial(solve, solver=solver, seed=seed),
        coupling_weight=coupling_weight,
        marginals=marginals,
    )
    maps = [map, *(name for name in known_maps if name != map)]
    make = partial(Calibrator, cap=cap, missing=missing, seed=seed)
    with stage(f"Measuring the drift of {len(maps)} maps"):
        if window is not None:
            points = lag_sweep(newest, question, window=window, step=step, maps=maps, calibrator=make)
        else:
            drifts = compare(previous, newest, question, maps=maps, calibrator=make)
            points = [Point(start=0, end=len(previous), drifts=drifts)]
    return _summarise(
        points,
        title=title or f"Does the calibration still hold?{' ' * bool(files)}{''.join(files[:1])}",
        when=_labels(times, points) if window is not None else [],
        max_drift=max_drift,
        fail_on_change=fail_on_change,
        budgets={"k": k, "m": m, "samples": len(candidates)},
        reproduce=provenance(command or call_in_words(monitor_drift, given), seed, sources),
    )


def _features(table: pa.Table, roles: Roles) -> list[str]:
    known = table.column_names
    return replace(
        roles, features=names_in(roles.features, known) or None, exclude=names_in(roles.exclude, known)
    ).feature_columns(table)


def _called(source: Any, otherwise: str) -> str:
    return next((path.name for path in paths_of([source])), otherwise)


def _same_columns(source: Any, columns: list[str], otherwise: str) -> pa.Table:
    table, where = as_table(source), _called(source, otherwise)
    require_columns(table, columns, where)
    return numeric(table, columns, where)


def _in_time(
    table: pa.Table, where: str, time_column: str | None, time_format: str | None
) -> tuple[pa.Table, list[Any] | None]:
    """The table in the order of its time column, and the times; as it is where there is no such column."""
    if time_column is None:
        return table, None
    require_columns(table, [time_column], where)
    times = as_times(table[time_column], time_column, time_format=time_format, place_of=partial(line_of_row, table))
    order = pc.sort_indices(times)  # stable
    return table.take(order), times.take(order).to_pylist()


def _draw(
    table: pa.Table, times: list[Any] | None, window: int | None, rows: int, seed: int
) -> tuple[pa.Table, pa.Table, list[Any] | None]:
    """A pool from the newest rows, and the table and its times without them."""
    start = 0 if window is None else max(0, len(table) - window)
    drawn, rest = draw_pool(np.arange(start, len(table)), rows, seed)
    kept = np.concatenate([np.arange(start), rest])
    return table.take(drawn), table.take(kept), None if times is None else [times[row] for row in kept]


def _labels(times: list[Any] | None, points: list[Point]) -> list[str]:
    """Where each older window ends: its last time, or its last row."""
    if times is None:
        return [f"row {point.end:,}" for point in points]
    ends = [times[point.end - 1] for point in points]
    return [str(int(end) if isinstance(end, float) and end.is_integer() else end) for end in ends]


def _summarise(
    points: Sequence[Point],
    *,
    title: str,
    when: Sequence[str],
    max_drift: float,
    fail_on_change: bool,
    budgets: Mapping[str, int],
    reproduce: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything the page and a scheduler need.

    Args:
        points: oldest first; the first drift of each is that of the map in use.
        title: what the reader sees first.
        when: where each window ends, in words; empty for a single pair of references.
        max_drift: the threshold, in spreads of the weights.
        fail_on_change: whether a changed selection counts as crossing.
        budgets: k, m and the size of the pool.
        reproduce: command, seed and inputs.
    """
    watched = [point.drifts[0] for point in points]
    worst = max(range(len(points)), key=lambda at: watched[at].relative)
    over = [at for at, drift in enumerate(watched) if drift.relative > max_drift]
    changed = [at for at, drift in enumerate(watched) if drift.changes_selection]
    lost = sorted({name for drift in watched for name in drift.lost})
    crossed = bool(over) or bool(lost) or (fail_on_change and bool(changed))
    rows = [
        {
            "start": point.start,
            "end": point.end,
            "when": when[at] if when else None,
            "drifts": [drift.to_dict() for drift in point.drifts],
        }
        for at, point in enumerate(points)
    ]
    least = min(points[worst].drifts, key=lambda drift: drift.relative)
    return {
        "format": FORMAT,
        "version": __version__,
        "title": title,
        "map": watched[0].map,
        "max_drift": max_drift,
        "fail_on_change": fail_on_change,
        "crossed": crossed,
        "lost_features": lost,
        "verdict": _verdict(watched[worst].map, watched[worst].relative, max_drift, len(changed), len(points), crossed),
        "steadiest_map": least.map,
        "budgets": dict(budgets),
        "worst": {
            "words": f"Reference up to {when[worst]} against the newest" if when else "Older against newer reference",
            **rows[worst],
        },
        "points": rows,
        "reproduce": dict(reproduce),
    }


def _verdict(name: str, relative: float, max_drift: float, changed: int, points: int, crossed: bool) -> str:
    """One line for a person."""
    moved = f"the {name} weights drift by up to {relative:.2f} of their spread (threshold {max_drift:g})"
    if points == 1:
        chosen = "the selection would change" if changed else "the selection stays the same"
    else:
        chosen = f"the selection would change for {changed} of {points} older windows"
    return f"{'Threshold crossed' if crossed else 'Within the threshold'}: {moved}; {chosen}."
