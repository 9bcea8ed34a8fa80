"""A round of review that goes through files: a table of answers in, the rows to review next out."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biselect.core.csv_text import csv_text, unguarded
from biselect.core.files import write_folder
from biselect.data.labels import NO, YES
from biselect.data.readers import read_table
from biselect.errors import InputError
from biselect.reviews.session import NextRow, ReviewSession

ANSWER = "answer"


@dataclass(frozen=True, kw_only=True)
class Round:
    """What comes after the answers so far.

    Attributes:
        session: with the answers taken.
        rows: to review next.
    """

    session: ReviewSession
    rows: list[NextRow]

    def to_dict(self) -> dict[str, Any]:
        """How many rows were reviewed, how many of them were hits, and the next ones with room for an answer."""
        rows = [{"sample": row.name, "list": row.source, ANSWER: ""} for row in self.rows]
        return {"reviewed": len(self.session.history), "hits": self.session.hits, "next": rows}

    def save(self, folder: str | Path) -> list[Path]:
        """Write next.csv, which can be filled in and given back, and session.json."""
        text = csv_text(self.to_dict()["next"], ["sample", "list", ANSWER])
        return write_folder(folder, {"next.csv": text, "session.json": self.session.to_json()})


def next_round(
    answers: str | Path,
    pool: Any,
    reference: Any,
    *,
    count: int,
    id_column: str | None = None,
    progress: Callable[[str], AbstractContextManager[Any]] = nullcontext,
    **options: Any,
) -> Round:
    """Take the answers of a table and find the rows to review next.

    Args:
        answers: a table with the rows' ids, under the pool's own id column or `sample`, and a column `answer`.
        pool: as `ReviewSession` takes it, and so `reference` and `options`.
        reference: normal rows, or None.
        count: how many rows are wanted.
        id_column: names the rows of the pool.
        progress: gives a context for each named step.
        options: of the session.
    """
    table = read_table(answers)
    named = id_column if id_column in table.column_names else "sample"
    if absent := [name for name in (named, ANSWER) if name not in table.column_names]:
        raise InputError(f"{answers}: the table of answers lacks the column {absent[0]!r}")
    given = read_answers([str(name) for name in table[named].to_pylist()], table[ANSWER].to_pylist())
    with progress("Making the lists to review from"):
        session = ReviewSession(pool, reference, id_column=id_column, **options)
    known = set(session.sample_names)
    session.answer({name if name in known else unguarded(name): answer for name, answer in given.items()})
    with progress("Learning from the answers"):
        return Round(session=session, rows=session.next_rows(count))


def read_answers(names: Sequence[str], answers: Iterable[Any]) -> dict[str, bool]:
    """Answers written as 0/1, true/false, yes/no or ja/nein; empty ones are rows not reviewed yet."""
    meaning = {**dict.fromkeys(YES, True), **dict.fromkeys(NO, False)}
    taken = {}
    for name, answer in zip(names, answers, strict=True):
        text = str("" if answer is None else answer).strip().lower().removesuffix(".0")
        if text in ("", "nan"):
            continue
        if text not in meaning:
            raise InputError(f"row {name!r}: the answer must be 0 or 1, true or false, yes or no, got {answer!r}")
        taken[name] = meaning[text]
    return taken
