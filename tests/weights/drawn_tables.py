"""Pairs of tables with all that is hard about real ones, for properties that must always hold."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import assume
from hypothesis import strategies as st

from biselect.options import RowRules

LABELS = ("card", "cash", "missing", "either", "low", "<b>", "x = 1")  # names of directions among them
COLUMNS = {  # how a column is drawn: of so many rows, of the pool or of the reference
    "normal": lambda rng, rows, pool: rng.normal(size=rows),
    "heavy": lambda rng, rows, pool: 1e3 * rng.standard_cauchy(size=rows),
    "counts": lambda rng, rows, pool: rng.poisson(1.0, size=rows),
    "tied": lambda rng, rows, pool: rng.integers(-1, 2, size=rows),
    "huge": lambda rng, rows, pool: 1e100 * rng.normal(size=rows),
    "tiny": lambda rng, rows, pool: 1e-100 * rng.normal(size=rows),
    "offset": lambda rng, rows, pool: 1e6 + 1e-2 * rng.normal(size=rows),
    "spike": lambda rng, rows, pool: np.where(np.arange(rows) == rng.integers(rows), 5.0, 0.0),
    "constant": lambda rng, rows, pool: np.full(rows, 7.0),
    "was constant": lambda rng, rows, pool: np.where(rng.random(rows) < 0.3 * pool, 8.0, 7.0),
    "flag": lambda rng, rows, pool: rng.random(rows) < 0.2,
    "label": lambda rng, rows, pool: rng.choice(LABELS, rows, p=[0.5, 0.3, 0.1, 0.04, 0.03, 0.02, 0.01]),
    "gaps": lambda rng, rows, pool: np.where(rng.random(rows) < 0.3, np.nan, rng.normal(size=rows)),
    "mostly gaps": lambda rng, rows, pool: np.where(rng.random(rows) < 0.9, np.nan, rng.normal(size=rows)),
    "new gaps": lambda rng, rows, pool: np.where(rng.random(rows) < 0.3 * pool, np.nan, rng.normal(size=rows)),
    "label with gaps": lambda rng, rows, pool: np.where(rng.random(rows) < 0.2, None, rng.choice(LABELS[:3], rows)),
    "drifted": lambda rng, rows, pool: rng.normal(size=rows) * (1 + 2 * pool) + 4 * pool,
}
EASY = ("normal", "heavy", "tied")


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A pool, and a reference; None where the pool is its own."""

    pool: pd.DataFrame
    reference: pd.DataFrame | None
    columns: list[str]  # those that vary
    k: int
    m: int

    @property
    def normal(self) -> pd.DataFrame:
        """The rows that the others are compared with."""
        return self.pool if self.reference is None else self.reference


@st.composite
def pairs(draw: st.DrawFn, *, kinds: Any = tuple(COLUMNS), alone: bool | None = None, most_rows: int = 60) -> Pair:
    """Tables of ten rows and more, with rows that stand out; pools of one row, k = N and m = all columns among them."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    columns = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=6))
    alone = draw(st.booleans()) if alone is None else alone
    sizes = [draw(st.one_of(st.just(10), st.integers(10, most_rows))), draw(st.one_of(st.just(1), st.integers(1, 60)))]
    reference, pool = (
        pd.DataFrame({f"c{j}": COLUMNS[kind](rng, rows, is_pool) for j, kind in enumerate(columns)})
        for rows, is_pool in zip(sizes, (False, True), strict=True)
    )
    pool = reference.copy() if alone else pool
    together = pd.concat([reference, pool])
    usable = [name for name in together if together[name].nunique(dropna=False) > 1]  # constants are left out
    assume(usable)
    for row in rng.choice(len(pool), min(len(pool), draw(st.integers(0, 4))), replace=False):
        for j, kind in enumerate(columns):
            if kind in EASY and rng.random() < 0.6:
                pool.loc[row, f"c{j}"] = 1e4 if kind == "heavy" else 6
    return Pair(
        pool=pool,
        reference=None if alone else reference,
        columns=usable,
        k=draw(st.one_of(st.just(len(pool)), st.integers(1, len(pool)))),
        m=draw(st.one_of(st.just(len(usable)), st.integers(1, len(usable)))),
    )


@st.composite
def ruled_pairs(draw: st.DrawFn, **options: Any) -> tuple[Pair, RowRules]:
    """The same with rules that leave a choice: rows that must and must not be in, at most t of a group, columns."""
    pair = draw(pairs(**options))
    rows = draw(st.permutations(range(len(pair.pool))))
    k = pair.k
    must, never = rows[: draw(st.integers(0, min(2, k)))], rows[k : k + draw(st.integers(0, 2))]
    columns = draw(st.permutations(pair.columns))[: draw(st.integers(0, pair.m))]
    return pair, RowRules(must=[str(row) for row in must], never=[str(row) for row in never], must_columns=columns)
