"""Which list the next rows to review come from: a pure function of what was reviewed so far.

The policy in words:

1. Until both answers were given, lists take turns: a row of the first kind, then several of the overall ranking, then
   the next kind, one more of the overall ranking, and so on. Kinds are cheap to try, one row tells; the overall ranking
   is the better guess on tables whose anomalies have no common direction.
2. A list whose last row was a hit gives the next row too.
3. Once both answers were given, be it about earlier tables, the learner follows a miss. After PATIENCE misses in a row
   it lets the next list in turn try one row.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

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
