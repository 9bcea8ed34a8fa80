"""Does a reference still hold? Which columns have changed over time, as plain data for a page and a scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from biselect._version import __version__
from biselect.columns.change import Change, holm
from biselect.columns.date import as_times
from biselect.core import Selection, SelectionProblem
from biselect.errors import InputError
from biselect.large.dataset import Partitions, rows_between
from biselect.large.engines import Engine, bytes_of, engine_for
from biselect.large.spool import Spool
from biselect.large.summaries import SUMMED, Opened, SummedTable, columns_only, features_of, opened, sum_up
from biselect.options import ANY, Columns, Compute, Search, Watch, Weighing, refuse_others, spell
from biselect.pages.over_time import FORMAT
from biselect.pages.words import phrase, words_of
from biselect.progress import Steps, steps_of
from biselect.solvers import solve
from biselect.tables import (
    Roles,
    Table,
    call_in_words,
    from_two_tables,
    numeric,
    paths_of,
    provenance,
    require_columns,
    tables_of,
    windows_in_time,
)
from biselect.tables.readers import line_of_row, read_as
from biselect.weights import Reference
from biselect.weights.maps import map_name
from biselect.weights.paper import Form
from biselect.weights.weighed_tables import WeighedTables

POOL_ROWS = 200
NEWER, OLDER = "the newer reference", "the older reference"


def monitor(
    table: Any,
    older: Any = None,
    *,
    k: int | None = None,
    m: int | None = None,
    pool: Any = None,
    watch: Watch = Watch(),
    weighing: Weighing = Weighing(),
    search: Search = Search(),
    compute: Compute = Compute(),
    title: str | None = None,
    progress: Steps | bool | None = None,
) -> dict[str, Any]:
    """Which columns have changed beyond chance, by how much, and with k and m what a new reference replaces.

    Tables are what `biselect.review` takes. `biselect.pages.render_monitor` makes a page of the result. Where rows
    are exchangeable, a run without any change alarms with a chance of at most `false_alarms`, over all columns and
    windows together.

    A table that is too large to be held is summed up in parts: ranks of its numbers are then known to a stated error,
    which is taken off what is tested, and a pool is drawn from a sample of its rows. `remarks` say so.

    Args:
        table: the newer reference, a table, or a `Reference` or its file; with `window`, one table in the order
            of time.
        older: the older reference, the one in use: likewise; None with `window`.
        k: how many rows a selection takes; with `m`, it also says which rows and columns the newer reference replaces.
        m: how many columns.
        pool: rows to choose from; otherwise some are drawn from the newest.
        watch: windows, and when to alarm.
        weighing: what counts as unusual in the rows to choose from, as for `biselect.review`, without scores of rows.
            Under the summary of a reference numbers alone are weighed, as they are.
        search: its solver and its seed.
        compute: where a table that is too large to be held is summed up.
        title: the heading of the page.
        progress: as for `biselect.review`.
    """
    stage = steps_of(progress)
    _refuse_unclear(older, k, m, pool, watch)
    refuse_others(weighing, "preset", "map", "cap", "missing", "drift")
    refuse_others(search, "solver", "seed")
    described, past_source = tables_of(table, older)
    candidate_source, window, time = Table.of(pool).source, watch.window, described.columns.time
    refuse_others(described.columns, *SUMMED)
    form = Form.of(weighing)
    form.weigher(search.seed)  # refuses a map that there is not
    sources = [source for source in (described.source, past_source, candidate_source) if source is not None]
    files = [path.name for path in paths_of(sources)]
    date_format, memory = described.csv.date_format, bytes_of(compute.memory)
    written = replace(described, columns=Columns(time=time))
    newer_name, pool_name = _called(described.source, NEWER), _called(candidate_source, "the pool")
    with Spool() as spool, engine_for(compute.on, compute.memory) as engine:
        with stage(words_of().reading(files)):
            newest: Opened = opened(written, memory, spool)
            latest, times = newest, None
            if isinstance(newest, pa.Table):
                newest, times = _in_time(newest, newer_name, time, date_format)
            elif window is not None:
                _refuse_windows(newest, newer_name, time)
            columns = features_of(newest, described.columns)
            past = None
            if past_source is not None:
                past = _with_columns(
                    opened(written.like(past_source), memory, spool), columns, _called(past_source, OLDER)
                )
            candidates = None if candidate_source is None else written.like(candidate_source).read()
            if candidates is not None:
                require_columns(candidates, columns, pool_name)
        rest, names = newest, None
        if k is not None and candidates is None and isinstance(newest, pa.Table):
            candidates, names, rest, times_of_rest = _draw(newest, times, watch, search.seed)
            if window is not None:  # the same windows are tested and chosen under
                newest, times = rest, times_of_rest
        summed = partial(_summed, columns=columns, engine=engine, step=stage)
        if window is not None:
            *spans, last = windows_in_time(_rows_of(newest), window, watch.step)
            references = [*(_between(newest, span) for span in spans), _between(newest, last)]
            *earlier, now = [summed(reference) for reference in references]
        else:
            assert past is not None
            references, earlier, now = [past, rest], [summed(past)], summed(newest)
            spans = [slice(0, earlier[0].summary.rows)]
    with stage(phrase("steps.testing", n=len(columns))):
        changes = _tested([part.summary for part in earlier], now.summary, columns)
    replaced: list[dict[str, Any] | None] = [None] * len(spans)
    if k is not None and m is not None:
        if candidates is None:
            candidates = now.draw(watch.pool_rows, search.seed)
        if described.columns.id in candidates.column_names:
            names = [str(entry) for entry in candidates[described.columns.id].to_pylist()]
        sides = [*earlier, now]
        with stage(phrase("steps.choosing", k=k, m=m)):
            if all(isinstance(reference, pa.Table) for reference in references):
                problems = [
                    _problem(reference, candidates, names, _in_all(sides, columns), form, k, m, search.seed)
                    for reference in references
                ]
            else:  # a summary has no rows to stand apart from, and none that show drift
                numbers = _in_all(sides, columns, categories=False)
                rows = numeric(candidates, numbers, pool_name)
                problems = [
                    _rough_problem(side.summary.only(numbers), rows, names, form, k, m, search.seed) for side in sides
                ]
            selections = [solve(one, search.solver, seed=search.seed, progress=False) for one in problems]
        replaced = [_replaced(older_choice, selections[-1]) for older_choice in selections[:-1]]
    return _summarise(
        spans,
        changes,
        replaced,
        title=title or (phrase("monitor.title_of", name=files[0]) if files else phrase("monitor.title")),
        when=_labels(times, spans) if window is not None else None,
        limits={
            "map": map_name(form.map),
            **{name: getattr(watch, name) for name in ("false_alarms", "min_effect", "fail_on_change")},
        },
        untested={name: why for part in (*earlier, now) for name, why in part.summary.left_out.items()},
        remarks=_remarks(earlier, now, sampled=k is not None and pool is None),
        columns=columns,
        rows=[part.summary.rows for part in (*earlier, now)],
        budgets=None if k is None else {"k": k, "m": m, "samples": 0 if candidates is None else len(candidates)},
        reproduce=provenance(
            call_in_words(
                "monitor",
                {"table": described, "older": past_source},
                k=k,
                m=m,
                pool=candidate_source,
                watch=watch,
                weighing=weighing,
                search=search,
                compute=compute,
            ),
            search.seed,
            sources,
            read_as([table for table in (latest, past, candidates) if isinstance(table, pa.Table)]),
        ),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Side:
    """One of the tables, summed up.

    Attributes:
        summary: of its rows.
        parts: where it was summed up in parts: a sample of its rows.
        stored: whether the summary was given as such.
    """

    summary: Reference
    parts: SummedTable | None = None
    stored: bool = False

    def draw(self, rows: int | None, seed: int) -> pa.Table:
        """A pool for rows that were not given."""
        if self.parts is None:
            why = "the newer reference is a summary, without rows to draw a pool from"
            raise InputError(f"{why}; give one with {spell(pool=ANY)}")
        return self.parts.draw(POOL_ROWS if rows is None else rows, seed)


def _refuse_unclear(older: Any, k: int | None, m: int | None, pool: Any, watch: Watch) -> None:
    window, budgets = spell(Watch(window=ANY)), f"{spell(k=ANY)} and {spell(m=ANY)}"
    if (older is None) == (watch.window is None):
        raise InputError(f"give either {spell(older=ANY)}, or {window} to compare windows of the table")
    if watch.step is not None and watch.window is None:
        raise InputError(f"{spell(Watch(step=ANY))} goes with {window}")
    if (k is None) != (m is None):
        raise InputError(f"give both {budgets} to choose rows and columns, or neither")
    for option, value in ((spell(pool=ANY), pool), (spell(Watch(pool_rows=ANY)), watch.pool_rows)):
        if k is None and value is not None:
            raise InputError(f"{option} is chosen from under {budgets}; give both")
    if k is None and watch.fail_on_change:
        raise InputError(f"{spell(Watch(fail_on_change=True))} needs a selection: give {budgets}")
    for name in ("false_alarms", "min_effect"):
        if not 0 <= getattr(watch, name) < 1:
            share = spell(replace(Watch(), **{name: ANY}))
            raise InputError(f"{share} must be a share from 0 to below 1, got {getattr(watch, name):g}")


def _called(source: Any, otherwise: str) -> str:
    return next((path.name for path in paths_of([source])), otherwise)


def _refuse_windows(table: Partitions | Reference, where: str, time_column: str | None) -> None:
    """Refuse windows that could not be found without the rows at hand."""
    if isinstance(table, Reference):
        way = f"give {spell(older=ANY)} instead of {spell(Watch(window=ANY))}"
        raise InputError(f"{where} is a summary, which has no rows to make windows of; {way}")
    if time_column is not None:
        raise InputError(
            f"{where} is too large to be put in the order of {time_column!r}; where its rows are in order already, "
            f"leave out {spell(Columns(time=time_column))} and exclude that column"
        )


def _with_columns(table: Opened, columns: list[str], where: str) -> Opened:
    if isinstance(table, Reference):
        return table.only(columns)
    require_columns(columns_only(table), columns, where)
    return table


def _rows_of(table: Opened) -> int:
    return table.num_rows if isinstance(table, pa.Table) else table.rows


def _between(table: Opened, span: slice) -> Opened:
    """The rows of a window."""
    if isinstance(table, Partitions):
        return rows_between(table, span.start, span.stop)
    assert isinstance(table, pa.Table)
    return table.slice(span.start, span.stop - span.start)


def _summed(table: Opened, columns: list[str], engine: Engine, step: Steps) -> _Side:
    if isinstance(table, Reference):
        side = _Side(summary=table.only(columns), stored=True)
    elif isinstance(table, Partitions):
        parts = sum_up(table, columns, engine, step)
        side = _Side(summary=parts.summary, parts=parts)
    else:
        side = _Side(summary=Reference(knots=None).add(table, columns=columns))
    if side.summary.rows == 0:
        raise InputError("one of the tables has no rows to compare")
    return side


def _in_all(sides: Sequence[_Side], columns: Sequence[str], *, categories: bool = True) -> list[str]:
    """The columns that hold numbers in every table, and those that hold categories in every one."""
    parts = [side.summary for side in sides]
    return [
        name
        for name in columns
        if all(name in part.quantities for part in parts)
        or (categories and all(name in part.counts and not part.types[name].is_ranked for part in parts))
    ]


def _problem(
    reference: pa.Table,
    pool: pa.Table,
    names: Sequence[str] | None,
    columns: list[str],
    form: Form,
    k: int,
    m: int,
    seed: int,
) -> SelectionProblem:
    """The problem under a reference, as `review` has it."""
    rows = from_two_tables(reference, pool, Roles(features=columns))
    tables = WeighedTables.of(rows if names is None else replace(rows, sample_names=list(names)), form, seed=seed)
    _refuse_few(len(tables.raw.names), m)
    return tables.scored(k, m).problem()


def _rough_problem(
    summary: Reference, pool: pa.Table, names: Sequence[str] | None, form: Form, k: int, m: int, seed: int
) -> SelectionProblem:
    """The problem under the summary of a reference: of numbers alone, nothing moved back, and no row stands apart."""
    weigher = form.weigher(seed).fit(summary)
    _refuse_few(len(weigher.varying), m)
    return weigher.plain_problem(pool, k, m, sample_names=names, features=weigher.varying)


def _refuse_few(columns: int, m: int) -> None:
    if columns < m:
        raise InputError(f"only {columns} columns vary in a reference, {m} are to be chosen")


def _replaced(older: Selection, newer: Selection) -> dict[str, list[str]]:
    """Which rows and columns the newer reference takes out of the answer, and which come in."""

    def missing_in(other: Sequence[str], names: Sequence[str]) -> list[str]:
        return [name for name in names if name not in other]

    return {
        "rows_out": missing_in(newer.sample_names, older.sample_names),
        "rows_in": missing_in(older.sample_names, newer.sample_names),
        "columns_out": missing_in(newer.feature_names, older.feature_names),
        "columns_in": missing_in(older.feature_names, newer.feature_names),
    }


def _remarks(earlier: Sequence[_Side], now: _Side, *, sampled: bool) -> list[str]:
    """What a reader must know about tables that were not held."""
    remarks = []
    for side, name in [*((side, OLDER) for side in earlier[:1]), (now, NEWER)]:
        summary = side.summary
        dated = "" if summary.first is None else phrase("monitor.dated", first=summary.first, last=summary.last)
        if side.stored or side.parts is not None:
            facts = {"rows": summary.rows, "name": name, "dated": dated, "error": 100 * summary.rank_error}
            remarks.append(phrase("monitor.stored" if side.stored else "monitor.counted", **facts))
    if sampled and now.parts is not None:
        remarks.append(phrase("monitor.drawn"))
    return remarks


def _tested(earlier: Sequence[Reference], now: Reference, columns: Sequence[str]) -> list[list[Change]]:
    """The tests of each older window against the newest; p-values are adjusted for the number of all of them."""
    tests = [part.changes(now, columns) for part in earlier]
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
    table: pa.Table, times: list[Any] | None, watch: Watch, seed: int
) -> tuple[pa.Table, list[str], pa.Table, list[Any] | None]:
    """A pool from the newest rows and where they stand, and the table and its times without them."""
    start = 0 if watch.window is None else max(0, len(table) - watch.window)
    newest = len(table) - start
    rows = min(POOL_ROWS, newest // 2) if watch.pool_rows is None else watch.pool_rows
    if not 0 < rows < newest:
        raise InputError(f"cannot draw a pool of {rows} rows from a table of {newest}")
    sampled = np.random.default_rng(seed).permutation(newest) < rows
    pool, rest = start + np.flatnonzero(sampled), np.delete(np.arange(len(table)), start + np.flatnonzero(sampled))
    rest_times = None if times is None else [times[row] for row in rest]
    return table.take(pool), [str(row) for row in pool], table.take(rest), rest_times


def _labels(times: list[Any] | None, spans: Sequence[slice]) -> list[str]:
    """Where each older window ends: its last time, or its last row."""
    if times is None:
        return [phrase("monitor.row", n=span.stop) for span in spans]
    ends = [times[span.stop - 1] for span in spans]
    return [str(int(end) if isinstance(end, float) and end.is_integer() else end) for end in ends]


def _summarise(
    spans: Sequence[slice],
    changes: Sequence[Sequence[Change]],
    replaced: Sequence[Mapping[str, Any] | None],
    *,
    title: str,
    when: Sequence[str] | None,
    limits: Mapping[str, Any],
    untested: Mapping[str, str],
    remarks: Sequence[str],
    columns: Sequence[str],
    rows: Sequence[int],
    budgets: Mapping[str, Any] | None,
    reproduce: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything the page and a scheduler need.

    Args:
        spans: rows of the older windows, oldest first.
        changes: the tests of each.
        replaced: what the newer reference replaces in the answer of each; None where nothing was chosen.
        title: what the reader sees first.
        when: where each window ends, in words; None for a single pair of tables.
        limits: options that decide about an alarm.
        untested: columns whose values cannot be tested, and why.
        remarks: on tables that were not held.
        columns: all in use.
        rows: of each older window and the newest.
        budgets: k, m and the size of the pool; None where nothing was chosen.
        reproduce: command, seed and inputs.
    """

    def alarms(change: Change) -> bool:
        return change.adjusted_p <= limits["false_alarms"] and change.effect >= limits["min_effect"]

    points = [
        {
            "start": span.start,
            "end": span.stop,
            "when": when[at] if when else None,
            "changes": [{**change.to_dict(), "alarm": alarms(change)} for change in changes[at]],
            "replaced": replaced[at],
        }
        for at, span in enumerate(spans)
    ]
    crossings = sorted(
        (change for some in changes for change in some if alarms(change)), key=lambda one: one.adjusted_p
    )
    changed = list(dict.fromkeys(change.column for change in crossings))
    turned = [one for one in replaced if one is not None and any(one.values())]
    failed = limits["fail_on_change"] and bool(turned)
    return {
        "format": FORMAT,
        "version": __version__,
        "title": title,
        **limits,
        "crossed": bool(crossings) or failed,
        "verdict": _verdict(crossings, len(columns) - len(untested), limits["false_alarms"], failed),
        "selection_verdict": None if budgets is None else _selection_verdict(len(turned), len(spans)),
        "changed_columns": changed,
        "columns": list(columns),
        "untested": dict(untested),
        "remarks": list(remarks),
        "tests": sum(map(len, changes)),
        "rows": list(rows),
        "budgets": budgets,
        "points": points,
        "reproduce": dict(reproduce),
    }


def _verdict(crossings: Sequence[Change], columns: int, false_alarms: float, failed: bool) -> str:
    """One line for a person; `crossings` are the alarms, the clearest first."""
    if not crossings:
        sentence = "monitor.alarm_selection" if failed else "monitor.calm"
        return phrase(sentence, columns=columns, level=100 * false_alarms)
    changed = len({change.column for change in crossings})
    return phrase("monitor.alarm", n=changed, columns=columns, name=crossings[0].column, words=crossings[0].words)


def _selection_verdict(turned: int, points: int) -> str:
    if points == 1:
        return phrase("monitor.selection_changes" if turned else "monitor.selection_stays")
    return phrase("monitor.selection_windows", n=turned, windows=points)
