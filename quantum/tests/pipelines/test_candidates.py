import numpy as np
import pytest

from biselect.errors import InputError
from biselect.options import Weighing
from biselect.weights.paper import paper_problem
from biselect_quantum.pipelines import table_problem


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(3)
    return rng.standard_t(3, size=(50, 7)), rng.standard_t(3, size=(200, 7))


def test_the_papers_candidates_are_weighed_as_the_paper_weighs_them_alone(tables):
    pool, reference = tables
    problem = table_problem(*tables, samples=6, features=4, k=2, m=2, weighing=Weighing(preset="paper"))
    rows = [int(name) for name in problem.sample_names]
    columns = [int(name) for name in problem.feature_names]
    alone = paper_problem(pool[np.ix_(rows, columns)], reference[:, columns], 2, 2)
    np.testing.assert_allclose(problem.coupling, alone.coupling, rtol=1e-12)
    np.testing.assert_allclose(problem.sample_scores, alone.sample_scores, rtol=1e-12)
    np.testing.assert_allclose(problem.feature_scores, alone.feature_scores, rtol=1e-12)


def test_candidates_are_the_heaviest_rows_in_the_order_of_the_table(tables):
    pool, reference = tables
    weights = paper_problem(pool, reference, 2, 2).coupling
    problem = table_problem(*tables, samples=6, features=4, k=2, m=2, weighing=Weighing(preset="paper"))
    assert sorted(np.argsort(-weights.sum(axis=1))[:6].tolist()) == [int(name) for name in problem.sample_names]


def test_the_products_own_form_gives_one_feature_a_column(tables):
    problem = table_problem(*tables, samples=6, features=4, k=2, m=2)
    assert problem.coupling.shape == (6, 4) and problem.directions is None
    assert len({*problem.feature_names}) == 4


@pytest.mark.parametrize("wrong", [{"samples": 51}, {"features": 8}, {"samples": 0}, {"k": 7, "samples": 6}])
def test_candidates_that_the_table_has_not_are_refused(tables, wrong):
    with pytest.raises(InputError):
        table_problem(*tables, **{"samples": 6, "features": 4, "k": 2, "m": 2, **wrong})
