"""What a caller gives as a table, a frame of any library, an array or a path, as an Arrow table."""

from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from biselect.data.readers import CsvForm, read_table
from biselect.data.readers.delimited import PLAIN
from biselect.errors import InputError


def as_table(source: Any, form: CsvForm = PLAIN) -> pa.Table:
    """A path, a frame or an array as an Arrow table; columns of an array are named by their position."""
    if isinstance(source, str | Path):
        return read_table(source, form)
    try:
        frame = nw.from_native(source, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            if frame.implementation.is_dask():
                raise TypeError("it is a Dask frame; write it to Parquet first (to_parquet), and give that folder")
            frame = frame.collect()
        if isinstance(frame, nw.DataFrame):
            return nw.maybe_reset_index(frame).to_arrow()  # or pandas would make its index a column
        values = np.asarray(source, dtype=np.float64)
    except (nw.exceptions.DuplicateError, pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"the table cannot be read: {error}") from error
    if values.ndim != 2:
        raise InputError(f"a table has rows and columns; this array has the shape {values.shape}")
    return pa.table({str(j): values[:, j] for j in range(values.shape[1])})
