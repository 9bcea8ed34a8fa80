"""What a session has found so far, beside chance and the plain ranking, and what the next rows are expected to hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.sessions.store import NOT_FINE, UNSURE, ShownRow, Standing

MOST_PLAIN = 10_000  # rows of the plain ranking whose known labels are counted ahead
AHEAD = 20  # rows that are looked ahead
FADE = 0.8  # an answer counts a fifth less with each that follows
COUNTS, SHARE, DECLINE = 0.75, 0.5, 0.8  # weight of an answer, share of hits before any, and how hits thin out
LEVEL = 0.9  # of the interval
EARLY, QUIET = 10, 20  # answers before which it is too early to say, and so many fine in a row that it is time to stop
GO_ON, CAN_STOP, TOO_EARLY = "go_on", "stop", "early"


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the answers so far say.

    Attributes:
        answered: rows with an answer.
        hits: of these, not fine.
        unsure: of these, nobody was sure of.
        curve: of each answered row, in order, how many were not fine so far.
        plain: how many would be, going down the ranking that no answer changed: as many as are known.
        chance: the same of rows drawn blindly.
        from_labels: whether ranking and chance are counted by known labels. Otherwise they are known as far as rows
            were reviewed: at least so many.
    """

    answered: int
    hits: int
    unsure: int
    curve: tuple[int, ...]
    plain: tuple[int, ...]
    chance: tuple[float, ...]
    from_labels: bool

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def found_so_far(standing: Standing, shown: Mapping[int, ShownRow], record: Mapping[str, Any]) -> Found:
    """What was found, answer by answer.

    Args:
        standing: all answers.
        shown: the rows that were put before a person.
        record: what rows were chosen from, as the session stores it.
    """
    latest = standing.latest()
    n, labels = len(latest), record.get("labels")
    flags = np.array([answer.verdict == NOT_FINE for answer in latest.values()], dtype=bool)
    if labels is not None:
        down = labels["plain"][:n]
        plain, positives = down + down[-1:] * (n - len(down)), labels["positives"]
    else:
        ranks = sorted(shown[row].plain_rank for row, answer in latest.items() if answer.verdict == NOT_FINE)
        plain = np.searchsorted(ranks, np.arange(1, n + 1), side="right").tolist()
        positives = int(flags.sum())
    chance = np.arange(1, n + 1) * positives / record["sizes"]["pool"]
    return Found(
        answered=n,
        hits=int(flags.sum()),
        unsure=sum(answer.verdict == UNSURE for answer in latest.values()),
        curve=tuple(np.cumsum(flags).tolist()),
        plain=tuple(plain),
        chance=tuple(chance.tolist()),
        from_labels=labels is not None,
    )


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """What the next rows are expected to hold.

    Attributes:
        rows: how many rows these are.
        hits: how many of them are expected not to be fine.
        low: in nine cases of ten there are at least so many.
        high: and at most so many.
        advice: `go_on`, `stop`, or `early` where too few answers were given to say.
    """

    rows: int
    hits: float
    low: int
    high: int
    advice: str

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def hits_ahead(hits: Sequence[bool], rows: int = AHEAD) -> Ahead:
    """What the next rows are expected to hold, by the last answers: beta-binomial, with the doubt of about five.

    Args:
        hits: for each decided row, in the order of the answers, whether it was not fine.
        rows: how many come next.
    """
    from scipy.stats import betabinom

    last = np.array(hits, dtype=np.float64)[::-1]
    weights = FADE ** np.arange(last.size)
    doubt = 1 + COUNTS * weights.sum()
    share = DECLINE * (SHARE + COUNTS * (weights * last).sum()) / doubt
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = betabinom.ppf(tails, rows, share * doubt, (1 - share) * doubt) if rows else (0, 0)
    advice = TOO_EARLY if last.size < EARLY else GO_ON if last.size < QUIET or last[:QUIET].any() else CAN_STOP
    return Ahead(rows=rows, hits=float(share * rows), low=int(low), high=int(high), advice=advice)


def labels_down(labels: NDArray[np.bool_] | None, scores: NDArray[np.float64]) -> dict[str, Any] | None:
    """How many known positives the pool holds, and how many the first n rows of a list do; None without labels."""
    if labels is None:
        return None
    order = np.argsort(-scores, kind="stable")[:MOST_PLAIN]
    return {"positives": int(labels.sum()), "plain": np.cumsum(labels[order]).tolist()}
