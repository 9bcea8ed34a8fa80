"""Options of commands that hold more than a word or a number, from what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biselect.errors import InputError
from biselect_quantum.options import STARTS

if TYPE_CHECKING:
    from biselect.core import SelectionProblem
    from biselect_quantum.circuits import Threshold, Training


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


def read_start(text: str, problem: SelectionProblem) -> Any:
    """A start by its name, or the choice that a selection.json holds, which must be one of this problem."""
    from biselect.core.untrusted import read_json, refused_as

    if text in STARTS:
        return text
    content = read_json(text)
    with refused_as(f"{text}: holds no selection to start from"):
        problem.refuse_other(str(content["problem_hash"]), "its choice")
        return list(content["sample_indices"]), list(content["feature_indices"])


def read_threshold(text: str | None, problem: SelectionProblem) -> Threshold | None:
    """An energy, or the entry for this problem in a manifest of thresholds."""
    from biselect_quantum.circuits.thresholds import Threshold, threshold_for

    if text is None:
        return None
    try:
        return Threshold(problem_hash=problem.digest, value=float(text), pool="given on the command line")
    except InputError:
        raise
    except ValueError:  # not a number, so a file
        return threshold_for(problem, text)
