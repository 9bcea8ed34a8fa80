"""The scikit-learn way in: CellWeigher weighs cells, JointSelector chooses rows and columns."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin, TransformerMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from biselect.columns.date import parts_of_dates
from biselect.core import Selection, SelectionProblem
from biselect.errors import InputError
from biselect.options import ANY, Columns, RowRules, Search, Weighing, refuse_others, spell
from biselect.reviews.caveats import beyond_caveats, unused_dates
from biselect.solvers import solve, solver_options
from biselect.tables import NamedMatrix, Roles, Table, as_matrix, guess_roles, library_of, row_labels, rows_of
from biselect.tables.row_rules import apply_rules
from biselect.weights.alignment import Shift, moved_numbers
from biselect.weights.directed import CellWeights, usual_columns, usual_rows
from biselect.weights.paper import Form
from biselect.weights.reference import FEWEST_ROWS
from biselect.weights.scoring import Scoring

OUTLIER, INLIER = -1, 1


class _Checked(BaseEstimator):
    """What both estimators share: checks of their input (`weighing` says whether NaN may be in it), and a weigher."""

    columns: Columns | None
    weighing: Weighing | None
    unused_: list[str]
    roles_: Roles
    random_state: int | np.random.RandomState | None
    _weighing_parts: ClassVar[tuple[str, ...]] = ("preset", "map", "cap", "missing")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._weighing.missing != "error"
        return tags

    @property
    def _weighing(self) -> Weighing:
        return self.weighing or Weighing()

    @property
    def _form(self) -> Form:
        """What `weighing` says, with the defaults of `biselect.review`."""
        refuse_others(self._weighing, *self._weighing_parts)
        return Form.of(self._weighing)

    def _checked(self, X: Any, *, reset: bool = False) -> Any:
        """Numbers as scikit-learn checks them; a frame that also holds something else as a matrix with labels."""
        refuse_others(self.columns or Columns(), "types")
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            rows = Table(X).read()
            if reset:
                self._guess(rows)
            plain = all(kind.is_numeric() for kind in frame.schema.values())
            if not plain or self.roles_.categories or self.unused_:
                validate_data(self, X, reset=reset, skip_check_array=True)
                rows = rows.drop_columns([name for name in self.unused_ if name in rows.column_names])
                return as_matrix(rows, categories=self.roles_.categories, dates=self.roles_.dates)
        elif reset:
            self.unused_, self.roles_ = [], Roles()
        return validate_data(
            self,
            X,
            dtype=np.float64,
            reset=reset,
            ensure_all_finite=True if self._weighing.missing == "error" else "allow-nan",
            ensure_min_samples=FEWEST_ROWS if reset else 1,
        )

    def _guess(self, rows: Any) -> None:
        """Find the columns of a frame that are weighed, as `biselect.review` does, and say which are not."""
        columns = self.columns or Columns()
        guess = guess_roles([rows], columns)
        self.roles_ = Roles.of(guess.described, names=rows.column_names)
        features, dates = self.roles_.features_of(rows, rows)
        self.unused_ = [name for name in rows.column_names if name not in features]
        if dates:
            warnings.warn(unused_dates(dates).text, UserWarning, stacklevel=4)
        for one in guess.columns:
            if one.name in self.unused_ and one.remark:
                warnings.warn(f"{one.name!r}: {one.remark}; otherwise {one.way_out}", UserWarning, stacklevel=4)

    def _fit_weigher(self, X: Any) -> None:
        """Fit `weigher_`; `weigher_.seed` is the seed of every later draw too."""
        state = self.random_state
        seed = state if isinstance(state, int | np.integer) else check_random_state(state).randint(2**31 - 1)
        self.weigher_ = self._form.weigher(int(seed)).fit(X)

    def _weighed(self) -> tuple[NDArray[np.object_], list[int]]:
        """Names of the columns that are weighed, parts of a date in its place, and where each stands in the input."""
        parts = parts_of_dates(self.roles_.dates) | dict.fromkeys(self.unused_, ())
        names, owners = [], []
        for position, name in enumerate(_check_feature_names_in(self)):
            own = [f"{name} {part}" for part in parts[name]] if name in parts else [name]
            names += own
            owners += [position] * len(own)
        return np.array(names, dtype=object), owners


class CellWeigher(TransformerMixin, _Checked):
    """Cells to bounded outlier weights; every row is kept, and its weights depend on it and the reference alone.

    Frames may hold categories, which weigh by how rare they are in the reference.

    Args:
        columns: what columns of a frame hold (`Columns.types`); None for what their types say.
        weighing: preset, map, cap and what to do with missing values; None for what `biselect.review` does.
        random_state: fixes every draw.

    >>> weights = CellWeigher().fit(np.arange(100.0)[:, None]).transform([[50.0], [99.0]])
    >>> weights.round(2).tolist()
    [[0.02], [3.92]]
    """

    def __init__(
        self,
        columns: Columns | None = None,
        weighing: Weighing | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.columns = columns
        self.weighing = weighing
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the reference X; y is ignored."""
        self._fit_weigher(self._checked(X, reset=True))
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Weights of the rows of X."""
        check_is_fitted(self)
        return self.weigher_.weights(self._checked(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns; a date has one for each of its parts."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return self._weighed()[0] if self.roles_.dates or self.unused_ else names


def _put_back(rows: Any, shift: Shift | None) -> Any:
    """Rows with moved columns put back: a matrix with labels, or an array."""
    if shift is None:
        return rows
    return replace(rows, values=shift.applied(rows.values)) if isinstance(rows, NamedMatrix) else shift.applied(rows)


class JointSelector(OutlierMixin, SelectorMixin, _Checked):
    """k samples and m columns, chosen together against a reference.

    `fit` weighs against the reference and chooses once, from `pool` or from the reference itself: that fixes the
    columns `transform` keeps and the score from which `predict` calls a row an outlier, so both are the same for a row
    in any batch. A row that stands in the reference is weighed against the other rows. `select` answers the exact
    question for a new pool: exactly k rows and m columns of it. A column in which most of the pool lies beyond the
    reference, as a clock does, gives a UserWarning.

    Args:
        k: how many samples; None for 20, at most a fifth of the rows.
        m: how many columns; None for 4, fewer where there are few.
        columns: what columns of a frame hold (`Columns.types`); None for what their types say.
        weighing: preset, map, cap, what to do with missing values and with drift of a pool; None for what
            `biselect.review` does.
        rules: rows of the pool that must or must not be chosen: positions, or names in the index of a pandas pool;
            columns that must be, by position or name; and how many chosen rows may share a label of `groups`, an
            argument of `fit` and `select`.
        search: its solver and its time limit.
        n_jobs: workers of solvers that take any; None for the solver's own choice, -1 for all cores.
        random_state: fixes every draw.

    Attributes:
        selection_: the choice made by `fit`; its features are directed columns.
        sample_support_: which rows of the pool (or reference) `fit` chose.
        offset_: `decision_function` is `score_samples` minus this.
        shift_: how columns of the pool of `fit` that moved against the reference are put back, in every later row; None
            where none did. A pool of `select` is put back by its own medians.
        scoring_: pool and reference of `fit` on one scale, a `biselect.weights.scoring.Scoring`.
        weigher_: the fitted `biselect.weights.Weigher`.

    >>> reference = np.random.default_rng(0).normal(size=(200, 4))
    >>> selector = JointSelector(k=2, m=1).fit(reference)
    >>> selection = selector.select([[0, 0, 0, 9], [0, 0, 0, 0], [0, 0, 0, -9], [0, 0, 0, 1]])
    >>> selection.samples.tolist(), selection.feature_names, selection.directions
    ([0, 2], ['x3'], ['either'])
    """

    _weighing_parts = (*_Checked._weighing_parts, "drift")

    def __init__(
        self,
        k: int | None = None,
        m: int | None = None,
        columns: Columns | None = None,
        weighing: Weighing | None = None,
        rules: RowRules | None = None,
        search: Search | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.k = k
        self.m = m
        self.columns = columns
        self.weighing = weighing
        self.rules = rules
        self.search = search
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, pool: Any = None, groups: Any = None) -> Self:
        """Calibrate on the reference X and choose from the pool, or from X where there is none.

        y is ignored. `groups` holds one label per row to choose from, for `at_most`.
        """
        named = X if pool is None else pool
        X = self._checked(X, reset=True)
        self._fit_weigher(X)
        candidates = X if pool is None else self._checked(pool)
        self._reference = as_matrix(X)
        keys = _row_keys(self.weigher_.values(X))
        self._places = dict(zip(keys, self.weigher_.own_places.tolist(), strict=True))
        self.shift_ = None if pool is None else self._shift_of(candidates)
        own = self.weigher_.own_places if pool is None else None
        self.scoring_, self.selection_ = self._choose(candidates, self.shift_, named, groups, own)
        self.sample_support_ = np.zeros(len(candidates), dtype=bool)
        self.sample_support_[self.selection_.samples] = True
        self.offset_ = self._offset(self._scores(candidates))
        return self

    def select(self, pool: Any, groups: Any = None) -> Selection:
        """Exactly k rows and m columns of this pool; what `fit` chose stays as it is."""
        check_is_fitted(self)
        rows = self._checked(pool)
        return self._choose(rows, self._shift_of(rows), pool, groups)[1]

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Minus what each row would add to the score, given the features that `fit` chose; low is unusual."""
        check_is_fitted(self)
        return self._scores(self._checked(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Negative for rows that would have been chosen by `fit`, given its features."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """-1 for outliers, +1 for all others."""
        return np.where(self.decision_function(X) < 0, OUTLIER, INLIER)

    def _choose(
        self, rows: Any, shift: Shift | None, pool: Any, groups: Any, places: NDArray[np.int64] | None = None
    ) -> tuple[Scoring, Selection]:
        """The choice from rows that were checked; `pool` as it came says names and library."""
        cells = self.weigher_.cells(_put_back(rows, shift), places=places)
        scoring, problem = self._problem(cells, row_labels(pool), groups)
        for caveat in beyond_caveats(self.weigher_, scoring.pool.cells.weights):
            warnings.warn(caveat.text, UserWarning, stacklevel=3)
        search = self.search or Search()
        refuse_others(search, "solver", "time_limit")
        takes_workers = self.n_jobs is not None and "workers" in solver_options(search.solver)
        workers = {"workers": effective_n_jobs(self.n_jobs)} if takes_workers else {}
        limits: Any = {"seed": self.weigher_.seed, "time_limit": search.time_limit, **workers}
        return scoring, solve(replace(problem, library=library_of(pool)), search.solver, **limits)

    def _shift_of(self, pool: Any) -> Shift | None:
        """How columns of a pool that moved are put back; None where none did, or drift is kept."""
        rows, drift = as_matrix(pool), self._form.drift
        moved = moved_numbers(self._reference, rows, drift)
        return Shift.of(self._reference.values, rows.values, moved) if moved and drift == "recentre" else None

    def _problem(self, cells: CellWeights, names: list[str] | None, groups: Any) -> tuple[Scoring, SelectionProblem]:
        rules = self.rules or RowRules()
        refuse_others(rules, "must", "never", "must_columns", "at_most")
        if (rules.at_most is None) != (groups is None):
            limit = spell(RowRules(at_most=ANY))
            raise InputError(f"{limit} and groups= go together: groups=, in fit and select, holds one label per row")
        columns, _ = self._weighed()
        by_name = replace(
            rules,
            must=_by_name(rules.must, names),
            never=_by_name(rules.never, names),
            must_columns=_by_name(rules.must_columns, columns),
            per=None if groups is None else "group",
        )
        labels = None if groups is None else [None if label != label else str(label) for label in groups]
        must = [columns.tolist().index(name) for name in by_name.must_columns if name in columns]
        k = usual_rows(len(cells.rows)) if self.k is None else self.k
        m = max(usual_columns(len(columns)), len(must)) if self.m is None else self.m
        scoring = Scoring.of(self.weigher_, cells, k, m, must=must, marginals=self._form.marginals)
        scoring = replace(scoring, features=replace(scoring.features, names=tuple(columns.tolist())))
        return scoring, apply_rules(by_name, scoring.problem(names), labels)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Minus the score of each row; a row of the reference itself is weighed against the others."""
        rows, features = as_matrix(_put_back(X, self.shift_)), self.selection_.features
        scores = self.scoring_.scores_of(self.weigher_.cells(rows), features)
        keys = _row_keys(self.weigher_.values(rows))
        own = np.flatnonzero([key in self._places for key in keys])
        if own.size:
            places = np.array([self._places[keys[row]] for row in own])
            scores[own] = self.scoring_.scores_of(self.weigher_.cells(rows_of(rows, own), places=places), features)
        return -scores

    def _offset(self, scores: NDArray[np.float64]) -> float:
        """Halfway between the last row chosen and the first left out; a row that ties with the last one is in.

        Rows that had to be chosen say nothing about the others, unless there are no others.
        """
        earned = np.setdiff1d(self.selection_.samples, self.selection_.problem.sample_rules.forced_in)
        last = scores[earned if earned.size else self.selection_.samples].max()
        left_out = scores[scores > last]
        return float((last + left_out.min()) / 2) if left_out.size else float(np.nextafter(last, np.inf))

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        _, owners = self._weighed()
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[[owners[j] for j in self.scoring_.features.columns[self.selection_.features]]] = True
        return mask


def _row_keys(values: NDArray[np.float64]) -> list[bytes]:
    """Rows as keys: equal rows have equal ones."""
    return [row.tobytes() for row in np.ascontiguousarray(values + 0.0)]  # no minus before zero


def _by_name(entries: Sequence[int | str], names: Any) -> list[str]:
    """Positions and names as names; what has no name goes by its position."""
    labels = {} if names is None else dict(enumerate(names))
    return [str(entry if isinstance(entry, str) else labels.get(entry, entry)) for entry in entries]
