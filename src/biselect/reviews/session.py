"""ReviewSession: which rows to review next, learning from the answers so far."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate import Calibrator
from biselect.calibrate.frames import varying
from biselect.core.checks import whole
from biselect.core.files import write_file
from biselect.core.json_files import read_json, refused_as, shortened
from biselect.data.pools import Roles
from biselect.errors import InputError
from biselect.reviews.inputs import CSV_OPTIONS, form_from, open_pool
from biselect.reviews.kinds import find_kinds, sides_of
from biselect.reviews.lists import learned_scores, log_ranks, overall_scores
from biselect.reviews.policy import LEARNER, OVERALL, Reviewed, next_source
from biselect.reviews.recentre import move_back

FORMAT = "biselect review session 1"
ROWS, COLUMNS = 12, 4  # of a kind, where the table is large enough
LIST_SECONDS = 5.0  # for each kind: a list to go down needs no proof
ROW_SHARE, COLUMN_SHARE = 5, 3  # and at most one part in so many of a small table


OPTIONS = ("k", "m", "kinds", "map", "missing", "drift", "seed")  # that a session is stored with


@dataclass(frozen=True, kw_only=True)
class NextRow:
    """A row to review.

    Attributes:
        row: its position in the pool.
        name: its id.
        source: the list that it comes from: the name of a kind, `overall` or `learner`.
    """

    row: int
    name: str
    source: str


class ReviewSession:
    """Rounds of review: ask for rows, give the answers, ask again.

    Rows come from one list for each kind of unusual, from an overall ranking (isolation forest, nearest neighbours and
    the sum of all weights) and, once both answers were given, from a learner on all columns. Lists take turns until
    both answers were given, a list goes on while it hits, and the learner follows a miss. Equal tables, options and
    answers give equal rows. A reviewed row never comes again. Answers reach nothing but this choice: weights, kinds
    and the overall ranking are made without them.

    Args:
        pool: rows to review: a frame, an array or a path, as `biselect.review` takes it.
        reference: normal rows; or None, with `time_column` and `reference_until`, to split `pool` in time.
        k: rows of a kind; None for 12, fewer in a small pool.
        m: columns of a kind; None for 4, fewer in a narrow table.
        kinds: how many kinds to look for.
        map: calibration map of the kinds.
        missing: `weigh`, `median` or `error`, see `biselect.Calibrator`.
        drift: `recentre` to move drifted columns back to the reference, or `keep`.
        seed: fixes every draw.
        time_limit: seconds for each kind; what is not proven by then is still a good list.
        reference_until: see `biselect.review`.
        roles: `id_column`, `label_column`, `time_column`, `features`, `exclude` and the like, and how CSV files are
            written, as for `biselect.review`.

    >>> rng = np.random.default_rng(0)
    >>> pool = rng.normal(size=(200, 8))
    >>> pool[:12, 2:5] += 3
    >>> session = ReviewSession(pool, rng.normal(size=(500, 8)), k=10, m=3, kinds=2)
    >>> [asked] = session.next_rows()
    >>> asked.source, asked.row < 12
    ('high 2, 4, 3 together', True)
    >>> session.answer({asked.row: True})
    >>> session.hits
    1
    """

    def __init__(
        self,
        pool: Any,
        reference: Any = None,
        *,
        k: int | None = None,
        m: int | None = None,
        kinds: int = 5,
        map: str = "ecdf",
        missing: str = "weigh",
        drift: str = "recentre",
        seed: int = 0,
        time_limit: float | None = LIST_SECONDS,
        reference_until: Any = None,
        **roles: Any,
    ) -> None:
        form = form_from(roles)
        roles = {name: value for name, value in roles.items() if name not in CSV_OPTIONS}
        tables = open_pool(pool, reference, Roles(**roles), reference_until=reference_until, form=form)
        tables.refuse_unusable(missing)
        before, now, _ = varying(*tables.matrices)
        now, self.moved = move_back(before, now, drift)
        calibrator = Calibrator(map, missing=missing, seed=seed).fit(before)
        self._reference, self._pool = calibrator.values(before), calibrator.values(now)
        self.sample_names = tables.sample_names
        self._position = {name: row for row, name in enumerate(self.sample_names)}
        rows, columns = self._pool.shape
        k = k or max(1, min(ROWS, rows // ROW_SHARE))
        m = m or max(1, min(COLUMNS, columns // COLUMN_SHARE))
        self._options = dict(zip(OPTIONS, (k, m, kinds, map, missing, drift, seed), strict=True))
        problem = calibrator.problem(now, k, m, marginals="none", sample_names=self.sample_names)
        self.kinds = find_kinds(problem, sides_of(calibrator, now), kinds=kinds, seed=seed, time_limit=time_limit)
        self._seed = seed
        detectors = overall_scores(self._reference, self._pool, seed)
        overall = np.sum([log_ranks(scores) for scores in detectors.values()], axis=0)
        self._lists = {kind.name: kind.row_scores for kind in self.kinds} | {OVERALL: overall}
        digest = hashlib.sha256(self._reference.tobytes() + self._pool.tobytes())
        digest.update("\n".join(self.sample_names).encode())
        self.fingerprint = digest.hexdigest()
        self.history: tuple[Reviewed, ...] = ()
        self._fitted: tuple[tuple[Reviewed, ...], NDArray[np.float64]] | None = None

    @property
    def hits(self) -> int:
        """How many reviewed rows were what is looked for."""
        return sum(answer.hit for answer in self.history)

    def next_rows(self, count: int = 1) -> list[NextRow]:
        """The rows to review next, the first one first; fewer where the pool is used up.

        Within a batch no answer is known, so a list goes on as if each of its rows were answered as the last one was.
        """
        if count < 1:
            raise InputError(f"count must be 1 or more, got {count}")
        left = np.ones(len(self._pool), dtype=bool)
        left[[answer.row for answer in self.history]] = False
        history, found = list(self.history), []
        scores = dict(self._lists)
        kinds = [kind.name for kind in self.kinds]
        as_before = history[-1].hit if history else False
        for _ in range(min(count, int(left.sum()))):
            source = next_source(history, kinds)
            if source == LEARNER and LEARNER not in scores:
                scores[LEARNER] = self._learned()
            row = int(np.argmax(np.where(left, scores[source], -np.inf)))
            left[row] = False
            found.append(NextRow(row=row, name=self.sample_names[row], source=source))
            history.append(Reviewed(row=row, hit=as_before, source=source))
        return found

    def answer(self, answers: Mapping[Any, bool]) -> None:
        """Take answers: by position or by name, whether the row is what is looked for.

        Rows need not be those that were asked for; a row reviewed on somebody's own account counts for the list in
        which it stands highest.
        """
        asked = {row.row: row.source for row in self.next_rows(len(answers))} if answers else {}
        taken: list[Reviewed] = []
        for key, hit in answers.items():
            row = self._row(key)
            if any(answer.row == row for answer in (*self.history, *taken)):
                raise InputError(f"row {self.sample_names[row]!r} was reviewed already")
            if not isinstance(hit, bool | np.bool_ | int | np.integer) or hit not in (0, 1):
                raise InputError(f"an answer is true or false, got {hit!r} for row {self.sample_names[row]!r}")
            taken.append(Reviewed(row=row, hit=bool(hit), source=asked.get(row) or self._stands_highest(row)))
        self.history = (*self.history, *taken)

    def to_json(self) -> str:
        """The answers so far, and what they belong to."""
        content = {
            "format": FORMAT,
            "options": self._options,
            "fingerprint": self.fingerprint,
            "answers": [{**asdict(answer), "name": self.sample_names[answer.row]} for answer in self.history],
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the answers; `resume` takes them up again with the same tables."""
        write_file(path, self.to_json())

    @classmethod
    def resume(cls, path: str | Path, pool: Any, reference: Any = None, **roles: Any) -> Self:
        """The session that `save` wrote, on the same tables and roles."""
        content = read_json(path)
        not_ours = f"{path}: not a review session written by biselect"
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise InputError(not_ours)
        with refused_as(not_ours):
            options, fingerprint = {name: content["options"][name] for name in OPTIONS}, content["fingerprint"]
            answers = [_stored(entry) for entry in content["answers"]]
        with refused_as(f"{path}: its options cannot be used"):
            session = cls(pool, reference, **options, **roles)
        if session.fingerprint != fingerprint:
            raise InputError(f"{path}: belongs to other tables; give the pool and reference that it was made with")
        rows, lists = {answer.row for answer in answers}, {*session._lists, LEARNER}
        if len(rows) < len(answers) or max(rows, default=0) >= len(session._pool):
            raise InputError(f"{not_ours}: an answer is about no row, or about one that has an answer already")
        if unknown := {answer.source for answer in answers} - lists:
            raise InputError(f"{not_ours}: there is no list {shortened(min(unknown))}")
        session.history = tuple(answers)
        return session

    def _learned(self) -> NDArray[np.float64]:
        """The learner's scores, fitted once for these answers."""
        if self._fitted is None or self._fitted[0] is not self.history:
            lists, overall = list(self._lists.values()), self._lists[OVERALL]
            scores = learned_scores(self.history, self._reference, self._pool, lists, overall, self._seed)
            self._fitted = self.history, scores
        return self._fitted[1]

    def _row(self, key: Any) -> int:
        if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < len(self._pool):
            return int(key)
        if key in self._position:
            return self._position[key]
        raise InputError(f"there is no row {key!r} in the pool")

    def _stands_highest(self, row: int) -> str:
        ranks = {name: int((scores > scores[row]).sum()) for name, scores in self._lists.items()}
        return min(ranks, key=ranks.__getitem__)


def _stored(entry: Mapping[str, Any]) -> Reviewed:
    """An answer as `to_json` wrote it."""
    if type(entry["hit"]) is not bool:
        raise ValueError(f"an answer is true or false, not {shortened(entry['hit'])}")
    return Reviewed(row=whole("a row", entry["row"], least=0), hit=entry["hit"], source=str(entry["source"]))
