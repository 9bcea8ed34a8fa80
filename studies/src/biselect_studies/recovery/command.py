"""`biselect certify`: which recovery conditions hold for a problem, by what margin, and what that means."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biselect.cli.console import Steps
from biselect.cli.from_options import Only
from biselect.cli.options import KOfTable, MOfTable, Output, a_table, one_of
from biselect.errors import InputError
from biselect.options import Columns, Flag, Options, Search
from biselect.pages.terminal import out, show_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from biselect.core import SelectionProblem
    from biselect_studies.recovery import Certificate

KINDS = ("bounded", "paper", "none")


@dataclass(frozen=True, kw_only=True)
class Theory(Options, heading="What is known of signal and noise"):
    """What the theory assumes; signal and noise are estimated where they are left out."""

    signal: Annotated[float | None, Flag("μ, if known; otherwise a lower bound from the data.")] = None
    sigma: Annotated[float | None, Flag("σ of the noise, if known; otherwise the background's.")] = None
    error: Annotated[float, Flag("η: no weight is wrong by more after calibration.", "--eta")] = 0.0
    clip_bias: Annotated[float, Flag("ρ: what capping takes from a weight at most.")] = 0.0
    correlation: Annotated[float, Flag("Noise correlation of two samples within a feature.")] = 0.0
    delta: Annotated[float, Flag("δ: allowed probability that recovery fails.")] = 0.05
    calibration_delta: Annotated[float, Flag("Part of δ for the event that an error exceeds η.")] = 0.0


def certify(
    problem: Annotated[
        Path, typer.Argument(help="A problem (.npz or .json), a table of weights, or with --reference a pool.")
    ],
    k: KOfTable = None,
    m: MOfTable = None,
    reference: Annotated[Path | None, a_table("--reference", "-r", help="Table of normal rows.")] = None,
    columns: Annotated[Columns, Only("id", "exclude")] = Columns(),
    marginals: Annotated[str, one_of(*KINDS, help="Scores of rows and columns on their own.")] = "bounded",
    theory: Theory = Theory(),
    search: Annotated[Search, Only("time_limit", "seed")] = Search(),
    output: Annotated[Output, Only("quiet", json="Print JSON instead of tables.")] = Output(),
) -> None:
    """Say whether the planted-block theory certifies joint or feature-first selection on PROBLEM.

    Signal and noise are estimated from the best block and the background unless given. With --reference the
    background is the reference, which was not selected from; otherwise it is the pool.
    """
    from biselect.tables.readers.sources import Source
    from biselect_studies.recovery import certify as certify_problem

    steps = Steps(output.quiet)
    with steps.step(f"Reading {Source.of(problem).name}"):
        loaded, background = read_weights(problem, reference, columns, k=k, m=m, marginals=marginals)
    assumed = {name: value for name, value in asdict(theory).items() if value is not None}
    with steps.step("Finding the best block") as progress:
        certificate = certify_problem(
            loaded,
            None,
            background=background,
            time_limit=search.time_limit,
            seed=search.seed,
            progress=progress,
            **assumed,
        )
    if output.json:
        typer.echo(json.dumps(certificate.to_dict(), indent=2, allow_nan=False))
    else:
        _show(certificate)


def read_weights(
    problem: Path, reference: Path | None, columns: Columns, *, k: int | None, m: int | None, marginals: str
) -> tuple[SelectionProblem, NDArray[np.float64] | None]:
    """A problem from its file, or from a pool held against a reference; then also the reference's own weights."""
    from biselect.tables import Table, open_pool
    from biselect.tables.problem_files import read_problem
    from biselect.weights import Weigher
    from biselect_studies.data.synthetic import MARGINALS

    if reference is None:
        return read_problem(problem, k, m, columns.id, columns.exclude), None
    if k is None or m is None:
        raise InputError("a pool has no budgets; give both -k and -m")
    rows = open_pool(Table(problem, columns), reference)
    normal, pool = rows.matrices
    calibrator = Weigher(map="ecdf").fit(normal)
    made = calibrator.plain_problem(pool, k, m, marginals=MARGINALS[marginals], sample_names=rows.sample_names)
    return made, calibrator.weights(normal)


def _show(certificate: Certificate) -> None:
    from rich.table import Table
    from rich.text import Text

    console = out()
    table = Table(title=Text(f"Signal μ = {certificate.assumptions.signal:.4g}"), title_justify="left")
    numbers = ("needs μ ≥", "margin", "bears η ≤")
    for heading in ("selector", "noise", "statement", *numbers, "holds"):
        table.add_column(heading, justify="right" if heading in numbers else "center" if heading == "holds" else "left")
    for condition in certificate.conditions:
        found = (condition.needed, condition.margin, condition.tolerated_error)
        shown = ["-" if value is None else f"{value:.4g}" for value in found]
        holds = "yes" if condition.holds else "no"
        table.add_row(condition.selector, condition.noise, condition.statement, *shown, holds)
    show_table(table)
    for sentence in certificate.words:
        console.print(Text(f"- {sentence}"))
