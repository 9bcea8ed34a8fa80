"""Writing an answer to a folder: all files appear whole, or none of them."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from biselect.core import Selection
from biselect.errors import InputError
from biselect.report.render import render_html

EXPLAINED = ("sample", "feature", "adds", "value", "direction", "against_reference")  # columns of explanation.csv


def selection_json(summary: Mapping[str, Any]) -> str:
    """`selection.json`: the same bytes for the same input and seed."""
    content = {**summary["selection"], "version": summary["version"]}
    rows = sorted(summary["rows"], key=lambda row: row["index"])  # as `samples` stand
    if names := list(rows[0]["shown"]):
        content["shown"] = {name: [row["shown"][name] for row in rows] for name in names}
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_outputs(folder: str | Path, selection: Selection, summary: Mapping[str, Any]) -> list[Path]:
    """Write selection.json, explanation.csv, report.json, report.html, problem.npz and run.json."""
    contents: dict[str, str] = {
        "selection.json": selection_json(summary),
        "explanation.csv": explanation_csv(summary),
        "report.json": json.dumps(summary, indent=1, ensure_ascii=False) + "\n",
        "report.html": render_html(summary),
        "run.json": json.dumps({"seconds": selection.seconds, "info": dict(selection.info)}, indent=2) + "\n",
    }
    folder = Path(folder)
    names = [*contents, "problem.npz"]
    check_folder(folder, names)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".writing-") as staging:
            for name, content in contents.items():
                (Path(staging) / name).write_text(content, encoding="utf-8", newline="")
            selection.problem.save(Path(staging) / "problem.npz")
            for name in names:
                os.replace(Path(staging) / name, folder / name)
    except OSError as error:
        raise InputError(f"{folder}: cannot write there: {error.strerror or error}") from error
    return [folder / name for name in names]


def check_folder(folder: Path, names: Iterable[str] = ()) -> None:
    """Refuse a place where the files could not all be written."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a folder to write to")
    for name in names:
        if (folder / name).is_dir():
            raise InputError(f"{folder / name}: is a folder; move it away or give another place to write to")
    parent = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"{folder}: cannot write there: {parent} takes no new files")


def write_text(path: str | Path, content: str) -> None:
    """Write one file whole, or not at all."""
    path = Path(path)
    staging = path.with_name(f".writing-{path.name}-{os.getpid()}")
    try:
        staging.write_text(content, encoding="utf-8", newline="")
        os.replace(staging, path)
    except OSError as error:
        staging.unlink(missing_ok=True)
        raise InputError(f"{path}: cannot write there: {error.strerror or error}") from error


def explanation_csv(summary: Mapping[str, Any]) -> str:
    """One line for each cell of the chosen block, strongest row first; no value where the pool has none."""
    rows = [
        {
            "sample": row["name"],
            "feature": cell["feature"],
            "adds": cell["adds"],
            "value": "" if cell.get("filled") else cell.get("value", ""),
            "direction": cell.get("direction", ""),
            "against_reference": cell.get("words", ""),
            **{name if name not in EXPLAINED else f"{name} (shown)": text for name, text in row["shown"].items()},
        }
        for row in summary["rows"]
        for cell in row["cells"]
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
