"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

K = Annotated[int, typer.Option("-k", help="How many samples to choose.", show_default=False)]
M = Annotated[int, typer.Option("-m", help="How many features to choose.", show_default=False)]
Problem = Annotated[
    Path, typer.Argument(help="A problem (.npz or .json), or a table of weights with one row a sample.")
]
KOfTable = Annotated[int | None, typer.Option("-k", help="How many samples to choose.", show_default=False)]
MOfTable = Annotated[int | None, typer.Option("-m", help="How many features to choose.", show_default=False)]
RowNames = Annotated[
    str | None, typer.Option("--id-column", help="Column of a weight table that names its rows.", show_default=False)
]
Reference = Annotated[Path | None, typer.Option("--reference", "-r", help="Table of normal rows.", show_default=False)]
Marginals = Annotated[str, typer.Option(help="Scores of rows and columns on their own: bounded, paper or none.")]
Solver = Annotated[
    str,
    typer.Option(help="Who solves it: auto or exact for a proof, or another solver by name."),
]
TimeLimit = Annotated[
    float | None, typer.Option(help="Seconds after which the best found is returned, with a bound.", show_default=False)
]
Kinds = Annotated[
    int,
    typer.Option(min=1, help="How many kinds of unusual to look for; 1 for the best block alone, the paper's answer."),
]
Seed = Annotated[int, typer.Option(min=0, help="Fixes every random draw.")]
Out = Annotated[
    Path | None,
    typer.Option(help="Folder for selection.json, explanation.csv, report.html and the problem.", show_default=False),
]
Neighbours = Annotated[
    tuple[int, int],
    typer.Option(
        metavar="ROWS COLUMNS",
        help="How far k and m may be moved in the report, solved ahead; 0 0 for not at all.",
    ),
]
NEIGHBOURS = (2, 1)
Wait = Annotated[
    float | None, typer.Option(min=0, help="Seconds to wait for each job of a service.", show_default=False)
]
Resubmit = Annotated[
    bool, typer.Option("--resubmit", help="Hand jobs in again that may not have arrived, or that give no shots.")
]
Json = Annotated[bool, typer.Option("--json", help="Print selection.json instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]

TimeColumn = Annotated[
    str | None, typer.Option(help="Column that orders the rows; never a feature.", show_default=False)
]
TimeFormat = Annotated[
    str | None,
    typer.Option(help="How its text is written where that is not ISO: '%d/%m/%Y %H:%M'.", show_default=False),
]
Delimiter = Annotated[str | None, typer.Option(help="Between values of a CSV, such as ';'.", show_default=False)]
NaValues = Annotated[
    list[str] | None,
    typer.Option(help="What means missing in a CSV, beside NA and its like; repeat or use commas.", show_default=False),
]
Show = Annotated[
    list[str] | None,
    typer.Option(help="Columns shown beside the rows, never used to choose; repeat or use commas.", show_default=False),
]
AtMost = Annotated[
    int | None, typer.Option(min=0, help="Rows to choose at most with the same value of --per.", show_default=False)
]
Per = Annotated[
    str | None, typer.Option(help="Column that --at-most is about; shown, never a feature.", show_default=False)
]
Must = Annotated[list[str] | None, typer.Option(help="Rows that must be chosen, by id.", show_default=False)]
Never = Annotated[list[str] | None, typer.Option(help="Rows that must not be chosen, by id.", show_default=False)]
MustColumns = Annotated[
    list[str] | None, typer.Option("--must-column", help="Columns that must be chosen.", show_default=False)
]
Map = Annotated[
    str, typer.Option(help="How extremeness becomes a weight: a map's name, or auto for the one that drifts least.")
]
IdColumn = Annotated[
    str | None, typer.Option(help="Column that names the rows; otherwise their position.", show_default=False)
]
LabelColumn = Annotated[
    str | None, typer.Option(help="Known positives (0/1): shown with the answer, never used.", show_default=False)
]
Features = Annotated[
    list[str] | None, typer.Option(help="Columns to use; repeat or separate by commas.", show_default=False)
]
Exclude = Annotated[
    list[str] | None, typer.Option(help="Columns to leave out; repeat or separate by commas.", show_default=False)
]
Cap = Annotated[float, typer.Option(help="Largest weight, w_max.")]
CouplingWeight = Annotated[float, typer.Option(help="λ, the weight of the block against the marginals.")]
Missing = Annotated[str, typer.Option(help="Missing values: error, or median to fill them.")]
