from datetime import datetime, timedelta

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from biselect.errors import InputError
from biselect.estimators import CellWeigher, JointSelector
from biselect.options import Columns, RowRules, Search, Weighing
from biselect.weights import Weigher
from biselect.weights.maps import EcdfMap

NAMES = ["a", "b", "c", "flat"]


@parametrize_with_checks(
    [
        CellWeigher(),
        CellWeigher(weighing=Weighing(map="mad-z", missing="median")),
        JointSelector(),
        JointSelector(k=2),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def data(seed=0, rows=80):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.normal(size=(rows, 3)), np.ones(rows)])


def pool():
    X = data(1, rows=12)
    X[[2, 5], 1] = [9.0, -9.0]
    return X


MAKERS = {
    "numpy": lambda X: X,
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
}


@pytest.mark.parametrize("make", MAKERS)
def test_tables_of_every_make_give_the_same_weights_and_names(make):
    frame = MAKERS[make]
    weigher = CellWeigher(weighing=Weighing(map="mad-z")).fit(frame(data()))
    plain = Weigher("mad-z").fit(data())
    np.testing.assert_array_equal(weigher.transform(frame(pool())), plain.weights(pool()))
    names = NAMES if make != "numpy" else ["x0", "x1", "x2", "x3"]
    assert weigher.get_feature_names_out().tolist() == names
    for output in ("pandas", "polars"):
        shown = clone(weigher).set_output(transform=output).fit(frame(data())).transform(frame(pool()))
        assert list(shown.columns) == names and len(shown) == 12


@pytest.mark.parametrize("make", MAKERS)
def test_the_selector_chooses_exactly_from_any_table(make):
    frame = MAKERS[make]
    selector = JointSelector(k=2, m=1).fit(frame(data()))
    selection = selector.select(frame(pool()))
    assert selection.samples.tolist() == [2, 5] and selection.proven_optimal
    assert selection.feature_names == (["b"] if make != "numpy" else ["x1"])
    fitted = JointSelector(k=2, m=1).fit(frame(data()), pool=frame(pool()))
    assert fitted.selection_.to_dict() == selection.to_dict()
    assert np.flatnonzero(fitted.sample_support_).tolist() == [2, 5]
    assert fitted.get_support(indices=True).tolist() == [1]
    assert np.asarray(fitted.transform(frame(pool()))).shape == (12, 1)
    np.testing.assert_array_equal(fitted.predict(frame(pool())) == -1, fitted.sample_support_)
    assert (fitted.decision_function(frame(pool())) < 0).sum() == 2


def test_support_is_by_position_in_the_input():
    X = data()[:, ::-1]  # the constant column first
    chosen = JointSelector(k=2, m=1).fit(X, pool=pool()[:, ::-1])
    assert chosen.get_support().tolist() == [False, False, True, False]
    assert chosen.get_feature_names_out().tolist() == ["x2"] and chosen.select(pool()[:, ::-1]).feature_names == ["x2"]


def test_scores_of_a_row_are_what_it_adds_and_do_not_depend_on_its_batch():
    for preset in ("default", "paper"):
        selector = JointSelector(k=3, m=2, weighing=Weighing(preset=preset)).fit(data(), pool=pool())
        problem = selector.selection_.problem
        adds = problem.sample_scores + problem.coupling[:, selector.selection_.features].sum(axis=1)
        np.testing.assert_allclose(selector.score_samples(pool()), -adds)
        np.testing.assert_array_equal(selector.score_samples(pool()[4:5]), selector.score_samples(pool())[4:5])


def test_rows_that_tie_with_the_last_one_chosen_are_outliers_too():
    tied = np.zeros((7, 4))
    tied[:3, 0] = 50.0
    with pytest.warns(UserWarning, match="is new in 100 %"):
        selector = JointSelector(k=2, m=1).fit(data(), pool=tied)
    assert selector.sample_support_.sum() == 2
    assert selector.predict(tied).tolist() == [-1, -1, -1, 1, 1, 1, 1]


def test_clone_joblib_and_the_same_answer_for_any_number_of_jobs(tmp_path):
    selector = JointSelector(k=3, m=2, n_jobs=1, random_state=4, weighing=Weighing(map=EcdfMap())).fit(
        data(), pool=pool()
    )
    joblib.dump(selector, tmp_path / "selector.joblib")
    loaded = joblib.load(tmp_path / "selector.joblib")
    np.testing.assert_array_equal(loaded.decision_function(pool()), selector.decision_function(pool()))
    again = clone(selector).set_params(n_jobs=2).fit(data(), pool=pool())
    assert again.selection_.to_dict() == selector.selection_.to_dict()
    clone(selector).set_params(random_state=None).fit(data())


def test_pipelines_keep_columns_and_rows():
    X, y = data(), np.arange(80) % 2
    pipeline = make_pipeline(StandardScaler(), JointSelector(k=5, m=2), LogisticRegression()).fit(X, y)
    assert pipeline.predict(pool()).shape == (12,) and pipeline[-1].coef_.shape == (1, 2)
    weighed = make_pipeline(CellWeigher(), LogisticRegression()).fit(X, y)
    assert weighed[-1].coef_.shape == (1, 4)
    ending = make_pipeline(CellWeigher(), JointSelector(k=2, m=1)).fit(X)
    assert set(ending.predict(pool())) <= {-1, 1}


def hits(y, predicted):
    return np.mean((predicted == -1) == (y == 1))


def test_grid_search_over_the_map_and_the_budget():
    X, y = data(2, rows=120), np.zeros(120, dtype=int)
    y[::10] = 1
    X[::10, 1] += 6.0
    search = GridSearchCV(
        JointSelector(k=8),
        {"weighing": [Weighing(map=one) for one in ("ecdf", "reach", "mad-z", EcdfMap())], "m": [1, 2]},
        scoring=make_scorer(hits),
        cv=3,
        error_score="raise",
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == 8 and search.best_score_ > 0.9


@pytest.mark.parametrize("map", ["reach", "ecdf", "ecdf-paper", "mad-z", EcdfMap])
def test_every_map_fits_through_the_estimators(map):
    assert CellWeigher(weighing=Weighing(map=map)).fit(data()).transform(pool()).shape == (12, 4)
    JointSelector(weighing=Weighing(map=map)).fit(data(), np.arange(80))


def test_missing_values_are_filled_where_asked():
    X = data()
    X[3, 0] = np.nan
    assert np.isfinite(CellWeigher(weighing=Weighing(missing="median")).fit(X).transform(X)).all()
    JointSelector(k=2, m=1, weighing=Weighing(missing="median")).fit(X).select(X)
    with pytest.raises(ValueError, match="NaN"):
        CellWeigher(weighing=Weighing(missing="error")).fit(X)


def test_unusable_budgets_and_options_say_what_to_do():
    with pytest.raises(InputError, match="m"):
        JointSelector(k=1, m=9).fit(data())
    climbing = JointSelector(k=1, m=1, n_jobs=2, search=Search(solver="coordinate-ascent")).fit(data())
    assert climbing.selection_.solver == "coordinate-ascent"
    with pytest.raises(InputError, match=r"solver 'greedy' cannot keep limits per group; use one of: auto, exact"):
        JointSelector(k=1, m=1, search=Search(solver="greedy")).fit(data())


def test_rules_by_position_and_by_name():
    rows = pd.DataFrame(pool(), columns=NAMES, index=[f"r{i}" for i in range(12)])
    reference = pd.DataFrame(data(), columns=NAMES)
    free = JointSelector(k=2, m=1).fit(reference, pool=rows)
    out, column = int(free.selection_.samples[0]), "c"
    named = JointSelector(k=2, m=1, rules=RowRules(never=[f"r{out}"], must=["r1"], must_columns=[column])).fit(
        reference, pool=rows
    )
    placed = JointSelector(k=2, m=1, rules=RowRules(never=[out], must=[1], must_columns=[2]))
    placed.fit(reference.to_numpy(), pool=rows.to_numpy())
    assert out not in named.selection_.samples and 1 in named.selection_.samples
    assert named.selection_.feature_names == [column]
    np.testing.assert_array_equal(named.sample_support_, placed.sample_support_)
    with pytest.raises(InputError, match=r"RowRules\(must=\['nobody'\]\): there is no such row"):
        JointSelector(k=2, m=1, rules=RowRules(must=["nobody"])).fit(reference, pool=rows)


def test_a_row_that_had_to_be_chosen_sets_no_threshold():
    scores = JointSelector(k=2, m=1).fit(data(), pool=pool()).score_samples(pool())
    dullest = int(np.argmax(scores))
    forced = JointSelector(k=3, m=1, rules=RowRules(must=[dullest])).fit(data(), pool=pool())
    assert forced.sample_support_[dullest] and forced.predict(pool())[dullest] == 1
    assert (forced.predict(pool()) == -1).sum() == 2


def test_groups_limit_the_choice_in_fit_and_select():
    groups = ["g"] * len(pool())
    groups[0] = "h"
    selector = JointSelector(k=2, m=1, rules=RowRules(at_most=1)).fit(data(), pool=pool(), groups=groups)
    assert 0 in selector.selection_.samples and 0 in selector.select(pool(), groups=groups).samples
    with pytest.raises(InputError, match=r"rules=RowRules\(at_most=...\) and groups= go together"):
        selector.select(pool())


def test_a_column_beyond_the_reference_is_not_chosen_in_silence():
    X, rows = np.column_stack([data(), np.arange(len(data()))]), np.column_stack([pool(), 1e6 + np.arange(len(pool()))])
    with pytest.warns(UserWarning, match="lies beyond the reference in 100 % of the pool"):
        JointSelector(k=2, m=1).fit(X, pool=rows)


@pytest.mark.parametrize("sample", [8192, 30])
def test_a_table_alone_is_scored_row_by_row_against_the_others(monkeypatch, sample):
    monkeypatch.setattr("biselect.weights.reference.SAMPLE", sample)
    X = np.vstack([data(rows=60)[:, :3], [[3.0, 0.0, 3.0], [3.1, 0.0, 3.1], [9.0, 9.0, 0.0]]])
    selector = JointSelector(k=3, m=2).fit(X)
    problem, features = selector.selection_.problem, selector.selection_.features
    adds = problem.sample_scores + problem.coupling[:, features].sum(axis=1)
    np.testing.assert_allclose(selector.score_samples(X), -adds, rtol=1e-12)
    np.testing.assert_allclose(selector.score_samples(X[::-1])[::-1], -adds, rtol=1e-12)
    np.testing.assert_array_equal(selector.predict(X) == -1, selector.sample_support_)
    assert selector.sample_support_[62]
    beside = X.copy()
    beside[:, 0] += 1e-9  # not in the reference, but as good as
    assert selector.score_samples(beside)[62] > -adds[62], "against a reference that holds its like"


def test_a_direction_is_part_of_the_choice():
    rows = pool()
    rows[5, 1] = 9.0
    assert JointSelector(k=2, m=1).fit(data(), pool=pool()).selection_.directions == ["either"]
    selector = JointSelector(k=2, m=1).fit(data(), pool=rows)
    assert selector.selection_.directions == ["high"] and selector.get_feature_names_out().tolist() == ["x1"]
    low = pool()
    low[:, 1] = -9.0
    assert (selector.score_samples(low) > selector.score_samples(rows)[[2, 5]].max()).all()


def test_budgets_that_nobody_gave_are_the_usual_ones():
    selector = JointSelector().fit(data(), pool=data(1, rows=40))
    assert selector.sample_support_.sum() == 8 and selector.get_support().sum() == 2
    ruled = JointSelector(rules=RowRules(must_columns=[0, 1, 3])).fit(data(), pool=pool())
    assert ruled.get_support().tolist() == [True, True, False, True], "as many columns as must be"


def test_options_that_an_estimator_has_no_use_for_are_refused():
    with pytest.raises(InputError, match=r"Weighing\(drift='keep'\): this plays no part here"):
        CellWeigher(weighing=Weighing(drift="keep")).fit(data())
    for options, name in (
        ({"columns": Columns(exclude=["a"])}, "Columns"),
        ({"rules": RowRules(per="a")}, "RowRules"),
        ({"search": Search(seed=3)}, "Search"),
    ):
        with pytest.raises(InputError, match=rf"{name}\(.*\): this plays no part here"):
            JointSelector(**options).fit(data())


def mixed(rows, seed):
    rng = np.random.default_rng(seed)
    start = datetime(2024, 3, 4, 9)
    return {
        "amount": np.where(rng.random(rows) < 0.02, np.nan, rng.normal(size=rows)),
        "country": rng.choice(["DE", "FR"], rows).tolist(),
        "blocked": [False] * rows,
        "paid": [start + timedelta(days=i % 5, hours=i % 8) for i in range(rows)],
    }


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_mixed_frames_need_no_preparation(make):
    reference, rows = mixed(200, 0), mixed(30, 1)
    rows["country"][4], rows["blocked"][4], rows["paid"][4] = "BT", True, datetime(2024, 3, 4, 3)
    with pytest.warns(UserWarning, match="Left out, dates: paid"):
        plain = JointSelector(k=1, m=2).fit(make(reference), pool=make(rows))
    assert plain.selection_.samples.tolist() == [4] and plain.selection_.feature_names == ["country", "blocked"]
    assert plain.get_support().tolist() == [False, True, True, False]
    assert np.flatnonzero(plain.predict(make(rows)) == -1).tolist() == [4]
    dated = JointSelector(k=1, m=4, columns=Columns(types={"paid": "date:hour,weekday"})).fit(
        make(reference), pool=make(rows)
    )
    assert dated.select(make(rows)).feature_names == ["amount", "country", "blocked", "paid hour"]
    assert dated.get_support().tolist() == [True] * 4
    names = ["amount", "country", "blocked", "paid hour", "paid weekday"]
    weigher = CellWeigher(columns=Columns(types={"paid": "date"})).fit(make(reference))
    assert weigher.get_feature_names_out().tolist() == names and weigher.transform(make(rows)).shape == (30, 5)


def test_a_frame_is_taken_for_the_same_as_everywhere():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "order_id": np.arange(80) * 7 + 100_000,
            "paid": [f"{x:,.2f} €".translate(str.maketrans(",.", ".,")) for x in rng.lognormal(7, 1, 80)],
            "items": rng.poisson(3, 80),
            "note": [f"some words about {i}" for i in range(80)],
        }
    )
    with pytest.warns(UserWarning, match="'order_id': names the rows"):
        weigher = CellWeigher().fit(frame)
    assert weigher.get_feature_names_out().tolist() == ["paid", "items"] and weigher.transform(frame).shape == (80, 2)
    with pytest.warns(UserWarning, match="'order_id'"):
        selector = JointSelector(k=3, m=1).fit(frame)
    assert selector.get_support().tolist() in ([False, True, False, False], [False, False, True, False])
    typed = frame.assign(paid=[float(x[:-2].replace(".", "").replace(",", ".")) for x in frame["paid"]])
    np.testing.assert_allclose(weigher.transform(frame), weigher.transform(typed))
