import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from biselect import table
from biselect.errors import InputError
from biselect.options import Columns, Kinds, Weighing, running
from biselect.tables import call_in_words, open_pool, provenance, tables_of
from biselect.weights.maps import EcdfMap

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
    opened = open_pool(pool, pa.table(COLUMNS))
    assert opened.sample_names == names and opened.candidates.column_names == ["x", "y"] and opened.ignored == ()


def test_an_index_whose_name_is_taken_gives_way():
    pool = pd.DataFrame({"x": [1.0], "y": [3.0]}, index=pd.Index(["a"], name="x"))
    assert open_pool(pool, pa.table(COLUMNS)).sample_names == ["a"]


def test_an_index_that_repeats_itself_is_refused():
    pool = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=["a", "a"])
    with pytest.raises(InputError, match="id 'a' stands in row 0 and row 1"):
        open_pool(pool, pa.table(COLUMNS))


def test_an_id_column_goes_before_the_index():
    pool = pd.DataFrame({"x": [1.0], "y": [3.0], "id": ["own"]}, index=["a"])
    assert open_pool(table(pool, id="id"), pa.table(COLUMNS)).sample_names == ["own"]


def test_provenance_names_files_and_their_hash(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    (entry,) = provenance("do", 3, [tmp_path / "a.csv", pa.table({})])["inputs"]
    assert entry["name"] == "a.csv" and len(entry["sha256"]) == 64


def test_a_call_in_words_leaves_out_defaults():
    pool = table("p.csv", id="id", columns=Columns(exclude=["a"]))
    weighing = Weighing(map=EcdfMap(), missing="median")
    words = call_in_words("review", {"pool": pool, "reference": np.eye(2)}, k=3, m=2, weighing=weighing, kinds=Kinds())
    columns = "columns=Columns(id='id', exclude=['a'])"
    weighed = "weighing=Weighing(map=map, missing='median')"
    assert words == f"biselect.review(biselect.table('p.csv', {columns}), reference, k=3, m=2, {weighed})"
    with running("biselect select p.csv"):
        assert call_in_words("review", {"pool": pool}) == "biselect select p.csv"


def test_the_reference_is_read_as_the_pool_is():
    pool, reference = table("p.csv", id="id"), table("r.csv", id="id")
    assert tables_of(pool, reference) == (pool, "r.csv") and tables_of(pool, table("r.csv")) == (pool, "r.csv")
    with pytest.raises(InputError, match="say what is in columns= of the pool alone"):
        tables_of(pool, table("r.csv", time="t"))
    with pytest.raises(InputError, match=r"id='a' and columns=Columns\(id='b'\) name two columns"):
        table("p.csv", id="a", columns=Columns(id="b"))
