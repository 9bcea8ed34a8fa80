"""Tables as people hold them in Python, and what they said of columns: read so, or refused in one sentence."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.options import Columns
from biselect.tables import Roles
from biselect.tables._split import open_pool
from biselect.tables._table import Table

ROWS = 60
RNG = np.random.default_rng(5)
VALUES = RNG.normal(size=(ROWS, 3))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (pd.DataFrame(), "no columns"),
        (pd.DataFrame({"a": [], "b": []}), "columns but no rows"),
        (pa.table({"a": pa.array([], pa.int64())}), "columns but no rows"),
        (pd.DataFrame({"a": [1], "b": [2]}), "has one row"),
        ({"a": [1, 2], "b": [1]}, "equal length"),
        ({"a": 5}, "equal length"),
        (pd.DataFrame({"t": [f"hello number {i} my friend" for i in range(ROWS)]}), "'t' is shown only"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_sentence(source, words):
    with pytest.raises(InputError, match=words) as refusal:
        bs.review(source)
    assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    "make",
    [
        lambda: dict(zip("abc", VALUES.T.tolist(), strict=True)),
        lambda: [dict(zip("abc", row, strict=True)) for row in VALUES.tolist()],
        lambda: pa.table([*VALUES.T], names=["a", "a", "b"]),
        lambda: pd.DataFrame(VALUES, columns=["a", "a", "b"]),
    ],
)
def test_plain_python_and_names_that_come_back_give_the_review_of_the_plain_frame(make):
    review, plain = bs.review(make(), k=3), bs.review(pd.DataFrame(VALUES, columns=["a", "b", "c"]), k=3)
    assert review.selection.samples.tolist() == plain.selection.samples.tolist()
    assert review.selection.score == plain.selection.score


def test_a_table_in_parts_of_which_only_the_schema_is_known_refuses_words_as_well():
    rows = pa.table({"a": pa.array([], pa.float64()), "c": pa.array([], pa.string())})
    assert Roles().features_of(rows, rows)[0] == ["a", "c"]
    with pytest.raises(InputError, match="not every entry"):
        Roles(numbers=["c"]).features_of(rows, rows)


COLUMNS = {
    "words": (["H", "M"] * 30, {"number": False, "category": True}),
    "zero_led": ([f"{i:03d}" for i in range(ROWS)], {"number": True, "category": True}),
    "two units": ([f"{i} {'kg' if i % 2 else 'g'}" for i in range(ROWS)], {"number": False, "category": True}),
    "unit": ([f"{i} mEq/L" for i in range(ROWS)], {"number": True, "category": True}),
    "mixed": (["12,5", "x"] * 30, {"number": False, "category": True}),
    "flags": ([True, False] * 30, {"number": True, "category": True}),
    "days": ([*pd.date_range("2020", periods=ROWS)], {"number": False}),
}


@pytest.mark.parametrize("kind", ["number", "category"])
@pytest.mark.parametrize("entries", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("in_file", [True, False])
def test_a_type_that_was_said_is_followed_or_refused_with_an_entry(tmp_path, kind, entries, in_file):
    values, fits = entries
    table = pd.DataFrame({"a": VALUES[:, 0], "c": values})
    table.to_csv(tmp_path / "table.csv", index=False)
    source = Table(tmp_path / "table.csv" if in_file else table, Columns(types={"c": kind}))
    if fits.get(kind, in_file):
        column = open_pool(source).reference["c"].type
        assert (column == pa.float64()) == (kind == "number")
    else:
        with pytest.raises(InputError, match=r"column 'c' (is not numeric|holds times) \(.*"):
            open_pool(source)
