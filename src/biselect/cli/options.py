"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

K = Annotated[int, typer.Option("-k", help="How many samples to choose.", show_default=False)]
M = Annotated[int, typer.Option("-m", help="How many features to choose.", show_default=False)]
Marginals = Annotated[str, typer.Option(help="Scores of rows and columns on their own: bounded, paper or none.")]
Solver = Annotated[str, typer.Option(help="Who solves it: auto, exact, coordinate-ascent, feature-first or random.")]
TimeLimit = Annotated[
    float | None, typer.Option(help="Seconds after which the best found is returned, with a bound.", show_default=False)
]
Seed = Annotated[int, typer.Option(min=0, help="Fixes every random draw.")]
Out = Annotated[
    Path | None,
    typer.Option(help="Folder for selection.json, explanation.csv, report.html and the problem.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print selection.json instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
