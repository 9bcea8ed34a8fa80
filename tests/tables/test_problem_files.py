import json

import numpy as np
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.tables.problem_files import read_problem

PROBLEM = bs.SelectionProblem(coupling=[[3.0, 0, 1], [0, 2, 0], [2, 0, 2]], k=2, m=2, sample_names=("a", "b", "c"))


@pytest.fixture
def folder(tmp_path):
    PROBLEM.save(tmp_path / "p.npz")
    (tmp_path / "p.json").write_text(json.dumps(PROBLEM.to_dict()))
    (tmp_path / "p.csv").write_text('name,"f,1",g,h,note\na,3,0,1,x\nb,0,2,0,y\nc,2,0,2,z\n')
    return tmp_path


def test_every_kind_of_file_holds_the_same_problem(folder):
    table = read_problem(folder / "p.csv", 2, 2, id_column="name", exclude=["note"])
    assert table.feature_names == ("f,1", "g", "h")
    for problem in (read_problem(folder / "p.npz"), read_problem(str(folder / "p.json")), table):
        np.testing.assert_array_equal(problem.coupling, PROBLEM.coupling)
        assert (problem.k, problem.m, problem.sample_names) == (2, 2, ("a", "b", "c"))


@pytest.mark.parametrize("name", ["p.npz", "p.json"])
def test_budgets_replace_those_of_the_file(folder, name):
    problem = read_problem(folder / name, k=1)
    assert (problem.k, problem.m) == (1, 2)
    with pytest.raises(InputError, match="k may be 1 to 3"):
        read_problem(folder / name, k=4)


def test_errors_name_python_parameters(folder):
    with pytest.raises(InputError, match="a table of weights has no budgets; give both k= and m="):
        read_problem(folder / "p.csv", k=1)
    with pytest.raises(InputError, match="no column 'nobody'"):
        read_problem(folder / "p.csv", 1, 1, id_column="name", exclude="note,nobody")
    with pytest.raises(InputError, match="column 'note' is not numeric"):
        read_problem(folder / "p.csv", 1, 1, id_column="name")


def test_a_first_row_of_weights_is_not_taken_for_names(tmp_path):
    (tmp_path / "w.csv").write_text("0.5,1.25\n0.1,0.2\n")
    problem = read_problem(tmp_path / "w.csv", 1, 1)
    assert problem.coupling.tolist() == [[0.5, 1.25], [0.1, 0.2]] and problem.feature_names == ("column 1", "column 2")
