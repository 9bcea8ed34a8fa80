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

EXPLAINED = ("kind", "sample", "feature", "direction", "part", "value", "usual", "reason")  # of explanation.csv
FOUND = ("case", "chosen", "rows", "expected", "interval", "p", "text")  # of the finding


def selection_json(view: Mapping[str, Any]) -> str:
    """`selection.json`: the same bytes for the same input and seed."""
    content = {**view["selection"], "reference": view["reference"], "version": view["version"]}
    kinds = view["kinds"]["list"]
    rows = sorted(kinds[0]["rows"], key=lambda row: row["index"])  # as `samples` stand
    if names := list(rows[0]["shown"]):
        content["shown"] = {name: [row["shown"][name] for row in rows] for name in names}
    if view["finding"] is not None:
        content["finding"] = {key: view["finding"][key] for key in FOUND}
    content["kinds"] = [
        {**{key: kind[key] for key in ("name", "nearness", "p")}, **kind["selection"]} for kind in kinds
    ]
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_outputs(
    folder: str | Path,
    selection: Selection,
    view: Mapping[str, Any],
    *,
    proof: bool = False,
    calibration: bytes | None = None,
    kinds: bytes | None = None,
) -> list[Path]:
    """Write selection.json, explanation.csv, report.json, report.html, run.json, problem.npz.

    If asked also proof.json, the `calibration` that its rows were weighed with, and the proofs of `kinds`.
    """
    contents: dict[str, str | bytes] = {
        **told_files(view),
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


def told_files(view: Mapping[str, Any]) -> dict[str, str | bytes]:
    """The files that tell the answer, by name: all of them follow from the report's data, which is one of them."""
    return {
        "explanation.csv": explanation_csv(view),
        "report.json": json.dumps(view, indent=1, ensure_ascii=False) + "\n",
        "report.html": render_html(view),
        "selection.json": selection_json(view),
    }


def explanation_csv(view: Mapping[str, Any]) -> str:
    """One line for each part of each row of each kind, kind 1 being the answer; the parts of a kind sum to its score.

    A line without a sample is what a chosen column is worth on its own.
    """
    lines = []
    for kind in view["kinds"]["list"]:
        empty = {**dict.fromkeys(EXPLAINED, ""), "kind": kind["number"]}
        shown: dict[str, str] = {}
        for row in kind["rows"]:
            shown = {name if name not in EXPLAINED else f"{name} (shown)": text for name, text in row["shown"].items()}
            for part in row["parts"]:
                own = {
                    "sample": row["name"],
                    "feature": part["column"],
                    "reason": part["text"] if part["is_reason"] else "",
                    **{name: part[name] for name in ("direction", "part", "value", "usual")},
                }
                lines.append({**empty, **own, **shown})
        directions = dict(zip(kind["columns"], kind["directions"], strict=True))
        for name, part in kind["feature_scores"].items():
            own = {"feature": name, "direction": directions[name], "part": part}
            lines.append({**empty, **own, **dict.fromkeys(shown, "")})
    return csv_text(lines, list(lines[0]))
