import numpy as np
import pyarrow as pa
import pytest

from biselect.columns.recognition import (
    hints_at,
)
from biselect.tables.roles import guess_roles

ROWS = 60


def roles(**columns):
    return {column.name: column.role for column in guess_roles(pa.table(columns)).columns}


@pytest.mark.parametrize(
    ("name", "hints"),
    [
        ("transaction_id", {"id"}),
        ("Beleg-Nr.", {"id"}),
        ("isFraud", {"label"}),
        ("Betrug", {"label"}),
        ("bookingDate", {"time"}),
        ("MCC", {"code"}),
        ("Händlercode", {"code"}),
        ("Bedrägeri", {"label"}),
        ("identity", set()),
        ("amount", set()),
    ],
)
def test_names_hint(name, hints):
    assert hints_at(name) == hints


def test_what_columns_hold_decides_and_names_settle_the_rest():
    rng = np.random.default_rng(0)
    found = roles(
        ref=[f"r{i}" for i in range(ROWS)],
        amount=rng.normal(size=ROWS),
        mcc=rng.choice([5411, 5812, 5999], ROWS),
        year=rng.choice([2023, 2024, 2025], ROWS),
        colour=rng.choice(["red", "blue"], ROWS),
        note=[f"some words about row {i}" for i in range(ROWS)],
        flat=[7] * ROWS,
        nothing=pa.nulls(ROWS),
        vip=rng.random(ROWS) < 0.5,
        mixed=["1.5"] * 58 + ["off", "tbd"],
        nested=[[1]] * ROWS,
        label=[int(i == 3) for i in range(ROWS)],
    )
    assert found == {
        "ref": "id",
        "amount": "number",
        "mcc": "code",
        "year": "number",
        "colour": "category",
        "note": "free text",
        "flat": "constant",
        "nothing": "empty",
        "vip": "flag",
        "mixed": "unclear",
        "nested": "unclear",
        "label": "label",
    }


def test_ids_may_have_a_few_duplicates_and_times_no_gaps():
    table = pa.table(
        {
            "key": [f"k{min(i, ROWS - 3)}" for i in range(ROWS)],
            "created": pa.array([None, *range(1, ROWS)], pa.timestamp("s")),
            "posted": pa.array(range(ROWS), pa.timestamp("s")),
            "outcome": ["fraud" if i % 9 == 0 else "ok" for i in range(ROWS)],
        }
    )
    found = guess_roles(table)
    assert (found.id_column, found.repeated_ids) == ("key", 2)
    assert (found.time_column, found.label_column, found.positive) == ("posted", "outcome", "fraud")
    assert found.repeated_rows == 0


def test_numbers_called_so_may_be_the_time_if_they_never_fall():
    table = pa.table({"Time": [0.0, 1, 1, 5], "x": [1.0, 2, 3, 4], "step": [3, 2, 1, 0]})
    assert guess_roles(table).time_column == "Time"


def test_numbered_texts_name_rows_in_spite_of_some_repeats():
    found = guess_roles(
        pa.table({"x": [1.5] * 30 + [2.5] * 30, "Código": [f"TX-{max(i, 3):04d}" for i in range(ROWS)]})
    )
    assert found.id_column == "Código" and found.repeated_ids == 3


def test_a_rare_one_of_two_unknown_words_is_remarked():
    (column,) = guess_roles(pa.table({"outcome": ["vlug"] * 57 + ["traag"] * 3})).columns
    assert column.role == "category" and "label column" in column.remark


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("name", ["wait", "time", "created", "date"])
def test_a_duration_is_a_number_and_never_orders_the_rows(unit, name):
    rising = pa.array(range(ROWS), pa.duration(unit))
    found = guess_roles(pa.table({name: rising, "x": np.arange(ROWS) % 7}))
    assert found.time_column is None and found.named("number") == [name, "x"]
    dated = guess_roles(pa.table({name: rising, "seen": pa.array(range(ROWS), pa.timestamp("s"))}))
    assert dated.time_column == "seen"


@pytest.mark.parametrize(("usual", "other"), [("OK", "E42"), ("normal", "late"), ("valid", "expired")])
def test_a_rare_state_beside_the_usual_one_is_no_label(usual, other):
    states = [other if row == 7 else usual for row in range(ROWS)]
    assert guess_roles(pa.table({"x": np.arange(ROWS) % 7, "status": states})).label_column is None
    assert guess_roles(pa.table({"x": np.arange(ROWS) % 7, "is_fraud": states})).label_column == "is_fraud"
