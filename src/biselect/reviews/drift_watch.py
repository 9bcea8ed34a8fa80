"""Does a reference still hold? Which columns have changed over time, as plain data for a page and a scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from biselect._version import __version__
from biselect.calibrate import Calibrator, Drift, Question, ReferenceSummary, compare, lag_sweep, map_names
from biselect.calibrate.changes import Change, column_changes, holm
from biselect.calibrate.maps import make_map
from biselect.calibrate.sweeps import draw_pool, windows_in_time
from biselect.data.given_tables import as_table
from biselect.data.pools import Roles
from biselect.data.readers.delimited import line_of_row, read_as
from biselect.data.splits import as_times
from biselect.data.tables import numeric, require_columns
from biselect.errors import InputError
from biselect.progress import Steps, steps_of
from biselect.report.monitor import FORMAT
from biselect.reviews.inputs import (
    call_in_words,
    features_in,
    form_from,
    paths_of,
    provenance,
    roles_from,
    with_roles,
)
from biselect.solvers import solve

POOL_ROWS = 200
NEWER, OLDER = "the newer reference", "the older reference"


def monitor_drift(
    table: Any,
    older: Any = None,
    *,
    k: int | None = None,
    m: int | None = None,
    window: int | None = None,
    step: int | None = None,
    false_alarms: float = 0.05,
    min_effect: float = 0.0,
    pool: Any = None,
    pool_rows: int | None = None,
    fail_on_change: bool = False,
    time_column: str | None = None,
    date_format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    na_values: Sequence[str] = (),
    label_column: str | None = None,
    id_column: str | None = None,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    map: str = "reach",
    cap: float | None = None,
    marginals: str = "bounded",
    coupling_weight: float = 1.0,
    solver: str = "auto",
    seed: int = 0,
    title: str | None = None,
    command: str | None = None,
    progress: Steps | bool | None = None,
) -> dict[str, Any]:
    """Which columns have changed beyond chance, by how much, and with k and m what that does to the selection.

    Tables are what `biselect.review` takes. `biselect.report.render_monitor` makes a page of the result. Where rows
    are exchangeable, a run without any change alarms with a chance of at most `false_alarms`, over all columns and
    windows together.

    Args:
        table: the newer reference; with `window`, one table in the order of time.
        older: the older reference, the one in use: a table, or a `ReferenceSummary` or its file; None with `window`.
        k: how many rows a selection takes; with `m`, the drift of the weights is measured too.
        m: how many columns.
        window: compare windows of this many rows of `table` with its newest.
        step: rows from one window to the next; a whole window if left out.
        false_alarms: how often a run may alarm although nothing has changed.
        min_effect: changes with a smaller effect are told but do not alarm.
        pool: rows to choose from; otherwise `pool_rows` are drawn from the newest.
        pool_rows: how many; 200, but at most half of the newest, if left out.
        fail_on_change: whether a changed selection counts as an alarm too; chance alone can change it.
        time_column: orders the rows; never tested.
        date_format: how dates are written; None to find it out.
        encoding: of a CSV file, see `biselect.review`, and so the next four.
        delimiter: between its values.
        decimal: before decimals.
        thousands: between thousands.
        na_values: what means missing.
        label_column: never tested.
        id_column: never tested.
        features: columns to use; None for all without a role.
        exclude: columns to leave out.
        map: the map in use; the others that need no labels are measured beside it.
        cap: the largest weight; None for the map's own.
        marginals: scores of rows and columns on their own.
        coupling_weight: λ.
        solver: one of `biselect.solver_names()`.
        seed: fixes every draw.
        title: the heading of the page.
        command: how a reader gets this again; the call itself unless given.
        progress: as for `biselect.review`.
    """
    given = dict(locals())
    stage = steps_of(progress)
    _refuse_unclear(given)
    sources = [source for source in (table, older, pool) if source is not None]
    files = [path.name for path in paths_of(sources)]
    with stage(f"Reading {' and '.join(files) or 'the tables'}"):
        read = partial(
            as_table, form=with_roles(form_from(given), Roles(time_column=time_column, date_format=date_format))
        )
        latest = read(table)
        newest, times = _in_time(latest, _called(table, NEWER), time_column, date_format)
        columns = features_in(newest, roles_from(given))
        past = None if older is None else _as_older(older, columns, read)
        candidates = None if pool is None else _with_columns(read(pool), columns, _called(pool, "the pool"))
    rest = newest
    if k is not None and candidates is None:
        candidates, rest, times_of_rest = _draw(newest, times, window, pool_rows, seed)
        if window is not None:  # the same windows are tested and weighed
            newest, times = rest, times_of_rest
    with stage(f"Testing {len(columns)} columns"):
        if window is not None:
            *spans, last = windows_in_time(len(newest), window, step)
            earlier = [_summed(newest.slice(span.start, window), columns) for span in spans]
            now = _summed(newest.slice(last.start, window), columns)
        else:
            earlier, now = [_summed(past, columns)], _summed(newest, columns)
            spans = [slice(0, earlier[0].rows)]
        changes = _tested(earlier, now, columns)
    drifts: list[tuple[Drift, ...]] = [()] * len(spans)
    if k is not None and m is not None:
        numbers = [name for name in columns if all(part.values_of(name) for part in (*earlier, now))]
        question = Question(
            pool=numeric(candidates, numbers, _called(pool, "the pool")),
            k=k,
            m=m,
            select=partial(solve, solver=solver, seed=seed),
            coupling_weight=coupling_weight,
            marginals=marginals,
        )
        summed = isinstance(past, ReferenceSummary)
        assert candidates is not None
        others = [name for name in map_names(supervised=False) if name != map and not (summed and make_map(name).split)]
        measured: dict[str, Any] = {
            "maps": [map, *others],
            "calibrator": partial(Calibrator, cap=cap, missing="median", seed=seed),
        }
        newer = numeric(rest, numbers, _called(table, NEWER))
        with stage(f"Measuring the drift of {1 + len(others)} maps"):
            if window is not None:
                drifts = [point.drifts for point in lag_sweep(newer, question, window=window, step=step, **measured)]
            else:
                before = _numbers_of(past, numbers, _called(older, OLDER))
                drifts = [compare(before, newer, question, **measured)]
    return _summarise(
        spans,
        changes,
        drifts,
        title=title or f"Does the reference still hold?{' ' * bool(files)}{''.join(files[:1])}",
        when=_labels(times, spans) if window is not None else None,
        asked={name: given[name] for name in ("map", "false_alarms", "min_effect", "fail_on_change")},
        untested={name: why for part in (*earlier, now) for name, why in part.left_out.items()},
        columns=columns,
        rows=[part.rows for part in (*earlier, now)],
        budgets=None if k is None else {"k": k, "m": m, "samples": 0 if candidates is None else len(candidates)},
        reproduce=provenance(
            command or call_in_words(monitor_drift, given), seed, sources, read_as([latest, past, candidates])
        ),
    )


def _refuse_unclear(given: Mapping[str, Any]) -> None:
    known_maps = map_names(supervised=False)
    if (given["older"] is None) == (given["window"] is None):
        raise InputError("give either older=, or window= to compare windows of the table")
    if given["step"] is not None and given["window"] is None:
        raise InputError("step= goes with window=")
    if (given["k"] is None) != (given["m"] is None):
        raise InputError("give both k= and m= to weigh the rows, or neither")
    for name in ("pool", "pool_rows"):
        if given["k"] is None and given[name] is not None:
            raise InputError(f"{name}= is weighed under k= and m=; give both")
    if given["k"] is None and given["fail_on_change"]:
        raise InputError("fail_on_change= needs a selection: give k= and m=")
    if given["map"] not in known_maps:
        raise InputError(f"map={given['map']!r}: monitoring needs a map without labels, one of {', '.join(known_maps)}")
    for name in ("false_alarms", "min_effect"):
        if not 0 <= given[name] < 1:
            raise InputError(f"{name}= must be a share from 0 to below 1, got {given[name]:g}")


def _called(source: Any, otherwise: str) -> str:
    return next((path.name for path in paths_of([source])), otherwise)


def _as_older(source: Any, columns: list[str], read: Callable[[Any], pa.Table]) -> pa.Table | ReferenceSummary:
    """The older table, or the summary of one."""
    if isinstance(source, str | Path) and Path(source).suffix == ".npz":
        source = ReferenceSummary.load(source)
    if isinstance(source, ReferenceSummary):
        return source.only(columns)
    return _with_columns(read(source), columns, _called(source, OLDER))


def _with_columns(table: pa.Table, columns: list[str], where: str) -> pa.Table:
    require_columns(table, columns, where)
    return table


def _numbers_of(table: Any, columns: list[str], where: str) -> pa.Table | ReferenceSummary:
    return table.only(columns) if isinstance(table, ReferenceSummary) else numeric(table, columns, where)


def _summed(table: pa.Table | ReferenceSummary, columns: list[str]) -> ReferenceSummary:
    found = table if isinstance(table, ReferenceSummary) else ReferenceSummary(entries=None).add(table, columns=columns)
    if found.rows == 0:
        raise InputError("one of the tables has no rows to compare")
    return found


def _tested(earlier: Sequence[ReferenceSummary], now: ReferenceSummary, columns: Sequence[str]) -> list[list[Change]]:
    """The tests of each older window against the newest; p-values are adjusted for the number of all of them."""
    tests = [column_changes(part, now, columns) for part in earlier]
    adjusted = iter(holm([change for some in tests for change in some]))
    return [[next(adjusted) for _ in some] for some in tests]


def _in_time(
    table: pa.Table, where: str, time_column: str | None, date_format: str | None
) -> tuple[pa.Table, list[Any] | None]:
    """The table in the order of its time column, and the times; as it is where there is no such column."""
    if time_column is None:
        return table, None
    require_columns(table, [time_column], where)
    times = as_times(table[time_column], time_column, date_format=date_format, place_of=partial(line_of_row, table))
    order = pc.sort_indices(times)  # stable
    return table.take(order), times.take(order).to_pylist()


def _draw(
    table: pa.Table, times: list[Any] | None, window: int | None, rows: int | None, seed: int
) -> tuple[pa.Table, pa.Table, list[Any] | None]:
    """A pool from the newest rows, and the table and its times without them."""
    start = 0 if window is None else max(0, len(table) - window)
    rows = min(POOL_ROWS, (len(table) - start) // 2) if rows is None else rows
    drawn, rest = draw_pool(np.arange(start, len(table)), rows, seed)
    kept = np.concatenate([np.arange(start), rest])
    return table.take(drawn), table.take(kept), None if times is None else [times[row] for row in kept]


def _labels(times: list[Any] | None, spans: Sequence[slice]) -> list[str]:
    """Where each older window ends: its last time, or its last row."""
    if times is None:
        return [f"row {span.stop:,}" for span in spans]
    ends = [times[span.stop - 1] for span in spans]
    return [str(int(end) if isinstance(end, float) and end.is_integer() else end) for end in ends]


def _summarise(
    spans: Sequence[slice],
    changes: Sequence[Sequence[Change]],
    drifts: Sequence[Sequence[Drift]],
    *,
    title: str,
    when: Sequence[str] | None,
    asked: Mapping[str, Any],
    untested: Mapping[str, str],
    columns: Sequence[str],
    rows: Sequence[int],
    budgets: Mapping[str, Any] | None,
    reproduce: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything the page and a scheduler need.

    Args:
        spans: rows of the older windows, oldest first.
        changes: the tests of each.
        drifts: of the weights, one per map, that in use first; none where nothing was weighed.
        title: what the reader sees first.
        when: where each window ends, in words; None for a single pair of tables.
        asked: options that decide about an alarm.
        untested: columns whose values cannot be tested, and why.
        columns: all in use.
        rows: of each older window and the newest.
        budgets: k, m and the size of the pool; None where nothing was weighed.
        reproduce: command, seed and inputs.
    """

    def alarms(change: Change) -> bool:
        return change.adjusted_p <= asked["false_alarms"] and change.effect >= asked["min_effect"]

    points = [
        {
            "start": span.start,
            "end": span.stop,
            "when": when[at] if when else None,
            "changes": [{**change.to_dict(), "alarm": alarms(change)} for change in changes[at]],
            "drifts": [drift.to_dict() for drift in drifts[at]],
        }
        for at, span in enumerate(spans)
    ]
    found = sorted((change for some in changes for change in some if alarms(change)), key=lambda one: one.adjusted_p)
    changed = list(dict.fromkeys(change.column for change in found))
    turned = [at for at, some in enumerate(drifts) if some and some[0].changes_selection]
    worst = max(range(len(spans)), key=lambda at: drifts[at][0].relative) if budgets else None
    failed = asked["fail_on_change"] and bool(turned)
    return {
        "format": FORMAT,
        "version": __version__,
        "title": title,
        **asked,
        "crossed": bool(found) or failed,
        "verdict": _verdict(found, len(columns) - len(untested), asked["false_alarms"], failed),
        "selection_verdict": None if budgets is None else _selection_verdict(len(turned), len(spans)),
        "changed_columns": changed,
        "columns": list(columns),
        "untested": dict(untested),
        "tests": sum(map(len, changes)),
        "rows": list(rows),
        "steadiest_map": None if worst is None else min(drifts[worst], key=lambda drift: drift.relative).map,
        "budgets": budgets,
        "worst": None if worst is None else {"words": _pair(when[worst] if when else None), **points[worst]},
        "points": points,
        "reproduce": dict(reproduce),
    }


def _pair(when: str | None) -> str:
    return f"Reference up to {when} against the newest" if when else "Older against newer reference"


def _verdict(found: Sequence[Change], columns: int, false_alarms: float, failed: bool) -> str:
    """One line for a person; `found` are the alarms, the clearest first."""
    if failed and not found:
        return f"Alarm: the selection would change, though none of {columns} columns has changed beyond chance."
    if not found:
        often = f"which alarms in at most {100 * false_alarms:.3g} % of runs"
        return f"No alarm: none of {columns} columns has changed beyond chance ({often})."
    changed = len({change.column for change in found})
    many = f"{changed} of {columns} columns {'has' if changed == 1 else 'have'} changed"
    return f"Alarm: {many}. Most clearly {found[0].column}: {found[0].words}."


def _selection_verdict(turned: int, points: int) -> str:
    if points == 1:
        return f"The selection would {'change' if turned else 'stay the same'}."
    return f"The selection would change for {turned} of {points} older windows."
