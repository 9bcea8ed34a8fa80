from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from biselect.errors import InputError
from biselect.tables._frames import as_matrix


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_dates_give_hour_weekday_and_gap_where_asked_for(make):
    start = datetime(2024, 1, 1, 5)  # a Monday
    times = [start, start + timedelta(days=1, hours=2), start + timedelta(minutes=10), None]
    frame = make({"x": [1.0, 2.0, 3.0, 4.0], "at": times})
    matrix = as_matrix(frame, dates=["at:hour,weekday,gap"])
    assert matrix.names == ("x", "at hour", "at weekday", "at gap")
    assert matrix.values[:3, 1:].tolist() == [[5, 0, 600], [7, 1, 93000], [5, 0, 600]]
    assert np.isnan(matrix.values[3, 1:]).all()
    assert matrix.labels[1][5] == "05:00" and matrix.labels[2][1] == "Tuesday" and 3 not in matrix.labels
    with pytest.raises(InputError, match=r"column 'at' holds Datetime.*types=\{'at': 'date:hour,weekday,gap'\}"):
        as_matrix(frame)
    with pytest.raises(InputError, match="column 'x' holds Float64, which has no hour"):
        as_matrix(frame, dates=["x"])
    with pytest.raises(InputError, match="no column 'y'"):
        as_matrix(frame, dates=["y"])


def test_days_have_no_hour():
    with pytest.raises(InputError, match="holds Date, which has no hour"):
        as_matrix(pl.DataFrame({"day": [date(2024, 1, 1)]}), dates=["day"])
    assert as_matrix(pl.DataFrame({"day": [date(2024, 1, 3)]}), dates=["day:weekday"]).values.tolist() == [[2.0]]
