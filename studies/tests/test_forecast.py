"""How long `reproduce --all` will take, said before it starts."""

import json

from biselect_studies import load
from biselect_studies.forecast import TIMES, Forecast, forecast, keep_times, longest_first, read_times, recorded_costs
from biselect_studies.runner import CELLS, run
from biselect_studies.task import Task

NAME = "joint-vs-sequential-practical"


def test_what_is_left_is_counted_and_costs_of_the_folder_come_first(tmp_path):
    study = load(NAME)
    tasks = study.tasks(True)
    before = forecast([study], tmp_path, True)
    assert before.tasks == len(tasks) and before.here == 0
    spent = run(tasks[:1], tmp_path / CELLS, on="alone")
    assert list(spent) == ["benchmark"] and len(spent["benchmark"]) == 1 and spent["benchmark"][0] > 0
    keep_times(tmp_path, True, {"benchmark": [30.0, 50.0]})
    keep_times(tmp_path, True, {"benchmark": [40.0]})
    after = forecast([study], tmp_path, True)
    left = len(tasks) - 1
    assert (after.tasks, after.here, after.seconds, after.unknown) == (left, left, 40.0 * left, {})
    assert forecast([study], tmp_path, False).here == 0  # the full form was not measured here


def test_times_that_are_damaged_are_no_times(tmp_path):
    for text in ("", "[]", '{"full": 3}', '{"full": {"x": [0, 1]}}', '{"full": {"x": "y"}}'):
        (tmp_path / TIMES).write_text(text)
        assert not any(read_times(tmp_path).values())
    keep_times(tmp_path, False, {"x": [1.0]})
    assert json.loads((tmp_path / TIMES).read_text()) == {"full": {"x": [1, 1.0]}}
    keep_times(tmp_path, False, {})


def test_a_forecast_says_where_its_times_are_from():
    told = Forecast(tasks=10, seconds=1200.0, here=0, unknown={}).told(2)
    assert told == "10 tasks are left: about 10 min on 2 free cores, by times measured on another machine."
    assert "in this folder." in Forecast(tasks=10, seconds=60.0, here=10, unknown={}).told(2)
    mixed = Forecast(tasks=10, seconds=60.0, here=4, unknown={"x": 2}).told(2)
    assert "about 30 s" in mixed and "for 4 of them" in mixed and "never measured: 2 of x" in mixed
    assert "the time is not known" in Forecast(tasks=2, seconds=0.0, here=0, unknown={"x": 2}).told(2)
    assert "Nothing is left" in Forecast(tasks=0, seconds=0.0, here=0, unknown={}).told(2)


def test_costs_are_on_record():
    assert set(recorded_costs()) == {"full", "quick"}


def test_experiments_that_take_longest_begin_and_unknown_ones_first_of_all(tmp_path):
    keep_times(tmp_path, True, {"benchmark": [1.0], "compile_dense": [3.0]})
    tasks = [Task(experiment=name, cell=(), first=0, stop=1) for name in ("benchmark", "never", "compile_dense")]
    assert [task.experiment for task in longest_first(tasks, tmp_path, True)] == ["never", "compile_dense", "benchmark"]
