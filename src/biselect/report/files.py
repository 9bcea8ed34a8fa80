"""Writing an answer to a folder: all files appear whole, or none of them."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biselect.core import Selection
from biselect.errors import InputError
from biselect.report.render import render_html


def selection_json(selection: Selection, version: str) -> str:
    """`selection.json`: the same bytes for the same input and seed."""
    return json.dumps({**selection.to_dict(), "version": version}, indent=2, ensure_ascii=False) + "\n"


def write_outputs(folder: str | Path, selection: Selection, summary: Mapping[str, Any]) -> list[Path]:
    """Write selection.json, explanation.csv, report.json, report.html, problem.npz and run.json."""
    contents: dict[str, str] = {
        "selection.json": selection_json(selection, summary["version"]),
        "explanation.csv": explanation_csv(summary),
        "report.json": json.dumps(summary, indent=1, ensure_ascii=False) + "\n",
        "report.html": render_html(summary),
        "run.json": json.dumps({"seconds": selection.seconds, "info": dict(selection.info)}, indent=2) + "\n",
    }
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".writing-") as staging:
            for name, content in contents.items():
                (Path(staging) / name).write_text(content, encoding="utf-8", newline="")
            selection.problem.save(Path(staging) / "problem.npz")
            names = [*contents, "problem.npz"]
            for name in names:
                os.replace(Path(staging) / name, folder / name)
    except OSError as error:
        raise InputError(f"{folder}: cannot write there: {error.strerror or error}") from error
    return [folder / name for name in names]


def write_text(path: str | Path, content: str) -> None:
    """Write one file whole, or not at all."""
    path = Path(path)
    try:
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=".writing-", delete=False, encoding="utf-8", newline=""
        ) as staging:
            staging.write(content)
        os.replace(staging.name, path)
    except OSError as error:
        raise InputError(f"{path}: cannot write there: {error.strerror or error}") from error


def explanation_csv(summary: Mapping[str, Any]) -> str:
    """One line for each cell of the chosen block, strongest row first."""
    rows = [
        {
            "sample": row["name"],
            "feature": cell["feature"],
            "adds": cell["adds"],
            "value": cell.get("value", ""),
            "direction": cell.get("direction", ""),
            "against_reference": cell.get("words", ""),
        }
        for row in summary["rows"]
        for cell in row["cells"]
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
