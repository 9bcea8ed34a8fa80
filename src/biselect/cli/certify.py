"""`biselect certify`: which recovery conditions hold for a problem, by what margin, and what that means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biselect.cli import options
from biselect.cli.console import Steps, out
from biselect.errors import InputError

if TYPE_CHECKING:
    from biselect.theory import Certificate, Estimate


def certify(
    problem: Annotated[
        Path, typer.Argument(help="A problem (.npz or .json), a table of weights, or with --reference a pool.")
    ],
    k: options.KOfTable = None,
    m: options.MOfTable = None,
    reference: options.Reference = None,
    id_column: options.IdColumn = None,
    exclude: options.Exclude = None,
    marginals: options.Marginals = "bounded",
    signal: Annotated[
        float | None, typer.Option(help="μ, if known; otherwise a lower bound from the data.", show_default=False)
    ] = None,
    sigma: Annotated[
        float | None, typer.Option(help="σ of the noise, if known; otherwise the background's.", show_default=False)
    ] = None,
    error: Annotated[float, typer.Option("--eta", help="η: no weight is wrong by more after calibration.")] = 0.0,
    clip_bias: Annotated[float, typer.Option(help="ρ: what capping takes from a weight at most.")] = 0.0,
    correlation: Annotated[float, typer.Option(help="Noise correlation of two samples within a feature.")] = 0.0,
    delta: Annotated[float, typer.Option(help="δ: allowed probability that recovery fails.")] = 0.05,
    calibration_delta: Annotated[float, typer.Option(help="Part of δ for the event that an error exceeds η.")] = 0.0,
    time_limit: options.TimeLimit = None,
    seed: options.Seed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Say whether the planted-block theory certifies joint or feature-first selection on PROBLEM.

    Signal and noise are estimated from the best block and the background unless given. With --reference the
    background is the reference, which was not selected from; otherwise it is the pool.
    """
    from biselect.calibrate import Calibrator
    from biselect.data.pools import Roles
    from biselect.data.problem_files import read_problem
    from biselect.reviews.inputs import open_pool
    from biselect.solvers import solve
    from biselect.theory import certify as certify_problem
    from biselect.theory import estimate
    from biselect.theory.certificate import Assumptions

    steps = Steps(quiet)
    with steps.step(f"Reading {problem.name}"):
        if reference is None:
            loaded, background = read_problem(problem, k, m, id_column, exclude or ()), None
        else:
            if k is None or m is None:
                raise InputError("a pool has no budgets; give both -k and -m")
            rows = open_pool(problem, reference, Roles(id_column=id_column, exclude=exclude or ()))
            normal, pool = rows.matrices
            calibrator = Calibrator().fit(normal)
            loaded = calibrator.problem(pool, k, m, marginals=marginals, sample_names=rows.sample_names)
            background = calibrator.weights(normal)
    with steps.step("Finding the best block") as progress:
        found = solve(loaded, seed=seed, time_limit=time_limit, progress=progress)
    seen = estimate(loaded, found.samples, found.features, delta=delta, background=background, correlation=correlation)
    certificate = certify_problem(
        loaded,
        Assumptions(
            signal=seen.signal if signal is None else signal,
            sigma=seen.deviation if sigma is None else sigma,
            half_range=seen.half_range,
            error=error,
            clip_bias=clip_bias,
            correlation=correlation,
            delta=delta,
            calibration_delta=calibration_delta,
        ),
    )
    words = _estimate_words(seen, delta, given_signal=signal is not None, given_sigma=sigma is not None)
    if as_json:
        content = certificate.to_dict()
        content = {**content, "estimate": vars(seen), "words": words + content["words"]}
        typer.echo(json.dumps(content, indent=2, allow_nan=False))
    else:
        _show(certificate, words)


def _estimate_words(seen: Estimate, delta: float, *, given_signal: bool, given_sigma: bool) -> list[str]:
    words = []
    if not given_signal:
        words.append(
            f"Signal: the best block stands {seen.observed_signal:.3g} above {seen.source}. It was chosen for its "
            f"weight; allowing for that, the signal is at least {seen.signal:.3g}. Were σ and the level known, this "
            f"bound would fail with probability {delta:g}, beside what the conditions allow; they are estimates."
        )
    if not given_sigma:
        words.append(
            f"Noise: σ = {seen.deviation:.3g} is an estimate, what the background's deviation and tails ask for; the "
            f"bounded condition needs only that the background stays within ±{seen.half_range:.3g} of a centre."
        )
    words.append(
        f"Background means of the features differ from the overall mean by up to {seen.unevenness:.3g}; that acts "
        "like a calibration error of this size and may be given as --eta."
    )
    if seen.at_cap >= 0.01:
        words.append(f"{100 * seen.at_cap:.0f} % of the chosen cells hold the largest weight there is.")
    return words


def _show(certificate: Certificate, words: list[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    console = out()
    table = Table(title=Text(f"Signal μ = {certificate.assumptions.signal:.4g}"), title_justify="left")
    numbers = ("needs μ ≥", "margin", "bears η ≤")
    for heading in ("selector", "noise", "statement", *numbers, "holds"):
        table.add_column(heading, justify="right" if heading in numbers else "left")
    for condition in certificate.conditions:
        found = (condition.needed, condition.margin, condition.tolerated_error)
        shown = ["-" if value is None else f"{value:.4g}" for value in found]
        holds = "yes" if condition.holds else "no"
        table.add_row(condition.selector, condition.noise, condition.statement, *shown, holds)
    console.print(table)
    for sentence in [*words, *certificate.words]:
        console.print(Text(f"- {sentence}"))
