"""Kinds of unusual: the answer, then the same question again without its rows and with other directed columns."""

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
from biselect.reviews._null import DEEPER, LEVEL, Null, scan
from biselect.solvers import solve
from biselect.solvers.registry import can_keep_limits
from biselect.solvers.representatives import of_kept_rows
from biselect.weights.scoring import Scoring

KIND_SECONDS = 60.0  # for each further kind, unless the time limit is shorter; compiling takes twenty of them, once
KIND_WORK = 1_500_000  # sums that a check of its proof may take: .05 s, as there are several
CLOSE = 0.9  # a kind with at least this share of the first one's score could as well have come first
SHARED = 2  # one part in so many of an earlier kind's directed columns may come again
FILE, FORMAT = "kinds.npz", "biselect-kinds-2"  # of their proofs

Answer = Callable[[SelectionProblem], Selection]


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """One block: rows that are unusual together in the same directed columns.

    Attributes:
        selection: the block, with its proof; of a further kind, the proof holds given the earlier ones.
        solved: the same as it was solved: of a large table among the rows kept and those that stand for all others.
        p: how often a pool of reference rows would hold such a block by chance; None if that was not asked, or an
            earlier kind may be chance.
    """

    selection: Selection
    solved: Selection = field(repr=False)
    p: float | None = None

    @property
    def features(self) -> NDArray[np.int64]:
        """Its directed columns, the one that adds most first."""
        values = self.selection.explain(nearest=0).feature_values
        return self.selection.features[np.argsort(-values, kind="stable")]

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of its columns, the one that adds most first."""
        return tuple(self.selection.problem.feature_name(f) for f in self.features.tolist())

    @property
    def directions(self) -> tuple[str, ...]:
        """Direction of each of `column_names`."""
        return tuple(self.selection.problem.direction(f) for f in self.features.tolist())

    @property
    def name(self) -> str:
        """The columns by direction, such as `low V14, V12 and high V4 together`."""
        return words_of().kind(self.column_names, self.directions)

    @property
    def row_scores(self) -> NDArray[np.float64]:
        """The score of each row of the pool in this block's columns."""
        problem = self.selection.problem
        block = problem.coupling[:, self.selection.features].sum(axis=1, dtype=np.float64)
        return np.asarray(problem.sample_scores + problem.coupling_weight * block)


@dataclass(frozen=True, kw_only=True, eq=False)
class KindList(Sequence[Kind]):
    """All kinds, best first: the first one is the answer.

    Attributes:
        kinds: all of them.
        stopped: why there are fewer than were asked for; empty otherwise.
    """

    kinds: tuple[Kind, ...]
    stopped: str = ""

    def __len__(self) -> int:
        return len(self.kinds)

    def __getitem__(self, position: Any) -> Any:
        return self.kinds[position]

    def __iter__(self) -> Iterator[Kind]:
        return iter(self.kinds)

    @property
    def nearness(self) -> list[float]:
        """Each kind's score as a share of the first one's."""
        first = self.kinds[0].selection.score
        return [kind.selection.score / first if first else 1.0 for kind in self.kinds]

    @property
    def close(self) -> int:
        """How many of the first kinds have nearly the same score, so that their order means little."""
        return next((position for position, share in enumerate(self.nearness) if share < CLOSE), len(self.kinds))

    @property
    def words(self) -> str:
        """Whether the first kind stands alone, for a person."""
        if len(self.kinds) == 1:
            return phrase("kinds.one")
        if self.close < 2:
            return phrase("kinds.clear")
        return phrase("kinds.close", n=self.close, share=100 * (1 - self.nearness[self.close - 1]))

    def tested(self, scoring: Scoring, null: Null) -> KindList:
        """The kinds with their p-values, up to the first that may be chance.

        Rows of earlier kinds are left out of the pool, and rows like them out of the reference.
        """
        pool, reference = (np.ones(len(rows.weights), dtype=bool) for rows in (scoring.pool, scoring.reference))
        kinds = list(self.kinds)
        for at, kind in enumerate(kinds):
            scores = scoring.pool_scores(kind.selection.features)
            others = scoring.reference_scores(kind.selection.features)
            if not reference.any():
                break
            rows = scoring.rows - int((~pool).sum())
            p = null.p(scan(scores[pool], others[reference], DEEPER * scoring.k, rows).z)
            kinds[at] = replace(kind, p=p)
            if p > LEVEL + 1e-9:
                break
            pool[kind.selection.samples] = False
            reference[others >= scores[kind.selection.samples].min()] = False
        return replace(self, kinds=tuple(kinds))


def only(selection: Selection, solved: Selection | None = None) -> KindList:
    """The answer as the only kind; `solved` is as for `find_kinds`."""
    return KindList(kinds=(Kind(selection=selection, solved=solved or selection),))


def refuse_kinds(kinds: int) -> None:
    """An error for a number of kinds that there is not."""
    if kinds < 1:
        raise InputError(f"kinds must be 1 or more, got {kinds}")


def kind_seconds(search: Search) -> float:
    """How long to look for one kind."""
    return KIND_SECONDS if search.time_limit is None else min(search.time_limit, KIND_SECONDS)


def find_kinds(
    first: Selection,
    *,
    kinds: int = 5,
    solver: str = "auto",
    seed: int = 0,
    time_limit: float | None = None,
    solved: Selection | None = None,
    answer: Answer | None = None,
) -> KindList:
    """Ask the same question again: other rows, and at most half of the directed columns of each earlier kind.

    Each answer is exact under its rules, so a proof of the third kind says: no other block that keeps off the first two
    in this way scores higher.

    Args:
        first: the answer, which is the first kind.
        kinds: how many at most.
        solver: one of `biselect.solvers.solver_names()`.
        seed: fixes every draw.
        time_limit: seconds for each further kind.
        solved: the answer as it was solved, where that was another problem.
        answer: solves a problem; None for `biselect.solve`.
    """

    def solve_one(question: SelectionProblem) -> Selection:
        able = solver if can_keep_limits(question, solver) else "auto"
        return solve(question, able, seed=seed, time_limit=time_limit, check_work=KIND_WORK)

    refuse_kinds(kinds)
    blocks = [*only(first, solved)]
    stopped = ""
    while len(blocks) < kinds:
        try:
            question = following_question(first.problem, [kind.selection for kind in blocks])
            selection = (answer or solve_one)(question)
        except InfeasibleError:
            stopped = phrase("kinds.no_room")
            break
        if selection.score <= 0:
            stopped = phrase("kinds.no_weight", n=len(blocks))
            break
        block = selection if selection.problem is question else of_kept_rows(selection, question)
        blocks.append(Kind(selection=block, solved=selection))
    return KindList(kinds=tuple(blocks), stopped=stopped)


def following_question(problem: SelectionProblem, earlier: Sequence[Selection]) -> SelectionProblem:
    """The problem of a further kind.

    Args:
        problem: of the answer.
        earlier: the kinds so far.

    Raises:
        InfeasibleError: no k rows or m columns are left.
    """
    rows, columns = problem.sample_rules, problem.feature_rules
    out = {*rows.forced_out, *(int(i) for one in earlier for i in one.samples)}
    groups = (group.over([i for i in group.members if i not in out]) for group in rows.groups)
    others = (sorted({*one.features.tolist()} - {*columns.forced_in}) for one in earlier)  # what must be, comes again
    limits = [Group(members=members, at_most=problem.m // SHARED) for members in others]
    if problem.k > problem.n_samples - len(out):
        raise InfeasibleError(f"{problem.n_samples - len(out)} rows are left for a further kind of {problem.k}")
    return replace(
        problem,
        sample_rules=Rules(forced_out=sorted(out), groups=[one for one in groups if len(one.members) > one.at_most]),
        feature_rules=replace(columns, overlapping=tuple(one for one in limits if len(one.members) > one.at_most)),
    )


def kinds_bytes(kinds: KindList) -> bytes:
    """The content of the file with the proofs of further kinds."""
    solved = [kind.solved for kind in kinds[1:]]
    header = {
        "format": FORMAT,
        "proofs": [None if one.proof is None else json.loads(one.proof_json()) for one in solved],
        "others": [float(one.problem.sample_scores[-1]) for one in solved],  # where rows stand for others
    }
    return packed_arrays(header, {})
