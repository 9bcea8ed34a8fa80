import json

import numpy as np
import pytest

from biselect.core import SelectionProblem
from biselect.reviews import result


def test_a_table_without_names_loses_no_row(run, tmp_path):
    weights = np.array([[0.5, 1.25, 3.0], [0.1, 0.2, 0.3]])
    np.savetxt(tmp_path / "w.csv", weights, delimiter=",")
    answer = json.loads(run("solve", tmp_path / "w.csv", "-k", 1, "-m", 1, "--json").out)
    assert answer["score"] == 3.0 and answer["features"] == ["column 3"]
    np.savetxt(tmp_path / "w.csv", weights, delimiter=",", header="0,1,2", comments="")
    assert json.loads(run("solve", tmp_path / "w.csv", "-k", 1, "-m", 1, "--json").out)["score"] == 3.0


def test_solve_takes_problems_and_weight_tables(run, tmp_path):
    problem = SelectionProblem(
        coupling=np.array([[3.0, 0, 1], [0, 2, 0], [2, 0, 2]]), k=2, m=2, sample_names=("a", "b", "c")
    )
    problem.save(tmp_path / "p.npz")
    (tmp_path / "p.json").write_text(json.dumps(problem.to_dict()))
    (tmp_path / "p.csv").write_text("name,f,g,h\na,3,0,1\nb,0,2,0\nc,2,0,2\n")
    for arguments in (["p.npz"], ["p.json"], ["p.csv", "-k", 2, "-m", 2, "--id-column", "name"]):
        outcome = run("solve", tmp_path / arguments[0], *arguments[1:], "--json")
        answer = json.loads(outcome.out)
        assert (answer["samples"], answer["feature_indices"], answer["score"]) == (["a", "c"], [0, 2], 8.0)
    other = json.loads(run("solve", tmp_path / "p.npz", "-k", 1, "--json").out)
    assert len(other["samples"]) == 1
    said = run("solve", tmp_path / "p.npz").out
    assert "Review these 2: 0, 2 together" in said and "Proven: no other choice scores higher than 8.00." in said


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.json", "{", "cannot be read as JSON"),
        ("p.json", "[1]", "must be an object"),
        ("p.json", '{"coupling": [[1, NaN]], "k": 1, "m": 1}', "NaN is no number"),
        ("p.json", '{"k": 1, "m": 1}', "lacks"),
        ("p.csv", "a,b\n1,2\n", "give both -k and -m"),
        ("p.csv", "a,b\n1,x\n", "'b' is not numeric"),
        ("p.npz", "zip?", "not a problem file"),
        ("p.doc", "hello", "unknown kind of file"),
    ],
)
def test_solve_refuses_what_is_no_problem(run, tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    budgets = ["-k", 1, "-m", 1] if "numeric" in message else []
    outcome = run("solve", tmp_path / name, *budgets)
    assert outcome.code == 2 and message in outcome.err
    assert "no such file" in run("solve", tmp_path / f"absent-{name}").err or name == "p.doc"


def test_an_infeasible_problem_is_exit_code_3(run, monkeypatch, tmp_path):
    from biselect.errors import InfeasibleError

    def refuse(*_, **__):
        raise InfeasibleError("nothing fits")

    monkeypatch.setattr(result, "read_problem", refuse)
    outcome = run("solve", tmp_path / "p.npz")
    assert outcome.code == 3 and "nothing fits" in outcome.err
