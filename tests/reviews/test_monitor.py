import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.options import Kinds, Search, Watch, Weighing
from biselect.pages import render_monitor
from biselect.weights import Reference


def frame(shift, seed, rows=300):
    values = np.random.default_rng(seed).normal(size=(rows, 4))
    values[:, 3] += shift
    return pd.DataFrame(values, columns=list("abcd"))


def test_frames_are_watched_as_files_are(run, tmp_path):
    older, newer = frame(0.0, 0), frame(3.0, 1)
    for name, table in (("older", older), ("newer", newer)):
        table.to_parquet(tmp_path / f"{name}.parquet")
    outcome = run(
        "monitor", tmp_path / "newer.parquet", "--older", tmp_path / "older.parquet", "-k", 3, "-m", 2, "--json"
    )
    summary = bs.monitor(newer, older, k=3, m=2)
    told = json.loads(outcome.out)
    assert outcome.code == 1 and summary["crossed"]
    for key in set(summary) - {"reproduce", "title"}:
        assert json.loads(json.dumps(summary[key])) == told[key], key
    assert summary["reproduce"]["command"] == "biselect.monitor(table, older, k=3, m=2)"
    assert "Alarm: 1 of 4 columns has changed" in render_monitor(summary)


def test_a_steady_reference_does_not_alarm_and_needs_no_budgets():
    summary = bs.monitor(frame(0.0, 0), frame(0.0, 1))
    assert not summary["crossed"] and summary["verdict"].startswith("No alarm: none of 4 columns")
    assert summary["points"][0]["replaced"] is None and summary["tests"] == 4
    page = render_monitor(summary)
    assert "Nearest to an alarm" in page and "What it does to the selection" not in page


@pytest.mark.parametrize("shift", [0.25, 0.5, 1.0])
def test_a_shift_that_kolmogorov_and_smirnov_see_in_3000_rows_alarms(shift):
    summary = bs.monitor(frame(shift, 0, 3000), frame(0.0, 1, 3000))
    assert summary["changed_columns"] == ["d"]
    (found,) = [change for change in summary["points"][0]["changes"] if change["alarm"]]
    assert found["shift"] == pytest.approx(shift, abs=0.1) and found["measure"] == "KS distance"


def test_a_small_change_can_be_told_without_an_alarm():
    older, newer = frame(0.0, 0, 3000), frame(0.25, 1, 3000)
    summary = bs.monitor(newer, older, watch=Watch(min_effect=0.2))
    assert not summary["crossed"]
    (d,) = [change for change in summary["points"][0]["changes"] if change["column"] == "d"]
    assert d["adjusted_p"] < 1e-6 and d["effect"] < 0.2


def test_categories_and_missing_cells_alarm_and_what_cannot_be_tested_is_told():
    rng = np.random.default_rng(0)

    def table(shares, missing):
        return frame(0.0, rng.integers(99), 1000).assign(
            kind=rng.choice(["x", "y", "z"], 1000, p=shares),
            b=lambda t: t["b"].where(rng.random(1000) >= missing),
            note=[f"n{rng.integers(1 << 40)}" for _ in range(1000)],
            day=pd.Timestamp("2026-01-01"),
        )

    older = pd.concat([table([0.5, 0.3, 0.2], 0.01) for _ in range(2)])
    summary = bs.monitor(table([0.3, 0.3, 0.4], 0.06), older, k=3, m=2)
    assert set(summary["changed_columns"]) == {"kind", "b"}
    assert set(summary["untested"]) == {"note", "day"}
    assert summary["points"][0]["replaced"], "numbers and categories are weighed, and so are missing cells"
    assert "of 5 columns have changed" in summary["verdict"]


def test_windows_and_columns_are_one_family():
    """More windows must not make more false alarms: p-values are adjusted for all tests of the run."""
    table = frame(0.0, 5, 2000)
    summary = bs.monitor(table, watch=Watch(window=100))
    changes = [change for point in summary["points"] for change in point["changes"]]
    assert summary["tests"] == len(changes) == 19 * 4
    smallest = min(changes, key=lambda change: change["p"])
    assert smallest["adjusted_p"] == pytest.approx(min(1, 76 * smallest["p"]))


def test_an_outage_is_an_alarm_and_not_an_error():
    older, newer = frame(0.0, 0), frame(0.0, 1)
    newer["b"] = np.nan
    newer["c"] = 7.0
    summary = bs.monitor(newer, older, k=3, m=2)
    assert set(summary["changed_columns"]) == {"b", "c"}


def test_a_summary_stands_for_the_older_table(tmp_path):
    older, newer = frame(0.0, 0, 2000), frame(0.5, 1, 2000)
    Reference().add(older).save(tmp_path / "june.npz")
    from_rows, from_file = (bs.monitor(newer, past, k=3, m=2) for past in (older, str(tmp_path / "june.npz")))
    assert from_file["points"][0]["changes"] == from_rows["points"][0]["changes"]
    assert from_file["points"][0]["replaced"].keys() == from_rows["points"][0]["replaced"].keys()
    with pytest.raises(InputError, match="the summary has no column 'e'"):
        bs.monitor(newer.assign(e=1.0), Reference().add(older))


def test_small_tables_are_weighed_with_a_smaller_pool():
    summary = bs.monitor(frame(0.0, 0, 100), frame(0.0, 1, 100), k=3, m=2)
    assert summary["budgets"]["samples"] == 50 and summary["rows"] == [100, 100]


def test_errors_name_python_parameters():
    table = frame(0.0, 0)
    with pytest.raises(InputError, match=r"either older=, or watch=Watch\(window=...\)"):
        bs.monitor(table, k=3, m=2)
    with pytest.raises(InputError, match="there is no map 'magic'"):
        bs.monitor(table, k=3, m=2, weighing=Weighing(map="magic"), watch=Watch(window=50))
    with pytest.raises(InputError, match="no rows"):
        bs.monitor(table, table.head(0))
    for wrong, message in (
        (Watch(pool_rows=9), r"Watch\(pool_rows=...\) is chosen from under k= and m="),
        (Watch(fail_on_change=True), r"Watch\(fail_on_change=True\) needs a selection"),
        (Watch(false_alarms=1.5), r"Watch\(false_alarms=...\) must be a share"),
    ):
        with pytest.raises(InputError, match=message):
            bs.monitor(table, watch=replace(wrong, window=50))
    with pytest.raises(InputError, match="both k= and m="):
        bs.monitor(table, k=3, watch=Watch(window=50))


def test_replaced_rows_and_columns_are_what_two_reviews_choose():
    older, newer, pool = frame(0.0, 0), frame(3.0, 1), frame(3.0, 2, 40).assign(id=[f"r{i}" for i in range(40)])
    replaced = bs.monitor(bs.table(newer, id="id"), older, k=3, m=2, pool=pool)["points"][0]["replaced"]
    before, after = (
        bs.review(
            bs.table(pool, id="id"),
            past,
            k=3,
            m=2,
            kinds=Kinds(kinds=1),
            search=Search(neighbours=(0, 0)),
        )
        for past in (older, newer)
    )
    for side in ("sample", "feature"):
        names = "rows" if side == "sample" else "columns"
        was, now = (set(getattr(one.selection, f"{side}_names")) for one in (before, after))
        assert set(replaced[f"{names}_out"]) == was - now and set(replaced[f"{names}_in"]) == now - was
    assert any(replaced.values())
