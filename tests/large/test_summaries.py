"""Summaries and alarms over tables in parts: the same for any division, and what the rows themselves say."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.large import summaries
from biselect.large.engines import Threads
from biselect.large.spool import partitions_of
from biselect.large.summaries import sum_up
from biselect.options import Watch
from biselect.progress import steps_of
from biselect.weights import Reference

QUIET = steps_of(False)


@pytest.fixture
def tiny(tiny_memory, monkeypatch):
    monkeypatch.setattr(summaries, "POOL_CELLS", 1000)


def state(summary):
    plain, arrays = summary.state()
    return plain, {name: array.tobytes() for name, array in arrays.items()}


COLUMNS = ["x0", "x1", "land", "open", "x2", "note", "rare"]


def odd(table):
    rows = len(table)
    rare = pa.array([1.0 * (row // 7) if row % 700 == 7 else None for row in range(rows)], pa.float64())
    return table.append_column("note", pa.array([f"n{row}" for row in range(rows)])).append_column("rare", rare)


def test_a_summary_is_the_same_for_any_division(tiny, tables, split_up):
    table = odd(tables(mixed=True)[0])
    found = [
        sum_up(partitions_of(split_up(table, "pool", seed)), COLUMNS, Threads(), QUIET, time_column="when", seed=1)
        for seed in range(3)
    ]
    found.append(sum_up(partitions_of(table), COLUMNS, Threads(), QUIET, time_column="when", seed=1))
    for other in found[1:]:
        assert state(other.summary) == state(found[0].summary)
        assert str(other.draw(20, 3).to_pylist()) == str(found[0].draw(20, 3).to_pylist())


def test_a_summary_says_what_the_rows_say(tiny, tables):
    table = odd(tables(mixed=True)[0])
    found = sum_up(partitions_of(table), COLUMNS, Threads(), QUIET, time_column="when").summary
    exact = Reference(knots=None).add(table, time_column="when", columns=COLUMNS)
    for name in ("rows", "first", "last", "missing", "left_out"):
        assert getattr(found, name) == getattr(exact, name), name
    assert list(found.missing) == COLUMNS and "note" in found.left_out
    assert (
        found.types == exact.types
        and found.quantities == exact.quantities
        and 0 < found.only(["x0", "x1", "x2"]).rank_error < 0.02
    )
    for name in found.types.keys() - {*found.quantities}:
        assert found.counts[name] == exact.counts[name], name
    for name in found.quantities:
        values = np.sort(pc.drop_null(pc.if_else(pc.is_nan(table[name]), None, table[name])).to_numpy())
        column = found.counts[name]
        assert column.size == values.size
        assert np.abs(column.at_most(values) - np.searchsorted(values, values, "right")).max() <= column.rank_error


def test_an_infinite_number_is_refused_by_the_name_of_its_part(tiny, tables):
    table = tables()[0]
    table = table.set_column(0, "x0", pa.array(np.where(np.arange(len(table)) == 2000, np.inf, 0.0)))
    with pytest.raises(InputError, match="rows 0 to 3,999: the reference has an infinite value in column 'x0'"):
        sum_up(partitions_of(table), ["x0"], Threads(), QUIET)


def frame(shift, seed, rows=4000):
    values = np.random.default_rng(seed).normal(size=(rows, 4))
    values[:, 3] += shift
    kind = np.random.default_rng(seed + 50).choice(["x", "y"], rows)
    return pd.DataFrame(values, columns=list("abcd")).assign(kind=kind)


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_alarms_are_those_of_tables_that_are_held(tiny, monkeypatch, split_up, shift):
    older, newer = frame(0.0, 0), frame(shift, 1)
    folders = [split_up(pa.Table.from_pandas(one), name, 4) for one, name in ((newer, "newer"), (older, "older"))]
    large = bs.monitor(*folders, k=3, m=2, title="Watched")
    same = bs.monitor(newer, older, k=3, m=2, title="Watched")
    monkeypatch.setattr(summaries, "POOL_CELLS", 1 << 23)
    held = bs.monitor(newer, older, k=3, m=2, title="Watched")
    assert large["changed_columns"] == held["changed_columns"] == ["d"] * bool(shift)
    assert {**large, "reproduce": 0} == {**same, "reproduce": 0}, "frames and folders give the same"
    assert held["remarks"] == [] and len(large["remarks"]) == 3
    assert "The 4,000 rows of the older reference were counted in parts" in large["remarks"][0]
    for one, other in zip(large["points"][0]["changes"], held["points"][0]["changes"], strict=True):
        assert (one["column"], one["what"]) == (other["column"], other["what"])
        assert one["p"] >= other["p"] * 0.99, "what is not known is not taken for a change"
        assert one["effect"] == pytest.approx(other["effect"], abs=0.02)
    assert large["points"][0]["replaced"].keys() == held["points"][0]["replaced"].keys()


def test_windows_of_a_table_in_parts(tiny, monkeypatch, split_up):
    table = pd.concat([frame(0.0, 3), frame(0.0, 4), frame(0.6, 5)], ignore_index=True)
    folder = split_up(pa.Table.from_pandas(table), "all", 7)
    large = bs.monitor(folder, k=3, m=2, watch=Watch(window=4000))
    assert large["changed_columns"] == ["d"] and large["rows"] == [4000, 4000, 4000]
    assert [point["when"] for point in large["points"]] == ["row 4,000", "row 8,000"]
    assert all(point["replaced"] for point in large["points"])
    with pytest.raises(InputError, match="too large to be put in the order of 'a'; where its rows are in order"):
        bs.monitor(bs.table(folder, time="a"), watch=Watch(window=4000))


def test_a_summary_stands_on_either_side(tmp_path):
    older, newer = frame(0.0, 0), frame(0.5, 1)
    for name, table, day in (("june", older, "2026-06-01"), ("july", newer, "2026-07-01")):
        Reference().add(table.assign(day=day), time_column="day").save(tmp_path / f"{name}.npz")
    found = bs.monitor(tmp_path / "july.npz", tmp_path / "june.npz")
    assert found["points"][0]["changes"] == bs.monitor(newer, older)["points"][0]["changes"]
    assert "Of the older reference a summary was given: 4,000 rows from 2026-06-01" in found["remarks"][0]
    weighed = bs.monitor(tmp_path / "july.npz", tmp_path / "june.npz", k=3, m=2, pool=newer)
    assert set(weighed["points"][0]["replaced"]) == {"rows_in", "rows_out", "columns_in", "columns_out"}
    with pytest.raises(InputError, match="without rows to draw a pool from; give one with pool="):
        bs.monitor(tmp_path / "july.npz", tmp_path / "june.npz", k=3, m=2)
    with pytest.raises(InputError, match="is a summary, which has no rows to make windows of"):
        bs.monitor(tmp_path / "july.npz", watch=Watch(window=100))


def test_yesterday_and_today_are_summed_up_merged_and_watched(run, tiny, tmp_path, split_up):
    days = [split_up(pa.Table.from_pandas(frame(0.0, seed).assign(day=seed)), "day", seed) for seed in (1, 2)]
    for name, tables in (("one", days[:1]), ("two", days[1:]), ("both", days)):
        written = tmp_path / f"{name}.npz"
        outcome = run("summarise", *tables, "--out", written, "--time-column", "day", "--memory", "300 MB")
        assert outcome.code == 0, outcome.err
    outcome = run("summarise", tmp_path / "one.npz", tmp_path / "two.npz", "--out", tmp_path / "merged.npz")
    assert "8,000 rows from 1.0 to 2.0, 5 columns" in outcome.out
    assert state(Reference.load(tmp_path / "merged.npz")) == state(Reference.load(tmp_path / "both.npz"))
    tomorrow = split_up(pa.Table.from_pandas(frame(0.5, 3)), "tomorrow", 3)
    watched = run("monitor", tomorrow, "--older", tmp_path / "merged.npz", "--memory", "1 GiB", "--on", "threads")
    assert watched.code == 1 and "counted in parts" in " ".join(watched.out.split())
    assert run("monitor", tomorrow, "--older", tmp_path / "merged.npz", "--memory", "lots").code == 2
