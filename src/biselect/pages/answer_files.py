"""Writing an answer to a folder: all its files, or none of them; an older answer there goes as a whole."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biselect.core import Selection
from biselect.core.files import write_folder
from biselect.core.untrusted import csv_text
from biselect.pages.html import render_html

EXPLAINED = (
    "kind",
    "sample",
    "feature",
    "adds",
    "value",
    "direction",
    "against_reference",
)  # columns of explanation.csv


def selection_json(summary: Mapping[str, Any]) -> str:
    """`selection.json`: the same bytes for the same input and seed."""
    content = {**summary["selection"], "version": summary["version"]}
    rows = sorted(summary["rows"], key=lambda row: row["index"])  # as `samples` stand
    if names := list(rows[0]["shown"]):
        content["shown"] = {name: [row["shown"][name] for row in rows] for name in names}
    if (columns := summary.get("how_many")) is not None:
        content["how_many"] = {key: columns[key] for key in ("m", "auto", "words")}
    if (kinds := summary.get("kinds")) is not None:
        keys = ("name", "columns", "sides", "nearness", "chance", "shared_rows")
        content["kinds"] = [{**{key: kind[key] for key in keys}, **kind["selection"]} for kind in kinds["found"]]
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_outputs(
    folder: str | Path,
    selection: Selection,
    summary: Mapping[str, Any],
    *,
    proof: bool = False,
    calibration: bytes | None = None,
    kinds: bytes | None = None,
) -> list[Path]:
    """Write selection.json, explanation.csv, report.json, report.html, run.json, problem.npz.

    If asked also proof.json, the `calibration` that its rows were weighed with, and the proofs of `kinds`.
    """
    contents: dict[str, str | bytes] = {
        **told_files(summary),
        "run.json": json.dumps({"seconds": selection.seconds, "info": dict(selection.info)}, indent=2) + "\n",
    }
    problem = io.BytesIO()
    selection.problem.save(problem)
    contents["problem.npz"] = problem.getvalue()
    if proof and selection.proof is not None:
        contents["proof.json"] = selection.proof_json()
        beside = {"calibration.npz": calibration, "kinds.npz": kinds}
        contents |= {name: content for name, content in beside.items() if content is not None}
    contents["selection.json"] = contents.pop("selection.json")  # the last one makes the answer complete
    return write_folder(folder, contents, replaces=["proof.json", "calibration.npz", "kinds.npz"])


def told_files(summary: Mapping[str, Any]) -> dict[str, str | bytes]:
    """The files that tell the answer, by name: all of them follow from the summary, which is one of them."""
    return {
        "explanation.csv": explanation_csv(summary),
        "report.json": json.dumps(summary, indent=1, ensure_ascii=False) + "\n",
        "report.html": render_html(summary),
        "selection.json": selection_json(summary),
    }


def explanation_csv(summary: Mapping[str, Any]) -> str:
    """One line for each cell of the chosen block, strongest row first, then of each kind; empty where the pool is.

    The answer's own lines have no kind.
    """
    blocks = [("", row) for row in summary["rows"]]
    for kind in (summary.get("kinds") or {"found": ()})["found"]:
        blocks += [(kind["number"], row) for row in kind["rows"]]
    rows = [
        {
            "kind": kind,
            "sample": row["name"],
            "feature": cell["feature"],
            "adds": cell["adds"],
            "value": "" if cell.get("filled") else cell.get("value", ""),
            "direction": cell.get("direction", ""),
            "against_reference": cell.get("words", ""),
            **{name if name not in EXPLAINED else f"{name} (shown)": text for name, text in row["shown"].items()},
        }
        for kind, row in blocks
        for cell in row["cells"]
    ]
    return csv_text(rows, list(rows[0]))
