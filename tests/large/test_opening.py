"""What counts as large: the features that are named, however their names are written."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import biselect as bs
from biselect.large import opening
from biselect.options import Columns, Compute, Kinds, Search, Split
from biselect.pages.answer_files import selection_json
from biselect.progress import steps_of
from biselect.tables import Roles, Table

NAMES = [f"x{j}" for j in range(12)]
OPTIONS = {"split": Split(), "missing": "weigh", "seed": 0, "compute": Compute()}


def is_large(pool, reference, **columns):
    with opening.large_tables(
        Table(pool, Columns(**columns)), reference, steps_of(False), per=None, **OPTIONS
    ) as tables:
        return tables is not None


@pytest.fixture
def narrow(monkeypatch):
    """A table of 100 rows is too large from seven features on."""
    monkeypatch.setattr(opening, "POOL_CELLS", 600)
    rng = np.random.default_rng(0)
    content = {name: rng.normal(size=100) for name in NAMES}
    content |= {"id": [f"r{i}" for i in range(100)], "when": pd.date_range("2026-01-01", periods=100, freq="h")}
    return pa.table(content)


def written(names):
    """A list of names in every way in which it may be given."""
    half = len(names) // 2
    return [names, [",".join(names)], ",".join(names), [", ".join(names[:half]), *names[half:]]]


@pytest.mark.parametrize(
    ("role", "count", "large"),
    [("features", 6, False), ("features", 7, True), ("exclude", 6, False), ("exclude", 5, True), ("show", 6, False)],
)
def test_what_is_large_does_not_depend_on_how_names_are_listed(narrow, role, count, large):
    others = {"id": "id", "time": "when"}
    assert [is_large(narrow, narrow, **{role: names}, **others) for names in written(NAMES[:count])] == [large] * 4


@pytest.mark.parametrize(("parts", "large"), [("", False), ("date:hour", True), ("date:hour,weekday", True)])
def test_parts_of_dates_count_each(narrow, parts, large):
    types = {"when": parts} if parts else {}
    assert is_large(narrow, narrow, features=NAMES[:6], id="id", time="when", types=types) is large
    assert Roles.of(Columns(types=types)).dates == [f"when:{parts.removeprefix('date:')}"] * bool(parts)


def test_the_index_of_a_large_reference_is_no_column(narrow):
    pool, reference = narrow.to_pandas(), narrow.to_pandas().drop(columns="id").set_index(pd.Index(range(500, 600)))
    pool.loc[[3, 5], "x1"] = 9.0
    table = bs.table(pool, id="id", columns=Columns(exclude="when"))
    asked = {"kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0)), "progress": False}
    found = bs.review(table, reference, k=2, m=1, **asked)
    assert found.selection.sample_names == ["r3", "r5"] and found.summary["searched"] is not None


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_duration_weighs_as_its_seconds_do(tmp_path, monkeypatch, held, unit, ending):
    if not held:
        monkeypatch.setattr(opening, "POOL_CELLS", 10)
    rng, answers = np.random.default_rng(0), []
    pool, reference = (
        pa.table({"id": [f"r{i}" for i in range(n)], "wait": rng.integers(0, 90_000, n), "x": rng.normal(size=n)})
        for n in (60, 300)
    )
    waits = pool["wait"].to_numpy().copy()
    waits[[4, 9]] = 900_500
    pool = pool.set_column(1, "wait", pa.array(waits, mask=np.arange(60) == 7))
    for in_seconds in (True, False):
        for name, table in (("pool", pool), ("reference", reference)):
            wait = table["wait"].cast(pa.duration("ms")).cast(pa.duration(unit))
            kept = pa.array(table["wait"].to_pandas() / 1000, from_pandas=True) if in_seconds else wait
            written = table.set_column(1, "wait", kept)
            write = parquet.write_table if ending == "parquet" else feather.write_feather
            write(written, str(tmp_path / f"{name}.{ending}"))
        places = [tmp_path / f"{name}.{ending}" for name in ("pool", "reference")]
        found = bs.review(bs.table(places[0], id="id"), places[1], k=2, m=1, progress=False)
        answers.append(selection_json(found.summary))
    assert answers[0] == answers[1] and '"r9"' in answers[0]
    assert bs.inspect(places[0]).roles["wait"] == "number"
