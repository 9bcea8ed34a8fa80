"""The finding: how many more rows of the answer's kind the pool holds than the reference lets expect.

Rows of pool and reference have the same score, so they can be counted above one threshold. Three cases: the pool holds
*more*; it holds rows apart from the bulk *as the reference* does; or *nothing* stands out. A table that was compared
with itself is *described*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection
from biselect.reviews._null import DEEPER, LEVEL, Null, largest_excess, scan
from biselect.weights.directed import COUNTS
from biselect.weights.scoring import ScoredRows, Scoring
from biselect.weights.weighed_tables import WeighedTables

MORE, AS_REFERENCE, NOTHING, DESCRIBED = "more", "as-reference", "nothing", "described"
CONFIDENCE = 0.9  # of the interval of the excess
CLEARLY_APART = 5.0  # signed root of a likelihood ratio: rows beyond what the body of both tables lets expect
FEWEST_APART = 5  # rows
BODY = ((0.5, 0.75), (0.6, 0.85), (0.7, 0.9), (0.8, 0.95))  # quantiles between which the body's hazard is read
TAIL = 0.08  # share of the rows that may be apart
SHARED = 0.75  # of some rows: what so many are unusual in, they share; a row shares it that has so much of it
ALIKE = 3.0  # a cell is like others that weighs one part in so many of their median
MARGIN = 2.0  # by which the bound on the tail may be wrong
FALSE_SHARE = 0.1  # of the rows that are said to hold one by one, what may be expected to be ordinary


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an answer amounts to.

    Attributes:
        case: `more`, `as-reference`, `nothing`, or `described` where there is no reference.
        chosen: how many of the chosen rows share it; of `nothing` 0.
        rows: how many more such rows the pool holds than the reference's rate gives; of `nothing` 0.
        expected: how many such rows an equally large draw of the reference gives; None without a reference.
        interval: of `rows`, nine times in ten; None if nothing is counted.
        p: how often a pool of reference rows would differ as clearly; None without a reference.
        pool_rows: positions of all pool rows that share it, the highest score first.
        reference_rows: the same of the reference's sample.
        sample: how many rows that sample has; 0 without a reference.
        traits: the features that most of these rows are unusual in.
    """

    case: str
    chosen: int
    rows: int = 0
    expected: float | None = None
    interval: tuple[int, int] | None = None
    p: float | None = None
    pool_rows: tuple[int, ...] = ()
    reference_rows: tuple[int, ...] = ()
    sample: int = 0
    traits: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the sentence."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def find(selection: Selection, scoring: Scoring, null: Null | None) -> Finding:
    """The finding of an answer.

    Rows are counted above the threshold where the excess is largest. What most of them are unusual in is what they
    share; of the rows above the threshold those count, in both tables, that share nearly all of it.

    Args:
        selection: the answer.
        scoring: pool and reference on one scale.
        null: draws of the reference; None if the pool was compared with itself.
    """
    features = selection.features
    scores = scoring.pool_scores(features)
    if null is None:
        threshold = float(scores[selection.samples].min())
        members, traits = shared(scoring.pool, np.flatnonzero(scores >= threshold), features)
        chosen = int(np.isin(selection.samples, members).sum())
        return Finding(case=DESCRIBED, chosen=chosen, pool_rows=_listed(members, scores), traits=tuple(traits))
    others = scoring.reference_scores(features)
    rate = scoring.rows / others.size
    p = null.p(scan(scores, others, DEEPER * scoring.k, scoring.rows).z)
    excess = largest_excess(scores, others, scoring.k, scoring.rows)
    every = np.concatenate([scores, others])
    body = every if scoring.rows == scores.size else others  # the heaviest rows of a pool have none
    apart = apart_from_body(every, body, scoring.rows + others.size, scoring.k)
    if p <= LEVEL + 1e-9 and excess.rows - excess.others * rate >= 1:
        case, threshold = MORE, excess.threshold
    elif apart.z > CLEARLY_APART and apart.excess >= FEWEST_APART:
        case, threshold = AS_REFERENCE, apart.threshold
    else:
        return Finding(case=NOTHING, chosen=0, expected=excess.others * rate, p=p, sample=others.size)
    members, traits = shared(scoring.pool, np.flatnonzero(scores >= threshold), features)
    alike = _alike(scoring.reference, np.flatnonzero(others >= threshold), traits)
    n, r = members.size, alike.size
    return Finding(
        case=case,
        chosen=int(np.isin(selection.samples, members).sum()),
        rows=max(0, round(n - r * rate)),
        expected=r * rate,
        interval=excess_interval(n, r, scoring.rows, others.size),
        p=p,
        pool_rows=_listed(members, scores),
        reference_rows=_listed(alike, others),
        sample=others.size,
        traits=tuple(traits),
    )


def shared(
    table: ScoredRows, rows: NDArray[np.int64], features: NDArray[np.int64]
) -> tuple[NDArray[np.int64], dict[int, float]]:
    """What most of some rows are unusual in, and which of them share nearly all of it.

    Args:
        table: pool or reference.
        rows: positions in it.
        features: to look at.

    Returns:
        The rows that share it, and of each feature that is shared what a cell like theirs weighs at least.
    """
    weights = table.weights[np.ix_(rows, features)]
    cutoffs = np.maximum(np.median(weights, axis=0) / ALIKE, COUNTS)
    common = (weights > cutoffs).mean(axis=0) >= SHARED
    traits = dict(zip(features[common].tolist(), cutoffs[common].tolist(), strict=True))
    return _alike(table, rows, traits), traits


def _alike(table: ScoredRows, rows: NDArray[np.int64], traits: Mapping[int, float]) -> NDArray[np.int64]:
    """Those of some rows that share nearly all of these features."""
    if not traits:
        return rows
    like = table.weights[np.ix_(rows, np.array(list(traits)))] > np.array(list(traits.values()))
    return rows[like.mean(axis=1) >= SHARED]


def _listed(rows: NDArray[np.int64], scores: NDArray[np.float64]) -> tuple[int, ...]:
    """Rows, the highest score first."""
    return tuple(rows[np.argsort(-scores[rows], kind="stable")].tolist())


def excess_interval(n: int, r: int, rows: int, others: int) -> tuple[int, int]:
    """Between what and what the excess lies nine times in ten.

    Args:
        n: rows of the pool at or above a threshold.
        r: rows of the reference there.
        rows: of the whole pool.
        others: of the whole reference.
    """
    from scipy.stats import nbinom

    tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    low, high = nbinom.ppf(tails, r + 0.5, others / (others + rows))  # rows that the rate may give in such a pool
    return max(0, int(n - high)), int(n - low)


@dataclass(frozen=True, kw_only=True)
class Apart:
    """Rows beyond what the body of all rows lets expect.

    Attributes:
        z: signed root of the likelihood ratio of two Poisson counts.
        excess: how many rows more than expected.
        threshold: the score from which on they are counted.
    """

    z: float
    excess: float
    threshold: float


def apart_from_body(scores: NDArray[np.float64], body: NDArray[np.float64], rows: int, k: int) -> Apart:
    """Look for rows apart from the bulk.

    Sums of weights have a hazard that does not fall, whether their columns go together or not. So the largest hazard in
    the body bounds the tail, and a group of rows apart lies beyond that bound.

    Args:
        scores: of pool and reference, at least the highest.
        body: of rows that show the bulk of both.
        rows: how many rows both have.
        k: how many rows were chosen.
    """
    thresholds = np.sort(scores)[::-1][: max(k, int(TAIL * rows))]
    counts = np.arange(1, thresholds.size + 1)
    expected = np.maximum(rows * _tail_bound(body, thresholds), 1e-3)
    ratio = counts * np.log(counts / expected) - (counts - expected)
    z = np.sign(counts - expected) * np.sqrt(2 * np.maximum(ratio, 0))
    at = int(np.argmax(z))
    return Apart(z=float(z[at]), excess=float(counts[at] - expected[at]), threshold=float(thresholds[at]))


def _tail_bound(body: NDArray[np.float64], thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of rows at or above thresholds, by the largest hazard in the body; 1 within the body itself."""
    hazards = []
    for low, high in BODY:
        start, end = np.quantile(body, [low, high])
        hazards.append((np.log((1 - low) / (1 - high)) / max(end - start, 1e-9), end, 1 - high))
    hazard, start, share = max(hazards)
    return np.where(thresholds >= start, share * np.exp(-hazard * np.maximum(thresholds - start, 0)), 1.0)


def rows_that_hold(scoring: Scoring, features: NDArray[np.int64], level: float = FALSE_SHARE) -> NDArray[np.bool_]:
    """Rows of a pool that stand out one by one, of which at most a share is expected to be ordinary.

    How many ordinary rows reach a threshold is expected by the reference's rate there, or by the tail that its body
    bounds, with a margin, whichever is less: a few unusual rows in the reference say nothing about ordinary ones.

    Args:
        scoring: pool and reference on one scale.
        features: the chosen features.
        level: the expected share of ordinary rows among those that hold.

    Returns:
        One flag for each row of the pool.
    """
    scores, others = scoring.pool_scores(features), scoring.reference_scores(features)
    thresholds = np.sort(scores)[::-1]
    by_rate = (others.size - np.searchsorted(np.sort(others), thresholds, side="left")) / others.size
    ordinary = scoring.rows * np.minimum(by_rate, MARGIN * _tail_bound(others, thresholds))
    allowed = np.flatnonzero(ordinary <= level * np.arange(1, scores.size + 1))
    return scores >= thresholds[allowed[-1]] if allowed.size else np.zeros(scores.size, dtype=bool)


def holding_rows(
    finding: Finding | None, tables: WeighedTables, features: NDArray[np.int64]
) -> NDArray[np.bool_] | None:
    """Rows that hold one by one, where the pool holds more than chance gives and its ordinary rows are the reference's.

    Args:
        finding: what the answer amounts to; None if nobody could tell.
        tables: pool and reference, weighed.
        features: the chosen features.

    Returns:
        One flag for each row of the pool; None if the question makes no sense.
    """
    has_drifted = 2 * len(tables.moved) > len(tables.weigher.columns)
    if finding is None or finding.case != MORE or has_drifted:
        return None
    return rows_that_hold(tables.scoring, features)
