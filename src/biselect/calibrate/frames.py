"""Tables of any make (NumPy, pandas, polars, Arrow, nested lists) as one float matrix with names."""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError


def as_matrix(table: Any) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """The table as N × D floats, and its column names where it has any.

    Booleans and integers become floats, missing entries NaN; text, dates and nested values are refused by name.
    """
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        for name, kind in frame.schema.items():
            if not (kind.is_numeric() or kind == nw.Boolean):
                raise InputError(f"column {name!r} holds {kind}, not numbers; leave it out or convert it")
        columns = [frame[name].cast(nw.Float64).to_numpy() for name in frame.columns]
        matrix = np.column_stack(columns) if columns else np.empty((len(frame), 0))
        return matrix.astype(np.float64, copy=False), tuple(str(name) for name in frame.columns)
    try:
        matrix = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the table must hold numbers only ({error})") from error
    if matrix.ndim != 2:
        raise InputError(f"the table must have rows and columns, got shape {matrix.shape}")
    return matrix, None
