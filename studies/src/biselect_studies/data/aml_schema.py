"""The IBM IT-AML transaction files (HI or LI, Small to Large): found, read as a stream, checked, and coded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from biselect.errors import InputError, MissingDataError

__all__ = ["Transactions", "find_transactions", "load_transactions"]

FOLDER = "BISELECT_DATA"
VARIANTS = tuple(f"{rate}-{size}" for rate in ("HI", "LI") for size in ("Small", "Medium", "Large"))
COLUMNS = (
    "Timestamp",
    "From Bank",
    "Account",
    "To Bank",
    "Account.1",
    "Amount Received",
    "Receiving Currency",
    "Amount Paid",
    "Payment Currency",
    "Payment Format",
    "Is Laundering",
)
"""As published; the second `Account` of the CSV goes by the name that pandas gives it."""

PUBLISHED = {"HI-Small": (5_078_345, 5_177)}
"""Transactions and laundering among them, of the files that the paper's figures are from."""

TIME_FORMAT = "%Y/%m/%d %H:%M"  # as published
EXPECTED = {
    "Timestamp": "times such as 2022/09/01 00:20, 2022-09-01T00:20:30 or 2022-09-01",
    "Amount Received": "numbers such as 3697.34",
    "Amount Paid": "numbers such as 3697.34",
    "Is Laundering": "0 and 1, or True and False",
}
"""What the columns that can be unreadable must hold; the others are names."""
MINUTE_BITS = 24  # of a key; the rest numbers accounts or pairs
MOST_MINUTES = 1 << MINUTE_BITS


@dataclass(frozen=True, kw_only=True, eq=False)
class Transactions:
    """Transactions in the order of time, coded.

    Attributes:
        frame: `minute` since the first one, `clock` (minutes since midnight), `weekday` (Monday is 1), `sender` and
            `receiver` (codes of bank and account), `paid`, `currency_change`, `bank_change`, `format`, `currency`
            (codes; the currency is that paid in) and `label`.
        source: the file, or that they were generated and how.
        generated: whether a generator made them.
    """

    frame: pl.DataFrame
    source: str
    generated: bool

    def __len__(self) -> int:
        return self.frame.height


def find_transactions(variant: str = "HI-Small") -> Path:
    """The published file of a variant in the folder that BISELECT_DATA names."""
    if variant not in VARIANTS:
        raise InputError(f"there is no variant {variant!r}; choose one of: {', '.join(VARIANTS)}")
    folder = os.environ.get(FOLDER)
    for ending in ("parquet", "csv"):
        if folder and (path := Path(folder) / f"{variant}_Trans.{ending}").is_file():
            return path
    raise MissingDataError(
        f"{variant}_Trans.csv is not at hand. Download it from Kaggle (ealtman2019/ibm-transactions-for-anti-money-"
        f"laundering-aml) and set {FOLDER} to its folder"
    )


def is_published(path: Path, variant: str) -> bool:
    """Whether a file has as many transactions, and as many of laundering, as the published one."""
    with _readable(path):
        lazy = _scan(path)
        _refuse_absent(lazy.collect_schema(), ("Is Laundering",), path.name)
        label = pl.col("Is Laundering").cast(pl.Float64, strict=False)
        found: tuple[int, float] = lazy.select(pl.len(), label.sum()).collect(engine="streaming").row(0)
    return found == PUBLISHED.get(variant)


def load_transactions(path: str | Path) -> Transactions:
    """Read a CSV or Parquet file in the published schema, as a stream."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    with _readable(path):
        return coded(_scan(path), source=path.name, generated=False)


def _scan(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path) if path.suffix == ".parquet" else pl.scan_csv(path, infer_schema=False)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Polars' complaints about a file as ours."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{path}: cannot be read as transactions: {error}") from error


def coded(lazy: pl.LazyFrame, *, source: str, generated: bool) -> Transactions:
    """Check a table in the published schema and code it; rows are sorted by time, equal times keep their order.

    Accounts are numbered by bank and account number together, as numbers repeat across banks.
    """
    lazy = lazy.rename({"Account_duplicated_0": "Account.1"}, strict=False)
    have = lazy.collect_schema()
    _refuse_absent(have, COLUMNS, source)
    texts = ["From Bank", "Account", "To Bank", "Account.1"]
    numbers = ["Amount Received", "Amount Paid"]
    names = ["Receiving Currency", "Payment Currency", "Payment Format"]
    wanted = (
        (["Timestamp"], lambda kind: kind in (pl.Datetime, pl.Date), f"{EXPECTED['Timestamp']}, or date-times"),
        (names, lambda kind: kind in (pl.Categorical, pl.Enum), "names, as texts"),
        (texts, lambda kind: kind.is_integer(), "texts or whole numbers"),
        ([*numbers, "Is Laundering"], lambda kind: kind.is_numeric() or kind == pl.Boolean, "numbers"),
    )
    for columns, fits, words in wanted:
        for name in columns:
            if have[name] != pl.String and not fits(have[name]):
                raise InputError(f"{source}: {name!r} holds values of type {have[name]}; give {words}")
    read = {
        "Timestamp": _moment(pl.col("Timestamp"), have["Timestamp"]),
        **{name: pl.col(name).cast(pl.String) for name in texts},
        **{name: pl.col(name).cast(pl.Float64, strict=False) for name in numbers},
        **{name: pl.col(name).cast(pl.Categorical) for name in names},
        "Is Laundering": _label(pl.col("Is Laundering"), have["Is Laundering"]),
    }
    filled = pl.any_horizontal(pl.col(name).is_not_null() for name in COLUMNS[1:])
    if have["Timestamp"] == pl.String:  # a line of blanks is one too
        filled |= pl.col("Timestamp").str.strip_chars() != ""
    else:
        filled |= pl.col("Timestamp").is_not_null()
    lazy = lazy.filter(filled)
    table = lazy.select(**read).sort("Timestamp", maintain_order=True, nulls_last=True).collect(engine="streaming")
    _refuse_unusable(table, lazy, read, source)
    first = table["Timestamp"][0]
    minutes = ((table["Timestamp"] - first).dt.total_minutes()).cast(pl.Int64)
    if minutes[-1] >= MOST_MINUTES:
        raise InputError(f"{source}: spans {minutes[-1]} minutes; {MOST_MINUTES} at most can be held. Split it in time")
    sender, receiver = _accounts(table)
    currency_change = pl.col("Receiving Currency").cast(pl.String) != pl.col("Payment Currency").cast(pl.String)
    frame = table.select(
        minutes.alias("minute"),
        (pl.col("Timestamp").dt.hour().cast(pl.Int32) * 60 + pl.col("Timestamp").dt.minute()).alias("clock"),
        pl.col("Timestamp").dt.weekday().alias("weekday"),
        sender.alias("sender"),
        receiver.alias("receiver"),
        pl.col("Amount Paid").alias("paid"),
        currency_change.alias("currency_change"),
        (pl.col("From Bank") != pl.col("To Bank")).alias("bank_change"),
        pl.col("Payment Format").to_physical().cast(pl.UInt32).alias("format"),
        pl.col("Payment Currency").to_physical().cast(pl.UInt32).alias("currency"),
        (pl.col("Is Laundering") == 1).alias("label"),
    )
    return Transactions(frame=frame, source=source, generated=generated)


def _moment(time: pl.Expr, kind: pl.DataType) -> pl.Expr:
    """Times as published, with seconds, ISO or days alone, as date-times."""
    if kind != pl.String:
        return time.cast(pl.Datetime("us")) if kind == pl.Date else time
    plain = time.str.strip_chars().str.replace_all("/", "-", literal=True).str.replace("T", " ", literal=True)
    plain = plain.str.strip_suffix("Z")
    forms = ("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S%.f")
    moments = [plain.str.to_datetime(form, time_unit="us", strict=False) for form in forms]
    return pl.coalesce(*moments, plain.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us")))


def _label(label: pl.Expr, kind: pl.DataType) -> pl.Expr:
    """0 and 1, also where they are written as True and False."""
    if kind == pl.String:
        word = label.str.strip_chars().str.to_lowercase()
        label = pl.when(word == "true").then(pl.lit("1")).when(word == "false").then(pl.lit("0")).otherwise(word)
    return label.cast(pl.Float64, strict=False)


def laundering_groups(transactions: Transactions) -> NDArray[np.int64]:
    """The group of every laundering payment, named by the row of its first one; -1 for all others.

    Payments of one pattern resemble one another, so they are not new evidence one by one. The published files do not
    say which pattern a payment is part of; accounts that laundering connects, over the whole file, are one group.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    labels, sender, receiver = (transactions.frame[name].to_numpy() for name in ("label", "sender", "receiver"))
    accounts, ends = np.unique(np.concatenate([sender[labels], receiver[labels]]), return_inverse=True)
    first, second = np.split(ends, 2)
    edges = coo_array((np.ones(first.size, dtype=np.int8), (first, second)), shape=(accounts.size, accounts.size))
    _, component = connected_components(edges, directed=False)
    _, begin, group = np.unique(component[first], return_index=True, return_inverse=True)
    found = np.full(labels.size, -1, dtype=np.int64)
    found[labels] = np.flatnonzero(labels)[begin][group]
    return found


def _accounts(table: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Codes of sender and receiver."""
    sides = [
        table.select(pl.col(bank).alias("bank"), pl.col(account).alias("account"))
        for bank, account in (("From Bank", "Account"), ("To Bank", "Account.1"))
    ]
    codes = pl.concat(sides).unique().with_row_index("code")
    sender, receiver = (
        side.join(codes, on=["bank", "account"], how="left", maintain_order="left")["code"].cast(pl.Int64)
        for side in sides
    )
    return sender, receiver


def _refuse_absent(have: pl.Schema, wanted: Iterable[str], source: str) -> None:
    if absent := [name for name in wanted if name not in have]:
        raise InputError(f"{source} has no column {', '.join(map(repr, absent))}; it has {', '.join(map(repr, have))}")


def _refuse_unusable(table: pl.DataFrame, lazy: pl.LazyFrame, read: dict[str, pl.Expr], source: str) -> None:
    if table.is_empty():
        raise InputError(f"{source}: holds no transactions")
    for name in COLUMNS:
        if missing := table[name].null_count():
            value = lazy.filter(read[name].is_null()).select(name).head(1).collect().item()
            found = "it is missing" if value is None else f"the first holds {value!r}"
            expected = EXPECTED.get(name, "a name in every row")
            raise InputError(f"{source}: {name!r} cannot be read in {missing} rows ({found}); give {expected}")
    for name in ("Amount Received", "Amount Paid"):
        finite, negative = table[name].is_finite(), table[name] < 0
        if not finite.all():
            value = table[name].filter(~finite)[0]
            raise InputError(f"{source}: {name!r} is {value} in row {finite.arg_min()} by time; amounts are numbers")
        if negative.any():
            row = negative.arg_max()
            raise InputError(f"{source}: {name!r} is negative in row {row} by time; amounts are 0 or more")
    if not table["Is Laundering"].is_in(pl.Series([0.0, 1.0]).implode()).all():  # before any cast: 0.9 is no label
        raise InputError(f"{source}: 'Is Laundering' must hold 0 and 1 only, or True and False")
