"""Kinds of unusual: the best block, then the best that shares no column with those before, each with its own proof."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Group, Rules, Selection, SelectionProblem
from biselect.core.untrusted import packed_arrays
from biselect.errors import InfeasibleError, InputError
from biselect.options import Search
from biselect.pages.words import phrase, words_of
from biselect.solvers import solve
from biselect.solvers.registry import can_keep_limits
from biselect.solvers.representatives import of_kept_rows
from biselect.tables import NamedMatrix, rows_of
from biselect.weights import Weigher

KIND_SECONDS = 60.0  # for each kind, unless the time limit is shorter; compiling the search takes twenty of them, once
KIND_WORK = 1_500_000  # sums that a check of its proof may take: .05 s, as there are several
CLOSE = 0.9  # a kind with at least this share of the first one's score could as well have come first
SIDES = ("low", "high", "rare", "missing")  # of numbers, of categories, and where there is no number
FILE, FORMAT = "kinds.npz", "biselect-kinds-1"  # of their proofs


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """One block: rows that are unusual together in the same columns, and in the same direction.

    Attributes:
        selection: the block, with its proof. Where sides are told apart its features are sides of columns.
        columns: positions of the m columns in the table, by what they add, strongest first.
        sides: one of SIDES for each of `columns`; an empty text where they are not told apart.
        column_names: names of `columns`.
        proved: the same as it was solved: of a large table among the rows kept and those that stand for all others.
        chance: share of equally large draws from the reference that hold a block with at least this score, the real
            pool counted as one of them; None where it was not asked for.
    """

    selection: Selection
    proved: Selection = field(repr=False)
    columns: tuple[int, ...]
    sides: tuple[str, ...]
    column_names: tuple[str, ...]
    chance: float | None = None

    @property
    def name(self) -> str:
        """The columns by direction, such as `low V14, V12 and high V4 together`."""
        return words_of().kind(self.column_names, self.sides)

    @property
    def row_scores(self) -> NDArray[np.float64]:
        """What each row of the pool would add to this block: the list that a reviewer goes down."""
        problem = self.selection.problem
        block = problem.coupling[:, self.selection.features].sum(axis=1, dtype=np.float64)
        return np.asarray(problem.sample_scores + problem.coupling_weight * block)


@dataclass(frozen=True, kw_only=True, eq=False)
class KindList(Sequence[Kind]):
    """All kinds that were found, best first, and what tells them apart.

    Attributes:
        found: the kinds.
        stopped: why there are fewer than were asked for; empty otherwise.
        null_scores: best scores of equally large draws from the reference, ascending; empty where none were drawn.
        sides: of each cell, where they are told apart.
    """

    found: tuple[Kind, ...]
    stopped: str = ""
    sides: NDArray[np.int8] | None = field(default=None, repr=False)
    null_scores: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), repr=False)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, position: Any) -> Any:
        return self.found[position]

    def __iter__(self) -> Iterator[Kind]:
        return iter(self.found)

    @property
    def shared_rows(self) -> NDArray[np.int64]:
        """How many rows each two kinds share; the diagonal holds k."""
        return self._shared([set(kind.selection.samples.tolist()) for kind in self.found])

    @property
    def shared_columns(self) -> NDArray[np.int64]:
        """How many columns each two kinds share, whatever the side; the diagonal holds m."""
        return self._shared([set(kind.columns) for kind in self.found])

    @property
    def nearness(self) -> list[float]:
        """Each kind's score as a share of the first one's."""
        first = self.found[0].selection.score
        return [kind.selection.score / first if first else 1.0 for kind in self.found]

    @property
    def close(self) -> int:
        """How many of the first kinds have nearly the same score, so that their order means little."""
        return next((position for position, share in enumerate(self.nearness) if share < CLOSE), len(self.found))

    @property
    def words(self) -> str:
        """Whether the first kind stands alone, for a person."""
        if len(self.found) == 1:
            return phrase("kinds.one")
        if self.close < 2:
            return phrase("kinds.clear")
        return phrase("kinds.close", n=self.close, share=100 * (1 - self.nearness[self.close - 1]))

    @staticmethod
    def _shared(sets: list[set[int]]) -> NDArray[np.int64]:
        return np.array([[len(one & other) for other in sets] for one in sets], dtype=np.int64)


def _sided_columns(sides: NDArray[np.int8]) -> list[tuple[int, int]]:
    """A feature for every side of every column: low and high of numbers, and what else the pool holds."""
    is_number = np.any(sides <= SIDES.index("high"), axis=0)
    pairs = [(side, j) for side in range(len(SIDES)) for j in range(sides.shape[1])]
    return [(j, side) for side, j in pairs if (is_number[j] if side < 2 else np.any(sides[:, j] == side))]


def by_side(problem: SelectionProblem, sides: NDArray[np.int8]) -> SelectionProblem:
    """The problem in which each side of a column is a feature of its own, of which a block may hold one.

    Args:
        problem: rows × columns. No column may be forced in, since either side would do.
        sides: of the same shape, positions in SIDES.
    """
    if problem.feature_rules.forced_in or problem.feature_rules.groups:
        raise InputError("columns that must be chosen, or exclude each other, cannot be told apart by side")
    pairs = _sided_columns(sides)
    members = [[at for at, (j, _) in enumerate(pairs) if j == column] for column in range(problem.n_features)]
    columns = [j for j, _ in pairs]
    return replace(
        problem,
        coupling=np.where(sides[:, columns] == [side for _, side in pairs], problem.coupling[:, columns], 0),
        feature_scores=problem.feature_scores[columns],
        feature_names=tuple(f"{SIDES[side]} {problem.feature_name(j)}" for j, side in pairs),
        feature_rules=Rules(
            forced_out=[at for j in problem.feature_rules.forced_out for at in members[j]],
            groups=[Group(members=tuple(both), at_most=1) for both in members if len(both) > 1],
        ),
    )


def refuse_kinds(kinds: int) -> None:
    """An error for a number of kinds that there is not."""
    if kinds < 1:
        raise InputError(f"kinds must be 1 or more, got {kinds}")


def kind_seconds(search: Search) -> float:
    """How long to look for one kind."""
    return KIND_SECONDS if search.time_limit is None else min(search.time_limit, KIND_SECONDS)


def find_kinds(
    problem: SelectionProblem,
    sides: NDArray[np.int8] | None = None,
    *,
    kinds: int = 5,
    solver: str = "auto",
    seed: int = 0,
    time_limit: float | None = None,
    null_scores: NDArray[np.float64] | None = None,
    answer: Callable[[SelectionProblem, list[int]], Selection] | None = None,
) -> KindList:
    """Solve for the best block, then for the best that shares no column with those before, and so on.

    Each answer is exact under its rules, so a proof of the third kind says: no other block that shares no column with
    the first two scores higher.

    Args:
        problem: rows × columns with budgets and rules.
        sides: of each cell, from `Weigher.directions`, to tell sides of a column apart; None not to.
        kinds: how many at most.
        solver: one of `biselect.solvers.solver_names()`.
        seed: fixes every draw.
        time_limit: seconds for each kind.
        null_scores: best scores of equally large draws from the reference, from `null_scores`.
        answer: solves a problem whose features come from these columns; None for `biselect.solve`.
    """

    def solved(question: SelectionProblem, columns: list[int]) -> Selection:
        if answer is not None:
            return answer(question, columns)
        able = solver if can_keep_limits(question, solver) else "auto"  # the two sides of a column exclude each other
        return solve(question, able, seed=seed, time_limit=time_limit, check_work=KIND_WORK)

    refuse_kinds(kinds)
    sided = problem if sides is None else by_side(problem, sides)
    pairs = [(j, -1) for j in range(problem.n_features)] if sides is None else _sided_columns(sides)
    blocks: list[Kind] = []
    stopped = ""
    null = np.sort(null_scores) if null_scores is not None else np.empty(0)
    while len(blocks) < kinds:
        try:
            question = _without(sided, blocks, pairs) if blocks else sided
            out = {*question.feature_rules.forced_out}
            selection = solved(question, sorted({j for at, (j, _) in enumerate(pairs) if at not in out}))
        except InfeasibleError:
            if not blocks:
                raise
            stopped = phrase("kinds.no_columns")
            break
        if blocks and selection.score <= 0:
            stopped = phrase("kinds.no_weight", n=len(blocks))
            break
        blocks.append(_kind(selection, question, problem, pairs, null))
    return KindList(found=tuple(blocks), stopped=stopped, null_scores=null, sides=sides)


def kinds_bytes(kinds: KindList) -> bytes:
    """The content of the file with the proofs of kinds, and with what their problems are made from."""
    solved = [kind.proved for kind in kinds]
    header = {
        "format": FORMAT,
        "own_scores": bool(kinds[0].selection.problem.sample_scores.any()),
        "proofs": [None if one.proof is None else json.loads(one.proof_json()) for one in solved],
        "others": [float(one.problem.sample_scores[-1]) for one in solved],  # where rows stand for others
    }
    return packed_arrays(header, {} if kinds.sides is None else {"sides": kinds.sides})


def null_scores(
    calibrator: Weigher,
    reference: NamedMatrix,
    problem: SelectionProblem,
    *,
    draws: int,
    seed: int,
) -> NDArray[np.float64]:
    """Best scores of `draws` draws from the reference: what chance alone gives.

    The blocks come from a climb, which finds the optimum nearly always; rules and row evidence play no part.
    """
    null = reference_draws(calibrator, reference, problem, draws=draws, sided=True, seed=seed)
    return np.array([solve(draw, "coordinate-ascent", seed=seed).score for draw in null])


def reference_draws(
    calibrator: Weigher,
    reference: NamedMatrix,
    problem: SelectionProblem,
    *,
    draws: int,
    sided: bool,
    seed: int,
) -> Iterator[SelectionProblem]:
    """Blocks to look for in rows of the reference, each draw as large as the pool, with its budgets.

    Draws are with replacement where the pool has more than half as many rows as the reference: without, they would be
    nearly the same rows each time.
    """
    rng = np.random.default_rng(seed)
    size, rows = problem.n_samples, len(reference)
    for _ in range(draws):
        rows_drawn = rows_of(reference, rng.choice(rows, size, replace=2 * size > rows))
        plain = calibrator.problem(rows_drawn, problem.k, problem.m, marginals="none")
        yield by_side(plain, calibrator.directions(rows_drawn)) if sided else plain


def _without(sided: SelectionProblem, earlier: Sequence[Kind], pairs: Sequence[tuple[int, int]]) -> SelectionProblem:
    """The problem without the columns of earlier kinds."""
    columns = {j for kind in earlier for j in kind.columns}
    never = {at for at, (j, _) in enumerate(pairs) if j in columns}
    return replace(sided, feature_rules=_forbid(sided.feature_rules, never))


def _forbid(rules: Rules, never: set[int]) -> Rules:
    """The same rules with more items forbidden; groups lose forbidden members, and those that bind no more."""
    groups = [
        Group(members=[item for item in group.members if item not in never], at_most=group.at_most)
        for group in rules.groups
    ]
    return Rules(
        forced_in=rules.forced_in,
        forced_out=sorted({*rules.forced_out, *never}),
        groups=[group for group in groups if len(group.members) > group.at_most],
    )


def _kind(
    proved: Selection,
    question: SelectionProblem,
    problem: SelectionProblem,
    pairs: Sequence[tuple[int, int]],
    null: NDArray[np.float64],
) -> Kind:
    selection = proved if proved.problem is question else of_kept_rows(proved, question)
    strongest = selection.features[np.argsort(-selection.explain().feature_values, kind="stable")]
    columns = tuple(pairs[at][0] for at in strongest)
    return Kind(
        selection=selection,
        proved=proved,
        columns=columns,
        sides=tuple(SIDES[pairs[at][1]] if pairs[at][1] >= 0 else "" for at in strongest),
        column_names=tuple(problem.feature_name(j) for j in columns),
        chance=float((1 + (null >= selection.score).sum()) / (1 + null.size)) if null.size else None,
    )
