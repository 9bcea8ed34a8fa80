"""The proof of a large table against the table itself."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biselect as bs
from biselect.errors import BiselectError, InputError
from biselect.partitions import part_rows
from biselect.reviews.large import gathering, opening
from biselect.reviews.large.checking import check_table
from biselect.reviews.large.weighing import Weighing

ROWS = 3000


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """A pool of which few rows are kept, one of its columns moved, and its answer."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    reference, pool = (
        pa.table({name: rng.standard_t(4, size=rows) for name in "abcdef"} | {"g": rng.choice(["x", "y"], size=rows)})
        for rows in (2000, ROWS)
    )
    far = pool["b"].to_numpy().copy()
    far[[5, 700, 2900]] += 30
    pool = pool.set_column(1, "b", pa.array(far)).set_column(4, "e", pa.array(pool["e"].to_numpy() + 0.5))
    (folder / "pool").mkdir()
    for part in range(3):
        pq.write_table(pool.slice(1000 * part, 1000), folder / "pool" / f"{part}.parquet")
    pq.write_table(reference, folder / "reference.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "POOL_CELLS", 1)
        patch.setattr(gathering, "KEPT_ROWS", 100)
        patch.setattr(gathering, "LOOKED_UP", 40)
        found = bs.review(
            str(folder / "pool"),
            str(folder / "reference.parquet"),
            k=4,
            m=2,
            kinds=1,
            neighbours=(0, 0),
            progress=False,
        )
    found.save(folder / "answer", proof=True)
    screen = json.loads((folder / "answer" / "proof.json").read_text())["screen"]
    assert screen["rows"] == ROWS and 50 < len(screen["kept"]) < 1000
    return folder, pool


def changed(pool, folder, row, column, value):
    """The pool with another value in one cell."""
    cells = pool[column].to_pylist()
    cells[row] = value
    pq.write_table(pool.set_column(pool.column_names.index(column), column, pa.array(cells)), folder / "pool.parquet")
    return folder / "pool.parquet"


def test_every_row_is_weighed_again_in_any_parts(answered, tmp_path):
    folder, pool = answered
    assert "all 3,000 rows" in check_table(folder / "answer", folder / "pool", progress=False)
    pq.write_table(pool, tmp_path / "one.parquet", row_group_size=700)
    assert "all 3,000 rows" in check_table(folder / "answer", tmp_path / "one.parquet", progress=False)


def test_one_part_is_checked_by_itself(answered, monkeypatch):
    folder, _ = answered
    monkeypatch.setattr(part_rows, "FEWEST_PART_ROWS", 1000)
    words = check_table(folder / "answer", folder / "pool", part=1, progress=False)
    assert "1,000 of 3,000 rows" in words and "pool/1.parquet" in words
    with pytest.raises(InputError, match="part 99"):
        check_table(folder / "answer", folder / "pool", part=99, progress=False)


def test_a_table_with_other_rows_is_refused(answered, tmp_path):
    folder, pool = answered
    kept = json.loads((folder / "answer" / "proof.json").read_text())["screen"]["kept"]
    outside = next(row for row in range(ROWS) if row not in kept)
    for row, words in ((outside, "was not kept|so heavy"), (kept[3], "does not weigh")):
        with pytest.raises(BiselectError, match=words):
            check_table(folder / "answer", changed(pool, tmp_path, row, "c", 90.0), progress=False)
    pq.write_table(pool.slice(0, 2999), tmp_path / "short.parquet")
    assert "2,999 of 3,000 rows" in check_table(folder / "answer", tmp_path / "short.parquet", progress=False)
    pq.write_table(pa.concat_tables([pool, pool.slice(0, 1)]), tmp_path / "long.parquet")
    with pytest.raises(BiselectError, match="more than the table"):
        check_table(folder / "answer", tmp_path / "long.parquet", progress=False)


def test_the_stored_calibration_weighs_to_the_bit(answered):
    folder, pool = answered
    weighing = Weighing.load(folder / "answer" / "calibration.npz")
    assert weighing.shifts is not None and weighing.calibrator.categories
    weights = weighing.weights(pool, 0)
    problem = bs.SelectionProblem.load(folder / "answer" / "problem.npz")
    kept = json.loads((folder / "answer" / "proof.json").read_text())["screen"]["kept"]
    assert np.array_equal(weights[kept], problem.coupling[: len(kept)])


def test_a_damaged_calibration_is_refused(answered, tmp_path):
    folder, _ = answered
    arrays = dict(np.load(folder / "answer" / "calibration.npz"))
    header = json.loads(bytes(arrays["header"]))
    for change in ({"format": "biselect-calibration-9"}, {"windows": {}}, {"settings": {}}):
        text = np.frombuffer(json.dumps(header | change).encode(), dtype=np.uint8)
        np.savez(tmp_path / "calibration.npz", **arrays | {"header": text})
        with pytest.raises(InputError, match=r"calibration\.npz: not the calibration"):
            Weighing.load(tmp_path / "calibration.npz")
    np.savez(tmp_path / "calibration.npz", **arrays | {"counts 0 0": arrays["counts 0 0"][::-1]})
    with pytest.raises(InputError, match="no distribution"):
        Weighing.load(tmp_path / "calibration.npz")


def test_the_command_checks_the_table(answered, run):
    folder, _ = answered
    outcome = run("check", folder / "answer", "--table", folder / "pool")
    assert outcome.code == 0 and "all 3,000 rows" in outcome.out
    outcome = run("check", folder / "answer")
    assert outcome.code == 0 and "taken on trust" in outcome.out
    assert run("check", folder / "answer", "--part", 1).code == 2
