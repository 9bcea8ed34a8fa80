"""What a session has found so far, round by round, beside chance and beside going down the plain ranking."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.sessions.store import NOT_FINE, UNSURE, Standing

MOST_PLAIN = 10_000  # rows of the overall ranking whose known labels are counted ahead


@dataclass(frozen=True, kw_only=True)
class RoundFound:
    """A round, and all up to it.

    Attributes:
        number: of the round among those about these tables, from 1.
        asked: its rows.
        answered: how many of them have an answer.
        hits: how many were not fine.
        unsure: how many nobody was sure of.
        all_answered: rows with an answer up to this round.
        all_hits: of these, not fine.
        by_chance: how many of as many rows drawn blindly would be expected not to be fine.
        plain_hits: how many of the first `all_answered` rows of the plain ranking are known not to be fine.
        plain_open: how many of these nobody has looked at: each could be one more.
        from_labels: whether chance and ranking are counted by known labels. Otherwise chance is at least that much,
            since only what was found can be counted, and the ranking is known as far as its rows were reviewed.
    """

    number: int
    asked: int
    answered: int
    hits: int
    unsure: int
    all_answered: int
    all_hits: int
    by_chance: float
    plain_hits: int
    plain_open: int
    from_labels: bool

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def found_so_far(standing: Standing, record: Mapping[str, Any]) -> list[RoundFound]:
    """What each round found.

    Args:
        standing: rounds and answers.
        record: what rows were chosen from, as the session stores it.
    """
    latest = standing.latest()
    of_round = {asked.row: at for at, round_ in enumerate(standing.rounds) for asked in round_.rows}
    hits = {row for row in of_round if row in latest and latest[row].verdict == NOT_FINE}
    labels, rows = record.get("labels"), int(record["sizes"]["pool"])
    ranks: list[int] = []  # of rows with an answer, in the plain ranking, ascending
    hit_ranks: list[int] = []
    found: list[RoundFound] = []
    for at, round_ in enumerate(standing.rounds):
        mine = [asked for asked in round_.rows if of_round[asked.row] == at]
        done = [asked for asked in mine if asked.row in latest]
        for asked in done:
            insort(ranks, asked.plain_rank)
            if asked.row in hits:
                insort(hit_ranks, asked.plain_rank)
        first = len(ranks)
        if labels is not None:
            plain = labels["plain"]
            plain_hits, plain_open = int(plain[min(first, len(plain)) - 1]) if first else 0, 0
            by_chance = first * labels["positives"] / rows
        else:
            plain_hits, plain_open = bisect_right(hit_ranks, first), first - bisect_right(ranks, first)
            by_chance = first * len(hits) / rows
        found.append(
            RoundFound(
                number=at + 1,
                asked=len(mine),
                answered=len(done),
                hits=sum(asked.row in hits for asked in done),
                unsure=sum(latest[asked.row].verdict == UNSURE for asked in done),
                all_answered=first,
                all_hits=len(hit_ranks),
                by_chance=by_chance,
                plain_hits=plain_hits,
                plain_open=plain_open,
                from_labels=labels is not None,
            )
        )
    return found


def labels_down(labels: NDArray[np.bool_] | None, scores: NDArray[np.float64]) -> dict[str, Any] | None:
    """How many known positives the pool holds, and how many the first n rows of a list do; None without labels."""
    if labels is None:
        return None
    order = np.argsort(-scores, kind="stable")[:MOST_PLAIN]
    return {"positives": int(labels.sum()), "plain": np.cumsum(labels[order]).tolist()}
