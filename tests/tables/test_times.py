import datetime

import numpy as np
import pyarrow as pa
import pytest

from biselect.errors import InputError
from biselect.options import Split
from biselect.tables._split import split_in_time
from biselect.tables.roles import Roles


@pytest.mark.parametrize("as_text", [False, True])
def test_dates_can_split_too(as_text):
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
    table = pa.table({"day": [str(day) for day in days] if as_text else days, "x": [1.0, 2, 3]})
    pool = split_in_time(table, Roles(time_column="day"), Split(until="2024-01-02"))
    assert pool.candidates["x"].to_pylist() == [3]


def test_shares_are_exact():
    table = pa.table({"t": range(100), "x": np.arange(100.0)})
    for percent in (29, 57, 58):
        assert split_in_time(table, Roles(time_column="t"), Split(until=f"{percent}%")).reference.num_rows == percent


@pytest.mark.parametrize(
    ("zone", "until", "early"),
    [
        (None, "2024-01-01T12:00:00", 2),
        ("UTC", "2024-01-01T12:00:00Z", 2),
        ("UTC", "2024-01-01T13:00:00+02:00", 1),
        ("Europe/Helsinki", "2024-01-01T14:00:00", 2),
        ("+02:00", "2024-01-01T14:00:00", 2),
    ],
)
def test_time_zones_are_respected(zone, until, early):
    noon = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)
    moments = [noon - datetime.timedelta(hours=2), noon, noon + datetime.timedelta(hours=1)]
    column = (
        pa.array(moments, pa.timestamp("ns", tz=zone)) if zone else pa.array([m.replace(tzinfo=None) for m in moments])
    )
    table = pa.table({"t": column, "x": [1.0, 2.0, 3.0]})
    assert split_in_time(table, Roles(time_column="t"), Split(until=until)).reference.num_rows == early


def test_text_with_offsets_and_dictionaries_are_times_too():
    texts = ["2024-01-01T00:00:00+02:00", "2024-01-02T00:00:00+02:00", "2024-01-03T00:00:00+02:00"]
    for column in (pa.array(texts), pa.array(texts).dictionary_encode()):
        table = pa.table({"t": column, "x": [1.0, 2.0, 3.0]})
        split = split_in_time(table, Roles(time_column="t"), Split(until="2024-01-02T00:00:00+02:00"))
        assert split.reference.num_rows == 2


@pytest.mark.parametrize("until", ["28/03/2026 18:55", "2026-03-28 18:55", "50%"])
def test_times_may_be_written_otherwise(until):
    table = pa.table({"t": ["29/03/2026 00:00", "28/03/2026 18:55"], "x": [1.0, 2.0]})
    pool = split_in_time(table, Roles(time_column="t", date_format="%d/%m/%Y %H:%M"), Split(until=until))
    assert pool.candidates["x"].to_pylist() == [1.0]
    assert pool.times == {"reference": ("2026-03-28 18:55:00",) * 2, "pool": ("2026-03-29 00:00:00",) * 2}


def test_offsets_of_a_date_format_are_respected():
    table = pa.table({"t": ["1.3.2026 12:00 +0000", "1.3.2026 12:30 +0100"], "x": [1.0, 2.0]})
    pool = split_in_time(table, Roles(time_column="t", date_format="%d.%m.%Y %H:%M %z"), Split(until="50%"))
    assert pool.candidates["x"].to_pylist() == [1.0]


@pytest.mark.parametrize(
    ("times", "date_format", "message"),
    [
        (["01/03/2026", "30/02/2026"], "%d/%m/%Y", "row 1 holds '30/02/2026', which is not csv=Csv"),
        (["01/03/2026", ""], "%d/%m/%Y", "1 missing values, the first in row 1"),
        ([datetime.date(2026, 3, 1)] * 2, "%d/%m/%Y", "holds times already"),
        (["2026-03-01", "01/03/2026"], None, "row 1 holds '01/03/2026'; write dates as"),
        (["2026-03-01", "2026-03-02T00:00Z"], None, "row 1 holds '2026-03-02T00:00Z'"),
    ],
)
def test_times_that_do_not_fit_their_form_are_refused(times, date_format, message):
    table = pa.table({"t": times, "x": [1.0, 2.0]})
    with pytest.raises(InputError, match=message):
        split_in_time(table, Roles(time_column="t", date_format=date_format), Split(until="50%"))
