"""What several commands share beside the options of the library: problems, and what is written and printed."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from biselect.cli._help import FIRST, LAST
from biselect.cli.from_options import among
from biselect.options import Flag, Options

may_be = partial(typer.Option, show_default=False, rich_help_panel=FIRST)  # may be left out; its help says what then
a_table = partial(may_be, metavar="TABLE")


def one_of(*words: str, **settings: Any) -> Any:
    """An option that takes one of these words; the library refuses the others, and says which there are."""
    complete = among(*words)
    return typer.Option(metavar="|".join(words), autocompletion=complete, rich_help_panel=FIRST, **settings)


@dataclass(frozen=True, kw_only=True)
class Output(Options, heading=LAST):
    """What is written and printed."""

    out: Annotated[
        Path | None,
        Flag("Folder for selection.json, explanation.csv, report.html and the problem.", value="FOLDER", first=True),
    ] = None
    open: Annotated[bool, Flag("Open the page in the browser.", first=True)] = False
    proof: Annotated[bool, Flag("Write proof.json into the folder too, for `biselect check`.")] = False
    json: Annotated[bool, Flag("Print selection.json instead of tables.")] = False
    more: Annotated[bool, Flag("Print also what nearly made it in, other budgets and how values were weighed.")] = False
    quiet: Annotated[bool, Flag("No progress on stderr.", "--quiet", "-q")] = False


Problem = Annotated[
    Path, typer.Argument(help="A problem (.npz or .json), or a table of weights with one row a sample.")
]
KOfTable = Annotated[int | None, may_be("-k", help="How many samples to choose.")]
MOfTable = Annotated[int | None, may_be("-m", help="How many features to choose.")]
Reference = Annotated[Path | None, a_table("--reference", "-r", help="Table of normal rows.")]
ROW_NAMES = "Column of a weight table that names its rows."
