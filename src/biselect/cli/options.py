"""Options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from biselect.cli import completion
from biselect.cli.help import FIRST, LAST
from biselect.options import Flag, Options

may_be = partial(typer.Option, show_default=False)  # an option that may be left out; its help says what then
a_column = partial(may_be, metavar="COLUMN", autocompletion=completion.columns)
some_columns = partial(may_be, metavar="COLUMNS", autocompletion=completion.columns)
a_table = partial(may_be, metavar="TABLE")
a_folder = partial(may_be, metavar="FOLDER")


def one_of(*words: str, **given: Any) -> Any:
    """An option that takes one of these words; the library refuses the others, and says which there are."""
    return typer.Option(metavar="|".join(words), autocompletion=completion.among(*words), **given)


def _number_or_auto(text: str) -> int | str:
    try:
        return text if text == "auto" else int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a whole number nor auto.") from None


@dataclass(frozen=True, kw_only=True)
class Budgets(Options, heading=FIRST):
    """How many rows and columns to choose."""

    k: Annotated[int, Flag("How many samples to choose.", "-k")]
    m: Annotated[
        Any,
        Flag(
            "How many features to choose, or auto for as many as show more than chance does.",
            "-m",
            value="NUMBER|auto",
            choices=("auto",),
            parse=_number_or_auto,
        ),
    ]


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
    quiet: Annotated[bool, Flag("No progress on stderr.", "--quiet", "-q")] = False


K = Annotated[int, may_be("-k", help="How many samples to choose.")]
M = Annotated[
    Any,
    may_be(
        "-m",
        parser=_number_or_auto,
        metavar="NUMBER|auto",
        autocompletion=completion.among("auto"),
        help="How many features to choose, or auto for as many as show more than chance does.",
    ),
]
Problem = Annotated[
    Path, typer.Argument(help="A problem (.npz or .json), or a table of weights with one row a sample.")
]
KOfTable = Annotated[int | None, may_be("-k", help="How many samples to choose.")]
MOfTable = Annotated[int | None, may_be("-m", help="How many features to choose.")]
RowNames = Annotated[str | None, a_column("--id-column", help="Column of a weight table that names its rows.")]
Reference = Annotated[Path | None, a_table("--reference", "-r", help="Table of normal rows.")]
Marginals = Annotated[
    str | None,
    may_be(
        metavar="NAME",
        autocompletion=completion.among("isolation", "none"),
        help="Scores of rows and columns on their own: isolation or none.",
    ),
]
Solver = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        autocompletion=completion.solvers,
        help="Who solves it: auto or exact for a proof, or another solver by name.",
    ),
]
TimeLimit = Annotated[
    float | None, may_be(metavar="SECONDS", help="Seconds after which the best found is returned, with a bound.")
]
Kinds = Annotated[
    int | None,
    may_be(min=1, help="How many kinds of unusual to look for; 1 for the best block alone, the paper's answer."),
]
On = Annotated[
    str | None,
    may_be(
        metavar="WHERE",
        autocompletion=completion.among("threads", "dask://"),
        help="Who reads tables too large to be held: dask://HOST:PORT; else threads here.",
    ),
]
Memory = Annotated[
    str | None,
    may_be(metavar="SIZE", help="Memory that reading them may take here, such as '512 MB'; 2 GiB if left out."),
]
Seed = Annotated[int, typer.Option(min=0, help="Fixes every random draw.")]
Out = Annotated[Path | None, a_folder(help="Folder for selection.json, explanation.csv, report.html and the problem.")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]
Proof = Annotated[bool, typer.Option("--proof", help="Write proof.json into the folder too, for `biselect check`.")]
Neighbours = Annotated[
    tuple[int, int],
    typer.Option(
        metavar="ROWS COLUMNS", help="How far k and m may be moved in the report, solved ahead; 0 0 for not at all."
    ),
]
NEIGHBOURS = (2, 1)
Json = Annotated[bool, typer.Option("--json", help="Print selection.json instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]

TimeColumn = Annotated[str | None, a_column(help="Column that orders the rows; never a feature.")]
DateFormat = Annotated[
    str | None, may_be(metavar="FORMAT", help="How dates are written, such as '%d/%m/%Y %H:%M'; else found out.")
]
Encoding = Annotated[str | None, may_be(metavar="NAME", help="Of a CSV, such as cp1252; else found out.")]
Delimiter = Annotated[
    str | None, may_be(metavar="CHARACTER", help="Between values of a CSV, such as ';'; else found out.")
]
Decimal = Annotated[str | None, may_be(metavar="CHARACTER", help="Before decimals in a CSV: , or . ; else found out.")]
Thousands = Annotated[
    str | None, may_be(metavar="CHARACTER", help="Between thousands in a CSV: . , ' or a space; '' for none.")
]
NaValues = Annotated[
    list[str] | None,
    may_be(metavar="TEXT", help="What means missing in a CSV, beside NA and its like; repeat or use commas."),
]
Duplicates = Annotated[
    str, one_of("first", "last", "error", help="Which of the rows with one id to keep, or refuse them.")
]
Show = Annotated[
    list[str] | None, some_columns(help="Columns shown beside the rows, never used to choose; repeat or use commas.")
]
AtMost = Annotated[int | None, may_be(min=0, help="Rows to choose at most with the same value of --per.")]
Per = Annotated[str | None, a_column(help="Column that --at-most is about; shown, never a feature.")]
Must = Annotated[list[str] | None, may_be(metavar="IDS", help="Rows that must be chosen, by id.")]
Never = Annotated[list[str] | None, may_be(metavar="IDS", help="Rows that must not be chosen, by id.")]
MustColumns = Annotated[list[str] | None, some_columns("--must-column", help="Columns that must be chosen.")]
Preset = Annotated[str, one_of("default", "paper", help="What map, marginals, kinds and drift are unless given.")]
Map = Annotated[
    str | None,
    may_be(
        metavar="NAME",
        autocompletion=completion.maps,
        help="How extremeness becomes a weight: a map's name, or auto for the one that drifts least.",
    ),
]
IdColumn = Annotated[str | None, a_column(help="Column that names the rows; otherwise their position.")]
LabelColumn = Annotated[
    str | None, a_column(help="Known positives (0/1, yes/no; or NAME=VALUE): shown with the answer, never used.")
]
Features = Annotated[list[str] | None, some_columns(help="Columns to use; repeat or separate by commas.")]
Exclude = Annotated[list[str] | None, some_columns(help="Columns to leave out; repeat or separate by commas.")]
Cap = Annotated[float | None, may_be(help="Largest weight, w_max; the map's own unless given.")]
CouplingWeight = Annotated[float, typer.Option(help="λ, the weight of the block against the marginals.")]
Missing = Annotated[
    str, one_of("weigh", "median", "error", help="Missing values: weigh how rare they are, fill them, or refuse them.")
]
Categories = Annotated[
    list[str] | None, some_columns(help="Columns of numbers that name things, such as postcodes; repeat or use commas.")
]
Numbers = Annotated[
    list[str] | None, some_columns(help="Columns that look like codes and are quantities; repeat or use commas.")
]
Dates = Annotated[
    list[str] | None, a_column(metavar="COLUMN:PARTS", help="Date column to use, such as created:hour,weekday,gap.")
]
