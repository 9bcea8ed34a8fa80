"""All studies of a folder on one page: the paper's numbers beside ours, plain data first, then HTML."""

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from biselect._version import __version__
from biselect.core.files import write_file
from biselect.report.render import render_page
from biselect_studies import Results, Study, load, study_names
from biselect_studies.readings import CAUSES, UNEXPLAINED, read
from biselect_studies.render import axes, digits
from biselect_studies.results import Entry

FORMAT = "biselect-reproduction-3"
PAGE = "index.html"
OPEN = 60  # a table of no more numbers than this is shown whole; of a longer one the rows that the paper prints too
MARKS = {"equal": "=", "within noise": "≈", "not sure": "?", "differs": "≠", "not compared": "beside"}
PNG = b"\x89PNG\r\n\x1a\n"
SCALE = 0.65  # points on the page for one of a picture's 160 per inch
STANDINGS = ("matches", "differs", "as stated", "not sure", "not as stated", "not compared", "ours alone")
PRINTED = {"equal": "matches", "within noise": "matches", "differs": "differs"}
STATED = {"as stated": "as stated", "not sure": "not sure", "differs": "not as stated"}
FEWER = "The quick form has fewer seeds or smaller sizes than the paper: see whether the full one differs too."
NO_RESULT = {
    "alg:joint_qaoa": "An algorithm, not a result: it is what biselect.qaoa simulates and every circuit study uses.",
    "alg:swap-sa": "An algorithm, not a result: it is the solver swap-sa, measured in solver-matched-compute.",
    "alg:layout_aware_decoding": "An algorithm, not a result: it is how shots are decoded, measured in routing-check.",
}
"""Labels of the paper without a study, and why there is none."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def write_reproduction(folder: Path) -> Path:
    """Write the page of all studies whose results are in the folder."""
    page = folder / PAGE
    write_file(page, render_reproduction(summarise_reproduction(folder)))
    return page


def render_reproduction(summary: Mapping[str, Any]) -> str:
    """The page of a summary made by `summarise_reproduction`."""
    return render_page("reproduction.html", summary, FORMAT, package="biselect_studies")


def summarise_reproduction(folder: Path) -> dict[str, Any]:
    """Everything the page shows, as plain data; the folder has one per study, as `reproduce` writes it."""
    studies = [_study(load(name), folder / name) for name in study_names()]
    done = [study for study in studies if study["state"] == "done"]
    return {
        "format": FORMAT,
        "version": __version__,
        "title": "The paper's tables and figures, beside ours",
        "totals": {standing: sum(study["counts"][standing] for study in done) for standing in STANDINGS},
        "statements": sum(len(study["statements"]) for study in done),
        "holding": sum(one["holds"] for study in done for one in study["statements"]),
        "states": dict(Counter(study["state"] for study in studies)),
        "causes": _causes(done),
        "unexplained": UNEXPLAINED,
        "quick": sum(study["quick"] for study in done),
        "stale": sum(study["stale"] for study in done),
        "studies": studies,
        "without": [{"label": label, "why": why} for label, why in NO_RESULT.items()],
    }


def standing(entry: Entry) -> str:
    """How a number stands to the paper: one of `STANDINGS`. A verdict that is not listed counts as no match."""
    if entry.statement is not None:
        return STATED.get(entry.verdict, "not compared")
    if entry.paper is not None:
        return PRINTED.get(entry.verdict, "not compared")
    return "differs" if entry.verdict == "differs" else "ours alone"  # our own theory may promise a number too


def _statements(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """What the paper states of several numbers, once each; it holds where it does for every one of them."""
    found: dict[str, Counter[str]] = {}
    for entry in entries:
        if entry.statement is not None:
            found.setdefault(entry.statement, Counter())[standing(entry)] += 1
    return [
        {"statement": statement, "numbers": counts.total(), "holds": counts["as stated"] == counts.total()}
        for statement, counts in found.items()
    ]


def _study(study: Study, folder: Path) -> dict[str, Any]:
    """One study: what it found, that it was skipped, or that it has not run."""
    command = f"biselect reproduce {study.name}"
    known = {
        "name": study.name,
        "title": study.title,
        "label": study.label,
        "in_paper": study.label.startswith(("tab:", "fig:")),
    }
    try:
        results = Results.from_json((folder / "results.json").read_text(encoding="utf-8"))
        if results.study != study.name:
            raise ValueError(f"these are results of {results.study}")
        found = _found(study, results)
        devices = [device["on"] for device in results.extra.get("devices", ())]
    except FileNotFoundError:
        return {**known, "state": "not run", "verdict": "not run in this folder", "command": command}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        why = "its results.json cannot be read or was changed after it was written; run it again"
        return {**known, "state": "damaged", "verdict": why, "command": command}
    if not results.cells:
        return {**known, "state": "skipped", "verdict": " ".join(results.notes), "command": command}
    again = command + (" --quick" if results.quick else "")
    return {
        **known,
        **found,
        "state": "done",
        "command": "\n".join([again, *(f"{again} --device {on}" for on in devices)]),  # what gives the results again
        "stale": results.code != study.code(results.quick),
        "made_by": str(results.version),
        "seeds": _seeds(study, results.quick),
        "figure": _figure(folder / "figure.png"),
    }


def _causes(done: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """How many differences have which cause; the unexplained come last, even where there are none."""
    counts = Counter({cause: 0 for cause in (*CAUSES, UNEXPLAINED)})
    for study in done:
        for one in study["differences"]:
            counts[one["cause"]] += len(one["cells"])
    return [{"cause": cause, "meaning": CAUSES.get(cause, ""), "count": count} for cause, count in counts.items()]


def _found(study: Study, results: Results) -> dict[str, Any]:
    counts = Counter({name: 0 for name in STANDINGS})
    counts.update(standing(entry) for entry in results.cells if not isnan(entry.ours))
    statements = _statements(results.cells)
    printed = {entry.row for entry in results.cells if standing(entry) != "ours alone"}
    whole = len(results.cells) <= OPEN
    shown, folded = ([one for one in results.cells if (whole or one.row in printed) == kept] for kept in (True, False))
    differences = read(results.cells, study.readings)
    lettered = list(zip(LETTERS, differences, strict=False))
    notes = {(entry.row, entry.column): letter for letter, (_, entries) in lettered for entry in entries}
    return {
        "quick": bool(results.quick),
        "repeats": int(results.seeds),
        "counts": dict(counts),
        "statements": statements,
        "verdict": _verdict(counts, statements, results.quick),
        "brackets": results.brackets,
        "table": _table(shown, notes),
        "folded": _table(folded, notes),
        "differences": [
            {
                "letter": letter,
                "cause": UNEXPLAINED if reading is None else reading.cause,
                "text": reading.text if reading is not None else FEWER if results.quick else "",
                "commands": [] if reading is None else reading.commands,
                "cells": [_difference(entry) for entry in entries],
            }
            for letter, (reading, entries) in lettered
        ],
        "choices": list(study.choices),
        "notes": [str(note) for note in results.notes],
    }


def _verdict(counts: Mapping[str, int], statements: Sequence[Mapping[str, Any]], quick: bool) -> str:
    said = []
    judged = counts["matches"] + counts["differs"]
    if counts["differs"]:
        said.append(f"{counts['differs']} of {judged} differ")
    elif judged:
        said.append(f"all {judged} match" if judged > 1 else "the one printed number matches")
    for one in statements:
        holds = "holds" if one["holds"] else "does not surely hold"
        said.append(f"the stated “{one['statement']}” {holds} ({one['numbers']} numbers)")
    if not said and counts["not compared"]:
        said.append(f"{counts['not compared']} beside the paper's, not compared")
    nothing = "not held against the paper in the quick form" if quick else "the paper prints no numbers here"
    return "; ".join(said) or nothing


def _table(entries: Sequence[Entry], notes: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Rows of cells, those that differ with the letter of their reading; None where a row has no number in a column."""
    rows, columns = axes(entries)
    known = {at: {**_cell(entry), "note": notes.get(at)} for entry in entries for at in [(entry.row, entry.column)]}
    return {
        "columns": columns,
        "rows": [{"name": row, "cells": [known.get((row, column)) for column in columns]} for row in rows],
        "numbers": len(entries),
    }


def _cell(entry: Entry) -> dict[str, str | None]:
    return {
        "ours": entry.verdict if isnan(entry.ours) else digits(entry.ours),
        "interval": f"{digits(entry.low)} to {digits(entry.high)}" if entry.low < entry.high else None,
        "paper": entry.statement if entry.paper is None else digits(entry.paper),
        "mark": MARKS.get(entry.verdict, ""),
        "standing": standing(entry),
        "verdict": entry.verdict,
    }


def _difference(entry: Entry) -> dict[str, str | None]:
    sign = "+" if entry.paper is not None and entry.ours > entry.paper else ""
    apart = None if entry.paper is None else sign + digits(entry.ours - entry.paper)
    return {**_cell(entry), "row": entry.row, "column": entry.column, "apart": apart}


def _seeds(study: Study, quick: bool) -> list[dict[str, Any]]:
    """The seeds of each experiment that the study is made of."""
    ranges: dict[str, tuple[int, int]] = {}
    for task in study.tasks(quick):
        first, stop = ranges.get(task.experiment, (task.first, task.stop))
        ranges[task.experiment] = min(first, task.first), max(stop, task.stop)
    return [{"experiment": name, "first": first, "last": stop - 1} for name, (first, stop) in ranges.items()]


def _figure(path: Path) -> dict[str, Any] | None:
    """The picture as an address that holds it, and how wide it is drawn."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if not content.startswith(PNG):
        return None
    width, height = (int.from_bytes(content[at : at + 4]) for at in (16, 20))
    address = "data:image/png;base64," + b64encode(content).decode()
    return {"address": address, "width": round(width * SCALE), "height": round(height * SCALE)}
