"""Tables of any length whose rows are computed from their position, so that they can be written in any parts.

Rows come in chunks of a fixed size, each from a random stream of its own; a reader of rows 10 to 20 and a reader of the
whole table see the same numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.core.sector import check_budget
from biselect.errors import InputError

SHAPES = ("planted", "twice-wide", "noise", "card-like")
ROLES = ("reference", "pool")

CHUNK = 1 << 15  # rows from one random stream
LOADING = 0.7  # of the first two thirds of the columns on the factor that they share
FACTORS = 2
SPREAD = 0.3  # of planted cells, in standard deviations
FRAUD_SHARE = 0.0017  # as in the Credit Card table
FRAUD_KINDS, FRAUD_COLUMNS = 4, 7
FRAUD_SHIFT, FRAUD_SPREAD = 3.0, 0.6  # how far out a fraud is, in standard deviations, times a lognormal of its own
VOLATILITY = 0.3  # how much all cells of a card-like row are stretched together
STARTS = {"reference": "2025-01-01", "pool": "2026-01-01"}  # a row each millisecond from there
FIRST_ID = {"reference": 10**12, "pool": 0}


@dataclass(frozen=True, kw_only=True)
class LargeTable:
    """A reference or a pool: `id`, `time`, and columns of float32, most of them correlated, many heavy-tailed.

    Attributes:
        shape: `planted`: k rows of the pool are unusual together in m columns; `twice-wide`: in 2m columns, of which a
            selector must take the best m; `noise`: none are, and the columns are independent, so that no choice
            stands clear of the others and a proof has most to do; `card-like`: every row has a spread of its own, and
            0.17 % are frauds of four kinds, mild and strong, each with columns of its own.
        role: `pool`, or `reference`, which has nothing planted.
        rows: how many there are.
        seed: fixes the contents, of reference and pool alike.
        columns: how many numbers a row has.
        k: planted rows.
        m: planted columns.
        signal: how far out planted cells are, in standard deviations.
    """

    shape: str
    role: str
    rows: int
    seed: int
    columns: int = 20
    k: int = 20
    m: int = 5
    signal: float = 4.5

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise InputError(f"there is no shape {self.shape!r}; choose one of: {', '.join(SHAPES)}")
        if self.role not in ROLES:
            raise InputError(f"role must be reference or pool, got {self.role!r}")
        check_budget("k", self.k, self.rows, "rows")
        check_budget("m", self.m * (1 + (self.shape == "twice-wide")), self.columns, "columns")

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        numbers = [(f"x{j:02d}", pa.float32()) for j in range(1, self.columns + 1)]
        return pa.schema([("id", pa.int64()), ("time", pa.timestamp("ms")), *numbers])

    @cached_property
    def planted_rows(self) -> NDArray[np.int64]:
        """Where the planted rows are, ascending; none in a reference, in noise, and card-like (see `unusual`)."""
        if self.role == "reference" or self.shape not in ("planted", "twice-wide"):
            return np.empty(0, np.int64)
        return np.sort(self._stream("rows").choice(self.rows, size=self.k, replace=False))

    @cached_property
    def planted_columns(self) -> NDArray[np.int64]:
        """In which columns they stand out, ascending."""
        wide = {"planted": self.m, "twice-wide": 2 * self.m}.get(self.shape, 0)
        return np.sort(self._stream("columns").choice(self.columns, size=wide, replace=False))

    def read(self, first: int, rows: int) -> Iterator[pa.Table]:
        """Rows from this position on, in blocks of at most CHUNK rows."""
        end = first + rows
        if not 0 <= first <= end <= self.rows:
            raise InputError(f"rows {first} to {end} were asked for; the table has {self.rows}")
        for chunk in range(first // CHUNK, -(-end // CHUNK)):
            begin = chunk * CHUNK
            low, high = max(first, begin), min(end, begin + CHUNK)
            cells = self._cells(chunk)[0][:, low - begin : high - begin]
            positions = np.arange(low, high)
            times = np.datetime64(STARTS[self.role], "ms") + positions
            arrays = [FIRST_ID[self.role] + positions, times, *cells]
            yield pa.Table.from_arrays([pa.array(array) for array in arrays], schema=self.schema)

    def unusual(self, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the rows at these positions were planted, or are frauds."""
        if self.shape != "card-like":
            return np.isin(positions, self.planted_rows)
        flags = {chunk: self._cells(chunk)[1] for chunk in {int(row) // CHUNK for row in positions}}
        return np.array([flags[int(row) // CHUNK][int(row) % CHUNK] for row in positions], dtype=bool)

    def _stream(self, *key: str | int) -> np.random.Generator:
        """A random stream for one purpose; SFC64 is the fastest that NumPy has."""
        words = [part if isinstance(part, int) else int.from_bytes(part.encode(), "little") for part in key]
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence([self.seed, *words])))

    def _cells(self, chunk: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """One chunk, a line for each column, and which of its rows are frauds."""
        rng = self._stream(self.role, chunk)
        cells = rng.standard_normal((self.columns, CHUNK), dtype=np.float32)
        shared = rng.standard_normal((FACTORS, CHUNK), dtype=np.float32)
        for j in range(2 * self.columns // 3 if self.shape != "noise" else 0):
            cells[j] *= np.float32(np.sqrt(1 - LOADING**2))
            cells[j] += np.float32(LOADING) * shared[j % FACTORS]
        frauds = np.zeros(CHUNK, dtype=bool)
        if self.shape == "card-like":
            cells *= np.exp(np.float32(VOLATILITY) * rng.standard_normal(CHUNK, dtype=np.float32))
            frauds = self._add_frauds(rng, cells)
        else:
            self._plant(chunk * CHUNK, cells)
        for j in range(
            self.columns
        ):  # a third stay normal, a third have two heavy tails, a third are lognormal amounts
            if j % 3:
                (np.sinh if j % 3 == 1 else np.exp)(cells[j], out=cells[j])
        return cells, frauds

    def _plant(self, begin: int, cells: NDArray[np.float32]) -> None:
        here = self.planted_rows[(self.planted_rows >= begin) & (self.planted_rows < begin + CHUNK)]
        for row in here:
            noise = self._stream("planted", int(row)).normal(scale=SPREAD, size=self.planted_columns.size)
            cells[self.planted_columns, row - begin] = self._signs[self.planted_columns] * (self.signal + noise)

    def _add_frauds(self, rng: np.random.Generator, cells: NDArray[np.float32]) -> NDArray[np.bool_]:
        frauds = np.asarray(rng.random(CHUNK) < FRAUD_SHARE)
        if self.role == "reference":
            return np.zeros_like(frauds)
        rows = np.flatnonzero(frauds)
        kinds = rng.integers(FRAUD_KINDS, size=rows.size)
        strengths = FRAUD_SHIFT * rng.lognormal(sigma=FRAUD_SPREAD, size=rows.size)
        for kind in range(FRAUD_KINDS):
            width = min(FRAUD_COLUMNS, self.columns)
            columns = self._stream("kind", kind).choice(self.columns, size=width, replace=False)
            mine = kinds == kind
            noise = 1 + SPREAD * rng.standard_normal((width, int(mine.sum())))
            cells[np.ix_(columns, rows[mine])] += self._signs[columns, None] * strengths[mine] * noise
        return frauds

    @cached_property
    def _signs(self) -> NDArray[np.int64]:
        """Which way a column stands out; amounts are high."""
        signs = self._stream("signs").choice([-1, 1], size=self.columns)
        signs[2::3] = 1
        return signs
