"""Options that the commands of circuits share, and readers of those that hold more than a word."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biselect.cli import completion
from biselect.cli.options import Exclude as Exclude
from biselect.cli.options import KOfTable as KOfTable
from biselect.cli.options import MOfTable as MOfTable
from biselect.cli.options import Problem as Problem
from biselect.cli.options import Quiet as Quiet
from biselect.cli.options import RowNames as RowNames
from biselect.cli.options import Seed as Seed
from biselect.cli.options import a_folder as a_folder
from biselect.cli.options import may_be as may_be
from biselect.cli.options import one_of as one_of
from biselect.errors import InputError

if TYPE_CHECKING:
    from biselect.core import SelectionProblem
    from biselect_quantum.circuits import Threshold, Training

Wait = Annotated[float | None, may_be(min=0, metavar="SECONDS", help="Seconds to wait for each job of a service.")]
Resubmit = Annotated[bool, typer.Option("--resubmit", help="Hand jobs in again that give no shots.")]

DEVICES = ("boston", "pittsburgh", "aachen", "iqm-54")
TARGETS = f"{', '.join(DEVICES)}, another recorded device, or a snapshot (.json)."
PATH_NAMES = (
    *("y-frame", "y-frame-quiet", "opt3-cz", "opt3-fractional", "complete-cz", "complete-fractional"),
    "strongest-qiskit",
)
PATHS = f"{', '.join(PATH_NAMES)}.".replace("quiet,", "quiet (by recorded errors),")
REGISTER_NAMES = ("auto", "trees", "paths", "rings", "complete")
REGISTERS = "trees (more couplings), paths (shorter circuits), or where all pairs are joined rings or complete."
KEEP = (
    "edges (couplings on hardware edges); the share of their mass to keep at least, by a SWAP network, such as 0.5 or 1"
)
STARTS = ("auto", "reach", "random", "canonical", "dicke")
SCHEDULES = ("tied", "layerwise", "bilinear", "fixed-transport", "fully-grouped")
STRATEGIES = ("multistart", "ladder", "continuation", "polish", "depth-frontier", "threshold")
OBJECTIVES = ("energy", "cvar", "hit-rate", "optimum")

a_device = partial(typer.Option, metavar="DEVICE", autocompletion=completion.among(*DEVICES))
a_path = partial(typer.Option, metavar="NAME", autocompletion=completion.among(*PATH_NAMES))
a_schedule = partial(may_be, metavar="NAME", autocompletion=completion.among(*SCHEDULES))
a_keep = partial(typer.Option, metavar="SHARE", autocompletion=completion.among("edges", "0.5", "1"))
a_start = partial(typer.Option, metavar="NAME|FILE", autocompletion=completion.among(*STARTS))


def read_angles(text: str | None) -> Training | list[float] | None:
    """Angles from a file or as they stand."""
    from biselect_quantum.circuits.training.records import load_angles

    if text is None:
        return None
    if text.lower().endswith(".json"):
        return load_angles(text)
    try:
        return [float(part) for part in text.strip("[] ").split(",")]
    except ValueError:
        raise InputError(f"--angles {text}: give a .json file, or numbers separated by commas") from None


def read_keep(text: str) -> float | str:
    """A share, or a name."""
    try:
        return float(text)
    except ValueError:
        return text


def read_start(text: str, problem: SelectionProblem) -> Any:
    """A start by its name, or the choice that a selection.json holds, which must be one of this problem."""
    from biselect.core.json_files import read_json, refused_as

    if text in STARTS:
        return text
    content = read_json(text)
    with refused_as(f"{text}: holds no selection to start from"):
        problem.refuse_other(str(content["problem_hash"]), "its choice")
        return list(content["sample_indices"]), list(content["feature_indices"])


def read_threshold(text: str | None, problem: SelectionProblem) -> Threshold | None:
    """An energy, or the entry for this problem in a manifest of thresholds."""
    from biselect_quantum.circuits.best_known import Threshold, threshold_for

    if text is None:
        return None
    try:
        return Threshold(problem_hash=problem.digest, value=float(text), pool="given on the command line")
    except InputError:
        raise
    except ValueError:  # not a number, so a file
        return threshold_for(problem, text)
