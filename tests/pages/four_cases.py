"""A review of each case that a finding has, with names that try to leave their place on the page."""

from functools import cache

import numpy as np
import pandas as pd

import biselect as bs
from biselect.options import Columns, Kinds, Search
from biselect.reviews import Review

CASES = ("more", "as-reference", "nothing", "described")
HOSTILE = '"><script>document.title = "hit"</script><img src=x onerror="document.title=1"></script>\u2028=1+1'
UNUSUAL = {"more": (12, 0), "as-reference": (15, 30), "nothing": (0, 0), "described": (12, 0)}  # in pool and reference
SEEDS = {"more": 0, "as-reference": 1, "nothing": 0, "described": 0}


@cache
def review_of(case: str) -> Review:
    """A pool of orders in which some are unusual in `discount`, `items` and `payment` together."""
    rng = np.random.default_rng(SEEDS[case])
    tables = []
    for rows, unusual in zip((400, 800), UNUSUAL[case], strict=True):
        table = pd.DataFrame(
            rng.normal(size=(rows, 6)), columns=["discount", "items", *(f"signal {j}" for j in "abcd")]
        )
        table["discount"] = (20 + 5 * table["discount"]).round(1)
        table["items"] = (30 + 8 * table["items"]).round()
        table["payment"] = rng.choice(["card", "cash", "transfer"], rows)
        table.loc[: unusual - 1, "discount"] = rng.uniform(70, 80, unusual).round(1)
        table.loc[: unusual - 1, "items"] = rng.integers(110, 140, unusual).astype(float)
        tables.append(table)
    pool, reference = tables
    pool.insert(0, "order_id", [HOSTILE, *(f"A{i:04d}" for i in range(1, 400))])
    pool["note"] = ["<b>look</b>" if i < 3 else "" for i in range(400)]
    pool["late"] = [int(i in (2, 300)) for i in range(400)]
    pool["signal c"] += 2.0  # moved as a whole
    table = bs.table(pool, columns=Columns(id="order_id", label="late", show=["note"]))
    options = {"kinds": Kinds(kinds=3), "search": Search(neighbours=(1, 1)), "progress": False}
    return bs.review(table, None if case == "described" else reference, k=12, m=2, title="Orders", **options)
