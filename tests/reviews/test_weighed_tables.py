"""Every door weighs two tables alike."""

import numpy as np
import pandas as pd
import pytest

import biselect as bs
from biselect.estimators import JointSelector
from biselect.options import Columns, Kinds, RowRules, Search, Weighing
from biselect.progress import steps_of
from biselect.weights.paper import Form
from biselect.weights.weighed_tables import WeighedTables, weights_alone

COLUMNS = Columns(id="id", show=["note"])
QUICK = {"kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0))}


def frame(seed, rows, shift=0.0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(rows, 4)), columns=[*"abcd"])
    table["b"] += shift
    table.loc[3, "c"] = np.nan
    table["land"] = rng.choice(["de", "fr", "it"], rows)
    return table.assign(id=[f"r{i}" for i in range(rows)], flat=7, note="said")


@pytest.fixture
def pair():
    """A pool of 60 rows, one column of which has moved, and a reference of 300."""
    return bs.table(frame(1, 60, shift=2.0), columns=COLUMNS), frame(0, 300)


def read(pair, weighing=Weighing(), rules=RowRules()):
    return WeighedTables.read(*pair, Form.of(weighing), seed=0, step=steps_of(False), rules=rules)


def test_review_and_session_weigh_alike(pair):
    tables = read(pair)
    problem = tables.problem(3, 2)
    assert bs.review(*pair, k=3, m=2, **QUICK, progress=False).problem.to_dict() == problem.to_dict()
    session = bs.ReviewSession(*pair, k=3, m=2, progress=False)
    assert (session.tables.values == tables.values).all() and session.record["moved"] == ["b"]
    assert (session.tables.plain_problem(3, 2).coupling == problem.coupling).all()


@pytest.mark.parametrize(
    "weighing",
    [Weighing(missing="median", drift="keep"), Weighing(preset="paper", missing="median"), Weighing(cap=3.0)],
)
def test_the_options_of_weighing_mean_the_same_everywhere(pair, weighing):
    problem = read(pair, weighing).problem(3, 2)
    assert bs.review(*pair, k=3, m=2, weighing=weighing, **QUICK, progress=False).problem.to_dict() == problem.to_dict()
    session = bs.ReviewSession(*pair, k=3, m=2, weighing=weighing, kinds=Kinds(kinds=1), progress=False)
    assert (session.tables.calibrator.weights(session.tables.weighed) == problem.coupling).all()


def test_tables_know_what_was_left_out_and_moved_back(pair):
    tables = read(pair, rules=RowRules(at_most=1, per="note"))
    assert tables.constant == ("flat",) and tables.per == "note" and tables.library == "pandas"
    assert [tables.raw.names[one.position] for one in tables.moved] == ["b"]
    assert np.median(tables.weighed.values[:, 1]) == pytest.approx(np.median(tables.reference.values[:, 1]))
    problem = tables.problem(3, 2)
    alone = weights_alone(problem)
    assert problem.sample_scores.any() and not alone.sample_scores.any() and not alone.feature_scores.any()
    assert (alone.coupling == tables.plain_problem(3, 2).coupling).all()


def test_estimators_put_a_pool_back_as_review_does():
    columns = [*"abcd"]
    pool, reference = frame(1, 60, shift=2.0)[columns], frame(0, 300)[columns]
    selector = JointSelector(k=3, m=2).fit(reference, pool=pool)
    answer = bs.review(pool, reference, k=3, m=2, **QUICK, progress=False).selection
    assert selector.selection_.problem.coupling.tolist() == answer.problem.coupling.tolist()
    assert selector.select(pool).sample_names == answer.sample_names
    assert selector.shift_.columns == (1,) and set(np.flatnonzero(selector.predict(pool) < 0)) == {*answer.samples}
    one_by_one = np.concatenate([selector.score_samples(pool[row : row + 1]) for row in range(60)])
    assert np.allclose(one_by_one, selector.score_samples(pool), rtol=1e-12)
    kept = JointSelector(k=3, m=2, weighing=Weighing(drift="keep")).fit(reference, pool=pool)
    assert kept.shift_ is None and not np.allclose(kept.selection_.problem.coupling, answer.problem.coupling)
