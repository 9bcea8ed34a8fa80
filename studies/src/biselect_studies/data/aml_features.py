"""The 38 graph-causal features: what a transaction looks like against its accounts' past, and never their future.

Every quantity comes from minutes before the transaction's own. Amounts of different currencies are not added: each is
first divided by the typical (geometric mean) amount of its currency so far, and sums are over those sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import polars as pl

from biselect_studies.data.aml_schema import MINUTE_BITS, Transactions

__all__ = ["causal_features"]

HOUR, DAY, WEEK = 60, 1_440, 10_080
NEVER = 30 * DAY  # what "since the last one" says where there is none, and at most
LARGEST_SIZE = 8.0  # in logarithms: about 3,000 times the typical amount
UNITS = 1000  # of the typical amount: sizes are added as whole numbers, so sums are exact in any order
LOG_UNITS = 1_000_000
KINDS = 16  # added to the sum of counts where 1 is added to each; a fixed guess, as later kinds are not known yet

MEANINGS = {
    "amount": "log of the amount paid over the typical amount of its currency so far",
    "currency_change": "1 if paid in another currency than received",
    "bank_change": "1 if the two accounts are at different banks",
    "self_transfer": "1 if sender and receiver are one account",
    "hour": "hour of the day, 0 to 24",
    "weekend": "1 on Saturday and Sunday",
    "format_rarity": "minus log of the share of this payment format so far",
    "currency_rarity": "minus log of the share of this payment currency so far",
    "out_count_1h": "payments the sender made in the last hour",
    "out_count_1d": "payments the sender made in the last day",
    "out_count_7d": "payments the sender made in the last 7 days",
    "out_amount_1d": "log(1 + sizes the sender paid in the last day)",
    "out_amount_7d": "log(1 + sizes the sender paid in the last 7 days)",
    "fan_out_7d": "receivers the sender paid for the first time in the last 7 days",
    "fan_out": "different receivers the sender has ever paid",
    "since_out": "log(1 + minutes) since the sender last paid",
    "amount_change": "log of the size over the sender's mean size so far",
    "out_burst": "share of the sender's last 7 days' payments that came in the last hour",
    "format_switch": "1 if the payment format differs from the sender's last",
    "currency_switch": "1 if the payment currency differs from the sender's last",
    "sender_in_count_1d": "payments the sender received in the last day",
    "sender_in_amount_1d": "log(1 + sizes the sender received in the last day)",
    "sender_since_in": "log(1 + minutes) since the sender last received",
    "pass_through": "log of (1 + sizes paid in the last day and now) over (1 + sizes received in the last day)",
    "amount_match": "|log of the size over the size the sender last received|, at most 8: near 0 in stacks and cycles",
    "in_count_1h": "payments the receiver got in the last hour",
    "in_count_1d": "payments the receiver got in the last day",
    "in_count_7d": "payments the receiver got in the last 7 days",
    "in_amount_1d": "log(1 + sizes the receiver got in the last day)",
    "in_amount_7d": "log(1 + sizes the receiver got in the last 7 days)",
    "fan_in_7d": "senders that paid the receiver for the first time in the last 7 days",
    "fan_in": "different senders that ever paid the receiver",
    "since_in": "log(1 + minutes) since the receiver last got a payment",
    "in_burst": "share of the receiver's last 7 days' payments that came in the last hour",
    "receiver_out_count_1d": "payments the receiver made in the last day",
    "pair_count": "payments from this sender to this receiver so far",
    "since_pair": "log(1 + minutes) since the last of them",
    "reverse_count": "payments from this receiver to this sender so far: a cycle hint",
}
"""Every feature and what it means, in the order of the columns."""


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


def causal_features(transactions: Transactions) -> pl.DataFrame:
    """All features as float32, in the order of `MEANINGS`, a row per transaction."""
    frame = transactions.frame.with_columns(_sizes(transactions.frame))
    pairs = _pair_codes(frame)
    new = pairs.is_first_distinct().cast(pl.Int64)
    minutes, units = frame["minute"], (frame["size"].exp() * UNITS).round().cast(pl.Int64)
    quantities = {"units": units, "new": new}
    outgoing = Ledger.of(
        frame["sender"], minutes, quantities, {name: frame[name] for name in ("format", "currency", "size")}
    )
    incoming = Ledger.of(frame["receiver"], minutes, quantities, {"size": frame["size"]})
    found = [
        _own(frame),
        _rarities(frame),
        _sender(frame, units, outgoing, incoming),
        _receiver(frame, incoming, outgoing),
    ]
    del outgoing, incoming
    found.append(_pairs(frame, pairs))
    return pl.concat(found, how="horizontal").select(list(MEANINGS))


def _sizes(frame: pl.DataFrame) -> pl.Series:
    """Log of each amount over the geometric mean of its currency in earlier minutes; 0 where there are none."""
    logs = (pl.col("paid").clip(lower_bound=0.01).log() * LOG_UNITS).round().cast(pl.Int64)
    past = _before(frame, "currency", sum=logs.sum(), count=pl.len())
    return (
        frame.lazy()
        .select("currency", "minute", logs.alias("log"))
        .join(past, on=["currency", "minute"], how="left", maintain_order="left")
        .select(
            pl.when(pl.col("count") > 0)
            .then((pl.col("log") - pl.col("sum") / pl.col("count")) / LOG_UNITS)
            .otherwise(0.0)
            .clip(-LARGEST_SIZE, LARGEST_SIZE)
            .alias("size")
        )
        .collect()["size"]
    )


def _rarities(frame: pl.DataFrame) -> pl.DataFrame:
    """Minus log of the past share of the format and of the currency, one added to each count."""
    everything = _before(frame, all=pl.len())
    columns = []
    for name in ("format", "currency"):
        past = _before(frame, name, same=pl.len()).join(everything, on="minute")
        share = (pl.col("same") + 1) / (pl.col("all") + KINDS)
        columns.append(
            frame.lazy()
            .select(name, "minute")
            .join(past, on=[name, "minute"], how="left", maintain_order="left")
            .select((-share.log()).cast(pl.Float32).alias(f"{name}_rarity"))
        )
    return pl.concat([column.collect() for column in columns], how="horizontal")


def _before(frame: pl.DataFrame, *kind: str, **totals: pl.Expr) -> pl.LazyFrame:
    """Totals over all earlier minutes, by minute and kind."""
    sums = frame.lazy().group_by(*kind, "minute").agg(**totals).sort(*kind, "minute")
    running = {name: pl.col(name).cum_sum().over(kind) if kind else pl.col(name).cum_sum() for name in totals}
    return sums.with_columns(**{name: total - pl.col(name) for name, total in running.items()})


def _own(frame: pl.DataFrame) -> pl.DataFrame:
    """What the transaction shows by itself."""
    return frame.select(
        pl.col("size").cast(pl.Float32).alias("amount"),
        pl.col("currency_change").cast(pl.Float32),
        pl.col("bank_change").cast(pl.Float32),
        (pl.col("sender") == pl.col("receiver")).cast(pl.Float32).alias("self_transfer"),
        (pl.col("clock") / 60).cast(pl.Float32).alias("hour"),
        (pl.col("weekday") >= 6).cast(pl.Float32).alias("weekend"),
    )


def _sender(frame: pl.DataFrame, units: pl.Series, outgoing: Ledger, incoming: Ledger) -> pl.DataFrame:
    """The sender's past as a sender and as a receiver."""
    order = _order(frame, "sender")
    rows = frame.gather(order)
    mine, own = units.gather(order), rows["size"]
    past, got = (ledger.ask(rows["sender"], rows["minute"]) for ledger in (outgoing, incoming))
    mean = past.total("units", past.start) / past.count(past.start).clip(lower_bound=1)
    paid = past.total("units", past.since(DAY))
    got_day = got.since(DAY)
    received = got.total("units", got_day)
    columns = {
        **_activity(past, "out"),
        "amount_change": _if(past.known, own - (mean / UNITS).clip(lower_bound=1 / UNITS).log(), 0.0),
        "format_switch": _if(past.known, past.last(outgoing.items["format"]) != rows["format"], 0.0),
        "currency_switch": _if(past.known, past.last(outgoing.items["currency"]) != rows["currency"], 0.0),
        "sender_in_count_1d": got.count(got_day),
        "sender_in_amount_1d": _amount(received),
        "sender_since_in": _since(got),
        "pass_through": ((paid + mine) / UNITS + 1).log() - (received / UNITS + 1).log(),
        "amount_match": _if(got.known, (own - got.last(incoming.items["size"])).abs(), LARGEST_SIZE).clip(
            upper_bound=LARGEST_SIZE
        ),
    }
    return _restored(columns, order)


def _receiver(frame: pl.DataFrame, incoming: Ledger, outgoing: Ledger) -> pl.DataFrame:
    """The receiver's past as a receiver and as a sender."""
    order = _order(frame, "receiver")
    rows = frame.gather(order)
    got, paid = (ledger.ask(rows["receiver"], rows["minute"]) for ledger in (incoming, outgoing))
    return _restored({**_activity(got, "in"), "receiver_out_count_1d": paid.count(paid.since(DAY))}, order)


def _activity(past: Past, side: str) -> dict[str, pl.Series]:
    """What an account did on one side of its payments, `out` or `in`."""
    hour, day, week = (past.since(window) for window in (HOUR, DAY, WEEK))
    return {
        f"{side}_count_1h": past.count(hour),
        f"{side}_count_1d": past.count(day),
        f"{side}_count_7d": past.count(week),
        f"{side}_amount_1d": _amount(past.total("units", day)),
        f"{side}_amount_7d": _amount(past.total("units", week)),
        f"fan_{side}_7d": past.total("new", week),
        f"fan_{side}": past.total("new", past.start),
        f"since_{side}": _since(past),
        f"{side}_burst": past.count(hour) / past.count(week).clip(lower_bound=1),
    }


def _pairs(frame: pl.DataFrame, pairs: pl.Series) -> pl.DataFrame:
    """The past of sender and receiver with each other, both ways."""
    ledger = Ledger.of(pairs, frame["minute"], {}, {})
    codes = frame.select("sender", "receiver", pairs.alias("pair")).unique("pair")
    turned = codes.select(sender="receiver", receiver="sender", reverse="pair")
    reverse = frame.join(turned, on=["sender", "receiver"], how="left", maintain_order="left")["reverse"]
    past = ledger.ask(pairs, frame["minute"])
    back = ledger.ask(reverse.fill_null(codes.height), frame["minute"])
    columns = {
        "pair_count": past.count(past.start),
        "since_pair": _since(past),
        "reverse_count": back.count(back.start),
    }
    return pl.DataFrame({name: column.cast(pl.Float32) for name, column in columns.items()})


def _pair_codes(frame: pl.DataFrame) -> pl.Series:
    codes = frame.select("sender", "receiver").unique().with_row_index("pair")
    joined = frame.join(codes, on=["sender", "receiver"], how="left", maintain_order="left")
    return joined["pair"].cast(pl.Int64)


def _order(frame: pl.DataFrame, owner: str) -> pl.Series:
    """The order of rows that makes a ledger's work fast."""
    return frame.select(pl.arg_sort_by(owner, "minute")).to_series()


def _restored(columns: dict[str, pl.Series], order: pl.Series) -> pl.DataFrame:
    """The columns in the order of the table again."""
    back = order.arg_sort()
    return pl.DataFrame({name: column.cast(pl.Float32).gather(back) for name, column in columns.items()})


def _amount(units: pl.Series) -> pl.Series:
    return (units / UNITS + 1).log()


def _since(past: Past) -> pl.Series:
    passed = (past.minutes - past.last(past.ledger.minutes)).clip(lower_bound=0, upper_bound=NEVER)
    return _if(past.known, (passed + 1).log(), log(NEVER + 1))


def _if(known: pl.Series, then: pl.Series, otherwise: float) -> pl.Series:
    return pl.select(pl.when(known).then(then.cast(pl.Float64)).otherwise(otherwise)).to_series()
