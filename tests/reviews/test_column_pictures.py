import numpy as np
import pandas as pd

import biselect as bs
from biselect.options import Columns, Kinds, RowRules, Search
from biselect.reviews._explorer import END, WIDTH


def pictures(**changes):
    rng = np.random.default_rng(0)
    reference, pool = (
        pd.DataFrame({"x": rng.normal(size=rows), "code": rng.choice([10.0, 20.0], rows), "y": rng.normal(size=rows)})
        for rows in (500, 30)
    )
    for column, value in changes.items():
        pool.loc[3, column] = value
    table = bs.table(pool, columns=Columns(types={"code": "category"}))
    options = {"kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0))}
    rules = RowRules(must_columns=["x", "code"], must=["3"])
    summary = bs.review(table, reference, k=2, m=2, rules=rules, **options).summary
    return {column["name"]: column["picture"] for column in summary["columns"]}, summary


def test_chosen_rows_are_ticks_on_the_reference():
    drawn, _ = pictures(x=9.0)
    x = drawn["x"]
    assert sum(x["counts"]) + x["below"] + x["above"] == 500 and len(x["counts"]) <= 40
    ticks = x["ticks"]["standing"] + x["ticks"]["rest"]
    assert WIDTH in ticks and all(0 <= tick <= WIDTH for tick in ticks)
    assert x["sides"]["high"] >= 1
    inside = pictures(x=0.0)[0]["x"]["ticks"]
    assert any(END < tick < WIDTH - END for tick in inside["standing"] + inside["rest"])


def test_categories_have_a_bar_each_and_what_was_never_seen_too():
    drawn, _ = pictures(code=77.0)
    bars = {bar["label"]: bar for bar in drawn["code"]["bars"]}
    assert set(bars) == {"10", "20", "77"} and bars["77"] == {"label": "77", "reference": 0, "chosen": 1}
    assert sum(bar["reference"] for bar in bars.values()) + drawn["code"]["others"]["reference"] == 500
    assert sum(bar["chosen"] for bar in bars.values()) + drawn["code"]["others"]["chosen"] == 2


def test_a_missing_value_is_no_tick_but_a_side():
    drawn, _ = pictures(x=np.nan, code=np.nan)
    assert len(drawn["x"]["ticks"]["standing"] + drawn["x"]["ticks"]["rest"]) == 1
    assert "(missing)" in [bar["label"] for bar in drawn["code"]["bars"]]
    assert "missing" in drawn["x"]["sides"]
