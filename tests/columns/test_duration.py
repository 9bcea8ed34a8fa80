from datetime import timedelta

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from biselect.columns import type_of
from biselect.columns.duration import DURATION


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_durations_of_any_unit_are_seconds(unit):
    lengths = [timedelta(hours=1, seconds=30), None, timedelta(milliseconds=-500)]
    for column in (
        pl.Series(lengths, dtype=pl.Duration(unit)),
        pa.chunked_array([pa.array(lengths, pa.duration(unit))]),
    ):
        series = nw.from_native(column, series_only=True)
        assert type_of(series.dtype) is DURATION
        np.testing.assert_array_equal(DURATION.cells(series, "length").values, [3630.0, np.nan, -0.5])
