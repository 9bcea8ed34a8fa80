import numpy as np
import pyarrow as pa
import pytest

from biselect.columns.recognition import (
    hints_at,
)
from biselect.options import Columns, Csv
from biselect.tables import Roles, guess_roles

ROWS = 60


def guessed(table, said=Columns(), **more):
    return guess_roles([table], said, **more)


def roles(**columns):
    return guessed(pa.table(columns)).roles


@pytest.mark.parametrize(
    ("name", "hints"),
    [
        ("transaction_id", {"id", "key"}),
        ("Beleg-Nr.", {"id", "key"}),
        ("num_items", {"id"}),
        ("customerId", {"id", "key", "code"}),
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
        "mixed": "number",
        "nested": "unclear",
        "label": "label",
    }


def test_ids_may_have_a_few_duplicates_and_times_no_gaps():
    table = pa.table(
        {
            "key": [f"k{min(i, ROWS - 3)}" for i in range(ROWS)],
            "created": pa.array([None, *range(1, ROWS)], pa.timestamp("s")),
            "posted": pa.array(range(ROWS), pa.timestamp("s")),
            "fraud": ["fraud" if i % 9 == 0 else "ok" for i in range(ROWS)],
        }
    )
    found = guessed(table)
    assert found.roles == {"key": "other id", "created": "date", "posted": "time", "fraud": "label"}
    assert found.columns[0].repeats == 2 and "2 rows repeat one of its ids with other values" in found.columns[0].remark
    assert found.described.id is None and found.described.show == ["posted", "key"]
    assert (found.described.time, found.described.label) == ("posted", "fraud=fraud")
    copies = guessed(table.slice(0, ROWS - 2).take([*range(ROWS - 2), 3, 4]).drop_columns("posted"))
    assert (copies.described.id, copies.described.duplicates) == ("key", "first")


def test_numbers_called_so_may_be_the_time_if_they_never_fall():
    table = pa.table({"Time": [0.0, 1, 1, 5], "x": [1.0, 2, 3, 4], "step": [3, 2, 1, 0]})
    assert guessed(table).described.time == "Time"


def test_a_date_orders_the_rows_if_it_is_called_so_or_in_order():
    born = pa.array([(i * 7919) % 10_000 for i in range(ROWS)], pa.date32())
    assert roles(born=born, x=[i % 7 for i in range(ROWS)])["born"] == "date"
    assert roles(date=born)["date"] == "time" and roles(born=pa.array(range(ROWS), pa.date32()))["born"] == "time"


def test_numbered_texts_name_rows_in_spite_of_some_copies():
    code = [f"TX-{max(i, 3):04d}" for i in range(ROWS)]
    found = guessed(pa.table({"x": [1.5] * 30 + [2.5] * 30, "Código": code}))
    assert (found.described.id, found.described.duplicates) == ("Código", "first") and found.columns[1].repeats == 3


def test_a_rare_one_of_two_unknown_words_is_a_feature_and_said():
    (column,) = guessed(pa.table({"outcome": ["vlug"] * 57 + ["traag"] * 3})).columns
    assert column.role == "category" and "not as the label" in column.remark and column.otherwise == "label"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("name", ["wait", "time", "created", "date"])
def test_a_duration_is_a_number_and_never_orders_the_rows(unit, name):
    rising = pa.array(range(ROWS), pa.duration(unit))
    assert roles(**{name: rising, "x": np.arange(ROWS) % 7}) == {name: "number", "x": "number"}
    dated = guessed(pa.table({name: rising, "seen": pa.array(range(ROWS), pa.timestamp("s"))}))
    assert dated.described.time == "seen"


@pytest.mark.parametrize(("usual", "other"), [("OK", "E42"), ("normal", "late"), ("valid", "fraud"), ("nein", "ja")])
def test_a_label_needs_a_name_and_values(usual, other):
    states = [other if row == 7 else usual for row in range(ROWS)]
    assert roles(x=np.arange(ROWS) % 7, status=states)["status"] == "category"
    found = guessed(pa.table({"x": np.arange(ROWS) % 7, "is_fraud": states}))
    assert found.described.label == f"is_fraud={other}"
    assert roles(is_fraud=[f"w{row % 3}" for row in range(ROWS)])["is_fraud"] == "category"


def test_ids_are_known_by_name_and_values():
    rng = np.random.default_rng(3)
    found = roles(
        order_no=rng.permutation(ROWS) * 7 + 1000,
        customer_id=rng.integers(10**4, 10**5, ROWS),
        store_id=rng.integers(1, 5, ROWS),
        num_items=rng.integers(1, 9, ROWS),
        account=[f"user{i % 40}@mail.example" for i in range(ROWS)],
        income=rng.permutation(ROWS) * 13,
    )
    assert found == {
        **{"order_no": "id", "customer_id": "other id", "store_id": "code", "num_items": "number"},
        **{"account": "free text", "income": "number"},
    }


def test_a_first_column_that_counts_names_the_rows_and_one_that_does_not_is_a_number():
    others = {"x": np.arange(ROWS) % 7}
    assert roles(a=np.arange(ROWS) + 5, **others)["a"] == "id"
    assert roles(a=np.arange(ROWS) * 3, **others)["a"] == "number"
    assert roles(**others, a=np.arange(ROWS))["a"] == "number"


@pytest.mark.parametrize(
    ("values", "mark"),
    [
        ([-999, *range(100, 150)], "-999"),
        ([-99.9, *np.linspace(0, 1, 50)], "-99.9"),
        ([9999, *range(18, 80)], "9999"),
        ([999999.0, *np.linspace(-5, 5, 50)], "999999"),
    ],
)
def test_a_number_of_nines_that_comes_back_apart_from_all_others_is_missing(values, mark):
    column = [values[0] if i % 9 == 2 else values[1 + i % (len(values) - 1)] for i in range(ROWS)]
    found = guessed(pa.table({"x": column, "y": np.arange(ROWS) % 5}))
    assert found.described.types == {"x": f"number:{mark}"} and found.columns[0].is_doubtful
    cleaned = found.cleaned(pa.table({"x": column}))
    assert cleaned["x"].null_count == sum(value == values[0] for value in column)
    said = guessed(pa.table({"x": column}), Columns(types={"x": "number"}))
    assert said.described.types == {"x": "number"} and said.columns[0].remark == ""


@pytest.mark.parametrize("values", [[-999, -990, -950], [999, 998, 1001], [9999, 9990], [99, 5, 7], [-1, 5, 9]])
def test_a_number_of_nines_among_others_like_it_is_a_number(values):
    column = [values[i % len(values)] for i in range(ROWS)]
    assert guessed(pa.table({"x": column})).described.types == {}


def test_a_few_words_among_numbers_are_missing_and_many_make_it_text():
    few = [["tbd", "off"][i % 2] if i in (3, 4, 5) else f"{i}.5" for i in range(ROWS)]
    found = guessed(pa.table({"x": few}))
    assert found.described.types == {"x": "number:off,tbd"}
    assert found.cleaned(pa.table({"x": few}))["x"][0].as_py() == 0.5
    many = [f"w {i}" if i % 4 == 3 else f"{i}.5" for i in range(ROWS)]
    assert guessed(pa.table({"x": many})).roles == {"x": "free text"}
    assert guessed(pa.table({"x": few}), csv=Csv(na_values=["off"])).described.types == {}  # an error names the others


def test_days_and_moments_as_numbers_are_dates():
    days = [20250101 + i % 28 for i in range(ROWS)]
    assert roles(x=days) == {"x": "date"} and roles(x=[20259901 + 2 * i for i in range(ROWS)]) == {"x": "id"}
    seconds = [1_735_689_600 + 60 * i for i in range(ROWS)]
    assert roles(created=seconds) == {"created": "time"} and roles(bytes=seconds) == {"bytes": "id"}


def test_what_a_person_said_is_not_guessed():
    table = pa.table(
        {"id": [f"a{i}" for i in range(ROWS)], "no": np.arange(ROWS), "fraud": [i == 3 for i in range(ROWS)]}
    )
    said = Columns(types={"id": "category"}, exclude="fraud", show=["no"])
    found = guessed(table, said)
    assert found.roles == {"id": "category", "no": "shown", "fraud": "left out"}
    assert (found.described.id, found.described.label, found.described.show) == (None, None, ["no"])
    assert guessed(table, Columns(features=["no", "id"])).described.label == "fraud=true"
    assert Roles.of(guessed(table).described).exclude == []


def test_two_tables_are_looked_at_together():
    pool = pa.table({"a": [5, 6, 7], "kind": ["x", "y", "z"], "new": ["p", "q", "r"]})
    reference = pa.table({"a": [1 + i % 4 for i in range(ROWS)], "kind": ["x", "y"] * (ROWS // 2)})
    assert guessed(pool.select(["a"])).roles["a"] == "id"
    assert guess_roles([pool, reference]).roles["a"] == "number"
    assert guess_roles([pool, reference]).roles["kind"] == "category"
