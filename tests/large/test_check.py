"""What rows of a large table are weighed with, stored; forged answers are in `tests/reviews/test_answer_check.py`."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.large import gathering, opening
from biselect.large._collecting import moved_back
from biselect.large._weighing import Weighing
from biselect.options import Kinds, Search
from biselect.tables import rows_of
from biselect.weights.directed import DirectedColumns, at_best

ROWS, LOOKED_UP = 3000, 40


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
        patch.setattr(gathering, "LOOKED_UP", LOOKED_UP)
        found = bs.review(
            str(folder / "pool"),
            str(folder / "reference.parquet"),
            k=4,
            m=2,
            progress=False,
            kinds=Kinds(kinds=1),
            search=Search(neighbours=(0, 0)),
        )
    found.save(folder / "answer", proof=True)
    screen = json.loads((folder / "answer" / "proof.json").read_text())["screen"]
    assert screen["rows"] == ROWS and 50 < len(screen["kept"]) < 1000
    return folder, pool


def test_the_stored_calibration_weighs_to_the_bit(answered):
    folder, pool = answered
    weighing = Weighing.load(folder / "answer" / "calibration.npz")
    weigher = weighing.weigher
    assert weighing.shifts is not None and not weigher.columns[-1].type.is_ranked
    problem = bs.SelectionProblem.load(folder / "answer" / "problem.npz")
    kept = json.loads((folder / "answer" / "proof.json").read_text())["screen"]["kept"]
    matrix = moved_back(weighing.features.matrix(pool), weighing.shifts)
    cells = weigher.cells(rows_of(matrix, kept))
    features = DirectedColumns.of(weigher, cells)
    assert (features.directions, features.names) == (problem.directions, problem.column_names)
    assert np.array_equal(features.weights(weigher, cells), problem.coupling[: len(kept)])
    best = weighing.weights(pool, 0)
    assert (best[kept][:, problem.column_of] >= problem.coupling[: len(kept)]).all()
    assert np.array_equal(best, at_best(weigher, weigher.weights(matrix)))


def test_a_damaged_calibration_is_refused(answered, tmp_path):
    folder, _ = answered
    arrays = dict(np.load(folder / "answer" / "calibration.npz"))
    header = json.loads(bytes(arrays["header"]))
    for change in ({"format": "biselect-calibration-9"}, {"reference": {}}, {"settings": {}}):
        text = np.frombuffer(json.dumps(header | change).encode(), dtype=np.uint8)
        np.savez(tmp_path / "calibration.npz", **arrays | {"header": text})
        with pytest.raises(InputError, match=r"calibration\.npz: not the calibration"):
            Weighing.load(tmp_path / "calibration.npz")
    np.savez(tmp_path / "calibration.npz", **arrays | {"counts 0": arrays["counts 0"][::-1]})
    with pytest.raises(InputError, match="no distribution"):
        Weighing.load(tmp_path / "calibration.npz")


def test_the_command_checks_the_table(answered, run, monkeypatch):
    folder, _ = answered
    monkeypatch.setattr(gathering, "LOOKED_UP", LOOKED_UP)
    outcome = run("check", folder / "answer", "--table", folder / "pool")
    assert outcome.code == 0 and "all 3,000 rows" in outcome.out and "4 of 3,000 rows" in outcome.out
    outcome = run("check", folder / "answer", "--table", folder / "pool", "--id-column", "a")
    assert outcome.code == 1 and "refused: problem.npz says" in outcome.err
    outcome = run("check", folder / "answer")
    assert outcome.code == 0 and "taken on trust" in outcome.out
    assert run("check", folder / "answer", "--part", 1).code == 2
    monkeypatch.setattr(gathering, "LOOKED_UP", 10 * LOOKED_UP)
    outcome = run("check", folder / "answer", "--table", folder / "pool")
    assert outcome.code == 1 and "so it was to be kept" in outcome.err


def test_neighbours_are_looked_for_among_the_stored_rows(answered):
    folder, pool = answered
    weighing = Weighing.load(folder / "answer" / "calibration.npz")
    assert len(weighing.reference.sample) == 2000
    assert {key: weighing.question[key] for key in ("k", "m", "drift")} == {"k": 4, "m": 2, "drift": "recentre"}
    weigher = weighing.weigher
    again = weigher.whole_row.apartness(weigher.residuals(weighing.features.matrix(pool)))
    for surprise in (again.near, again.far):
        assert surprise.shape == (ROWS,) and np.isfinite(surprise).all() and surprise.max() > 3
