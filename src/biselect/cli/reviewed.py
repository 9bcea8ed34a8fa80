"""`biselect select --reviewed`: the rows to review next, given the answers so far."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biselect.cli.console import Steps, out, printable

ANSWER = "answer"
ROLES = "id_column label_column time_column time_format features exclude show per categories dates"
TAKEN = tuple(ROLES.split())
OPTIONS = ("k", "m", "kinds", "map", "missing", "drift", "seed", "time_limit", "reference_until")


def review_on(path: Path, given: Mapping[str, Any], *, folder: Path | None, as_json: bool, steps: Steps) -> None:
    """Take the answers of a table, print the next k rows and write next.csv and session.json.

    Args:
        path: a table with the rows' ids, under the pool's own id column or `sample`, and a column `answer`.
        given: what `select` was given.
        folder: for the files; None to print alone.
        as_json: print JSON instead of a table.
        steps: progress.
    """
    from biselect.core.files import write_folder
    from biselect.data.tables import read_table
    from biselect.errors import InputError
    from biselect.reviews import ReviewSession
    from biselect.reviews.session import read_answers

    table = read_table(path)
    named = given["id_column"] if given["id_column"] in table.column_names else "sample"
    if absent := [name for name in (named, ANSWER) if name not in table.column_names]:
        raise InputError(f"{path}: the table of answers lacks the column {absent[0]!r}")
    names = [str(name) for name in table[named].to_pylist()]
    answers = read_answers(names, table[ANSWER].to_pylist())
    with steps.step("Making the lists to review from"):
        session = ReviewSession(
            given["pool"],
            given["reference"],
            **{name: given[name] for name in OPTIONS},
            **{name: given[name] for name in TAKEN if given[name] is not None},
        )
    session.answer(answers)
    with steps.step("Learning from the answers"):
        following = session.next_rows(given["k"])
    rows = [{"sample": row.name, "list": row.source, ANSWER: ""} for row in following]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=["sample", "list", ANSWER], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    if folder is not None:
        written = write_folder(folder, {"next.csv": text.getvalue(), "session.json": session.to_json()})
        for place in written:
            steps.say(f"wrote {place}")
    if as_json:
        sys.stdout.write(json.dumps({"reviewed": len(session.history), "hits": session.hits, "next": rows}) + "\n")
        return
    console = out()
    console.print(f"{session.hits} of {len(session.history)} reviewed rows were hits. Review next:")
    for row in rows:
        console.print(printable(f"  {row['sample']}  ({row['list']})"))
