"""Windows as named arrays and plain data, to be stored and read back: the same calibration on another day or machine.

No row of the reference is among it: a calibrator made from this alone can weigh, but not tell how far rows stand apart.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate.categories import Categories
from biselect.calibrate.column import Column
from biselect.calibrate.windows import Windows
from biselect.core.checks import whole

Stored = tuple[dict[str, Any], dict[str, NDArray[Any]]]
"""Plain data, and arrays by name."""


def stored_windows(windows: Windows) -> Stored:
    """What `windows_from_store` takes."""
    arrays: dict[str, NDArray[Any]] = {"medians": windows.medians, "absent": windows.absent}
    for j, column in enumerate(windows.columns):
        arrays |= {f"values {j}": column.values, f"counts {j}": column.counts}
    header = {
        "names": list(windows.names),
        "named": windows.named,
        "rows": windows.rows,
        "columns": [[column.mean, column.deviation, column.rank_error] for column in windows.columns],
        "categories": [[j, list(found.counts.items())] for j, found in windows.categories.items()],
    }
    return header, arrays


def windows_from_store(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Windows:
    """The windows again; what cannot be theirs raises an error, of whatever kind."""
    names = tuple(map(str, header["names"]))
    columns = []
    for j, (mean, deviation, error) in enumerate(header["columns"]):
        values, counts = arrays[f"values {j}"].astype(float), arrays[f"counts {j}"].astype(np.int64)
        fine = values.ndim == 1 and values.shape == counts.shape and values.size > 0
        if not (fine and np.isfinite(values).all() and (np.diff(values) >= 0).all() and (np.diff(counts) > 0).all()):
            raise ValueError(f"column {j} is no distribution")
        columns.append(
            Column(
                values=values,
                counts=counts,
                mean=float(mean),
                deviation=float(deviation),
                rank_error=whole("rank_error", error, least=0),
            )
        )
    if len(columns) != len(names):
        raise ValueError("not every column has a distribution")
    if arrays["medians"].shape != (len(names),) or arrays["absent"].shape != (len(names),):
        raise ValueError("medians and missing entries are not those of the columns")
    return Windows(
        names=names,
        named=bool(header["named"]),
        rows=whole("rows", header["rows"]),
        columns=tuple(columns),
        categories={whole("column", j, least=0): Categories(dict(counts)) for j, counts in header["categories"]},
        medians=arrays["medians"].astype(float),
        absent=arrays["absent"].astype(np.int64),
    )
