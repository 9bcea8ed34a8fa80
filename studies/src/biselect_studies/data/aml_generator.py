"""AML-like transactions in the published schema, so that every study runs where the published file is not at hand.

Not a model of any bank: accounts, banks, formats, currencies and a daily rhythm of plausible size, with laundering
patterns at the rate of the published HI files. Figures on these data say that the code runs and how methods compare
here; they confirm nothing about the published data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from math import gcd
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect_studies.data.aml_schema import COLUMNS, Transactions, coded

FORMATS = ("Cheque", "Credit Card", "ACH", "Cash", "Wire", "Reinvestment", "Bitcoin")
FORMAT_SHARES = (0.37, 0.26, 0.12, 0.10, 0.04, 0.09, 0.02)
LAUNDERING_SHARES = (0.06, 0.03, 0.82, 0.03, 0.03, 0.0, 0.03)  # mostly ACH, as published
CURRENCIES = {"US Dollar": 1.0, "Euro": 0.9, "Yuan": 7.0, "Rupee": 75.0, "Yen": 110.0, "UK Pound": 0.8, "Bitcoin": 2e-5}
CURRENCY_SHARES = (0.40, 0.23, 0.13, 0.10, 0.08, 0.06, 0.0)  # of accounts; Bitcoin comes with its format alone
FIRST_DAY = np.datetime64("2022-09-01T00:00", "m")
MINUTES_A_DAY = 1440
CONTACTS = 6
CONTACT_STEP, CONTACT_OFFSET = 7919, 104_729  # primes that spread the contacts over all accounts
KNOWN = 0.8  # share of payments that go to a contact
RELATED = 0.95  # of a pattern that go to a contact, where its shape leaves a choice
OWN_FORMAT = 0.4  # share of laundering that goes by the format its sender mostly uses
TRIES = 20  # to find an account that takes part in no other pattern

Rng = np.random.Generator
Payment = tuple[int, int, int]  # sender, receiver (both numbered from 0 within the pattern), and its step in time
PATTERNS: dict[str, Callable[[int, Rng], list[Payment]]] = {
    # one account pays many, or many pay one
    "fan-out": lambda n, _: [(0, 1 + i, i) for i in range(n)],
    "fan-in": lambda n, _: [(1 + i, 0, i) for i in range(n)],
    # many pay one, which then pays many others; one pays many, who then all pay one other
    "gather-scatter": lambda n, _: [(1 + i, 0, i) for i in range(n)] + [(0, 1 + n + i, n + i) for i in range(n)],
    "scatter-gather": lambda n, _: [(0, 1 + i, i) for i in range(n)] + [(1 + i, 1 + n, n + i) for i in range(n)],
    # money goes round and comes back to where it began
    "cycle": lambda n, _: [(i, (i + 1) % n, i) for i in range(n)],
    # two layers of go-betweens, each passing on to the next
    "stack": lambda n, _: [(i, n + i, i) for i in range(n)] + [(n + i, 2 * n + i, n + i) for i in range(n)],
    # every account of one group pays some of another group
    "bipartite": lambda n, rng: [(i, n + int(j), i) for i in range(n) for j in rng.choice(n, 2, False)],
    # money wanders between a few accounts and need not return
    "random": lambda n, rng: _walk(rng.integers(0, n, size=2 * n)),
}
"""The eight laundering patterns of the published data, each as payments between n or more accounts."""


def _walk(visits: NDArray[np.int64]) -> list[Payment]:
    moves = [(int(a), int(b)) for a, b in pairwise(visits) if a != b]
    return [(a, b, step) for step, (a, b) in enumerate(moves)]


@dataclass(frozen=True, kw_only=True)
class Market:
    """What is generated.

    Attributes:
        transactions: how many.
        days: over how many days; the first is a Thursday. Five weeks cut 60/20/20 leave a whole week each for choosing
            and for testing: windows of one are then as busy as those of the other.
        laundering: share of transactions that belong to a pattern; the published HI-Small has 1 in 981.
        accounts_per_transaction: accounts for each transaction.
        strangers: whether launderers are drawn uniformly and pay accounts they never paid, in amounts of their own, so
            that one feature finds them. Otherwise they are as active as others, mostly pay those they pay anyway, and
            pay amounts that fit them.
    """

    transactions: int
    days: int = 35
    laundering: float = 1 / 981
    accounts_per_transaction: float = 0.1
    strangers: bool = False

    def __post_init__(self) -> None:
        if self.transactions < 1000 or self.days < 2:
            raise InputError(
                f"generate at least 1000 transactions over 2 days, not {self.transactions} over {self.days}"
            )
        if not 0 <= self.laundering <= 0.5:
            raise InputError(f"laundering is a share from 0 to 0.5, got {self.laundering:g}")

    @property
    def accounts(self) -> int:
        """How many accounts."""
        return max(60, int(self.transactions * self.accounts_per_transaction))

    def generate(self, *, seed: int) -> Transactions:
        """Transactions in the order of time, marked as generated."""
        source = f"generated: {self.transactions:,} transactions over {self.days} days, seed {seed}"
        return coded(self.table(seed=seed).lazy(), source=source, generated=True)

    def table(self, *, seed: int) -> pl.DataFrame:
        """The same as a table in the published schema."""
        rng = np.random.default_rng(seed)
        wanted = round(self.laundering * self.transactions)
        if self.strangers:
            bad = _laundering(self, rng, wanted, None)
            good, _ = _ordinary(self, rng, self.transactions - wanted)
        else:
            good, customers = _ordinary(self, rng, self.transactions - wanted)
            bad = _laundering(self, rng, wanted, customers)
        rows = {name: np.concatenate([good[name], bad[name]]) for name in good}
        return _published(self, rows, rng)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Customers:
    """Who pays how often, how much, in which form, and whom.

    Attributes:
        ladder: running total of how active accounts are.
        wealth: mean log of the amounts each pays.
        usual: the format each mostly pays by.
    """

    ladder: NDArray[np.float64]
    wealth: NDArray[np.float64]
    usual: NDArray[np.int64]

    def contact_of(self, sender: int, rng: Rng) -> int:
        """One whom the sender pays; the more active, the likelier."""
        return self._by_activity(_contacts(sender, np.arange(1, CONTACTS + 1), self.ladder.size), rng)

    def payer_of(self, receiver: int, rng: Rng) -> int:
        """One who pays the receiver; the more active, the likelier."""
        accounts = self.ladder.size
        if gcd(CONTACT_STEP, accounts) > 1:
            return self.anyone(rng)
        before = receiver - np.arange(1, CONTACTS + 1) * CONTACT_OFFSET
        return self._by_activity(before * pow(CONTACT_STEP, -1, accounts) % accounts, rng)

    def anyone(self, rng: Rng) -> int:
        """One of all accounts; the more active, the likelier."""
        return int(_anyone(self.ladder, rng))

    def _by_activity(self, known: NDArray[np.int64], rng: Rng) -> int:
        steps = np.cumsum(self.ladder[known] - np.where(known > 0, self.ladder[known - 1], 0.0))
        return int(known[np.searchsorted(steps, rng.random() * steps[-1])])


def _anyone(ladder: NDArray[np.float64], rng: Rng, count: int | None = None) -> Any:
    """Accounts drawn by how active they are."""
    return np.searchsorted(ladder, rng.random(count) * ladder[-1])


def _contacts(senders: Any, which: Any, accounts: int) -> Any:
    """The accounts that senders pay most; `which` is from 1 to `CONTACTS`."""
    return (senders * CONTACT_STEP + which * CONTACT_OFFSET) % accounts


def _ordinary(market: Market, rng: Rng, count: int) -> tuple[dict[str, NDArray[np.generic]], _Customers]:
    """Payments between accounts and their contacts; a few accounts make most of them."""
    ladder = np.cumsum(rng.pareto(1.2, market.accounts) + 0.2)
    sender = _anyone(ladder, rng, count)
    contact = _contacts(sender, rng.integers(1, CONTACTS + 1, count), market.accounts)
    anyone = _anyone(ladder, rng, count)
    receiver = np.where(rng.random(count) < KNOWN, contact, anyone)
    usual = rng.choice(len(FORMATS), market.accounts, p=FORMAT_SHARES)
    form = np.where(rng.random(count) < 0.7, usual[sender], rng.choice(len(FORMATS), count, p=FORMAT_SHARES))
    receiver = np.where(form == FORMATS.index("Reinvestment"), sender, receiver)
    wealth = rng.normal(6.0, 1.5, market.accounts)
    rows = {
        "minute": _moments(market, rng.random(count)),
        "sender": sender,
        "receiver": receiver,
        "format": form,
        "amount": np.exp(wealth[sender] + rng.normal(0, 1.2, count)),
        "label": np.zeros(count, dtype=np.int8),
    }
    return rows, _Customers(ladder=ladder, wealth=wealth, usual=usual)


def _laundering(market: Market, rng: Rng, wanted: int, customers: _Customers | None) -> dict[str, NDArray[np.generic]]:
    """Patterns in turn until the wanted number of payments is reached, with the rhythm of all other payments.

    Without `customers` the members are strangers.
    """
    parts: list[dict[str, NDArray[np.generic]]] = []
    taken: set[int] = set()
    made = 0
    while made < wanted:
        make = list(PATTERNS.values())[len(parts) % len(PATTERNS)]
        edges = np.array(make(int(rng.integers(3, 12)), rng), dtype=np.int64).reshape(-1, 3)
        if len(edges) == 0:  # a walk that never left
            continue
        size = 1 + int(edges[:, :2].max())
        if customers is None:
            members = rng.choice(market.accounts, size, replace=False)
        else:
            members = _members(customers, edges, size, taken, rng)
        step = rng.integers(10, 12 * 60)
        start = rng.integers(0, market.days * MINUTES_A_DAY)
        shares = (start + edges[:, 2] * step + rng.integers(0, step, len(edges))) / (market.days * MINUTES_A_DAY)
        inside = shares < 1
        typical, spread = rng.normal(7.2, 1.0), 0.15
        if customers is not None:
            typical, spread = customers.wealth[members].mean() + rng.normal(0.3, 0.5), 0.4
        amount = np.exp(typical) * np.exp(rng.normal(0, spread, len(edges)))
        form = rng.choice(len(FORMATS), len(edges), p=LAUNDERING_SHARES)
        if customers is not None:
            usual = customers.usual[members[edges[:, 0]]]
            own = (rng.random(len(edges)) < OWN_FORMAT) & (usual != FORMATS.index("Reinvestment"))
            form = np.where(own, usual, form)
        parts.append(
            {
                "minute": _moments(market, shares[inside]),
                "sender": members[edges[:, 0]][inside],
                "receiver": members[edges[:, 1]][inside],
                "format": form[inside],
                "amount": amount[inside],
                "label": np.ones(int(inside.sum()), dtype=np.int8),
            }
        )
        made += int(inside.sum())
    empty = {name: np.empty(0, dtype=np.int64) for name in ("minute", "sender", "receiver", "format", "label")}
    parts.append({**empty, "amount": np.empty(0)})
    return {name: np.concatenate([part[name] for part in parts])[:wanted] for name in parts[0]}


def _members(
    customers: _Customers, edges: NDArray[np.int64], size: int, taken: set[int], rng: Rng
) -> NDArray[np.int64]:
    """Who takes part in a pattern: accounts that pay each other anyway, where one is free; `taken` are in others."""
    members = [-1] * size

    def free(related: Callable[[], int]) -> int:
        draw = related if rng.random() < RELATED else partial(customers.anyone, rng)
        for _ in range(TRIES):
            if (drawn := draw()) not in members and drawn not in taken:
                return drawn
        while drawn in members:
            drawn = int(rng.integers(customers.ladder.size))
        return drawn

    for sender, receiver, _ in edges.tolist():
        if members[sender] < 0:
            known = members[receiver]
            members[sender] = free(
                partial(customers.anyone, rng) if known < 0 else partial(customers.payer_of, known, rng)
            )
        if members[receiver] < 0:
            members[receiver] = free(partial(customers.contact_of, members[sender], rng))
    if 2 * len(taken) > customers.ladder.size:  # too few are left to choose from: begin anew
        taken.clear()
    taken.update(members)
    return np.array(members)


def _moments(market: Market, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Minutes by which such shares of all payments are made: busy by day, quiet at night and on weekends."""
    ladder = _rhythm(market.days)
    return np.searchsorted(ladder, shares * ladder[-1])


@lru_cache(maxsize=1)
def _rhythm(days: int) -> NDArray[np.float64]:
    """Running total of how much is paid, minute by minute."""
    minute = np.arange(days * MINUTES_A_DAY)
    rhythm = 1.15 - np.cos(2 * np.pi * (minute % MINUTES_A_DAY) / MINUTES_A_DAY)
    weekday = (minute // MINUTES_A_DAY + 3) % 7  # the first day is a Thursday
    return np.cumsum(rhythm * np.where(weekday >= 5, 0.5, 1.0))


def _published(market: Market, rows: dict[str, NDArray[np.generic]], rng: np.random.Generator) -> pl.DataFrame:
    """Numbers to the columns of the published files."""
    # within a minute by chance: the order of a file must not tell which rows are laundering
    order = np.lexsort((rng.random(len(rows["minute"])), rows["minute"]))
    sender, receiver, form = (rows[name][order].astype(np.int64) for name in ("sender", "receiver", "format"))
    count, accounts = len(order), market.accounts
    home = rng.choice(len(CURRENCIES), accounts, p=CURRENCY_SHARES)
    bitcoin = list(CURRENCIES).index("Bitcoin")  # the last
    paid_in = np.where(rng.random(count) < 0.97, home[sender], rng.integers(0, bitcoin, count))
    got_in = np.where(rng.random(count) < 0.03, home[receiver], paid_in)
    paid_in, got_in = (np.where(form == FORMATS.index("Bitcoin"), bitcoin, kind) for kind in (paid_in, got_in))
    rates = np.array(list(CURRENCIES.values()))
    amount = rows["amount"][order].astype(np.float64)
    bank = pl.Series([f"{number:05d}" for number in rng.integers(1, 2 + accounts // 40, accounts)])
    account = pl.Series([f"8{number:08X}" for number in range(accounts)])
    moment = FIRST_DAY + rows["minute"][order].astype("timedelta64[m]")
    currencies, formats = pl.Series(list(CURRENCIES)), pl.Series(list(FORMATS))
    columns = (
        pl.Series(moment.astype("datetime64[us]")),
        bank.gather(sender),
        account.gather(sender),
        bank.gather(receiver),
        account.gather(receiver),
        pl.Series((amount * rates[got_in]).round(6)),
        currencies.gather(got_in),
        pl.Series((amount * rates[paid_in]).round(6)),
        currencies.gather(paid_in),
        formats.gather(form),
        pl.Series(rows["label"][order].astype(np.int8)),
    )
    return pl.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
