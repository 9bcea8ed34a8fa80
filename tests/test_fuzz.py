"""A small, fixed part of `make fuzz`: every reader gets some damaged files, and simulators some circuits."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

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
simulators = loaded("fuzz_simulators")
targets = loaded("fuzz_targets")
fuzz = loaded("fuzz")
READERS = [name for name in targets.TARGETS if name != "simulators"]  # which may end the process
NAMES = [pytest.param(name, marks=[pytest.mark.slow] if name in HEAVY else []) for name in READERS]
CIRCUITS = 40


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


def in_process(code, **environment):
    """The exit code of a program with the fuzzer's allocator; negative where a signal ended it."""
    given = {**os.environ, **fuzz.allocator_checks(), "PYTHONPATH": os.pathsep.join([str(SCRIPTS), *sys.path])}
    return subprocess.run([sys.executable, "-c", code], env={**given, **environment}, capture_output=True).returncode


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fences are pages of Linux")
def test_simulators_agree_and_touch_no_memory_of_others(tmp_path):
    """Random circuits on every simulator in a process of their own, where one number beyond a buffer is fatal."""
    arguments = ["--only", "simulators", "--count", str(CIRCUITS), "--workers", "1", "--out", str(tmp_path / "failed")]
    done = subprocess.run([sys.executable, str(SCRIPTS / "fuzz.py"), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, [file.read_text() for file in (tmp_path / "failed").glob("*.txt")] or done.stderr
    assert f"{CIRCUITS} inputs" in done.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fences are pages of Linux")
@pytest.mark.parametrize("before", [True, False])
def test_a_fence_ends_whoever_leaves_a_buffer(before):
    look = "import ctypes, numpy as np, fuzz_simulators as f; lines = f.fenced(3, np.float32, before={}); "
    look = look.format(before) + "lines[:] = 1; ctypes.string_at(lines.ctypes.data + {}, 1)"
    outside = -1 if before else 3 * 64
    assert in_process(look.format(0)) == 0 == in_process(look.format(3 * 64 - 1)) != in_process(look.format(outside))


@pytest.mark.skipif("LD_PRELOAD" not in fuzz.allocator_checks(), reason="needs glibc's library for debugging")
def test_the_allocator_ends_whoever_writes_beyond_an_array():
    code = "import ctypes, numpy as np; a = np.empty(2000, dtype=np.uint8); ctypes.memset(a.ctypes.data, 1, {}); del a"
    assert in_process(code.format(2000)) == 0 != in_process(code.format(2001))


def test_circuits_of_the_fuzzer_are_of_every_kind():
    """What is never drawn is never tested."""
    cases = [simulators.drawn(Random(number)) for number in range(600)]
    sides = [side for case in cases for side in case["sides"]]
    lasts = [set(range(side["n"] - 2, side["n"])) <= set(side["rules"].get("forced_out", ())) for side in sides]
    groups = [group for side in sides for group in side["rules"].get("groups", ())]
    for share in (
        [side["n"] == 1 for side in sides],
        [side["budget"] == side["n"] > 1 for side in sides],
        [side["budget"] > 1 for side in sides],
        lasts,
        [bool(side["rules"].get("forced_in")) for side in sides],
        [len(side["parts"]) > 1 for side in sides],
        [not side["parts"] for side in sides],  # all is settled
        [group.get("exactly") == 0 for group in groups],
        [len(group["members"]) == 1 for group in groups],
        ["at_most" in group for group in groups],
        *([case["mixer"] == "grover" or kind in case["mixer"] for case in cases] for kind in ("complete", [])),
        *([case["start"] == kind for case in cases] for kind in ("dicke", "canonical", "choice", "state")),
        *([case["dtype"] == kind for case in cases] for kind in ("complex64", "complex128")),
        *([kind in case["observables"] for case in cases] for kind in ("energy", "hit", "no hit", "cvar", "values")),
        *([kind in case["calls"] for case in cases] for kind in simulators.CALLS),
    ):
        assert sum(share) > 0.01 * len(share)
    assert json.loads(json.dumps(cases)) == cases


def test_a_wrong_simulator_is_told_from_its_twin(monkeypatch):
    """Half a thousandth on one slope in double precision, or a choice that rules forbid."""
    case = json.loads(simulators.whole_cases()[0]) | {"calls": ["gradient", "gradient", "gradient"]}
    simulators.Case(case).run()
    true = simulators.Ansatz.value_and_gradient

    def wrong(self, angles, observable):
        value, slopes = true(self, angles, observable)
        return value, slopes * (1 if self.backend == "plain" else 1.0005)

    monkeypatch.setattr(simulators.Ansatz, "value_and_gradient", wrong)
    with pytest.raises(simulators.DifferenceError, match="slopes"):
        simulators.Case(case).run()
