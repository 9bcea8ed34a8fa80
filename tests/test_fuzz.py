"""A small, fixed part of `make fuzz`: every reader gets some damaged files, in this process."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"
HEAVY = {  # to set up
    *("circuit", "run", "results of a run", "snapshot", "session", "checkpoint", "angles", "selection", "duckdb"),
    *("cell", "results.json", "circuit's gates", "circuit's device"),
}
INPUTS = 15


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


loaded("fuzz_mutations")
targets = loaded("fuzz_targets")
fuzz = loaded("fuzz")
NAMES = [pytest.param(name, marks=[pytest.mark.slow] if name in HEAVY else []) for name in targets.TARGETS]


@pytest.mark.filterwarnings("ignore::biselect.errors.AlteredWarning")  # a checkpoint that is begun anew, and said so
@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_get_an_answer_or_an_error_of_ours(name, tmp_path):
    for index in range(1, INPUTS + 1):
        failure = fuzz.attempt(name, 0, index, tmp_path)
        assert failure is None, f"{name} {index}: {failure.kind}\n{failure.story}"


def test_an_input_follows_from_seed_reader_and_number_alone():
    csv = targets.TARGETS["csv"]
    assert csv.input(1, 7) == csv.input(1, 7) != csv.input(1, 8) != csv.input(2, 7)


def test_readers_take_turns_by_their_weight():
    planned = fuzz.plan(["csv", "tsv"], start=3, count=30)
    assert [index for _, index in planned] == list(range(3, 33))
    assert sum(name == "csv" for name, _ in planned) == 24


def test_a_failure_is_told_with_its_kind(tmp_path, monkeypatch):
    def use(path, index):
        raise ZeroDivisionError("ours to mend")

    broken = targets.replace(targets.TARGETS["csv"], name="broken", use=use)
    monkeypatch.setitem(targets.TARGETS, "broken", broken)
    failure = fuzz.attempt("broken", 0, 1, tmp_path)
    assert failure.kind == "ZeroDivisionError"
    assert "ours to mend" in failure.story
