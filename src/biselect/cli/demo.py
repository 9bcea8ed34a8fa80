"""`biselect demo`: the main job on real transactions that ship with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from biselect.cli import options
from biselect.cli.console import Steps
from biselect.cli.select import select_from


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report and the files.")] = Path("demo-report"),
    marginals: options.Marginals = "bounded",
    seed: options.Seed = 0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Choose 10 of 600 real card transactions and 4 of 29 columns, prove the choice and write a report.

    The reference is 13,145 earlier transactions of the same table. The labels are shown, never used.
    """
    from biselect.data.demo import demo_pool

    steps = Steps(quiet)
    with steps.step("Reading the excerpt of the Credit Card table"):
        pool = demo_pool()
    select_from(
        pool,
        k=10,
        m=4,
        title="Ten card transactions to review, and the four columns that show why",
        files=[],
        settings={},
        objective={"marginals": marginals},
        time_column="Time",
        solver="auto",
        time_limit=None,
        seed=seed,
        folder=out,
        neighbours=options.NEIGHBOURS,
        as_json=as_json,
        steps=steps,
    )
    steps.say(f"Open {out / 'report.html'} in a browser.", style="bold")
