import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from biselect.errors import InputError, MissingDataError
from biselect_studies.data import creditcard
from biselect_studies.data.creditcard import COLUMNS, FEATURES, find_credit_card, load_credit_card


def columns(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    labels = (np.arange(rows) % 10 == 0).astype(np.uint8)
    named = {"Time": np.sort(rng.integers(0, 999, rows)).astype(float)}
    named |= {name: rng.normal(size=rows) for name in FEATURES}
    return named | {"Amount": rng.random(rows), "Class": labels}


def write(folder, table, name="mine.parquet"):
    pq.write_table(pa.table(table), folder / name)
    return folder / name


def test_a_table_in_the_published_schema_is_read_from_parquet_and_csv_alike(tmp_path):
    table = columns()
    parquet = load_credit_card(write(tmp_path, table))
    pyarrow.csv.write_csv(pa.table(table), tmp_path / "mine.csv")
    text = load_credit_card(tmp_path / "mine.csv")
    assert parquet.features.shape == (60, 28) and parquet.labels.sum() == 6
    for one, other in zip(vars(parquet).values(), vars(text).values(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        parquet.features[0, 0] = 1.0


def test_it_is_read_once_in_a_process(tmp_path):
    path = write(tmp_path, columns())
    assert load_credit_card(path) is load_credit_card(path)


def test_a_file_of_the_published_name_must_be_the_published_file(tmp_path):
    with pytest.raises(InputError, match=r"checksum \w{12}…, expected baa074885687…"):
        load_credit_card(write(tmp_path, columns(), "creditcard.parquet"))
    (tmp_path / "creditcard.csv").write_text("damaged")
    with pytest.raises(InputError, match="expected 76274b691b16"):
        load_credit_card(tmp_path / "creditcard.csv")


def test_the_folder_is_named_by_the_environment_and_parquet_comes_first(tmp_path, monkeypatch):
    monkeypatch.delenv("BISELECT_DATA", raising=False)
    with pytest.raises(MissingDataError, match=r"BISELECT_DATA is not set.*mlg-ulb/creditcardfraud"):
        find_credit_card()
    monkeypatch.setenv("BISELECT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="holds neither"):
        load_credit_card()
    (tmp_path / "creditcard.csv").touch()
    assert find_credit_card().name == "creditcard.csv"
    (tmp_path / "creditcard.parquet").touch()
    assert find_credit_card().name == "creditcard.parquet"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: {n: v for n, v in t.items() if n != "V7"}, "has no column 'V7'"),
        (lambda t: t | {"Time": t["Time"][::-1]}, "not sorted by time: row 1"),
        (lambda t: t | {"Amount": np.where(np.arange(60) == 4, -1.5, t["Amount"])}, r"row 4 is negative \(-1.5\)"),
        (lambda t: t | {"Class": np.arange(60)}, "must hold 0 and 1 only"),
        (lambda t: t | {"V3": t["Class"] * 2.0}, "feature 'V3' is a copy of the label"),
        (lambda t: t | {"V3": ["x"] * 60}, "is not numeric"),
        (lambda t: t | {"V3": np.where(np.arange(60) == 7, np.nan, t["V3"])}, "'V3' is missing or infinite in row 7"),
        (
            lambda t: t | {"Amount": np.where(np.arange(60) == 7, np.inf, 1.0)},
            "'Amount' is missing or infinite in row 7",
        ),
        (lambda t: t | {"Time": np.where(np.arange(60) == 7, np.nan, t["Time"])}, "'Time' is missing or infinite"),
    ],
)
def test_tables_that_are_not_as_published_are_refused(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        load_credit_card(write(tmp_path, change(columns())))


def test_the_real_table_is_the_one_that_figures_were_taken_from(credit_card):
    table = load_credit_card(credit_card / "creditcard.parquet")
    assert table.features.shape == (284_807, 28) and table.labels.sum() == 492
    assert set(creditcard.CHECKSUMS) == {"creditcard.parquet", "creditcard.csv"} and len(COLUMNS) == 31
