"""`biselect demo`: the main job on real transactions that ship with the package."""

from pathlib import Path
from typing import Annotated

import typer

from biselect.cli import options
from biselect.cli.answer import answer, check_place, this_command
from biselect.cli.console import Steps

TITLE = "Ten card transactions to review, and the four columns that show why"


def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the report and the files.")] = Path(
        "demo-report"
    ),
    open_page: options.Open = False,
    preset: options.Preset = "default",
    marginals: options.Marginals = None,
    kinds: options.Kinds = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Choose 10 of 600 real card transactions and 4 of 29 columns, prove the choice and write a report.

    The reference is 13,145 earlier transactions of the same table. The labels are shown, never used.
    """
    from biselect.data.demo import ROLES, demo_tables
    from biselect.reviews import review

    check_place(out)
    steps = Steps(quiet)
    found = review(
        *demo_tables(),
        k=10,
        m=4,
        **ROLES,
        preset=preset,
        marginals=marginals,
        kinds=kinds,
        seed=seed,
        title=TITLE,
        command=this_command(),
        progress=steps.step,
    )
    answer(found, folder=out, page=open_page, as_json=as_json, steps=steps)
    if not open_page:
        steps.say(f"Open {out / 'report.html'} in a browser.", style="bold")
