"""Numbers: quantities that lie low or high in the reference, weighed by a map of their ranks and distances."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from biselect.columns.category import CATEGORY, LabelCounts, codes_in, role_of_names
from biselect.columns.change import Change, share_change
from biselect.columns.column_type import CellFacts, Cells, Claim, ColumnReference, ColumnType
from biselect.columns.distinct_texts import (
    MOSTLY,
    DistinctTexts,
    ParsedColumn,
    ReadingHints,
    distinct_texts,
    is_number,
    is_text,
)
from biselect.columns.distribution import MAD_TO_SIGMA, Distribution, exact_distribution, robust_scale
from biselect.columns.number_text import SPACES, style_of, to_numbers, unit_of, written
from biselect.core.checks import check_integer
from biselect.errors import InputError
from biselect.options import Csv, spell

LONG_NUMBER = re.compile(r"(?:[09]\D?){19}")  # may be beyond 64 bits
BEFORE_UNIT = rf"^\D*\d[\d.,'’{SPACES}]*"
FEWEST_CODES, APART = 5, 4  # codes, and times as many steps between the least and the largest as there are codes
BINS = 30  # of a picture
TAIL = 0.005  # share of the reference beyond its bins, on either side


class Number(ColumnType):
    """Quantities. A value is unusual if few rows of the reference lie beyond it."""

    name: ClassVar[str] = "number"
    directions: ClassVar[tuple[str, ...]] = ("low", "high")
    is_ranked: ClassVar[bool] = True

    def holds(self, kind: Any) -> bool:
        """Integers, floats and decimals."""
        return bool(kind.is_numeric())

    def cells(self, column: Any, name: str) -> Cells:
        """The numbers as float64."""
        return Cells(float_values(column))

    def recognises(self, text: str) -> bool:
        """Whether it is written as a number of any country is."""
        return written(text) is not None

    def parse(self, texts: DistinctTexts, hints: ReadingHints) -> ParsedColumn | None:
        """Numbers, or digits as text if some begin with a zero; None if the ways of writing do not go together."""
        patterns = {shape: pattern for shape in texts.shapes if (pattern := written(shape)) is not None}
        if not patterns or texts.others(patterns):
            return None
        ways = list(patterns.values())
        style, is_guess = style_of(ways, hints.style, comma_splits=hints.comma_splits)
        marks_given = {"decimal": hints.decimal, "thousands": hints.thousands}
        style = replace(style, **{name: mark for name, mark in marks_given.items() if mark is not None})
        unit = unit_of(ways)
        are_limits = all(way.about for way in ways)  # <18 and ≥18 name groups
        if unit is None or are_limits or not all(way.fits(style) for way in ways):
            return None
        present, marks = texts.present()
        is_steady, exact = not any(map(LONG_NUMBER.search, texts.shapes)), ""
        if "9" in unit:  # its digits are those of m2 or x10^3, or all rows differ
            units = pc.unique(pc.replace_substring_regex(present, BEFORE_UNIT, "")).drop_null().to_pylist()
            if len(units) > 1:
                return None
            unit = exact = units[0]
            is_steady = False
        zero_led = all(way.whole and way.simple for way in ways) and not hints.is_number
        if zero_led and pc.any(pc.match_substring_regex(present, r"^0\d")).as_py():
            codes = texts.spread(present)
            return ParsedColumn(values=codes, missing=marks, code=True, read_more=_present if is_steady else None)
        doubt = ""
        if is_guess:
            other = Csv(decimal=",", thousands="") if style.thousands else Csv(decimal=".", thousands=",")
            doubt = f"may as well be written the other way: {spell(other)}"
        return ParsedColumn(
            values=texts.spread(to_numbers(present, patterns, style, exact)),
            style=style,
            unit=unit,
            about=any(way.about for way in ways),
            doubtful=doubt,
            missing=marks,
            read_more=(lambda more: to_numbers(_present(more), patterns, style)) if is_steady else None,
        )

    def claim(self, column: pa.ChunkedArray, name: str) -> Claim | None:
        """Numbers that name nothing, and texts that are mostly numbers."""
        if is_text(column.type):
            strange = unparsable_entries(column, MOSTLY)
            return Claim(role=self.name, strange=strange) if strange else None
        if not is_number(column.type) or role_of_names(name, column):
            return None
        codes = codes_in(column)
        if (
            codes is None
            or codes.size < FEWEST_CODES
            or np.ptp(codes) < APART * codes.size * np.gcd.reduce(np.diff(codes))
        ):
            return Claim(role=self.name)
        remark = f"looks like a code, {codes.size} whole numbers far apart, but its name does not say so: a quantity"
        return Claim(role=self.name, remark=remark, is_doubtful=True)

    def count(self, cells: Cells) -> Distribution | None:
        """The values in order; None where there is none."""
        values = cells.values[~np.isnan(cells.values)]
        return exact_distribution(values) if values.size else None

    def merge(self, parts: Sequence[Distribution | None], knots: int | None = None) -> Distribution | None:
        """The distribution of the values of all; thinned to half of the knots that it may keep where it has more."""
        distributions = [part for part in parts if part is not None]
        if not distributions:
            return None
        total = Distribution.merged(distributions)
        return total if knots is None or total.values.size <= knots else total.thinned(knots // 2)

    def pack(self, counts: Distribution | None) -> tuple[Any, Mapping[str, NDArray[Any]]]:
        """Knots, ranks and moments."""
        if counts is None:
            return None, {}
        plain = [counts.mean, counts.deviation, counts.rank_error]
        return plain, {"values": counts.values, "counts": counts.counts}

    def unpack(self, plain: Any, arrays: Mapping[str, NDArray[Any]]) -> Distribution | None:
        """The distribution again."""
        if plain is None:
            return None
        values, counts = arrays["values"].astype(float), arrays["counts"].astype(np.int64)
        fits = values.ndim == 1 and values.shape == counts.shape and values.size > 0
        rises = fits and (np.diff(values) >= 0).all() and (np.diff(counts, prepend=0) > 0).all()
        if not rises or not np.isfinite(values).all():
            raise ValueError("it holds no distribution")
        mean, deviation, error = plain
        rank_error = check_integer("rank_error", error, least=0)
        return Distribution(
            values=values, counts=counts, mean=float(mean), deviation=float(deviation), rank_error=rank_error
        )

    def distribution(self, reference: ColumnReference) -> Distribution:
        """Of the residuals."""
        return reference.counts.scaled(reference.location, reference.scale)

    def fit(self, reference: ColumnReference, name: str, missing: str) -> ColumnReference:
        """Median and 1.4826·MAD, or the standard deviation where the MAD is zero."""
        values, gaps = reference.counts, reference.gaps
        if values is not None and not values.deviation < np.sqrt(np.finfo(np.float64).max):
            raise InputError(f"column {name!r} of the reference holds values too large to square; rescale it")
        middle = np.nan if values is None else values.quantile(0.5)
        if missing == "median":
            if values is None:
                raise InputError(f"column {name!r} of the reference holds no value at all")
            values, gaps = values.with_entries(middle, gaps), 0
        if values is None or not values.varies:
            return replace(reference, type=CATEGORY, counts=by_value(values, gaps), gaps=gaps, middle=middle)
        location, scale, fell_back = robust_scale(values)
        return replace(
            reference,
            counts=values,
            gaps=gaps,
            middle=middle,
            location=location,
            scale=scale,
            fell_back=fell_back,
        )

    def direction(self, reference: ColumnReference, values: NDArray[np.float64]) -> NDArray[np.int8]:
        """Low below the median of the reference, high otherwise."""
        middle = reference.location + reference.scale * reference.distribution.quantile(0.5)
        return np.where(values < middle, 0, 1).astype(np.int8)

    def describe(self, reference: ColumnReference, cells: Cells, values: NDArray[np.float64]) -> Sequence[CellFacts]:
        """How many rows of the reference lie below and above."""
        spread, residuals = reference.distribution, self._residuals(reference, values)
        below, above = spread.below(residuals), spread.size - spread.at_most(residuals)
        rows = zip(cells.values.tolist(), below.tolist(), above.tolist(), strict=True)
        return [
            CellFacts(value=None if np.isnan(value) else self.shown(value), below=low, above=high)
            for value, low, high in rows
        ]

    def shown(self, value: float) -> float | str:
        """What a person sees of a value."""
        return value

    def compare(self, before: ColumnReference, now: ColumnReference, name: str) -> Sequence[Change]:
        """Kolmogorov and Smirnov's test; of two values Fisher's test of their shares."""
        both: list[Distribution] = [one.counts for one in (before, now) if one.counts is not None]
        if len(both) < 2:
            return []
        low, high = min(one.values[0] for one in both), max(one.values[-1] for one in both)
        if low == high:
            return []
        exact = all(one.rank_error == 0 for one in both)
        if exact and all(((one.values == low) | (one.values == high)).all() for one in both):
            unset = [int(one.at_most(low)) for one in both]
            counts = [np.array([part, one.size - part]) for part, one in zip(unset, both, strict=True)]
            return [share_change(name, [f"{low:g}", f"{high:g}"], *counts)]
        older, newer = both
        distance = ks_distance(older, newer)
        # ranks may be wrong: what they could add to the distance is taken off
        sure = max(0.0, distance - sum(one.rank_error / one.size for one in both))
        middle, middle_now = older.quantile(0.5), newer.quantile(0.5)
        spread = MAD_TO_SIGMA * older.folded(middle).quantile(0.5) or older.deviation
        shift = (middle_now - middle) / spread if spread > 0 else 0.0
        widths = [one.quantile(0.75) - one.quantile(0.25) for one in both]
        ratio = widths[1] / widths[0] if widths[0] > 0 else 1.0
        wider = f", spread × {ratio:.2g}" if abs(ratio - 1) > 0.1 else ""
        return [
            Change(
                column=name,
                what="values",
                p=ks_p(sure, older.size, newer.size),
                effect=distance,
                measure="KS distance",
                shift=shift,
                words=f"median {middle:.4g} → {middle_now:.4g} ({shift:+.2f} spreads{wider})",
            )
        ]

    def picture(self, reference: ColumnReference) -> Mapping[str, Any]:
        """The bulk in bins of equal width, the last with both of its edges, and what lies beyond on either side."""
        spread = reference.distribution
        shares = np.array([spread.quantile(share) for share in (0.0, TAIL, 1 - TAIL, 1.0)])
        low, first, last, high = reference.location + reference.scale * shares
        if first >= last:  # most values are equal: the bulk alone would have no width
            first, last = low, high
        edges = first + (last - first) * np.linspace(0, 1, BINS + 1)
        edges[-1] = last
        residuals = self._residuals(reference, edges)
        below, above = spread.below(residuals), spread.size - spread.at_most(residuals)
        below[-1] = reference.present - above[-1]
        return {
            "low": float(low),
            "high": float(high),
            "first": float(first),
            "last": float(last),
            "counts": np.diff(below).tolist(),
            "below": int(below[0]),
            "above": int(above[-1]),
        }

    @staticmethod
    def _residuals(reference: ColumnReference, values: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            return (values - reference.location) / reference.scale


def _present(texts: DistinctTexts) -> pa.StringArray:
    return texts.present()[0]


def unparsable_entries(column: pa.ChunkedArray, mostly: float = 0.0) -> list[str]:
    """The different entries of a text column that are no numbers, the first one first.

    None where less than the share `mostly` of the entries is a number: then it was never meant as a column of numbers.
    """
    rows, _ = unparsable_rows(column, mostly, typed=True)
    return [] if rows is None else pc.unique(column.filter(rows)).to_pylist()


def unparsable_rows(column: pa.ChunkedArray, mostly: float, typed: bool = False) -> tuple[pa.ChunkedArray | None, bool]:
    """Which rows hold no number, None if none does; and whether some do that is only written in another way."""
    if not is_text(column.type) or (texts := distinct_texts(column, missing=("",))) is None:
        return None, False
    patterns = {shape: pattern for shape in texts.shapes if (pattern := written(shape)) is not None}
    if all(way.about for way in patterns.values()):  # groups
        patterns = {}
    style, _ = style_of(patterns.values(), None)
    if unit_of(patterns.values()) is None:  # what has the unit of most is a number
        counts, units = texts.counts(), Counter[str]()
        for shape, pattern in patterns.items():
            units[pattern.unit] += counts[shape]
        most = units.most_common(1)[0][0]
        patterns = {shape: pattern for shape, pattern in patterns.items() if pattern.unit == most}
    fitting = {shape for shape, pattern in patterns.items() if pattern.fits(style)}
    numbers, others = texts.number(fitting), texts.others(fitting)
    if numbers < mostly * (numbers + texts.number(others)):
        return None, False
    if not others and (typed or all(way.whole and way.simple and not way.either for way in patterns.values())):
        return None, False
    if not others:  # all are numbers, and yet the column could not be read as such
        return pc.is_valid(column), True
    return texts.rows_of(others), any(shape in patterns for shape in others)


def ks_distance(before: Distribution, after: Distribution) -> float:
    """The largest difference between the two distribution functions."""
    places = np.concatenate([before.values, after.values])
    return float(np.abs(before.at_most(places) / before.size - after.at_most(places) / after.size).max())


def ks_p(distance: float, first: int, second: int) -> float:
    """Kolmogorov's limiting law, which is never below the chance of such a distance where it matters (p < 0.1)."""
    from scipy.special import kolmogorov

    return float(kolmogorov(sqrt(first * second / (first + second)) * distance))


def by_value(values: Distribution | None, gaps: int) -> LabelCounts:
    """Numbers that do not vary, as labels."""
    counts: dict[str | None, int] = {None: gaps}
    if values is not None:
        last = np.flatnonzero(np.append(values.values[1:] != values.values[:-1], True))
        sizes = np.diff(values.counts[last], prepend=0).tolist()
        counts |= dict(zip([f"{value:.15g}" for value in values.values[last]], sizes, strict=True))
    return LabelCounts(counts)


def float_values(column: nw.Series[Any]) -> NDArray[np.float64]:
    """Numbers as float64, durations in seconds; Arrow would refuse whole numbers that float64 has to round."""
    native = column.to_arrow() if column.dtype == nw.Duration else column.to_native()
    if type(native).__module__.startswith("pyarrow"):
        return np.asarray(arrow_floats(native).to_numpy(zero_copy_only=False))
    return column.cast(nw.Float64).to_numpy()


def arrow_floats(column: Any) -> Any:
    """An Arrow column of numbers as float64, durations in seconds."""
    if not pa.types.is_duration(column.type):
        return column.cast("float64", safe=False)
    counts = column.cast("int64").cast("float64", safe=False)
    return pc.divide(counts, {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[column.type.unit])


NUMBER = Number()
