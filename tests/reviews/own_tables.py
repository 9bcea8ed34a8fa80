"""Reviews of a table that is its own reference, which no door of the library opens yet."""

from typing import Any

import biselect as bs
from biselect.options import RowRules, Weighing
from biselect.reviews.caveats import Caveats
from biselect.reviews.kinds import find_kinds
from biselect.reviews.result import Review, make_review
from biselect.tables import open_pool
from biselect.weights.paper import Form
from biselect.weights.weighed_tables import WeighedTables

REPRODUCE = {"command": "biselect.review(pool)", "seed": 0, "inputs": []}


def review_alone(
    frame: Any, k: int, m: int, *, rules: RowRules = RowRules(), weighing: Weighing = Weighing(), kinds: int = 1
) -> Review:
    """Choose from a table whose rows are compared with each other."""
    pool, form = open_pool(frame, frame), Form.of(weighing)
    vars(pool)["matrices"] = (pool.matrices[1],) * 2
    tables = WeighedTables.of(pool, form, seed=0).scored(k, m, rules)
    unusual = find_kinds(bs.solve(tables.problem(rules)), kinds=kinds)
    nearby = [unusual[0].selection]
    return make_review(unusual, nearby, Caveats(), table=tables, title="Alone", reproduce=REPRODUCE)
