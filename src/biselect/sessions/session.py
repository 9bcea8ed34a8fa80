"""ReviewSession: which rows to review next, learning from the answers so far; kept in a folder where one is given."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from biselect._version import __version__
from biselect.core.untrusted import refused_as
from biselect.errors import InputError
from biselect.options import Columns, Csv, Kinds, Options, Search, Split, Weighing, non_defaults, refuse_others
from biselect.pages.words import phrase
from biselect.progress import Steps, steps_of
from biselect.reviews.kinds import find_kinds
from biselect.reviews.reasons import Reasons
from biselect.sessions._earlier_answers import Taught, cells_of, scales_of, taught_before
from biselect.sessions._tally import RoundFound, found_so_far, labels_down
from biselect.sessions.queue import LEARNER, OVERALL, Reviewed, RowList, learned_scores, lists_of, next_source
from biselect.sessions.store import (
    FINE,
    NOT_FINE,
    UNSURE,
    VERDICTS,
    AskedRow,
    Round,
    SessionFile,
    Standing,
    Withdrawal,
)
from biselect.solvers import solve
from biselect.tables import Table, entry_as_text, provenance, tables_of
from biselect.tables.readers.sources import PART, Source
from biselect.weights.maps import map_name
from biselect.weights.paper import Form
from biselect.weights.weighed_tables import WeighedTables

ROWS, COLUMNS = 12, 4  # of a kind, where the table is large enough
MOST_REASONS = 4  # columns that a row is shown with
LIST_SECONDS = 5.0  # for each kind: a list to go down needs no proof
ROW_SHARE, COLUMN_SHARE = 5, 3  # and at most one part in so many of a small table


@dataclass(frozen=True, kw_only=True)
class Replay:
    """A session gone through again, from its tables and answers.

    Attributes:
        same: whether every round holds the rows that it held.
        differing: numbers of the rounds that do not.
        choices: the rows of each round as they were chosen now, one line each.
        taken: lists that were not proven and so taken as stored: how far a search comes depends on the machine.
    """

    same: bool
    differing: tuple[int, ...]
    choices: str
    taken: tuple[str, ...]


class ReviewSession:
    """Rounds of review: ask for rows, give the answers, ask again.

    Rows come from one list for each kind of unusual, from an overall ranking (isolation forest, nearest neighbours and
    the sum of all weights) and, once both answers were given, from a learner on all columns. Lists take turns until
    both answers were given, a list goes on while it hits, and the learner follows a miss. Equal tables, options and
    answers give equal rows. A reviewed row never comes again. Answers reach nothing but this choice: weights, kinds
    and the overall ranking are made without them.

    With a `folder` the session is the file review.sqlite in it: whatever ends the process, `ReviewSession.open` goes
    on after the last answer, and two processes on one folder agree. The same tables and options go on where that file
    ends; others, such as the next day's export, begin a further choice in it. What was answered before about tables
    with the same columns counts there from the first round on, and a record that was answered and has not changed
    does not come again.

    Args:
        pool: rows to review, as `biselect.review` takes them.
        reference: normal rows; or None to split `pool` in time.
        folder: where the session is kept; None for in memory alone.
        k: rows of a kind; None for 12, fewer in a small pool.
        m: columns of a kind; None for 4, fewer in a narrow table.
        split: where to split `pool`.
        weighing: what counts as unusual, as for `biselect.review`, without scores of rows.
        kinds: how many kinds to look for; 5 unless given.
        search: its seed; and its time limit, 5 seconds for each kind unless given: what is not proven by then is still
            a good list.
        who: whoever begins, as they want to be called, and so `when`; both are only kept.
        when: see `who`.
        progress: as for `biselect.review`.

    >>> from biselect.options import Kinds
    >>> rng = np.random.default_rng(0)
    >>> pool = rng.normal(size=(200, 8))
    >>> pool[:12, 2:5] += 3
    >>> session = ReviewSession(pool, rng.normal(size=(500, 8)), k=10, m=3, kinds=Kinds(kinds=2))
    >>> [asked] = session.next_rows()
    >>> asked.source, asked.row < 12
    ('high 2, 3, 4 together', True)
    >>> session.answer({asked.row: "not fine"})
    >>> session.hits
    1
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
        step, file = steps_of(progress), SessionFile(folder)
        table, reference = tables_of(pool, reference)
        form = Form.of(weighing, kinds)
        if not isinstance(form.map, str):
            raise InputError(f"a session stores its map by name, and {map_name(form.map)} has none; register it")
        tables = WeighedTables.read(table, reference, form, seed=search.seed, step=step, split=split)
        rows, columns = tables.weighed.values.shape
        options = {
            "k": k or max(1, min(ROWS, rows // ROW_SHARE)),
            "m": m or max(1, min(COLUMNS, columns // COLUMN_SHARE)),
            "kinds": form.kinds,
            "seed": search.seed,
        }
        identity = {
            "options": options,
            "weighing": _plain(weighing),
            "reference_until": tables.pool.until,
            "columns": _plain(table.columns),
            "csv": _plain(table.csv),
            "fingerprint": _fingerprint(tables),
        }
        for number, record in reversed(list(enumerate(file.choices()))):
            if all(record.get(name) == value for name, value in identity.items()):
                file.take_up(number)
                taught = taught_before(file, number, record, tables)
                self._set(file, number, record, tables, file.lists(number), taught, (table, reference))
                return
        lists = _make_lists(tables, options, search.time_limit, step)
        begun = {**identity, "after": file.last_answer()}
        taught = taught_before(file, len(file.choices()), begun, tables)
        record = {
            **begun,
            **{
                name: _kept_path(source, file.folder)
                for name, source in (("pool", table.source), ("reference", reference))
            },
            "wanted": {"k": k, "m": m},
            "taught": {"rows": len(taught.hits), "again": len(taught.again)},
            "inputs": provenance("", search.seed, [one for one in (table.source, reference) if one is not None])[
                "inputs"
            ],
            "sizes": {"pool": rows, "reference": tables.weigher.facts.reference_rows, "columns": columns},
            "labels": labels_down(tables.pool.labels, lists[-1].scores),
            "moved": [tables.raw.names[one.position] for one in tables.moved],
            "scales": scales_of(tables),
            "versions": {
                **{name: version(name) for name in ("numpy", "scikit-learn")},
                **{"biselect": __version__, "python": platform.python_version()},
            },
            "who": who,
            "when": when,
        }
        self._set(file, file.add_choice(record, lists), record, tables, lists, taught, (table, reference))

    @classmethod
    def open(
        cls, folder: str | Path, pool: Any = None, reference: Any = None, *, progress: Steps | bool | None = None
    ) -> Self:
        """Go on with the session of a folder, with the tables that it was last about.

        Tables that were files are found again; `pool` and `reference` are for those that were not.
        """
        file = SessionFile(folder, must_exist=True)
        number = file.present()
        record = file.choices()[number]
        session = cls.__new__(cls)
        with refused_as(f"{file.path}: its choice {number + 1} cannot be used"):
            source = _found_again("pool", pool, record, file)
            reference = _found_again("reference", reference, record, file)
            table = Table(source, Columns(**record["columns"]), Csv(**record["csv"]))
            form = Form.of(Weighing(**record["weighing"]))
            split, seed = Split(until=record["reference_until"]), record["options"]["seed"]
            step = steps_of(progress)
            tables = WeighedTables.read(table, reference, form, seed=seed, step=step, split=split)
            if _fingerprint(tables) != record["fingerprint"]:
                raise InputError(
                    f"{file.path}: {_named(record)} not as when rows were chosen; bring back the files of then, "
                    "or set up what is there as a new export"
                )
            taught = taught_before(file, number, record, tables)
            session._set(file, number, record, tables, file.lists(number), taught, (table, reference))
        return session

    def _set(
        self,
        file: SessionFile,
        choice: int,
        record: Mapping[str, Any],
        tables: WeighedTables,
        lists: tuple[RowList, ...],
        taught: Taught,
        sources: tuple[Table, Any],
    ) -> None:
        names = tables.pool.sample_names
        if not lists or lists[-1].name != OVERALL or any(one.scores.shape != (len(names),) for one in lists):
            raise InputError(f"{file.path}: its lists do not fit its tables; the file was changed")
        self.file, self.choice, self.record, self.lists = file, choice, record, lists
        self.tables = tables.scored(record["options"]["k"], record["options"]["m"])
        self.sources, self.sample_names = sources, names
        self._position = {name: row for row, name in enumerate(names)}
        self.taught = taught
        self._fitted: tuple[tuple[Reviewed, ...], NDArray[np.float64]] | None = None

    @property
    def standing(self) -> Standing:
        """All rounds and answers about these tables, as they are stored now."""
        return self.file.standing(self.choice)

    @property
    def history(self) -> tuple[Reviewed, ...]:
        """What was decided, in the order in which rows were asked for; rows that nobody is sure of are left out."""
        return history_of(self.standing)[0]

    @property
    def hits(self) -> int:
        """How many reviewed rows were not fine: what is looked for."""
        return sum(answer.hit for answer in self.history)

    @property
    def open_rows(self) -> list[AskedRow]:
        """The rows of the present round that have no answer yet."""
        standing = self.standing
        latest = standing.latest()
        return [] if not standing.rounds else [row for row in standing.rounds[-1].rows if row.row not in latest]

    @property
    def found(self) -> list[RoundFound]:
        """What each round found, beside chance and beside going down the plain ranking."""
        return found_so_far(self.standing, self.record)

    def next_rows(self, count: int = 1) -> list[AskedRow]:
        """The rows to review next, the first one first; fewer where the pool is used up.

        They are a round of the session. Asked again before any answer, they are the same, whoever asks. Within a
        round no answer is known, so a list goes on as if each of its rows were answered as the last one was.
        """
        if count < 1:
            raise InputError(f"count must be 1 or more, got {count}")
        while True:
            standing = self.standing
            last = standing.rounds[-1] if standing.rounds else None
            if last is not None and (last.after, last.count) == (standing.last, count):
                return list(last.rows)
            rounds = standing.rounds if last is None or standing.is_answered(last) else standing.rounds[:-1]
            asked = self._told(self._choose(*history_of(standing, rounds), count, self.lists))
            if self.file.add_round(self.choice, asked, count=count, after=standing.last, known=standing.rounds):
                return asked

    def answer(
        self,
        answers: Mapping[Any, bool | str | None] | AskedRow | int | str,
        verdict: bool | str | None = "",
        *,
        note: str | Mapping[Any, str | None] | None = None,
        who: str = "",
        when: str = "",
    ) -> None:
        """Take answers, by position or by name: `fine`, `not fine` or `unsure`; or False, True or None for the same.

        `answer(row, verdict)` says one, `answer({row: verdict, …})` several.

        A later answer about a row replaces the earlier one, from the next round on. Rows need not be those that were
        asked for; a row that somebody reviewed on their own account counts for the list in which it stands highest.

        Args:
            answers: for each row what was found; or one row.
            verdict: what was found there.
            note: kept with each of them, or one by row; None to keep what an earlier answer said.
            who: as they want to be called.
            when: in whatever words.
        """
        if not isinstance(answers, Mapping):
            answers = {answers.row if isinstance(answers, AskedRow) else answers: verdict}
        notes = note if isinstance(note, Mapping) else dict.fromkeys(answers, note)
        given = {self.row_of(key): (_verdict(key, answer), notes.get(key)) for key, answer in answers.items()}
        asked = {row.row for round_ in self.standing.rounds for row in round_.rows}
        brought = self._told([(row, self._stands_highest(row)) for row in given if row not in asked], brought=True)
        self.file.add_answers(self.choice, given, who=who, when=when, brought={row.row: row for row in brought})

    def undo(self, *, who: str = "", when: str = "") -> Withdrawal | None:
        """Take the last answer back; returns the row, what was said of it and what holds now; None if there is none."""
        return self.file.undo(self.choice, who=who, when=when)

    def choices_text(self) -> str:
        """The rows of each round, one line each: what a replay must give again byte for byte."""
        return _lines((round_, _asked_rows(round_)) for round_ in self.standing.rounds)

    def replay(self, *, progress: Steps | bool | None = None) -> Replay:
        """Make the lists again from the tables, and choose every round again from the answers that came before it."""
        step = steps_of(progress)
        made = _make_lists(self.tables, self.record["options"], None, step)
        fresh = [made[at] if at < len(made) else one for at, one in enumerate(self.lists)]
        lists = [new if old.proven and new.proven else old for old, new in zip(self.lists, fresh, strict=True)]
        standing, again = self.standing, []
        with step(phrase("steps.replay")):
            for at, round_ in enumerate(standing.rounds):
                history, seen = history_of(standing, standing.rounds[:at], round_.after)
                rows = self._choose(history, seen, round_.count, lists) if round_.count else []
                again.append((round_, [(row, self.sample_names[row], source) for row, source in rows]))
        differing = tuple(round_.number for round_, rows in again if rows != _asked_rows(round_))
        taken = tuple(one.name for one, used in zip(self.lists, lists, strict=True) if used is one)
        return Replay(same=not differing, differing=differing, choices=_lines(again), taken=taken)

    def _choose(
        self, history: tuple[Reviewed, ...], seen: set[int], count: int, lists: Sequence[RowList]
    ) -> list[tuple[int, str]]:
        """Rows and the lists they come from: a pure function of tables, lists and what was reviewed."""
        left = np.ones(len(self.sample_names), dtype=bool)
        left[[*seen, *self.taught.again]] = False
        supposed, found = list(history), []
        scores = {one.name: one.scores for one in lists}
        kinds = [one.name for one in lists[:-1]]
        as_before = history[-1].hit if history else False
        for _ in range(min(count, int(left.sum()))):
            source = next_source(supposed, kinds, self.taught.hits.tolist())
            if source == LEARNER and LEARNER not in scores:
                scores[LEARNER] = self._learned(history, lists)
            row = int(np.argmax(np.where(left, scores[source], -np.inf)))
            left[row] = False
            found.append((row, source))
            supposed.append(Reviewed(row=row, hit=as_before, source=source))
        return found

    def _learned(self, history: tuple[Reviewed, ...], lists: Sequence[RowList]) -> NDArray[np.float64]:
        """The learner's scores, fitted once for these answers."""
        if self._fitted is None or self._fitted[0] != history or lists is not self.lists:
            rows, values = [answer.row for answer in history], self.tables.weigher.values(self.tables.weighed)
            scores = learned_scores(
                np.vstack([values[rows], self.taught.values]),
                np.concatenate([np.array([answer.hit for answer in history], dtype=bool), self.taught.hits]),
                self.tables.weigher.values(self.tables.reference),
                values,
                [one.scores for one in lists],
                lists[-1].scores,
                self.record["options"]["seed"],
            )
            if lists is not self.lists:
                return scores
            self._fitted = history, scores
        return self._fitted[1]

    def _told(self, chosen: Sequence[tuple[int, str]], *, brought: bool = False) -> list[AskedRow]:
        """Rows with what is shown of them."""
        if not chosen:
            return []
        rows = [row for row, _ in chosen]
        columns = {one.name: one.columns for one in self.lists}
        reasons = _reasons(self.tables, rows, [columns.get(source, ()) for _, source in chosen])
        cells, overall = cells_of(self.tables, rows), self.lists[-1].scores
        return [
            AskedRow(
                row=row,
                name=self.sample_names[row],
                source=source,
                brought=brought,
                plain_rank=1 + _above(overall, row),
                told={
                    "reasons": why,
                    "shown": {name: entries[row] for name, entries in self.tables.pool.shown.items()},
                    "cells": own,
                },
            )
            for (row, source), why, own in zip(chosen, reasons, cells, strict=True)
        ]

    def row_of(self, key: Any) -> int:
        """The position of a row in the pool, by position or by name."""
        if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < len(self.sample_names):
            return int(key)
        if key in self._position:
            return self._position[key]
        raise InputError(f"there is no row {key!r} in the pool")

    def _stands_highest(self, row: int) -> str:
        return min(self.lists, key=lambda one: int((one.scores > one.scores[row]).sum())).name


def history_of(
    standing: Standing, rounds: Sequence[Round] | None = None, until: int | None = None
) -> tuple[tuple[Reviewed, ...], set[int]]:
    """What was decided, by round and place, and all rows that got an answer: as of some rounds and an answer.

    The order in which a round is ticked plays no part, so that two windows lead to the same next round.
    """
    latest = standing.latest(until)
    placed: dict[int, str] = {}
    for round_ in standing.rounds if rounds is None else rounds:
        for asked in round_.rows:
            placed.pop(asked.row, None)  # it stands where it was asked for last
            placed[asked.row] = asked.source
    decided = tuple(
        Reviewed(row=row, hit=latest[row].verdict == NOT_FINE, source=source)
        for row, source in placed.items()
        if row in latest and latest[row].verdict != UNSURE
    )
    return decided, set(latest)


def _make_lists(
    tables: WeighedTables, options: Mapping[str, Any], time_limit: float | None, step: Steps
) -> tuple[RowList, ...]:
    limits: dict[str, Any] = {"seed": options["seed"], "time_limit": time_limit or LIST_SECONDS}
    with step(phrase("steps.kinds")):
        first = solve(tables.scored(options["k"], options["m"]).problem(), **limits, progress=False)
        kinds = find_kinds(first, kinds=options["kinds"], **limits)
    with step(phrase("steps.ranking")):
        weigher = tables.weigher
        return lists_of(kinds, weigher.values(tables.reference), weigher.values(tables.weighed), options["seed"])


def _fingerprint(tables: WeighedTables) -> str:
    """Tells these tables, as they are weighed, from all others."""
    digest = hashlib.sha256(tables.weigher.values(tables.reference).tobytes())
    digest.update(tables.weigher.values(tables.weighed).tobytes())
    digest.update("\n".join(tables.pool.sample_names).encode())
    return digest.hexdigest()


def _reasons(
    tables: WeighedTables, rows: Sequence[int], columns: Sequence[Sequence[str]]
) -> list[list[dict[str, Any]]]:
    """Why each row is unusual: in these columns, or where none are given in those that weigh most.

    Args:
        tables: with the rows.
        rows: positions in the pool.
        columns: names for each of the rows; empty for the heaviest.
    """
    scoring, samples = tables.scoring, np.asarray(rows, dtype=np.int64)
    reasons_by_row = Reasons(scoring=scoring, raw=tables.raw if tables.moved else None)
    parts = reasons_by_row.parts(samples, np.empty(0, dtype=np.int64))
    weights, names = scoring.pool.cells.weights[samples], scoring.features.names
    place = {name: j for j, name in enumerate(names)}
    reasons = []
    for own, weight, chosen in zip(parts, weights, columns, strict=True):
        told = [place[name] for name in chosen if name in place] or np.argsort(-weight, kind="stable")[:MOST_REASONS]
        reasons.append(
            [
                {
                    "column": names[j],
                    "value": _shown(own[j].value),
                    "side": "",
                    "brief": own[j].usual,
                    "words": own[j].text,
                }
                for j in sorted(map(int, told), key=lambda j: -weight[j])
            ]
        )
    return reasons


def _shown(value: float | str | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else entry_as_text(value)


def _above(scores: NDArray[np.float64], row: int) -> int:
    """How many rows a list has before this one; of equal scores the lower position comes first."""
    return int((scores > scores[row]).sum() + (scores[:row] == scores[row]).sum())


def _asked_rows(round_: Round) -> list[tuple[int, str, str]]:
    return [(asked.row, asked.name, asked.source) for asked in round_.rows if not asked.brought]


def _lines(rounds: Any) -> str:
    lines = (f"{round_.number}\t{row}\t{name!r}\t{source}\n" for round_, rows in rounds for row, name, source in rows)
    return "".join(lines)


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
