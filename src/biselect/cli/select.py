"""`biselect select`: from a table to a selection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biselect.cli import options
from biselect.cli.answer import answer, reproduce
from biselect.cli.console import Steps
from biselect.cli.rules import Wishes
from biselect.errors import InputError

if TYPE_CHECKING:
    from biselect.core import Selection
    from biselect.data.pools import Pool


NO_WISHES = Wishes()
MOSTLY_EXTREME = 0.5  # a column in which more of the pool than this lies beyond the reference gets a warning


def select(
    pool: Annotated[Path, typer.Argument(help="Table to choose from: .csv, .parquet, .arrow or .jsonl.")],
    k: options.K,
    m: options.M,
    reference: Annotated[
        Path | None, typer.Option("--reference", "-r", help="Table of normal rows.", show_default=False)
    ] = None,
    time_column: options.TimeColumn = None,
    time_format: options.TimeFormat = None,
    reference_until: Annotated[
        str | None,
        typer.Option(
            help="Split POOL in time: rows up to this time, or this share of the rows (60%), are the reference.",
            show_default=False,
        ),
    ] = None,
    pool_last: Annotated[
        int | None, typer.Option(help="Of the rows after the reference keep only the latest.", show_default=False)
    ] = None,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    features: options.Features = None,
    exclude: options.Exclude = None,
    show: options.Show = None,
    at_most: options.AtMost = None,
    per: options.Per = None,
    must: options.Must = None,
    never: options.Never = None,
    must_column: options.MustColumn = None,
    delimiter: options.Delimiter = None,
    na_values: options.NaValues = None,
    calibration: Annotated[
        str, typer.Option(help="How extremeness becomes a weight: a map's name, or auto for the one that drifts least.")
    ] = "ecdf",
    center: Annotated[str, typer.Option(help="Residuals from median and MAD, or from mean.")] = "median",
    cap: options.Cap = 10.0,
    marginals: options.Marginals = "bounded",
    coupling_weight: options.CouplingWeight = 1.0,
    missing: options.Missing = "error",
    solver: options.Solver = "auto",
    time_limit: options.TimeLimit = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    proof: options.Proof = False,
    neighbours: options.Neighbours = options.NEIGHBOURS,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Choose the k rows and m columns of POOL that together stand out most against the reference.

    Give the reference as a second table (--reference), or split POOL itself in time (--time-column and
    --reference-until).
    """
    from biselect.data.pools import Roles, from_two_tables, split_in_time
    from biselect.data.tables import CSV_ENDINGS, CsvForm, read_table

    steps = Steps(quiet)
    if (reference is None) == (reference_until is None):
        raise InputError("give either --reference REF, or --time-column and --reference-until to split POOL in time")
    if reference is not None and pool_last is not None:
        raise InputError("--pool-last goes with --reference-until")
    if reference is None and time_column is None:
        raise InputError("--reference-until needs --time-column")
    if time_format is not None and time_column is None:
        raise InputError("--time-format goes with --time-column")
    wishes = Wishes(
        at_most=at_most,
        per=per,
        must=tuple(must or ()),
        never=tuple(never or ()),
        must_columns=tuple(must_column or ()),
    )
    files = [pool] if reference is None else [pool, reference]
    if (delimiter or na_values) and not any(path.name.lower().endswith(CSV_ENDINGS) for path in files):
        raise InputError("--delimiter and --na-values are for CSV files; other files say it themselves")
    with steps.step(f"Reading {' and '.join(path.name for path in files)}"):
        as_text = {id_column, per, *options.listed(show, ()), *(show or ())} - {None, time_column, label_column}
        if time_format is not None:
            as_text.add(time_column)
        form = CsvForm(
            delimiter=delimiter,
            na_values=options.listed(na_values, ()),
            text_columns=sorted(name for name in as_text if name is not None),
        )
        tables = [read_table(path, form) for path in files]
        known = {name for table in tables for name in table.column_names}
        roles = Roles(
            id_column=id_column,
            label_column=label_column,
            time_column=time_column,
            features=options.listed(features, known) or None,
            time_format=time_format,
            exclude=options.listed(exclude, known),
            show=options.listed(show, known),
            per=per,
        )
        if reference_until is None:
            candidates = from_two_tables(tables[1], tables[0], roles)
        else:
            candidates = split_in_time(tables[0], roles, reference_until=reference_until, pool_last=pool_last)
    select_from(
        candidates,
        k,
        m,
        title=f"What stands out in {pool.name}",
        files=files,
        settings={"map": calibration, "center": center, "cap": cap, "missing": missing, "seed": seed},
        objective={"marginals": marginals, "coupling_weight": coupling_weight},
        wishes=wishes,
        time_column=time_column,
        solver=solver,
        time_limit=time_limit,
        seed=seed,
        folder=out,
        proof=proof,
        neighbours=neighbours,
        as_json=as_json,
        steps=steps,
    )


def select_from(
    pool: Pool,
    k: int,
    m: int,
    *,
    title: str,
    files: list[Path],
    settings: dict[str, Any],
    objective: dict[str, Any],
    seed: int,
    steps: Steps,
    wishes: Wishes = NO_WISHES,
    time_column: str | None = None,
    **rest: Any,
) -> None:
    """Calibrate on the reference, then solve, show and write."""
    import numpy as np

    from biselect.calibrate import Calibrator
    from biselect.report import explore, shared_block, summarise
    from biselect.report.evidence import gather_evidence, histograms

    calibrator = Calibrator(**settings)
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        steps.say(text, style="yellow")

    if pool.ignored:
        note(f"Not used, absent from the reference: {', '.join(pool.ignored)}.")
    with steps.step(f"Calibrating on {pool.reference.num_rows:,} reference rows"):
        pool.refuse_unusable(calibrator.missing)
        calibrator.fit(pool.reference)
        changed = {name: words for name in calibrator.facts.constant if (words := _changed(pool, name))}
        if still := [name for name in calibrator.facts.constant if name not in changed]:
            note(f"Left out, constant in the reference: {', '.join(still)}.")
        problem = calibrator.problem(pool.candidates, k, m, sample_names=pool.sample_names, **objective)
        problem = wishes.applied(problem, pool)
        if wishes.per is not None and not problem.sample_rules.groups:
            note(f"No value of {wishes.per} stands in more than {wishes.at_most} pool rows: --at-most changes nothing.")
    if calibrator.facts.why:
        note(f"Calibration map {calibrator.facts.map}: {calibrator.facts.why}.")
    extreme = (problem.coupling >= calibrator.facts.largest_weight).mean(axis=0)
    for j in np.flatnonzero(extreme > MOSTLY_EXTREME):
        name, share = problem.feature_name(int(j)), 100 * extreme[j]
        note(
            f"Column {name!r} lies beyond the reference in {share:.0f} % of the pool: it looks like an id or a clock, "
            "or it has drifted; --exclude leaves it out."
        )
    if k == problem.n_samples:
        note("k equals the size of the pool: every row is chosen, only the columns were selected.")
    if m == problem.n_features:
        note("m equals the number of features: every column is chosen, only the rows were selected.")

    def summary(selection: Selection, nearby: list[Selection]) -> dict[str, Any]:
        block = shared_block(selection, nearby)
        return summarise(
            selection,
            title=title,
            reproduce=reproduce(seed, files),
            evidence=gather_evidence(selection.samples, selection.features, calibrator, pool.candidates),
            calibration=calibrator.facts,
            cap=calibrator.cap,
            filled_pool=int(calibrator.absent(pool.candidates).sum()),
            labels=pool.labels,
            notes=notes,
            warnings=list(changed.values()),
            tables=_tables(pool, time_column),
            shown=pool.shown,
            per=wishes.per,
            view=explore(
                selection,
                nearby,
                block,
                evidence=gather_evidence(block.samples, block.features, calibrator, pool.candidates),
                histograms=histograms(block.features, calibrator),
                labels=pool.labels,
                shown=pool.shown,
            ),
        )

    answer(problem, summary, seed=seed, steps=steps, **rest)


def _changed(pool: Pool, name: str) -> str | None:
    """A column that the reference knows one value of, and the pool others: nothing to calibrate, but worth a look."""
    import numpy as np

    before, now = (table[name].to_numpy() for table in (pool.reference, pool.candidates))
    known = before[~np.isnan(before)]
    if known.size == 0 or (known != known[0]).any():  # a split reference may be constant in one part only
        return None
    differs = int((~np.isnan(now) & (now != known[0])).sum())
    if not differs:
        return None
    return (
        f"{name}: constant ({known[0]:g}) in the reference, differs in {differs:,} pool row{'s' * (differs != 1)}; "
        "it cannot be calibrated, so it was not used to choose: look at it yourself."
    )


def _tables(pool: Pool, time_column: str | None) -> dict[str, Any]:
    """Which rows were the reference and which the pool, and which columns were left out."""
    return {
        name: {"rows": table.num_rows, "times": list(pool.times[name]) if name in pool.times else None}
        for name, table in (("reference", pool.reference), ("pool", pool.candidates))
    } | {"time_column": time_column, "excluded": list(pool.excluded)}
