"""Options that several commands share, and readers of those that hold more than a word."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biselect.errors import InputError

if TYPE_CHECKING:
    from biselect.core import SelectionProblem
    from biselect.qaoa import Threshold, Training

may_be = partial(typer.Option, show_default=False)  # an option that may be left out; its help says what then


def _number_or_auto(text: str) -> int | str:
    try:
        return text if text == "auto" else int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a whole number nor auto.") from None


K = Annotated[int, may_be("-k", help="How many samples to choose.")]
M = Annotated[
    Any,
    may_be(
        "-m",
        parser=_number_or_auto,
        metavar="NUMBER|auto",
        help="How many features to choose, or auto for as many as show more than chance does.",
    ),
]
Problem = Annotated[
    Path, typer.Argument(help="A problem (.npz or .json), or a table of weights with one row a sample.")
]
KOfTable = Annotated[int | None, may_be("-k", help="How many samples to choose.")]
MOfTable = Annotated[int | None, may_be("-m", help="How many features to choose.")]
RowNames = Annotated[str | None, may_be("--id-column", help="Column of a weight table that names its rows.")]
Reference = Annotated[Path | None, may_be("--reference", "-r", help="Table of normal rows.")]
Marginals = Annotated[
    str | None, may_be(help="Scores of rows and columns on their own: isolation, bounded, paper or none.")
]
Bounded = Annotated[str, typer.Option(help="Scores of rows and columns on their own: bounded, paper or none.")]
Solver = Annotated[str, typer.Option(help="Who solves it: auto or exact for a proof, or another solver by name.")]
TimeLimit = Annotated[float | None, may_be(help="Seconds after which the best found is returned, with a bound.")]
Kinds = Annotated[
    int | None,
    may_be(min=1, help="How many kinds of unusual to look for; 1 for the best block alone, the paper's answer."),
]
Seed = Annotated[int, typer.Option(min=0, help="Fixes every random draw.")]
Out = Annotated[Path | None, may_be(help="Folder for selection.json, explanation.csv, report.html and the problem.")]
Proof = Annotated[bool, typer.Option("--proof", help="Write proof.json into the folder too, for `biselect check`.")]
Neighbours = Annotated[
    tuple[int, int],
    typer.Option(
        metavar="ROWS COLUMNS", help="How far k and m may be moved in the report, solved ahead; 0 0 for not at all."
    ),
]
NEIGHBOURS = (2, 1)
Wait = Annotated[float | None, may_be(min=0, help="Seconds to wait for each job of a service.")]
Resubmit = Annotated[
    bool, typer.Option("--resubmit", help="Hand jobs in again that may not have arrived, or that give no shots.")
]
Json = Annotated[bool, typer.Option("--json", help="Print selection.json instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]

TimeColumn = Annotated[str | None, may_be(help="Column that orders the rows; never a feature.")]
DateFormat = Annotated[str | None, may_be(help="How dates are written, such as '%d/%m/%Y %H:%M'; else found out.")]
Encoding = Annotated[str | None, may_be(help="Of a CSV, such as cp1252; else found out.")]
Delimiter = Annotated[str | None, may_be(help="Between values of a CSV, such as ';'; else found out.")]
Decimal = Annotated[str | None, may_be(help="Before decimals in a CSV: , or . ; else found out.")]
Thousands = Annotated[str | None, may_be(help="Between thousands in a CSV: . , ' or a space; '' for none.")]
NaValues = Annotated[
    list[str] | None, may_be(help="What means missing in a CSV, beside NA and its like; repeat or use commas.")
]
Duplicates = Annotated[str, typer.Option(help="Of rows with one id keep the first or the last, or make it an error.")]
Show = Annotated[
    list[str] | None, may_be(help="Columns shown beside the rows, never used to choose; repeat or use commas.")
]
AtMost = Annotated[int | None, may_be(min=0, help="Rows to choose at most with the same value of --per.")]
Per = Annotated[str | None, may_be(help="Column that --at-most is about; shown, never a feature.")]
Must = Annotated[list[str] | None, may_be(help="Rows that must be chosen, by id.")]
Never = Annotated[list[str] | None, may_be(help="Rows that must not be chosen, by id.")]
MustColumns = Annotated[list[str] | None, may_be("--must-column", help="Columns that must be chosen.")]
Preset = Annotated[str, typer.Option(help="What map, marginals, kinds and drift are unless given: default or paper.")]
Map = Annotated[
    str | None, may_be(help="How extremeness becomes a weight: a map's name, or auto for the one that drifts least.")
]
IdColumn = Annotated[str | None, may_be(help="Column that names the rows; otherwise their position.")]
LabelColumn = Annotated[
    str | None, may_be(help="Known positives (0/1, yes/no; or NAME=VALUE): shown with the answer, never used.")
]
Features = Annotated[list[str] | None, may_be(help="Columns to use; repeat or separate by commas.")]
Exclude = Annotated[list[str] | None, may_be(help="Columns to leave out; repeat or separate by commas.")]
Cap = Annotated[float | None, may_be(help="Largest weight, w_max; the map's own unless given.")]
CouplingWeight = Annotated[float, typer.Option(help="λ, the weight of the block against the marginals.")]
Missing = Annotated[str, typer.Option(help="Missing values: weigh how rare they are, fill with the median, or error.")]
Categories = Annotated[
    list[str] | None, may_be(help="Columns of numbers that name things, such as postcodes; repeat or use commas.")
]
Numbers = Annotated[
    list[str] | None, may_be(help="Columns of numbers that look like codes and are quantities; repeat or use commas.")
]
Dates = Annotated[
    list[str] | None, may_be(metavar="COLUMN:PARTS", help="Date column to use, such as created:hour,weekday,gap.")
]

TARGETS = "boston, pittsburgh, aachen, iqm-54, another recorded device, or a snapshot (.json)."
PATHS = (
    "y-frame, y-frame-quiet (by recorded errors), opt3-cz, opt3-fractional, complete-cz, complete-fractional, "
    "strongest-qiskit."
)
REGISTERS = "trees (more couplings) or paths (shorter circuits)."
SURROGATES = "mask, or mean-field to keep the mean of dropped couplings in the fields."


def read_angles(text: str | None) -> Training | list[float] | None:
    """Angles from a file or as they stand."""
    from biselect.qaoa.training import load_angles

    if text is None:
        return None
    if text.lower().endswith(".json"):
        return load_angles(text)
    try:
        return [float(part) for part in text.strip("[] ").split(",")]
    except ValueError:
        raise InputError(f"--angles {text}: give a .json file, or numbers separated by commas") from None


def read_start(text: str) -> Any:
    """A start by its name, or the choice that a selection.json holds."""
    from biselect.core.json_files import read_json

    if text in ("random", "canonical", "dicke"):
        return text
    content = read_json(text)
    try:
        return list(content["sample_indices"]), list(content["feature_indices"])
    except (KeyError, TypeError) as error:
        raise InputError(f"{text}: holds no selection to start from ({error})") from error


def read_threshold(text: str | None, problem: SelectionProblem) -> Threshold | None:
    """An energy, or the entry for this problem in a manifest of thresholds."""
    from biselect.qaoa.best_known import Threshold, threshold_for

    if text is None:
        return None
    try:
        return Threshold(problem_hash=problem.digest, value=float(text), pool="given on the command line")
    except InputError:
        raise
    except ValueError:  # not a number, so a file
        return threshold_for(problem, text)
