import numpy as np
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.options import Kinds, Search
from biselect.reviews.budget_preview import BudgetPreview


def test_gains_are_those_of_the_review_nearby():
    rng = np.random.default_rng(0)
    pool, reference = rng.normal(size=(60, 6)), rng.normal(size=(300, 6))
    pool[:6, 1:4] += 4
    preview = BudgetPreview(pool, reference)
    told = preview.at(5, 3)
    best = {
        k: bs.review(pool, reference, k=k, m=3, kinds=Kinds(kinds=1), search=Search(neighbours=(0, 0))).selection.score
        for k in (5, 6)
    }
    assert told["score"] == pytest.approx(best[5]) and told["row"]["adds"] == pytest.approx(best[6] - best[5])
    assert told["row"]["kind"] == "about" and told["column"]["adds"] > 0
    assert preview.at(60, 6)["row"] is None and preview.at(60, 6)["column"] is None
    assert (preview.rows, preview.columns) == (60, 6)
    with pytest.raises(InputError):
        preview.at(61, 3)
