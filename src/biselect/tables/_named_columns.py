"""Columns of a table that was read: found by name, taken as numbers, categories, names or labels, or refused."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import partial

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from biselect.columns import type_of
from biselect.columns.date import Place
from biselect.columns.distinct_texts import MOSTLY, is_number, is_text
from biselect.columns.number import arrow_floats, unparsable_rows
from biselect.errors import InputError
from biselect.options import ANY, Columns, Csv, spell
from biselect.tables.readers import line_of_row

SHOWN = 4  # offending values named in an error


def require_columns(table: pa.Table, names: Sequence[str], where: str) -> None:
    """Refuse names the table does not have, and list what it has."""
    names_there = table.column_names
    there = set(names_there)
    if absent := [name for name in names if name not in there]:
        listed = ", ".join(map(repr, names_there[:40])) + (" …" if table.num_columns > 40 else "")
        lacks = ", ".join(map(repr, absent[:40])) + (" …" if len(absent) > 40 else "")
        near = get_close_matches(absent[0], names_there, n=1) if len(names_there) <= 1000 else []
        meant = f" (do you mean {near[0]!r}?)" if near else ""
        raise InputError(f"{where} has no column {lacks}{meant}; it has {listed}")


def numeric(table: pa.Table, names: Sequence[str], where: str) -> pa.Table:
    """These columns as float64, missing entries as NaN; what is not numeric is refused, all of it at once."""
    reasons = {name: "is empty" for name in names if pa.types.is_null(table[name].type)}
    return usable(table, names, where, numbers=names, reasons=reasons)


def usable(
    table: pa.Table,
    names: Sequence[str],
    where: str,
    *,
    told: Collection[str] = (),
    numbers: Collection[str] = (),
    reasons: Mapping[str, str] | None = None,
) -> pa.Table:
    """These columns, numbers as float64 with NaN for missing entries; what cannot be used is refused, all at once.

    Args:
        table: the columns are looked at as a whole.
        names: which columns.
        where: the table, in words.
        told: columns of which it was said what they are.
        numbers: columns that must hold numbers, such as those that do in the reference.
        reasons: why some of them cannot be used, where that is known already.
    """
    place_of = partial(line_of_row, table)
    told, numbers = set(told), set(numbers)
    obstacles = {
        name: reason
        for name in names
        if name not in told and (reason := _unusable(table[name], name, place_of, must_be_number=name in numbers))
    }
    if obstacles := obstacles | dict(reasons or {}):
        listed = "; ".join(f"column {name!r} {obstacles[name]}" for name in names if name in obstacles)
        out = spell(Columns(exclude=[name for name in names if name in obstacles]))
        raise InputError(
            f"{where}: {listed}. Leave out with {out} ({spell(Columns(show=ANY))} only shows them beside the rows), or "
            f"choose columns with {spell(Columns(features=ANY))}"
        )
    return pa.table(
        {
            name: _as_floats(table[name]) if name in numbers or is_number(table[name].type) else table[name]
            for name in names
        }
    )


def _as_floats(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.fill_null(arrow_floats(column), float("nan"))


def _unusable(column: pa.ChunkedArray, name: str, place_of: Place, *, must_be_number: bool) -> str | None:
    """Why a column cannot be a feature; None if it can."""
    kind = column.type
    column_type = type_of(nw.from_native(column, series_only=True).dtype)
    if column_type is not None and (obstacle := column_type.obstacle(column, name)):
        return obstacle
    if is_number(kind) or pa.types.is_null(kind):
        return None
    if must_be_number and not pa.types.is_boolean(kind):
        return f"is not numeric ({_strange(column, place_of) or f'it holds {kind}'})"
    if is_text(kind) and (strange := _strange(column, place_of, mostly=MOSTLY)):
        return f"is not numeric ({strange}; if it names things: {spell(Columns(types={name: 'category'}))})"
    if is_text(kind) or column_type is not None:
        return None
    return f"is neither numeric nor a category (it holds {kind})"


def _strange(column: pa.ChunkedArray, place_of: Place, mostly: float = 0.0) -> str:
    """Entries that are no numbers, the first few of them and where they stand, and what they may mean."""
    rows, other_style = unparsable_rows(column, mostly)
    if rows is None:
        return ""
    entries = pc.unique(column.filter(rows)).to_pylist()
    values = [_short(value) for value in entries[:SHOWN]]
    words = f"{place_of(pc.index(rows, True).as_py())} holds {values[0]}"
    if len(entries) > 1:
        more = f" and {len(entries) - SHOWN:,} other values" if len(entries) > SHOWN else ""
        words += f"; others {', '.join(values[1:])}{more}, {pc.sum(rows).as_py():,} entries in all"
    if other_style:
        return f"{words}; say how numbers are written with {spell(Csv(decimal=ANY, thousands=ANY))}"
    if len(entries) <= SHOWN and pc.sum(rows).as_py() < len(column) - column.null_count:
        words += f"; if {'that means' if len(entries) == 1 else 'they mean'} missing: {spell(Csv(na_values=entries))}"
    return words


def _short(value: str) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…'"


def texts(table: pa.Table, name: str, where: str, place_of: Place | None = None) -> list[str]:
    """A column as text, for names; missing and repeated entries are refused."""
    names = id_texts(table[name])
    way_out = (
        f"keep one row of each with {spell(Columns(duplicates='first'))} or {spell(Columns(duplicates='last'))}, or "
        "name another column"
    )
    refuse_repeated_ids(names, name, where, place_of or partial(line_of_row, table), way_out)
    return names.to_pylist()


def id_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Ids as text, null where there is none."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if is_text(kind) or pa.types.is_integer(kind):
        return column.cast(pa.large_string())
    names = [None if value is None else str(value) for value in column.to_pylist()]
    return pa.chunked_array([names], pa.large_string())


def refuse_repeated_ids(ids: pa.ChunkedArray, name: str, where: str, place_of: Place, way_out: str) -> None:
    """An error that names the first row without an id, or both rows of the first id that stands in two.

    Args:
        ids: as `id_texts` gives them.
        name: of their column.
        where: the table, in words.
        place_of: where a row stands.
        way_out: what to do about repeated ids, in words.
    """
    if ids.null_count:
        first = pc.index(pc.is_null(ids), True).as_py()
        raise InputError(f"{where}: column {name!r} has no value in {place_of(first)}; every row needs an id")
    counts = pc.value_counts(ids)  # in the order of the rows
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    if not len(repeated):
        return
    first = pc.index(ids, repeated[0]).as_py()
    second = pc.index(ids, repeated[0], start=first + 1).as_py()
    many = ""
    if len(repeated) > 1:
        examples = ", ".join(map(_short, repeated[1:SHOWN].to_pylist())) + (" …" if len(repeated) > SHOWN else "")
        many = f"; so do {len(repeated) - 1:,} other ids ({examples})"
    raise InputError(
        f"{where}: id {repeated[0].as_py()!r} stands in {place_of(first)} and {place_of(second)}{many}; ids must be "
        f"unique: {way_out}"
    )


def rows_with_new_ids(column: pa.ChunkedArray, keep: str) -> NDArray[np.int64]:
    """The rows that are left when of rows with one id only the `first` or the `last` is kept; those without id stay."""
    codes = column.combine_chunks().dictionary_encode().indices
    places = pc.fill_null(codes, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    order = places if keep == "first" else places[::-1]
    _, at = np.unique(order, return_index=True)
    at = at if keep == "first" else len(places) - 1 - at
    return np.union1d(at, np.flatnonzero(places < 0))
