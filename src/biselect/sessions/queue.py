"""The lists that rows to review are taken from: each kind, an overall ranking, and a learner on the answers."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biselect.reviews.kinds import KindList
from biselect.weights import Weigher
from biselect.weights.maps import GaussianMap

NEIGHBOUR = 5  # the distance to this neighbour in the reference says how far a row stands apart
MOST_NEIGHBOURS = 4_000  # reference rows that distances are taken to
TREES = 100
WEAK_ROWS, WEAK_WEIGHT = 200, 0.2  # reference rows that the learner takes for misses, and what each counts
SHORT_LIST = 300  # rows of each list that the learner ranks anew
PRIOR_WEIGHT = 0.05  # of the overall ranking where the learner sees no difference


@dataclass(frozen=True, kw_only=True, eq=False)
class RowList:
    """A list that a reviewer goes down, highest score first.

    Attributes:
        name: of the kind, or `overall`.
        scores: one for each row of the pool.
        columns: what a kind is about, strongest first; none of the overall ranking.
        proven: whether another machine must find the same list: the kind is proven.
    """

    name: str
    scores: NDArray[np.float64]
    columns: tuple[str, ...] = ()
    proven: bool = True


def lists_of(
    kinds: KindList, reference: NDArray[np.float64], pool: NDArray[np.float64], seed: int
) -> tuple[RowList, ...]:
    """One list for each kind, and the overall ranking last."""
    of_kinds = [
        RowList(
            name=kind.name,
            scores=kind.row_scores,
            columns=kind.column_names,
            proven=kind.selection.proven_optimal,
        )
        for kind in kinds
    ]
    detectors = overall_scores(reference, pool, seed)
    overall = np.sum([log_ranks(scores) for scores in detectors.values()], axis=0)
    return (*of_kinds, RowList(name=OVERALL, scores=overall))


def overall_scores(
    reference: NDArray[np.float64], pool: NDArray[np.float64], seed: int
) -> dict[str, NDArray[np.float64]]:
    """Scores of three plain detectors that err in different ways: all unusual weights added up, isolation, distance.

    Args:
        reference: rows × columns without missing cells.
        pool: the same columns.
        seed: fixes every draw.
    """
    from sklearn.ensemble import IsolationForest
    from sklearn.neighbors import NearestNeighbors

    rng = np.random.default_rng(seed)
    center, scale = reference.mean(axis=0), reference.std(axis=0)
    scale[scale == 0] = 1.0  # a value that is new there stands apart in its own units
    before, now = (reference - center) / scale, (pool - center) / scale
    some = before[rng.choice(len(before), min(len(before), MOST_NEIGHBOURS), replace=False)]
    near = NearestNeighbors(n_neighbors=min(NEIGHBOUR, len(some))).fit(some)
    return {
        "sum of weights": Weigher(GaussianMap).fit(reference).weights(pool).sum(axis=1),
        "isolation forest": -IsolationForest(random_state=seed).fit(before).score_samples(now),
        "nearest neighbours": near.kneighbors(now)[0][:, -1],
    }


def learned_scores(
    answered: NDArray[np.float64],
    hits: NDArray[np.bool_],
    reference: NDArray[np.float64],
    pool: NDArray[np.float64],
    lists: Sequence[NDArray[np.float64]],
    overall: NDArray[np.float64],
    seed: int,
) -> NDArray[np.float64]:
    """How likely each row is a hit by the answers so far; -1 for a row that no list has among its first.

    Extremely randomised trees on the columns. A few reference rows stand for misses, since reviewed rows alone never
    show what is usual.

    Args:
        answered: rows × columns.
        hits: which of these were not fine.
        reference: the same columns.
        pool: likewise.
        lists: scores of the pool's rows, of which the first SHORT_LIST rows each are ranked.
        overall: the overall ranking's scores, which break ties.
        seed: fixes every draw.
    """
    from sklearn.ensemble import ExtraTreesClassifier

    rng = np.random.default_rng(seed)
    usual = reference[rng.choice(len(reference), min(len(reference), WEAK_ROWS), replace=False)]
    size = min(SHORT_LIST, len(pool))
    candidates = np.unique(np.concatenate([np.argpartition(-scores, size - 1)[:size] for scores in lists]))
    trees = ExtraTreesClassifier(TREES, class_weight="balanced", random_state=seed, n_jobs=1)
    trees.fit(
        np.vstack([answered, usual]),
        np.concatenate([hits, np.zeros(len(usual), dtype=bool)]),
        sample_weight=np.concatenate([np.ones(len(answered)), np.full(len(usual), WEAK_WEIGHT)]),
    )
    scores = np.full(len(pool), -1.0)
    spread = np.ptp(overall) or 1.0
    scores[candidates] = trees.predict_proba(pool[candidates])[:, 1]
    scores[candidates] += PRIOR_WEIGHT * (overall[candidates] - overall.min()) / spread
    return scores


OVERALL, LEARNER = "overall", "learner"
FIRST_OVERALL = 3  # rows of the overall ranking after the first kind's row
PATIENCE = 5  # misses in a row before the learner lets another list try


@dataclass(frozen=True, kw_only=True)
class Reviewed:
    """One answer.

    Attributes:
        row: position in the pool.
        hit: what the reviewer said.
        source: name of the list that the row came from.
    """

    row: int
    hit: bool
    source: str


def turn(number: int, kinds: Sequence[str]) -> str:
    """The list whose turn it is, counted from 0: the first kind, the overall ranking a few times, then alternating."""
    if not kinds or number in range(1, 1 + FIRST_OVERALL):
        return OVERALL
    if number == 0:
        return kinds[0]
    kind, overall = divmod(number - 1 - FIRST_OVERALL, 2)
    return kinds[1 + kind] if not overall and 1 + kind < len(kinds) else OVERALL


def next_source(history: Sequence[Reviewed], kinds: Sequence[str], taught: Collection[bool] = ()) -> str:
    """The list that the next row comes from.

    Args:
        history: answers about these tables.
        kinds: names of the lists of kinds.
        taught: answers about earlier tables.
    """
    if history and history[-1].hit:
        return history[-1].source
    turns = sum(not answer.hit and answer.source != LEARNER for answer in history)
    if len({answer.hit for answer in history} | {*taught}) < 2:
        return turn(turns, kinds)
    learned = [answer for answer in history[-PATIENCE:] if answer.source == LEARNER and not answer.hit]
    return turn(turns, kinds) if len(learned) == PATIENCE else LEARNER


def log_ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """-log(rank / (rows + 1)), highest for the highest score: lists of any unit can be added up."""
    ranks = np.empty(scores.size)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, scores.size + 1)
    return np.asarray(-np.log(ranks / (scores.size + 1)))
