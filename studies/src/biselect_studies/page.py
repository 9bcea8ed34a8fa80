"""All studies of a folder on one page: what the paper prints beside ours; plain data first, then HTML and JSON."""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

from biselect import __version__
from biselect.core.files import write_folder
from biselect.pages.html import render_page
from biselect_studies import Results, Study, load, study_names
from biselect_studies.ledger import Ledger, Printed, read_ledger
from biselect_studies.render import axes, digits
from biselect_studies.results import Entry
from biselect_studies.rule import (
    CAUSES,
    DIFFERS,
    MISSING,
    NOT_JUDGED,
    UNEXPLAINED,
    VERDICTS,
    Judged,
    JudgedClaim,
    Reading,
    judge_claim,
    judged,
    read,
)

FORMAT = "biselect-reproduction-4"
PAGE, LEDGER = "index.html", "ledger.json"
PNG = b"\x89PNG\r\n\x1a\n"
SCALE = 0.65  # points on the page for one of a picture's 160 per inch
MARKS = dict(zip(VERDICTS, ("≈", "≠", "?", "–"), strict=True))
QUICK = "The quick form has fewer seeds or smaller sizes than the paper; leave out --quick."
SHOWN, SAID = "cause shown by an experiment", "cause said, not shown"
NO_RESULT = {
    "alg:joint_qaoa": "An algorithm, not a result: biselect_quantum simulates it and every circuit study uses it.",
    "alg:swap-sa": "An algorithm, not a result: it is the solver swap-sa, measured in solver-matched-compute.",
    "alg:layout_aware_decoding": "An algorithm, not a result: it is how shots are decoded, measured in routing-check.",
}
"""Labels of the paper without a study, and why there is none."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def write_reproduction(folder: Path) -> Path:
    """Write the page of all studies whose results are in the folder, and the ledger of their verdicts beside it."""
    summary = summarise_reproduction(folder)
    ledger = json.dumps(ledger_of(summary), indent=1, ensure_ascii=False) + "\n"
    write_folder(folder, {LEDGER: ledger, PAGE: render_reproduction(summary)}, shared=True)
    return folder / PAGE


def render_reproduction(summary: Mapping[str, Any]) -> str:
    """The page of a summary made by `summarise_reproduction`."""
    return render_page("reproduction.html", summary, FORMAT, package="biselect_studies")


def ledger_of(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The machine-readable part of a summary: every printed number and claim with its verdict."""
    numbers = [
        {
            "study": study["name"],
            **{name: value for name, value in one.items() if name not in ("note", "parts")},
            **part,
        }
        for study in summary["studies"]
        for one in study["numbers"]
        for part in one["parts"]
    ]
    claims = [{"study": study["name"], **one} for study in summary["studies"] for one in study["claims"]]
    kept = ("version", "counts", "claim_counts", "differences", "again", "settings", "unprinted")
    return {"format": FORMAT, **{name: summary[name] for name in kept}, "numbers": numbers, "claims": claims}


def summarise_reproduction(folder: Path, ledger: Ledger | None = None) -> dict[str, Any]:
    """Everything the page shows, as plain data; the folder has one per study, as `reproduce` writes it."""
    ledger = ledger or read_ledger()
    studies = [_study(load(name), folder / name, ledger) for name in study_names()]
    done = [study for study in studies if study["state"] == "done"]
    parts = [part for study in studies for one in study["numbers"] for part in one["parts"]]
    claims = [one for study in studies for one in study["claims"]]
    counts = Counter(dict.fromkeys(VERDICTS, 0))
    for part in parts:
        counts[part["verdict"]] += part["count"]
    claimed = Counter(dict.fromkeys(VERDICTS, 0))
    claimed.update(one["verdict"] for one in claims)
    again = [one for one in ledger.numbers if one.again]
    return {
        "format": FORMAT,
        "version": __version__,
        "title": "What the paper prints, beside ours",
        "verdicts": [{"verdict": name, "meaning": text, "mark": MARKS[name]} for name, text in VERDICTS.items()],
        "counts": dict(counts),
        "claim_counts": dict(claimed),
        "differences": _differences(studies),
        "causes": _causes(studies),
        "sections": list(
            dict.fromkeys([*(one.section for one in ledger.numbers), *(one.section for one in ledger.claims)])
        ),
        "again": sum(numbers for one in again for _, numbers, _ in one.parts),
        "settings": sum(len(text.split()) for text in ledger.settings.values()),
        "unprinted": [{"line": line, "names": text.split()} for line, text in ledger.unprinted.items()],
        "states": dict(Counter(study["state"] for study in studies)),
        "unexplained": UNEXPLAINED,
        "quick": sum(study["quick"] for study in done),
        "stale": sum(study["stale"] for study in done),
        "studies": studies,
        "without": [{"label": label, "why": why} for label, why in NO_RESULT.items()],
    }


def _study(study: Study, folder: Path, ledger: Ledger) -> dict[str, Any]:
    """One study: what it found, that it was skipped, or that it has not run."""
    command = f"biselect reproduce {study.name}"
    known = {
        "name": study.name,
        "title": study.title,
        "label": study.label,
        "in_paper": study.label.startswith(("tab:", "fig:")),
        "command": command,
    }
    try:
        results = Results.from_json((folder / "results.json").read_text(encoding="utf-8"))
        if results.study != study.name:
            raise ValueError(f"these are results of {results.study}")
        devices = [device["on"] for device in results.extra.get("devices", ())]
    except FileNotFoundError:
        why = "This study was not run in this folder."
        return {**known, "state": "not run", "verdict": why, **_held(study, ledger, (), why)}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        why = "Its results.json cannot be read or was changed after it was written; run it again."
        return {**known, "state": "damaged", "verdict": why, **_held(study, ledger, (), why)}
    if not results.cells:
        why = " ".join(results.notes)
        return {**known, "state": "skipped", "verdict": why, **_held(study, ledger, (), why)}
    again = command + (" --quick" if results.quick else "")
    held = _held(study, ledger, results.cells, QUICK if results.quick else "", results.lacking)
    return {
        **known,
        **held,
        "verdict": _verdict(held, results.quick),
        "quick": bool(results.quick),
        "repeats": int(results.seeds),
        "brackets": results.brackets,
        "table": _table(results.cells),
        "choices": list(study.choices),
        "notes": [str(note) for note in results.notes],
        "state": "done",
        "command": "\n".join([again, *(f"{again} --device {on}" for on in devices)]),  # what gives the results again
        "stale": results.code != study.code(results.made_from),
        "made_by": str(results.version),
        "seeds": _seeds(study, results.quick),
        "figure": _figure(folder / "figure.png"),
    }


def _held(study: Study, ledger: Ledger, cells: Sequence[Entry], why: str, lacking: str = "") -> dict[str, Any]:
    """What the paper prints and claims that this study answers, each with its verdict, and why they differ.

    `why` none of it is judged, if so; or why numbers that are not among the cells are `lacking`.
    """
    known = {(cell.row, cell.column): cell for cell in cells}
    repeats: dict[tuple[str, str], list[Printed]] = {}
    for one in ledger.numbers:
        if one.study == study.name and one.again:
            repeats.setdefault((one.row, one.column), []).append(one)
    numbers = []
    for one in ledger.of(study.name).values():
        cell = known.get((one.row, one.column))
        numbers.append((one, judged(one, cell, why or ("" if cell is not None else lacking))))
    claims = [judge_claim(one, cells, why) for one in ledger.claims if one.study == study.name]
    claims = [replace(one, why=lacking) if lacking and one.why == MISSING else one for one in claims]
    differing: list[Judged | JudgedClaim] = [part for _, parts in numbers for part in parts if part.verdict == DIFFERS]
    differing += [one for one in claims if one.verdict == DIFFERS]
    lettered = list(zip(LETTERS, read(differing, study.readings), strict=False))
    notes = {id(one): (letter, reading) for letter, (reading, ones) in lettered for one in ones}
    return {
        "numbers": [_number(one, parts, repeats.get((one.row, one.column), []), notes) for one, parts in numbers],
        "claims": [_claim(one, notes) for one in claims],
        "readings": [_reading(letter, reading, len(ones)) for letter, (reading, ones) in lettered],
    }


def _number(
    one: Printed, parts: Iterable[Judged], again: list[Printed], notes: Mapping[int, tuple[str, Reading | None]]
) -> dict[str, Any]:
    return {
        "place": one.place,
        "sections": list(dict.fromkeys(each.section for each in (one, *again))),
        "line": one.line,
        "again": [each.line for each in again],
        "row": one.row,
        "column": one.column,
        "of": one.of,
        "printed": one.text,
        "parts": [_part(part, notes) for part in parts],
    }


def _part(part: Judged, notes: Mapping[int, tuple[str, Reading | None]]) -> dict[str, Any]:
    return {
        "part": part.part,
        "count": part.numbers,
        "theirs": part.theirs,
        "ours": " to ".join(map(digits, part.ours)),
        "interval": None if part.interval is None else " to ".join(map(digits, part.interval)),
        "verdict": part.verdict,
        "seen": None if part.seen is None else digits(part.seen),
        "seen_share": _share(part),
        "why": part.why,
        **_cause(notes.get(id(part))),
    }


def _share(part: Judged) -> str | None:
    """The difference that would have been seen, in per cent of what is printed; None of ranges and of zero."""
    paper = part.printed.value if part.part == "value" else part.printed.half
    if part.seen is None or part.part == "range" or not paper:
        return None
    return f"{100 * part.seen / abs(paper):.0f} %"


def _claim(one: JudgedClaim, notes: Mapping[int, tuple[str, Reading | None]]) -> dict[str, Any]:
    return {
        "place": one.claim.place,
        "sections": [one.claim.section],
        "line": one.claim.line,
        "words": one.claim.words,
        "rows": list(one.claim.rows),
        "columns": list(one.claim.columns),
        "says": one.claim.says,
        "about": len(one.about),
        "verdict": one.verdict,
        "why": one.why,
        **_cause(notes.get(id(one))),
    }


def _cause(note: tuple[str, Reading | None] | None) -> dict[str, Any]:
    """The letter of its reading, the cause and the experiments that show it; None of what does not differ."""
    if note is None:
        return {"note": None, "cause": None, "shown_by": []}
    letter, reading = note
    return {
        "note": letter,
        "cause": UNEXPLAINED if reading is None else reading.cause,
        "shown_by": [] if reading is None else reading.commands,
    }


def _reading(letter: str, reading: Reading | None, count: int) -> dict[str, Any]:
    return {
        "letter": letter,
        "cause": UNEXPLAINED if reading is None else reading.cause,
        "text": "" if reading is None else reading.text,
        "tex": [] if reading is None else list(reading.tex),
        "commands": [] if reading is None else reading.commands,
        "count": count,
    }


def _differing(studies: Iterable[Mapping[str, Any]]) -> Iterable[tuple[Mapping[str, Any], int]]:
    for study in studies:
        yield from ((part, part["count"]) for one in study["numbers"] for part in one["parts"] if part["cause"])


def _differences(studies: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many printed numbers differ with a cause that an experiment shows, one that is said, or none."""
    counts = Counter({SHOWN: 0, SAID: 0, "not known": 0, UNEXPLAINED: 0})
    for part, count in _differing(studies):
        cause = part["cause"]
        counts[cause if cause in counts else SHOWN if part["shown_by"] else SAID] += count
    return dict(counts)


def _causes(studies: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """How many differences have which cause; the unexplained come last, even where there are none."""
    counts = Counter({cause: 0 for cause in (*CAUSES, UNEXPLAINED)})
    for part, count in _differing(studies):
        counts[part["cause"]] += count
    return [{"cause": cause, "meaning": CAUSES.get(cause, ""), "count": count} for cause, count in counts.items()]


def _verdict(held: Mapping[str, Any], quick: bool) -> str:
    """A study in a line: how many printed numbers have which verdict, and how many claims hold."""
    counts: Counter[str] = Counter()
    for one in held["numbers"]:
        for part in one["parts"]:
            counts[part["verdict"]] += part["count"]
    said = [f"{counts[name]} {name if name != NOT_JUDGED else 'not judged here'}" for name in VERDICTS if counts[name]]
    claims = Counter(one["verdict"] for one in held["claims"])
    words = {"matches": "hold", "differs": "do not hold", "cannot tell": "cannot be told"}
    said += [f"{claims[name]} claims {text}" for name, text in words.items() if claims[name]]
    if quick and counts.total():
        return "not held against the paper in the quick form"
    return "; ".join(said) or "the paper prints no numbers here"


def _table(entries: Sequence[Entry]) -> dict[str, Any]:
    """Rows of cells; None where a row has no number in a column."""
    rows, columns = axes(entries)
    known = {(entry.row, entry.column): _cell(entry) for entry in entries}
    return {
        "columns": columns,
        "rows": [{"name": row, "cells": [known.get((row, column)) for column in columns]} for row in rows],
        "numbers": len(entries),
    }


def _cell(entry: Entry) -> dict[str, str | None]:
    return {
        "ours": entry.verdict if isnan(entry.ours) else digits(entry.ours),
        "interval": f"{digits(entry.low)} to {digits(entry.high)}" if entry.low < entry.high else None,
    }


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
