"""What the workbench has done in a process of its own, which `python -m biselect.app.jobs` is: read, choose, export.

Jobs come in and news go out as lines of JSON. A job that is stopped is a process that is killed: whatever counts is in
the session's file, and the next process takes it up from there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from queue import Queue
from typing import Any

from biselect.columns.date import DATE_PARTS
from biselect.errors import BiselectError, InputError
from biselect.options import Columns, Split
from biselect.pages.words import phrase
from biselect.progress import Progress
from biselect.sessions import ReviewSession
from biselect.sessions.exports import drift_from_reference, export, turn_to, usual_rows
from biselect.tables import NO_SPLIT, Table, inspect
from biselect.tables.readers.sources import Source

EXPORT = "export"  # folder within the session's
LAST = "the last export"  # in place of a file: what was reviewed before, without what was not fine
ROLES = ("number", "category", "id", "time", "label", "show", "exclude")  # that a person can give a column
DATE_ROLES = ("time", "show", "exclude")  # and a column of dates, whose parts may take part beside it


class Jobs:
    """All jobs, and the tables that were read last."""

    def __init__(self, folder: Path, tell: Callable[..., None]) -> None:
        self.folder, self.tell = folder, tell
        self._session: ReviewSession | None = None
        self._inspected: tuple[Any, Table] | None = None

    def do(self, number: int, job: str, given: dict[str, Any]) -> None:
        """Do a job and tell its result, or why there is none."""
        try:
            self.tell(number=number, result=getattr(self, job)(**given))
        except (BiselectError, MemoryError, OSError) as error:
            self.tell(number=number, error=str(error) or type(error).__name__)
        except Exception as error:  # a fault of ours: the page says so, the terminal shows where
            traceback.print_exc()
            self.tell(number=number, error=phrase("bench.fault", error=type(error).__name__))

    @contextmanager
    def step(self, name: str) -> Iterator[Progress]:
        """Tell the name of a step, and how far it is."""
        self.tell(step=name, done=None)
        yield lambda done, _: self.tell(step=name, done=round(min(1.0, max(0.0, done)), 3) if done == done else None)

    def inspect(self, table: str) -> dict[str, Any]:
        """What a table holds, with the role that each column would have."""
        found = self._inspection(table)
        content = found.to_dict()
        for known in content["columns"]:
            known["given"], known["parts"] = _role(known, found.guess.described), _parts(known)
            known["roles"] = DATE_ROLES if known["parts"] else ROLES
        content["remarks"] = [text for text, _ in found.guess.notes]  # nobody types options here
        return {
            name: content[name]
            for name in ("rows", "read_as", "columns", "remarks", "options", "id_column", "repeated_ids")
        }

    def choose(self, setup: dict[str, Any], m: int | None, who: str, when: str) -> None:
        """Begin with tables."""
        self._session = None
        told: dict[str, Any] = {"who": who, "when": when, "progress": self.step}
        self._session = ReviewSession(**self._tables(setup), folder=self.folder, m=m, **told)

    def drift(self, table: str) -> dict[str, Any]:
        """How far a new export has moved from the reference in use."""
        found = drift_from_reference(self._opened(), self._path(table), progress=self.step)
        changes = [change for point in found["points"] for change in point["changes"] if change["alarm"]]
        changes.sort(key=lambda change: change["adjusted_p"])
        return {"verdict": found["verdict"], "crossed": found["crossed"], "changes": changes[:20]}

    def turn(self, table: str, reference: str, who: str, when: str) -> None:
        """Go on with a new export: with the reference in use, with the last export, or with another file."""
        from_last = reference == LAST
        given = self._path(reference) if reference and not from_last else None
        told: dict[str, Any] = {"who": who, "when": when, "progress": self.step}
        self._session = turn_to(self._opened(), self._path(table), given, from_last=from_last, **told)

    def next(self, who: str, unlike: bool, row: int | None) -> dict[str, Any]:
        """The row that somebody is to look at now; None if no row is open."""
        session = self._opened()
        last = session.standing.last
        queued = session.next_row(who, unlike=unlike) if row is None else session.look_at(row, who)
        row_data = None if queued is None else queued.to_dict()
        return {"row": row_data, "choice": session.choice, "last": last, "moved": session.moved()}

    def export(self) -> list[str]:
        """Answers, pages and proof as files."""
        written = export(self._opened(), self.folder / EXPORT, progress=self.step)
        return [path.relative_to(self.folder / EXPORT).as_posix() for path in written]

    def _opened(self) -> ReviewSession:
        """The session with the tables that it was last about; read again where another process turned to others."""
        if self._session is None or self._session.choice != self._session.file.present():
            self._session = ReviewSession.open(self.folder, progress=self.step)
        return self._session

    def _inspection(self, table: str) -> Table:
        path = self._path(table)
        key = (table, Source.of(path).path.stat().st_mtime_ns)
        if self._inspected is None or self._inspected[0] != key:
            with self.step(phrase("steps.reading", name=table)):
                self._inspected = key, inspect(path)
        return self._inspected[1]

    def _tables(self, setup: dict[str, Any]) -> dict[str, Any]:
        """Pool, reference and roles as the library takes them."""
        found = self._inspection(setup["table"])
        if wrong := [name for name in (*setup["roles"], *setup["parts"]) if name not in found.guess.roles]:
            raise InputError(f"there is no column {wrong[0]!r}")
        columns = found.with_roles(setup["roles"]).columns
        types = {name: f"date:{','.join(parts)}" for name, parts in setup["parts"].items()}
        columns = replace(columns, types={**columns.types, **types})
        if setup["kept"]:
            named = columns.id or next((one.name for one in found.guess.columns if one.repeats), None)
            columns = replace(columns, id=named, duplicates=setup["kept"])
        table = replace(found, columns=columns)
        if setup["until"]:
            return {"pool": table, "split": Split(until=setup["until"])}
        if setup["reference"] == LAST:
            return {"pool": table, "reference": usual_rows(self._opened())}
        if not setup["reference"]:
            return {"pool": table, "split": Split(until=NO_SPLIT)}
        return {"pool": table, "reference": self._path(setup["reference"])}

    def _path(self, table: str) -> Path:
        """A table of the folder; the server has looked its name up there."""
        return self.folder / table


def _role(column: dict[str, Any], described: Columns) -> str:
    """Which of ROLES a column has."""
    if column["role"] in ROLES:
        return str(column["role"])
    if column["role"] == "constant":  # here; it may vary in what the table is compared with
        return "category" if column["type"] == "string" else "number"
    if column["role"] in ("code", "flag"):
        return "category"
    return "show" if column["name"] in described.show else "exclude"


def _parts(column: dict[str, Any]) -> tuple[str, ...]:
    """Which parts of a column of dates can take part; none of others."""
    if not column["type"].startswith(("timestamp", "date")):
        return ()
    return DATE_PARTS if any(":" in one for one in column["examples"]) else ("weekday", "gap")


def main() -> None:
    """Work off jobs until whoever sends them is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the server, and that ends this
    news = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints, prints elsewhere
    lock = threading.Lock()

    def tell(**told: Any) -> None:
        with lock:
            news.write(json.dumps(told) + "\n")
            news.flush()

    asked: Queue[str] = Queue()

    def listen() -> None:
        for line in sys.stdin:
            asked.put(line)
        os._exit(0)

    jobs = Jobs(Path(sys.argv[1]), tell)
    threading.Thread(target=listen, daemon=True).start()
    while True:
        wanted = asked.get()
        while not asked.empty():  # whoever asks for more has given up what he asked for before
            wanted = asked.get()
        jobs.do(**json.loads(wanted))


if __name__ == "__main__":
    main()
