"""The 38 graph-causal features: what a transaction looks like against its accounts' past, and never their future.

Every quantity comes from minutes before the transaction's own. Amounts of different currencies are not added: each is
first divided by the typical (geometric mean) amount of its currency so far, and sums are over those sizes.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from biselect.data.aml.ledger import Ledger, Past
from biselect.data.aml.schema import Transactions, polars

if TYPE_CHECKING:
    import polars as pl

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


def causal_features(transactions: Transactions) -> pl.DataFrame:
    """All features as float32, in the order of `MEANINGS`, a row per transaction."""
    pl = polars()
    frame = transactions.frame.with_columns(_sizes(transactions.frame))
    pairs = _pair_codes(frame)
    new = pairs.is_first_distinct().cast(pl.Int64)
    minutes, units = frame["minute"], (frame["size"].exp() * UNITS).round().cast(pl.Int64)
    quantities = {"units": units, "new": new}
    outgoing = Ledger.of(
        frame["sender"], minutes, quantities, {name: frame[name] for name in ("format", "currency", "size")}
    )
    incoming = Ledger.of(frame["receiver"], minutes, quantities, {"size": frame["size"]})
    found = [_own(frame), _rarities(frame)]
    found += _sender(frame, units, outgoing, incoming)
    found += _receiver(frame, incoming, outgoing)
    del outgoing, incoming
    found += _pairs(frame, pairs)
    return pl.concat(found, how="horizontal").select(list(MEANINGS))


def _sizes(frame: pl.DataFrame) -> pl.Series:
    """Log of each amount over the geometric mean of its currency in earlier minutes; 0 where there are none."""
    pl = polars()
    logs = (pl.col("paid").clip(lower_bound=0.01).log() * LOG_UNITS).round().cast(pl.Int64)
    past = (
        frame.lazy()
        .group_by("currency", "minute")
        .agg(logs.sum().alias("sum"), pl.len().alias("count"))
        .sort("currency", "minute")
        .with_columns((pl.col(name).cum_sum().over("currency") - pl.col(name)).alias(name) for name in ("sum", "count"))
    )
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
    pl = polars()
    before = (
        frame.lazy()
        .group_by("minute")
        .agg(pl.len().alias("all"))
        .sort("minute")
        .with_columns(pl.col("all").cum_sum() - pl.col("all"))
    )
    columns = []
    for name in ("format", "currency"):
        past = (
            frame.lazy()
            .group_by(name, "minute")
            .agg(pl.len().alias("same"))
            .sort(name, "minute")
            .with_columns(pl.col("same").cum_sum().over(name) - pl.col("same"))
            .join(before, on="minute")
        )
        share = (pl.col("same") + 1) / (pl.col("all") + KINDS)
        columns.append(
            frame.lazy()
            .select(name, "minute")
            .join(past, on=[name, "minute"], how="left", maintain_order="left")
            .select((-share.log()).cast(pl.Float32).alias(f"{name}_rarity"))
        )
    return pl.concat([column.collect() for column in columns], how="horizontal")


def _own(frame: pl.DataFrame) -> pl.DataFrame:
    """What the transaction shows by itself."""
    pl = polars()
    return frame.select(
        pl.col("size").cast(pl.Float32).alias("amount"),
        pl.col("currency_change").cast(pl.Float32),
        pl.col("bank_change").cast(pl.Float32),
        (pl.col("sender") == pl.col("receiver")).cast(pl.Float32).alias("self_transfer"),
        (pl.col("clock") / 60).cast(pl.Float32).alias("hour"),
        (pl.col("weekday") >= 6).cast(pl.Float32).alias("weekend"),
    )


def _sender(frame: pl.DataFrame, units: pl.Series, outgoing: Ledger, incoming: Ledger) -> list[pl.DataFrame]:
    """The sender's past as a sender and as a receiver."""
    order, back = _sorted_by(frame, "sender")
    rows = frame.gather(order)
    mine, own = units.gather(order), rows["size"]
    past = outgoing.ask(rows["sender"], rows["minute"])
    hour, day, week = (past.since(window) for window in (HOUR, DAY, WEEK))
    week_count, ever = past.count(week), past.count(past.start)
    mean = past.total("units", past.start) / ever.clip(lower_bound=1)
    paid = past.total("units", day)
    got = incoming.ask(rows["sender"], rows["minute"])
    got_day = got.since(DAY)
    received = got.total("units", got_day)
    known, got_known = past.known, got.known
    columns = {
        "out_count_1h": past.count(hour),
        "out_count_1d": past.count(day),
        "out_count_7d": week_count,
        "out_amount_1d": _amount(paid),
        "out_amount_7d": _amount(past.total("units", week)),
        "fan_out_7d": past.total("new", week),
        "fan_out": past.total("new", past.start),
        "since_out": _since(past),
        "amount_change": _if(known, own - (mean / UNITS).clip(lower_bound=1 / UNITS).log(), 0.0),
        "out_burst": past.count(hour) / week_count.clip(lower_bound=1),
        "format_switch": _if(known, past.last(outgoing.items["format"]) != rows["format"], 0.0),
        "currency_switch": _if(known, past.last(outgoing.items["currency"]) != rows["currency"], 0.0),
        "sender_in_count_1d": got.count(got_day),
        "sender_in_amount_1d": _amount(received),
        "sender_since_in": _since(got),
        "pass_through": ((paid + mine) / UNITS + 1).log() - (received / UNITS + 1).log(),
        "amount_match": _if(got_known, (own - got.last(incoming.items["size"])).abs(), LARGEST_SIZE).clip(
            upper_bound=LARGEST_SIZE
        ),
    }
    return [_restored(columns, back)]


def _receiver(frame: pl.DataFrame, incoming: Ledger, outgoing: Ledger) -> list[pl.DataFrame]:
    """The receiver's past as a receiver and as a sender."""
    order, back = _sorted_by(frame, "receiver")
    rows = frame.gather(order)
    past = incoming.ask(rows["receiver"], rows["minute"])
    hour, day, week = (past.since(window) for window in (HOUR, DAY, WEEK))
    week_count = past.count(week)
    paid = outgoing.ask(rows["receiver"], rows["minute"])
    columns = {
        "in_count_1h": past.count(hour),
        "in_count_1d": past.count(day),
        "in_count_7d": week_count,
        "in_amount_1d": _amount(past.total("units", day)),
        "in_amount_7d": _amount(past.total("units", week)),
        "fan_in_7d": past.total("new", week),
        "fan_in": past.total("new", past.start),
        "since_in": _since(past),
        "in_burst": past.count(hour) / week_count.clip(lower_bound=1),
        "receiver_out_count_1d": paid.count(paid.since(DAY)),
    }
    return [_restored(columns, back)]


def _pairs(frame: pl.DataFrame, pairs: pl.Series) -> list[pl.DataFrame]:
    """The past of sender and receiver with each other, both ways."""
    pl = polars()
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
    return [pl.DataFrame({name: column.cast(pl.Float32) for name, column in columns.items()})]


def _pair_codes(frame: pl.DataFrame) -> pl.Series:
    pl = polars()
    codes = frame.select("sender", "receiver").unique().with_row_index("pair")
    joined = frame.join(codes, on=["sender", "receiver"], how="left", maintain_order="left")
    return joined["pair"].cast(pl.Int64)


def _sorted_by(frame: pl.DataFrame, owner: str) -> tuple[pl.Series, pl.Series]:
    """The order that makes a ledger's work fast, and the one that undoes it."""
    pl = polars()
    order = frame.select(pl.arg_sort_by(owner, "minute")).to_series()
    return order, order.arg_sort()


def _restored(columns: dict[str, pl.Series], back: pl.Series) -> pl.DataFrame:
    pl = polars()
    return pl.DataFrame({name: column.cast(pl.Float32).gather(back) for name, column in columns.items()})


def _amount(units: pl.Series) -> pl.Series:
    return (units / UNITS + 1).log()


def _since(past: Past) -> pl.Series:
    passed = (past.minutes - past.last(past.ledger.minutes)).clip(lower_bound=0, upper_bound=NEVER)
    return _if(past.known, (passed + 1).log(), log(NEVER + 1))


def _if(known: pl.Series, then: pl.Series, otherwise: float) -> pl.Series:
    pl = polars()
    values = pl.select(pl.when(known).then(then.cast(pl.Float64)).otherwise(otherwise))
    return values.to_series()
