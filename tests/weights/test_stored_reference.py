import json
from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.columns.category import MOST_CATEGORIES
from biselect.columns.column_type import Cells
from biselect.columns.distribution import TAIL_SHARE, exact_distribution
from biselect.errors import InputError
from biselect.weights import Reference, Weigher
from biselect.weights.maps import EcdfMap

ROUGH = 24 * 64


def part(values, knots=ROUGH):
    return Reference(knots=knots).add(np.asarray(values)[:, None])


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    sizes=st.lists(st.sampled_from([3, 700, 1600, 9000]), min_size=2, max_size=4),
    entries=st.lists(st.sampled_from([ROUGH, 2 * ROUGH, None]), min_size=4, max_size=4),
    kind=st.sampled_from(["normal", "ties", "apart"]),
)
def test_merging_keeps_its_promises_in_any_order(seed, sizes, entries, kind):
    """Rows, dates and moments add up, tails are exact, and every rank lies within the stated error."""
    rng = np.random.default_rng(seed)
    draw = {
        "normal": lambda at, size: rng.normal(size=size),
        "ties": lambda at, size: rng.integers(0, 5, size).astype(float),
        "apart": lambda at, size: rng.normal(10 * at, 1, size=size),
    }[kind]
    values = [draw(at, size) for at, size in enumerate(sizes)]
    parts = [part(one, limit) for one, limit in zip(values, entries, strict=False)]
    left = parts[0]
    for one in parts[1:]:
        left = Reference.merged([left, one])
    right = parts[-1]
    for one in parts[-2::-1]:
        right = Reference.merged([one, right])
    exact = exact_distribution(np.concatenate(values))
    for whole in (left, right, Reference.merged(parts)):
        column, tail = whole.counts["0"], min(ROUGH // 2 // TAIL_SHARE, exact.size // 2)
        assert whole.rows == column.size == exact.size
        x = np.concatenate([exact.values[::13], exact.values[::13] + 1e-9, [-99.0, 99.0]])
        assert np.abs(column.at_most(x) - exact.at_most(x)).max() <= column.rank_error
        assert np.abs(column.below(x) - exact.below(x)).max() <= column.rank_error
        assert column.rank_error <= whole.rank_error * column.size + 1e-9 <= 0.06 * column.size + 1e-9
        for ends in (np.arange(tail), np.arange(exact.size - tail, exact.size)):
            np.testing.assert_array_equal(column.entry(ends), exact.entry(ends))
        assert (column.mean, column.deviation) == pytest.approx((exact.mean, exact.deviation), rel=1e-9, abs=1e-9)


def test_parts_are_not_changed_by_a_merge():
    first, second = part(np.arange(9000.0)), part(np.arange(50.0))
    before = first.counts["0"]
    Reference.merged([first, second]).add(np.zeros((5000, 1)))
    after = first.counts["0"]
    np.testing.assert_array_equal(before.values, after.values)
    assert before.rank_error == after.rank_error and first.rows == 9000


def frame(rows, seed, day):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "when": pd.date_range(f"2026-0{day}-01", periods=rows, freq="min"),
            "x": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
            "flag": rng.random(rows) < 0.2,
            "kind": rng.choice(["a", "b", None], rows),
            "note": [f"secret{seed}-{row}" for row in range(rows)],
        }
    )


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_a_stored_summary_is_the_same_and_holds_no_rows(tmp_path, library):
    table = frame(4000, 0, 6)
    make = {"pandas": lambda t: t, "polars": pl.from_pandas, "arrow": lambda t: pl.from_pandas(t).to_arrow()}[library]
    native = make(table)
    kept = Reference(knots=ROUGH).add(native, time_column="when")
    kept.save(tmp_path / "june.npz")
    again = Reference.load(tmp_path / "june.npz")
    for name in ("rows", "first", "last", "missing", "types", "left_out", "columns", "rank_error"):
        assert getattr(again, name) == getattr(kept, name), name
    assert again.rows == 4000 and (again.first, again.last) == ("2026-06-01T00:00:00", "2026-06-03T18:39:00")
    assert again.missing["x"] == table["x"].isna().sum() and again.missing["kind"] == table["kind"].isna().sum()
    assert again.counts["kind"] == table["kind"].value_counts().to_dict()
    assert again.counts["flag"]["true"] == table["flag"].sum()
    one, other = (summary.counts["x"] for summary in (kept, again))
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.counts, other.counts)
    assert "names or prose" in again.left_out["note"]
    assert b"secret" not in (tmp_path / "june.npz").read_bytes()
    with np.load(tmp_path / "june.npz") as stored:
        assert b"secret" not in stored["header"].tobytes()
        assert max(stored[name].size for name in stored.files if name != "header") < 2000


def test_months_become_a_quarter(tmp_path):
    months = [Reference().add(frame(500, seed, day), time_column="when") for seed, day in enumerate((4, 6, 5))]
    quarter = Reference.merged(months)
    assert quarter.rows == 1500 and (quarter.first, quarter.last) == ("2026-04-01T00:00:00", "2026-06-01T08:19:00")
    assert quarter.missing["x"] == sum(month.missing["x"] for month in months)
    assert sum(quarter.counts["kind"].values()) + quarter.missing["kind"] == 1500
    numbered = Reference().add(frame(500, 0, 4).assign(when=1.0), time_column="when")
    with pytest.raises(InputError, match="some of the times are numbers and others dates"):
        Reference.merged([months[0], numbered])
    with pytest.raises(InputError, match="not the same columns"):
        Reference.merged([months[0], months[1].only(["x"])])
    with pytest.raises(InputError, match="has no column 'y'; it has 'x'"):
        months[0].only(["x", "y"])


def test_a_weigher_learns_the_same_from_a_summary_as_from_rows():
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(4000, 3)), 2 * rng.normal(size=(50, 3))
    for name in ("ecdf", "reach", "mad-z", "ecdf-paper"):
        from_rows = Weigher(map=name).fit(reference).weights(pool)
        exact = Weigher(map=name).fit(Reference(knots=None).add(reference))
        np.testing.assert_array_equal(exact.weights(pool), from_rows)
    rough = Weigher().fit(Reference(knots=ROUGH).add(reference))
    assert 0 < rough.facts.rank_error < 0.05
    for j, column in enumerate(rough.columns):
        cells = column.type.describe(column, Cells(pool[:, j]), pool[:, j])
        for cell, value in zip(cells, pool[:, j], strict=True):
            assert abs(cell.below - (reference[:, j] < value).sum()) <= 4000 * rough.facts.rank_error
            assert abs(cell.above - (reference[:, j] > value).sum()) <= 4000 * rough.facts.rank_error


def test_missing_cells_are_filled_only_where_asked():
    table = frame(500, 0, 6)[["x", "flag"]]
    summary = Reference().add(table)
    with pytest.raises(InputError, match="missing values in column 'x'; weigh them"):
        Weigher(missing="error").fit(summary)
    from_rows = Weigher(missing="median").fit(table)
    from_summary = Weigher(missing="median").fit(summary)
    np.testing.assert_allclose(from_summary.weights(table), from_rows.weights(table))
    assert from_summary.facts.filled == from_rows.facts.filled == table["x"].isna().sum()


def test_maps_that_need_rows_say_so():
    summary = Reference().add(np.random.default_rng(0).normal(size=(60, 2)))

    class Rowwise(EcdfMap):
        needs_rows = True

    with pytest.raises(InputError, match="map 'Rowwise' needs all rows of the reference at once"):
        Weigher(Rowwise).fit(summary)
    with pytest.raises(InputError, match="has 5 rows"):
        Weigher().fit(Reference().add(np.ones((5, 1))))
    with pytest.raises(
        InputError, match="the part of a row as a whole needs rows of the reference, and a summary holds none"
    ):
        Weigher().fit(summary).problem(np.zeros((3, 2)), k=1, m=1)


def test_categories_weigh_from_a_summary_as_from_rows():
    table = pd.DataFrame({"x": np.arange(40.0), "colour": ["red"] * 30 + ["blue"] * 8 + [None] * 2})
    pool = pd.DataFrame({"x": [99.0, np.nan, 3.0], "colour": ["green", "blue", None]})
    from_summary = Weigher().fit(Reference().add(table))
    np.testing.assert_array_equal(from_summary.weights(pool), Weigher().fit(table).weights(pool))


def test_blocks_that_do_not_belong_together_are_refused():
    summary = Reference().add(pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}))
    for block, message in (
        ({"x": [1.0]}, "must have the same columns"),
        ({"x": ["1"], "y": ["a"]}, "'x' holds numbers in one block and texts in another"),
        ({"x": [np.inf], "y": ["a"]}, "an infinite value in column 'x'"),
    ):
        with pytest.raises(InputError, match=message):
            summary.add(pd.DataFrame(block))
    with pytest.raises(InputError, match="no column 't'; it has 'x'"):
        summary.add(pd.DataFrame({"x": [1.0], "y": ["a"]}), time_column="t")
    with pytest.raises(InputError, match="texts that are no ISO dates"):
        Reference().add(pd.DataFrame({"t": ["soon"], "x": [1.0]}), time_column="t")
    dated = Reference().add(pd.DataFrame({"t": ["2026-05-01", "2026-04-30"], "x": [1.0, 2.0]}), time_column="t")
    assert dated.first.startswith("2026-04-30") and dated.columns == ["x"]
    moments = Reference().add(pd.DataFrame({"t": [datetime(2026, 1, 1)] * 3, "x": [1.0, 2.0, 3.0]}))
    assert moments.left_out == {"t": "times always move"} and moments.columns == ["x"]


def test_texts_that_become_too_many_are_forgotten():
    summary = Reference()
    for start in (0, MOST_CATEGORIES):
        summary.add(pd.DataFrame({"x": [f"t{j}" for j in range(start, start + MOST_CATEGORIES)]}))
    assert "x" in summary.left_out and "x" not in summary.counts and summary.columns == []


def rewritten(path, change):
    with np.load(path) as stored:
        arrays = dict(stored)
    header = json.loads(arrays["header"].tobytes())
    change(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: header.update(format="biselect-reference-99"),
        lambda header, arrays: header.pop("rows"),
        lambda header, arrays: arrays.pop("values 0"),
        lambda header, arrays: arrays.update(**{"values 0": arrays["values 0"][1:]}),
        lambda header, arrays: arrays.update(**{"values 0": arrays["values 0"] * np.nan}),
        lambda header, arrays: arrays.update(**{"values 0": arrays["values 0"][::-1].copy()}),
        lambda header, arrays: arrays.update(**{"values 0": np.array([{}], dtype=object)}),
    ],
)
def test_a_file_that_is_no_summary_is_refused(tmp_path, change):
    path = tmp_path / "x.npz"
    part(np.random.default_rng(0).normal(size=5000)).save(path)
    rewritten(path, change)
    with pytest.raises(InputError, match=r"x\.npz: not the summary of a reference \(biselect-reference-2\)"):
        Reference.load(path)


def test_other_files_are_refused_too(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="not the summary of a reference"):
        Reference.load(tmp_path / "x.npz")
    with pytest.raises(InputError, match="no such file"):
        Reference.load(tmp_path / "y.npz")
    with pytest.raises(InputError, match="at least one summary"):
        Reference.merged([])
