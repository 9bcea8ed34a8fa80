"""`bs.review` gives what the command line gives, for every kind of table."""

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biselect as bs
from biselect.cli.select import TITLE
from biselect.errors import InfeasibleError, InputError
from biselect.options import Columns, Csv, RowRules, Search, Split, running
from biselect.reviews.result import review_problem
from biselect.tables import _frames as frames
from biselect.tables.demo import COLUMNS, demo_tables

BUDGETS = {"k": 2, "m": 2}


@pytest.fixture
def pair(tables):
    """Pool and reference as Arrow tables; r3 and r7 stand out in x and z."""
    return pq.read_table(tables / "pool.parquet"), pq.read_table(tables / "reference.parquet")


def test_the_demo_from_python_is_the_demo_of_the_command_line_byte_for_byte(run, tmp_path):
    assert run("demo", "--out", tmp_path / "cli", "-q").code == 0
    command = json.loads((tmp_path / "cli" / "report.json").read_text())["reproduce"]["command"]
    assert command.startswith("biselect demo --out")
    pool, reference = demo_tables()
    with running(command):
        review = bs.review(bs.table(pool, columns=COLUMNS), reference, k=10, m=4, title=TITLE)
    written = review.save(tmp_path / "python")
    assert {path.name for path in written} == {path.name for path in (tmp_path / "cli").iterdir()}
    for name in ("report.json", "selection.json", "explanation.csv", "report.html", "problem.npz"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "cli" / name).read_bytes(), name


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "paths"])
def test_tables_of_every_make_give_one_answer(tables, pair, form):
    turn = {"pandas": pa.Table.to_pandas, "polars": pl.from_arrow, "arrow": lambda table: table}
    pool, reference = (
        (tables / "pool.parquet", str(tables / "reference.parquet")) if form == "paths" else map(turn[form], pair)
    )
    review = bs.review(bs.table(pool, id="id", label="fraud"), reference, **BUDGETS)
    assert review.selection.sample_names == ["r3", "r7"] and review.selection.feature_names == ["x", "z"]
    assert review.selection.proven_optimal and review.problem.k == 2
    assert review.explain(nearest=3).sample_swaps[0].cost > 0
    kinds = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.Table, "paths": pd.DataFrame}
    assert type(review.to_frame()) is kinds[form]
    names = ["pool.parquet", "reference.parquet"] if form == "paths" else []
    assert [entry["name"] for entry in review.summary["reproduce"]["inputs"]] == names


def test_arrays_are_tables_too():
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(20, 5))
    pool[[4, 9], 1:3] = 9
    review = bs.review(pool, rng.normal(size=(100, 5)), **BUDGETS, rules=RowRules(must=[0]))
    assert 0 in review.selection.samples and review.selection.feature_names == ["1", "2"]
    assert type(review.to_frame()) is pd.DataFrame


def test_a_clock_is_chosen_but_not_in_silence(run, tables, pair):
    pool, reference = pair
    pool = pool.drop_columns("fraud").append_column("clock", pa.array(np.arange(1000.0, 1012.0)))
    reference = reference.append_column("clock", pa.array(np.arange(60.0)))
    review = bs.review(bs.table(pool, id="id"), reference, **BUDGETS)
    (found,) = review.warnings
    assert (found.kind, found.columns, found.share) == ("clock", ("clock",), 1.0)
    assert review.summary["warnings"][0]["kind"] == "clock" and found.text in review.report().replace("&#39;", "'")
    pq.write_table(pool, tables / "p.parquet")
    pq.write_table(reference, tables / "r.parquet")
    said = run("select", tables / "p.parquet", "-r", tables / "r.parquet", "--id-column", "id", "-k", 2, "-m", 2)
    assert found.text in said.err
    assert bs.review(bs.table(pool, id="id", columns=Columns(exclude="clock")), reference, **BUDGETS).warnings == ()


def test_one_table_is_split_in_time():
    rng = np.random.default_rng(0)
    times = pd.date_range("2026-01-01", periods=72, freq="h")
    table = pd.DataFrame({"t": times, "a": rng.normal(size=72), "b": rng.normal(size=72)})
    table.loc[70, "a"] = 50.0
    review = bs.review(bs.table(table, time="t"), k=1, m=1, split=Split(until=times[59], last=10))
    assert review.selection.sample_names == ["70"] and review.summary["tables"]["pool"]["rows"] == 10
    assert "split=Split(until=" in review.summary["reproduce"]["command"]


def test_rules_travel_by_name(pair):
    pool, reference = pair
    pool = pool.append_column("site", pa.array(["a", "b"] * 6))
    review = bs.review(
        bs.table(pool, id="id", label="fraud"),
        reference,
        **BUDGETS,
        rules=RowRules(at_most=1, per="site", must_columns=["y"]),
    )
    assert review.summary["rules"]["words"] == ["at most 1 row per site", "columns that must be chosen: y"]
    assert len({row["shown"]["site"] for row in review.summary["kinds"]["list"][0]["rows"]}) == 2
    with pytest.raises(
        InfeasibleError, match=r"rules=RowRules\(must=...\) and rules=RowRules\(never=...\) both name 'r3'"
    ):
        bs.review(
            bs.table(pool, id="id", columns=Columns(exclude=["site"])),
            reference,
            **BUDGETS,
            rules=RowRules(must=["r3"], never=["r3"]),
        )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"split": Split(until="60%")}, "give either reference=, or split=Split(until=...) to split the pool in time"),
        ({"reference": None, "split": Split(until="60%")}, "split=Split(until='60%') needs columns=Columns(time=...)"),
        ({"split": Split(last=3)}, "split=Split(last=...) goes with split=Split(until=...)"),
        ({"csv": Csv(delimiter=";")}, "csv=Csv(delimiter=...): such options are for CSV files"),
        ({"search": Search(neighbours=(-1, 0))}, "Search(neighbours=...) takes two numbers from 0 up, got -1 0"),
        ({"rules": RowRules(at_most=1)}, "rules=RowRules(at_most=...) and rules=RowRules(per=...) go together"),
        (
            {"rules": RowRules(must=["nobody"])},
            "rules=RowRules(must=['nobody']): there is no such row of the pool; there are r0, r1",
        ),
        ({"types": {"shape": "category"}}, "the reference has no column 'shape'"),
        ({"types": {"shape": "shape"}}, "Columns(types={'shape': 'shape'}): a column is number, category, date"),
        ({"types": {"x": "date:hour"}}, "column 'x' holds Float64, which has no hour"),
        ({"types": {"x": "date:minute"}}, "asks for 'minute'; the parts of a date are hour, weekday, gap"),
    ],
)
def test_errors_name_python_parameters(pair, more, message):
    pool, reference = pair
    reference = reference.append_column("id", pa.array(["-"] * 60))
    about = {"csv": more.pop("csv", Csv()), "columns": Columns(types=more.pop("types", {}))}
    with pytest.raises(InputError, match=re.escape(message)):
        bs.review(bs.table(pool, id="id", label="fraud", **about), **{"reference": reference, **BUDGETS, **more})


def test_each_table_is_converted_once(pair, monkeypatch):
    converted = []

    def counted(table, **more):
        if not isinstance(table, frames.NamedMatrix):
            converted.append(table)
        return plain(table, **more)

    plain = frames.as_matrix
    for module in ("biselect.tables._split", "biselect.weights.weigher", "biselect.weights.reference"):
        monkeypatch.setattr(f"{module}.as_matrix", counted)
    bs.review(bs.table(pair[0], id="id", label="fraud"), pair[1], **BUDGETS)
    assert len(converted) == 2


def test_steps_are_told_by_name(pair):
    from contextlib import contextmanager

    seen, shares = [], []

    @contextmanager
    def step(name):
        seen.append(name)
        yield lambda share, energy: shares.append(share)

    bs.review(bs.table(pair[0], id="id", label="fraud"), pair[1], **BUDGETS, progress=step)
    assert [name.split()[0] for name in seen] == [
        *("Reading", "Calibrating", "Weighing", "Solving", "Solving", "Looking", "Comparing")
    ]
    assert shares and max(shares) == 1.0


def test_a_problem_of_weights_gets_the_same(tmp_path):
    problem = bs.SelectionProblem(coupling=[[3.0, 0, 1], [0, 2, 0], [2, 0, 2]], k=2, m=2)
    review = bs.review(problem)
    assert review.selection.score == 8.0 and review.tables is None and review.warnings == ()
    assert {near.problem.k for near in review.neighbours} == {1, 2, 3}
    assert "No other choice of 2 rows and 2 columns scores higher than 8.00" in review.report()
    problem.save(tmp_path / "p.npz")
    again = review_problem(tmp_path / "p.npz", k=1, search=Search(neighbours=(0, 0)))
    assert again.problem.k == 1 and len(again.neighbours) == 1
    assert again.summary["title"] == "Selection from p.npz"
    assert review.summary["reproduce"]["command"] == "biselect.review(pool)"
    with pytest.raises(InputError, match="has its own k and m"):
        bs.review(problem, k=1)


def test_the_package_can_be_called_whichever_was_imported_first(pair):
    import subprocess
    import sys

    code = "from biselect.reviews import Review; import biselect as bs; print(callable(bs.review), bs.Review is Review)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
