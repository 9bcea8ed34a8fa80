import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from biselect.data.pools import Roles
from biselect.errors import InputError
from biselect.reviews.inputs import call_in_words, open_pool, provenance
from biselect.reviews.reviewing import review_problem

COLUMNS = {"x": np.arange(20.0), "y": np.arange(20.0) % 7}


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (None, ["0", "1"]),
        ([5, 3], ["5", "3"]),
        (["a", "b"], ["a", "b"]),
        (pd.RangeIndex(10, 12), ["10", "11"]),
        (pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]), ["('a', 1)", "('b', 2)"]),
    ],
)
def test_a_pandas_index_names_the_rows_unless_it_just_counts_them(index, names):
    pool = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=index)
    opened = open_pool(pool, pa.table(COLUMNS), Roles())
    assert opened.sample_names == names and opened.candidates.column_names == ["x", "y"] and opened.ignored == ()


def test_an_index_whose_name_is_taken_gives_way():
    pool = pd.DataFrame({"x": [1.0], "y": [3.0]}, index=pd.Index(["a"], name="x"))
    assert open_pool(pool, pa.table(COLUMNS), Roles()).sample_names == ["a"]


def test_an_index_that_repeats_itself_is_refused():
    pool = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=["a", "a"])
    with pytest.raises(InputError, match="id 'a' stands in row 0 and row 1"):
        open_pool(pool, pa.table(COLUMNS), Roles())


def test_an_id_column_goes_before_the_index():
    pool = pd.DataFrame({"x": [1.0], "y": [3.0], "id": ["own"]}, index=["a"])
    assert open_pool(pool, pa.table(COLUMNS), Roles(id_column="id")).sample_names == ["own"]


def test_provenance_names_files_and_their_hash(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    (entry,) = provenance("do", 3, [tmp_path / "a.csv", pa.table({})])["inputs"]
    assert entry["name"] == "a.csv" and len(entry["sha256"]) == 64


def test_a_call_in_words_leaves_out_defaults():
    given = {name: parameter for name, parameter in review_problem.__kwdefaults__.items()}
    given |= {"problem": "p.npz", "k": 3, "title": "t"}
    assert call_in_words(review_problem, given) == "review_problem('p.npz', k=3)"
