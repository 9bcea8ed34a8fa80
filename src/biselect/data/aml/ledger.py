"""Ledger: events sorted by owner and minute, which answers how many and how much in any window of an owner's past."""

from __future__ import annotations

from dataclasses import dataclass

from biselect.data.aml.schema import MINUTE_BITS
from biselect.data.aml.schema import polars as pl


@dataclass(frozen=True, kw_only=True, eq=False)
class Ledger:
    """Events of owners (accounts or pairs), sorted by owner, then minute.

    All windows end before the minute that is asked about: what else happens in that minute is not the past.

    Attributes:
        keys: owner and minute in one number.
        minutes: of each event.
        totals: running totals of each quantity, one entry more than events; whole numbers, so that differences are
            exact and do not depend on order.
        items: further columns, in the order of the keys.
    """

    keys: pl.Series
    minutes: pl.Series
    totals: dict[str, pl.Series]
    items: dict[str, pl.Series]

    @classmethod
    def of(
        cls, owners: pl.Series, minutes: pl.Series, totals: dict[str, pl.Series], items: dict[str, pl.Series]
    ) -> Ledger:
        """Sort events; among those of one owner and minute the order of the table stays."""
        keys = _keys(owners, minutes)
        order = keys.to_frame("key").with_row_index("row").sort("key", maintain_order=True)["row"]
        zero = pl.Series([0], dtype=pl.Int64)
        return cls(
            keys=keys.gather(order),
            minutes=minutes.gather(order),
            totals={name: pl.concat([zero, values.gather(order).cum_sum()]) for name, values in totals.items()},
            items={name: values.gather(order) for name, values in items.items()},
        )

    def ask(self, owners: pl.Series, minutes: pl.Series) -> Past:
        """The past of each owner before each minute; fastest where the questions are sorted like the ledger."""
        now, start = self.place(owners, minutes), self.place(owners, minutes * 0)
        return Past(ledger=self, owners=owners, minutes=minutes, now=now, start=start)

    def place(self, owners: pl.Series, minutes: pl.Series) -> pl.Series:
        """Where each owner's first event from a minute on stands."""
        return self.keys.search_sorted(_keys(owners, minutes), side="left")


@dataclass(frozen=True, kw_only=True, eq=False)
class Past:
    """Answers of a ledger to a list of questions.

    Attributes:
        ledger: who answers.
        owners: whose past.
        minutes: before which minute.
        now: place of the first event that is not in the past.
        start: place of the owner's first event.
    """

    ledger: Ledger
    owners: pl.Series
    minutes: pl.Series
    now: pl.Series
    start: pl.Series

    @property
    def known(self) -> pl.Series:
        """Whether there is any past."""
        return self.now > self.start

    def since(self, window: int) -> pl.Series:
        """Place of the first event of the last so many minutes."""
        return self.ledger.place(self.owners, (self.minutes - window).clip(lower_bound=0))

    def count(self, since: pl.Series) -> pl.Series:
        """Events from a place up to now."""
        return self.now.cast(pl.Int64) - since.cast(pl.Int64)

    def total(self, name: str, since: pl.Series) -> pl.Series:
        """Total of a quantity from a place up to now."""
        totals = self.ledger.totals[name]
        return totals.gather(self.now) - totals.gather(since)

    def last(self, item: pl.Series) -> pl.Series:
        """The last event's item; meaningless where nothing is `known`."""
        return item.gather((self.now.cast(pl.Int64) - 1).clip(lower_bound=0))


def _keys(owners: pl.Series, minutes: pl.Series) -> pl.Series:
    """Owner and minute as one sortable number."""
    return owners * (1 << MINUTE_BITS) + minutes
