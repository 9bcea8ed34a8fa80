"""ReviewSession: which row to review next, made anew after every answer; kept in a folder where one is given."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np

from biselect._version import __version__
from biselect.core.untrusted import refused_as
from biselect.errors import InputError
from biselect.options import Columns, Csv, Kinds, Options, Search, Split, Weighing, non_defaults, refuse_others
from biselect.pages.words import phrase
from biselect.progress import Steps, steps_of
from biselect.reviews.reasons import Part, Reasons, reasons_of, shown_value, values_of
from biselect.sessions._earlier_answers import Taught, cells_of, scales_of, taught_before
from biselect.sessions._question import features_of, find_question, fingerprint, open_tables
from biselect.sessions._tally import Ahead, Found, found_so_far, hits_ahead, labels_down
from biselect.sessions.queue import POLICY, Queue, Traits
from biselect.sessions.store import (
    FINE,
    NOT_FINE,
    UNSURE,
    VERDICTS,
    GivenAnswer,
    SessionFile,
    ShownRow,
    Standing,
    Withdrawal,
)
from biselect.tables import NamedMatrix, Table, entry_as_text, provenance, tables_of
from biselect.tables.readers.sources import PART, Source
from biselect.weights.maps import map_name
from biselect.weights.paper import Form
from biselect.weights.weighed_tables import WeighedTables

NEAR_ROWS, NEAR_ANSWERS = 3, 2  # reference rows and answered rows that a row is held against
READ_AHEAD = 200  # rows whose records are read together: reading one takes as long


@dataclass(frozen=True, kw_only=True)
class QueuedRow:
    """A row to review.

    Attributes:
        row: its position in the pool.
        name: its id.
        plain_rank: its place in the order before any answer, from 1.
        score: the score that `select` gives it.
        learnt: what the answers add; its place in the queue is by the sum of both.
        why: in words, why it comes now.
        kind: the kind of unusual that it belongs to; empty for none.
        parts: what each column adds to the score.
        record: the row as it stands in its table.
        similar: the ordinary reference rows most like it, the nearest first, as texts by column.
        answered: the answered rows most like it: name, verdict, and texts by column.
        pictures: for the column of each reason, how the reference spreads and where this row lies.
    """

    row: int
    name: str
    plain_rank: int
    score: float
    learnt: float
    why: str
    kind: str
    parts: tuple[Part, ...]
    record: Mapping[str, str]
    similar: tuple[Mapping[str, str], ...]
    answered: tuple[Mapping[str, Any], ...]
    pictures: Mapping[str, Any]

    @property
    def reasons(self) -> list[Part]:
        """The parts that are unusual, the largest first."""
        return reasons_of(self.parts)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, with what is told of each part."""
        told = {one.column for one in self.reasons}
        parts = [{**part.to_dict(), "is_reason": part.column in told} for part in self.parts]
        return {**asdict(self), "parts": parts}


class ReviewSession:
    """A review, row by row: ask for the next row, answer it, ask again.

    Every answer makes the order of the open rows anew, by the score that `select` gives them and what the answers
    taught about rows like them. Equal tables, options and answers give equal orders, whatever the order in which the
    answers came; each of them can be changed or taken back.

    With a `folder` the session is the file review.sqlite in it: whatever ends the process, `ReviewSession.open` goes
    on after the last answer. Several people can review at once: a row that one of them has open is not handed to
    another. The same tables and options go on where that file ends; others, such as the next day's export, begin a
    further choice in it. What was answered before about tables with the same columns counts there from the first row
    on, and a record that was answered and has not changed does not come again.

    Args:
        pool: rows to review, as `biselect.review` takes them. Of a table that no memory holds, the rows that stand out
            most are reviewed.
        reference: normal rows, or None, as for `biselect.review`.
        folder: where the session is kept; None for in memory alone.
        k: how many rows the answer has whose columns count; None for the usual number.
        m: how many columns; None for the usual number.
        split: where to split `pool`.
        weighing: what counts as unusual, as for `biselect.review`, without scores of rows.
        kinds: how many kinds of unusual are named; 5 unless given.
        search: its seed; and its time limit, 10 seconds for each kind unless given.
        who: whoever begins, as they want to be called, and so `when`; both are only kept.
        when: see `who`.
        progress: as for `biselect.review`.

    >>> from biselect.options import Kinds
    >>> rng = np.random.default_rng(0)
    >>> pool = rng.normal(size=(200, 8))
    >>> pool[:12, 2:5] += 3
    >>> session = ReviewSession(pool, rng.normal(size=(500, 8)), k=10, m=3, kinds=Kinds(kinds=2))
    >>> queued = session.next_row()
    >>> queued.row < 12, queued.why
    (True, 'highest score left')
    >>> session.answer(queued, "not fine")
    >>> session.hits, session.next_row().row == queued.row
    (1, False)
    """

    def __init__(
        self,
        pool: Any,
        reference: Any = None,
        *,
        folder: str | Path | None = None,
        k: int | None = None,
        m: int | None = None,
        split: Split = Split(),
        weighing: Weighing = Weighing(),
        kinds: Kinds = Kinds(),
        search: Search = Search(),
        who: str = "",
        when: str = "",
        progress: Steps | bool | None = None,
    ) -> None:
        refuse_others(split, "until")
        refuse_others(weighing, "preset", "map", "cap", "missing", "drift")
        refuse_others(kinds, "kinds")
        refuse_others(search, "seed", "time_limit")
        step, file, seed = steps_of(progress), SessionFile(folder), search.seed
        table, reference = tables_of(pool, reference)
        form = Form.of(weighing, kinds)
        if not isinstance(form.map, str):
            raise InputError(f"a session stores its map by name, and {map_name(form.map)} has none; register it")
        tables = open_tables(table, reference, weighing, split=split, seed=seed, k=k, m=m, step=step)
        rows, columns = tables.scoring.rows, len(tables.weighed.names)
        options = {"k": tables.scoring.k, "m": tables.scoring.m, "kinds": form.kinds, "seed": seed}
        identity = {
            "options": options,
            "weighing": _plain(weighing),
            "reference_until": tables.pool.until,
            "columns": _plain(table.columns),
            "csv": _plain(table.csv),
            "fingerprint": fingerprint(tables),
        }
        for number, record in reversed(list(enumerate(file.choices()))):
            if all(record.get(name) == value for name, value in identity.items()):
                file.take_up(number)
                self._set(file, number, record, tables, (table, reference))
                return
        question = find_question(tables, form.kinds, seed, search.time_limit, step)
        scores = tables.scoring.pool_scores(features_of(question, tables))
        begun = {**identity, "after": file.last_answer()}
        taught = taught_before(file, len(file.choices()), begun, tables)
        record = {
            **begun,
            **question,
            **{
                name: _kept_path(source, file.folder)
                for name, source in (("pool", table.source), ("reference", reference))
            },
            "wanted": {"k": k, "m": m},
            "taught": {"rows": len(taught.hits), "again": len(taught.again), "changed": len(taught.changed)},
            "inputs": provenance("", seed, [one for one in (table.source, reference) if one is not None])["inputs"],
            "sizes": {
                "pool": rows,
                "held": len(tables.weighed),
                "reference": tables.weigher.facts.reference_rows,
                "columns": columns,
            },
            "labels": labels_down(tables.pool.labels, scores) if rows == len(tables.weighed) else None,
            "moved": [tables.raw.names[one.position] for one in tables.moved],
            "scales": scales_of(tables),
            "policy": POLICY,
            "versions": {
                **{name: version(name) for name in ("numpy", "scikit-learn")},
                **{"biselect": __version__, "python": platform.python_version()},
            },
            "who": who,
            "when": when,
        }
        self._set(file, file.add_choice(record), record, tables, (table, reference))

    @classmethod
    def open(
        cls, folder: str | Path, pool: Any = None, reference: Any = None, *, progress: Steps | bool | None = None
    ) -> Self:
        """Go on with the session of a folder, with the tables that it was last about.

        Tables that were files are found again; `pool` and `reference` are for those that were not. Answers that were
        given under an older policy teach as before; rows come in the order of the present one.
        """
        file = SessionFile(folder, must_exist=True)
        number = file.present()
        record = file.choices()[number]
        session = cls.__new__(cls)
        with refused_as(f"{file.path}: its choice {number + 1} cannot be used"):
            source = _found_again("pool", pool, record, file)
            reference = _found_again("reference", reference, record, file)
            table = Table(source, Columns(**record["columns"]), Csv(**record["csv"]))
            options, split = record["options"], Split(until=record["reference_until"])
            tables = open_tables(
                table,
                reference,
                Weighing(**record["weighing"]),
                split=split,
                seed=options["seed"],
                k=options["k"],
                m=options["m"],
                step=steps_of(progress),
            )
            if fingerprint(tables) != record["fingerprint"]:
                raise InputError(
                    f"{file.path}: {_named(record)} not as when rows were chosen; bring back the files of then, "
                    "or set up what is there as a new export"
                )
            session._set(file, number, record, tables, (table, reference))
        return session

    def _set(
        self,
        file: SessionFile,
        choice: int,
        record: Mapping[str, Any],
        tables: WeighedTables,
        sources: tuple[Table, Any],
    ) -> None:
        self.file, self.choice, self.record, self.tables, self.sources = file, choice, record, tables, sources
        self.sample_names = tables.pool.sample_names
        self._position = {name: row for row, name in enumerate(self.sample_names)}
        self._features = features_of(record, tables)
        self.taught = taught_before(file, choice, record, tables)
        self._queue = Queue(
            tables.scoring, self._features, _traits(tables, self._features, self.taught), self.taught.hits
        )
        self._ranks = np.empty(len(self.sample_names), dtype=np.int64)
        self._ranks[np.argsort(-self._queue.scores, kind="stable")] = np.arange(1, len(self.sample_names) + 1)
        self._reasons = Reasons(scoring=tables.scoring, raw=tables.raw if tables.moved else None)
        self._records: dict[int, Mapping[str, str]] = {}

    @property
    def standing(self) -> Standing:
        """All answers about these tables, as they are stored now."""
        return self.file.standing(self.choice)

    @property
    def answers(self) -> dict[int, GivenAnswer]:
        """What holds for each answered row, by its position."""
        return self.standing.latest()

    @property
    def hits(self) -> int:
        """How many reviewed rows were not fine: what is looked for."""
        return sum(answer.verdict == NOT_FINE for answer in self.answers.values())

    @property
    def found(self) -> Found:
        """What was found so far, beside chance and beside going down the plain ranking."""
        return found_so_far(self.standing, self.file.shown(self.choice, whole=False), self.record)

    def ahead(self, rows: int = 20) -> Ahead:
        """What the next rows are expected to hold, and whether it is time to stop."""
        left = len(self._learn().ranking(self.taught.again))
        verdicts = [answer.verdict for answer in self.answers.values() if answer.verdict != UNSURE]
        return hits_ahead([verdict == NOT_FINE for verdict in verdicts], min(rows, left))

    def next_row(self, who: str = "", *, unlike: bool = False) -> QueuedRow | None:
        """The row to review now; None if no row is open.

        It stays with this person until they answer it, ask for something else, or ten minutes have passed; whoever
        asks again meanwhile gets the same row.

        Args:
            who: tells people apart who review at once.
            unlike: let go of the row, and take the highest one that is like no answered row.
        """
        while True:
            held, standing = self.file.held(self.choice), self.standing
            queue = self._learn(standing)
            own = [row for row, holder in held.items() if holder == who]
            others = held.keys() - own
            ranking = queue.ranking({*others, *self.taught.again, *(own if unlike else ())})
            if unlike:
                alien = {*queue.rows[queue.unlike(own)].tolist()}
                ranking = [row for row in ranking if row in alien] or ranking
            elif own:
                ranking = own
            if not ranking:
                return None
            if self.file.hold(self.choice, ranking[0], who, standing.last):
                return self._show(ranking[:1])[0]

    def look_at(self, key: Any, who: str = "") -> QueuedRow:
        """A row by position or by name, whatever its place; it stays with this person as for `next_row`.

        Raises:
            InputError: somebody else has it open.
        """
        row, standing = self.row_of(key), self.standing
        if row not in standing.latest() and not self.file.hold(self.choice, row, who, standing.last):
            raise InputError(f"somebody else is looking at {self.sample_names[row]}")
        return self._show([row])[0]

    def moved(self) -> int:
        """How many open rows are like the one that was answered last, and move with it."""
        queue, answers = self._learn(), self.answers
        last = max(answers, key=lambda row: answers[row].number, default=None)
        return 0 if last is None else queue.open_like(last)

    def queue(self, count: int = 20) -> list[QueuedRow]:
        """The open rows as they would come now, the next one first; nobody is asked anything yet."""
        return self._described(self._learn().ranking(self.taught.again)[: _count(count)])

    def next_rows(self, count: int = 20, who: str = "") -> list[QueuedRow]:
        """Rows to review together, as in a spreadsheet, the highest first; fewer if few are open.

        Asked again before any answer, they are the same. Rows that others look at now are left out.
        """
        others = {row for row, holder in self.file.held(self.choice).items() if holder != who}
        return self._show(self._learn().ranking({*others, *self.taught.again})[: _count(count)])

    def answer(
        self,
        answers: Mapping[Any, bool | str | None] | QueuedRow | int | str,
        verdict: bool | str | None = "",
        *,
        note: str | Mapping[Any, str | None] | None = None,
        who: str = "",
        when: str = "",
        after: int | None = None,
    ) -> None:
        """Take answers, by position or by name: `fine`, `not fine` or `unsure`; or False, True or None for the same.

        `answer(row, verdict)` says one, `answer({row: verdict, …})` several. A later answer about a row replaces the
        earlier one. Rows need not be those that were asked for.

        Args:
            answers: for each row what was found; or one row.
            verdict: what was found there.
            note: kept with each of them, or one by row; None to keep what an earlier answer said.
            who: as they want to be called.
            when: in whatever words.
            after: number of the last answer that the person knew of: a row that was answered since is refused, and
                with it all others. None to replace whatever stands.
        """
        if not isinstance(answers, Mapping):
            answers = {answers.row if isinstance(answers, QueuedRow) else answers: verdict}
        notes = note if isinstance(note, Mapping) else dict.fromkeys(answers, note)
        given = {self.row_of(key): (_verdict(key, answer), notes.get(key)) for key, answer in answers.items()}
        known = self.file.shown(self.choice, whole=False)
        rows = self._stored([row for row in given if row not in known])
        self.file.add_answers(self.choice, given, who=who, when=when, rows=rows, after=after)

    def undo(self, *, who: str = "", when: str = "") -> Withdrawal | None:
        """Take the last answer back; returns the row, what was said of it and what holds now; None if there is none.

        Args:
            who: takes back an answer of their own; the last of all if nobody is named.
            when: in whatever words.
        """
        return self.file.undo(self.choice, who=who, when=when)

    def row_of(self, key: Any) -> int:
        """The position of a row in the pool, by position or by name."""
        if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < len(self.sample_names):
            return int(key)
        if key in self._position:
            return self._position[key]
        raise InputError(f"there is no row {key!r} in the pool")

    def _learn(self, standing: Standing | None = None) -> Queue:
        """The queue, in the order that follows from all answers, those of now unless others are given."""
        latest = (self.standing if standing is None else standing).latest()
        self._queue.learn({row: answer.verdict for row, answer in latest.items()})
        return self._queue

    def _show(self, rows: Sequence[int]) -> list[QueuedRow]:
        """Rows as they are put before a person, which is kept."""
        described = self._described(rows)
        self.file.show(self.choice, self._stored(rows, described))
        return described

    def _stored(self, rows: Sequence[int], described: Sequence[QueuedRow] | None = None) -> list[ShownRow]:
        described = self._described(rows) if described is None else described
        return [
            ShownRow(row=one.row, name=one.name, plain_rank=one.plain_rank, record={**one.to_dict(), "cells": cells})
            for one, cells in zip(described, cells_of(self.tables, rows), strict=True)
        ]

    def _described(self, rows: Sequence[int]) -> list[QueuedRow]:
        """Rows with all that is told of them."""
        if not rows:
            return []
        queue, samples = self._learn(), np.asarray(rows, dtype=np.int64)
        scoring, answers = self.tables.scoring, self.answers
        similar = scoring.similar(samples, self._features)[:, :NEAR_ROWS]
        parts = self._reasons.parts(samples, self._features)
        described = []
        for row, own, near in zip(rows, parts, similar, strict=True):
            known = queue.alike(row)[0][:NEAR_ANSWERS]
            described.append(
                QueuedRow(
                    row=row,
                    name=self.sample_names[row],
                    plain_rank=int(self._ranks[row]),
                    score=float(queue.scores[row]),
                    learnt=queue.learnt(row),
                    why=self._why(row, {*answers}),
                    kind=self._kind(row)[1],
                    parts=tuple(own),
                    record=self._record(row),
                    pictures={part.column: self._picture(part) for part in reasons_of(own)},
                    similar=tuple(self._texts(scoring.weigher.sample.rows, near)),
                    answered=tuple(
                        {"name": self.sample_names[one], "verdict": answers[one].verdict, "record": texts}
                        for one, texts in zip(known, self._texts(scoring.pool.cells.rows, known), strict=True)
                    ),
                )
            )
        return described

    def _picture(self, part: Part) -> dict[str, Any]:
        weigher = self.tables.weigher
        column = weigher.columns[weigher.feature_names.index(part.column)]
        return {**column.type.picture(column), "chosen": [part.value]}

    def _kind(self, row: int) -> tuple[int, str]:
        """Number and name of the kind that a row belongs to; 0 for none."""
        kinds = enumerate(self.record["kinds"], 1)
        return next(((number, kind["name"]) for number, kind in kinds if row in kind["rows"]), (0, ""))

    def _why(self, row: int, answered: set[int]) -> str:
        """Why a row comes now, in words."""
        if row in self.taught.changed:
            return phrase("queue.changed", verdict=self.taught.changed[row])
        number, _ = self._kind(row)
        first = number and not answered.intersection(self.record["kinds"][number - 1]["rows"])
        reason, hits, misses = self._queue.why(row)
        likes = [phrase(f"queue.{name}", n=n) for name, n in (("not_fine", hits), ("fine", misses)) if n]
        if reason == "like":
            return phrase("queue.like", rows=phrase("queue.and").join(likes))
        if reason == "somewhat":
            return phrase("queue.somewhat")
        if first and number > 1:
            return phrase("queue.kind", number=number)
        return phrase("queue.highest_though", rows=likes[0]) if likes else phrase("queue.highest")

    def _record(self, row: int) -> Mapping[str, str]:
        """A row as it stands in its table; those that come after it are read together with it."""
        if row not in self._records:
            after = [one for one in self._queue.ranking() if one not in self._records and one != row]
            rows, pool = [row, *after[: READ_AHEAD - 1]], self.tables.pool
            try:
                texts = pool.records(rows)
            except InputError:  # of a large table, of which some rows are held
                texts = []
            label = pool.columns.label or ""  # is counted, and told to nobody who reviews
            for one, record in zip(rows, texts or _columns_in_use(self.tables, rows), strict=True):
                self._records[one] = {
                    name: text for name, text in record.items() if name not in (label, label.partition("=")[0])
                }
        return self._records[row]

    def _texts(self, matrix: NamedMatrix, rows: Any) -> list[dict[str, str]]:
        """Rows as a person reads them, by column."""
        at, decimals = np.asarray(rows, dtype=np.int64), self._reasons.decimals
        columns = [
            [shown_value(value, decimals[j]) for value in values_of(matrix, j, at)] for j in range(len(matrix.names))
        ]
        return [dict(zip(matrix.names, texts, strict=True)) for texts in zip(*columns, strict=True)]


def _columns_in_use(tables: WeighedTables, rows: Sequence[int]) -> list[dict[str, str]]:
    """Rows of a pool that stands in no file: their ids, what is shown beside them, and their columns in use."""
    pool = tables.pool
    table = pool.candidates.take(rows)
    named = {} if tables.id_column is None else {tables.id_column: pool.sample_names}
    columns = {name: [entries[row] for row in rows] for name, entries in {**named, **pool.shown}.items()}
    columns |= {name: list(map(entry_as_text, table[name].to_pylist())) for name in table.column_names}
    return [dict(zip(columns, texts, strict=True)) for texts in zip(*columns.values(), strict=True)]


def _traits(tables: WeighedTables, features: Any, taught: Taught) -> Traits | None:
    """What rows of earlier tables are compared by; None if there are none."""
    some = [Traits.of_others(tables.scoring, features, tables.weigher.cells(rows)) for rows in taught.rows]
    return Traits.concatenate(some) if some else None


def _count(count: int) -> int:
    if count < 1:
        raise InputError(f"count must be 1 or more, got {count}")
    return count


def _verdict(key: Any, answer: Any) -> str:
    if answer is None:
        return UNSURE
    if isinstance(answer, str) and answer in VERDICTS:
        return answer
    if isinstance(answer, bool | np.bool_ | int | np.integer) and answer in (0, 1):
        return NOT_FINE if answer else FINE
    raise InputError(f"an answer is one of {', '.join(VERDICTS)}, or true or false; got {answer!r} for row {key!r}")


def _plain(options: Options) -> dict[str, Any]:
    """Options that were set, as they can be stored."""
    return {
        name: [str(one) for one in value] if isinstance(value, list | tuple | set) else value
        for name, value in non_defaults(options).items()
    }


def _kept_path(source: Any, folder: Path | None) -> str | None:
    """Where a table lies: within the session's folder by its name there, so that the folder can be moved."""
    if not isinstance(source, str | Path):
        return None
    found = Source.of(source)
    place = found.path.resolve()
    if folder is not None and place.is_relative_to(folder.resolve()):
        place = place.relative_to(folder.resolve())
    return str(place) if found.part is None else f"{place}{PART}{found.part}"


def _named(record: Mapping[str, Any]) -> str:
    """The tables of a choice, as the subject of a sentence."""
    names = [str(record[name]) for name in ("pool", "reference") if record[name] is not None]
    return f"{' or '.join(names)} is" if names else "its tables are"


def _found_again(what: str, given: Any, record: Mapping[str, Any], file: SessionFile) -> Any:
    if given is not None:
        return given
    if (kept := record[what]) is not None:
        return f"{file.folder}/{kept}" if not Path(kept).is_absolute() else kept
    if what == "reference" and record["reference_until"] is not None:
        return None
    raise InputError(f"{file.path}: the {what} was no file; give it again, ReviewSession.open(folder, pool, reference)")
