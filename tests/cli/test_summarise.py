import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from biselect.weights import Reference


def month(path, number, rows=400, shift=0.0):
    rng = np.random.default_rng(number)
    days = [f"{1 + row % 28:02d}.{number:02d}.2026" for row in range(rows)]
    table = pa.table(
        {"day": days, "id": range(rows), "x": rng.normal(shift, 1, rows), "kind": rng.choice(["a", "b"], rows)}
    )
    (pq.write_table if path.suffix == ".parquet" else pyarrow.csv.write_csv)(table, path)
    return path


def test_months_are_summed_up_merged_and_watched(run, tmp_path):
    roles = ("--time-column", "day", "--date-format", "%d.%m.%Y", "--exclude", "id")
    for number, ending in ((4, "csv"), (5, "parquet")):
        outcome = run(
            "summarise", month(tmp_path / f"{number}.{ending}", number), "--out", tmp_path / f"{number}.npz", *roles
        )
        assert outcome.code == 0 and "400 rows from 2026-0" in outcome.out
    outcome = run("summarise", tmp_path / "5.npz", tmp_path / "4.npz", "--out", tmp_path / "both.npz", "-q")
    assert "800 rows from 2026-04-01T00:00:00 to 2026-05-28T00:00:00, 2 columns" in outcome.out
    assert "wrong by more than 0 % of the rows" in outcome.out
    both = Reference.load(tmp_path / "both.npz")
    assert both.rows == 800 and set(both.columns) == {"x", "kind"}
    for shift, code in ((0.0, 0), (0.5, 1)):
        june = month(tmp_path / "6.csv", 6, shift=shift)
        watched = run("monitor", june, "--older", tmp_path / "both.npz", *roles)
        assert watched.code == code, watched.out + watched.err


def test_what_cannot_be_summed_up_is_said(run, tmp_path):
    path = month(tmp_path / "4.csv", 4)
    assert run("summarise", path, "--out", tmp_path / "x.zip").err.startswith("error: --out")
    outcome = run("summarise", path, "--out", tmp_path / "x.npz", "--time-column", "when")
    assert outcome.code == 2 and "4.csv has no column 'when'" in outcome.err
    pa.csv.write_csv(
        pa.table({"x": [1.0, 2.0], "note": ["a", "b"], "day": ["2026-01-01", "2026-01-02"]}), tmp_path / "n.csv"
    )
    assert "left out: day (times always move)" in run("summarise", tmp_path / "n.csv", "--out", tmp_path / "x.npz").out
    assert run("summarise", tmp_path / "n.csv", tmp_path / "4.csv", "--out", tmp_path / "x.npz").code == 2
