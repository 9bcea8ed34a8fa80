"""Ctrl-C and SIGTERM, sent to real processes at moments that do not depend on the clock."""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends signals as POSIX has them")

AT_IMPORT = """
import os, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), {signal})

sys.meta_path.insert(0, Finder())
from biselect.__main__ import main
sys.argv = ["biselect", *{arguments!r}]
main()
"""
IN_COMMAND = """
import os
from biselect._stopping import run_stoppable, advise
def stop():
    os.kill(os.getpid(), {signal})
def command():
{command}
run_stoppable(lambda: command)
"""
MOMENTS = {
    "while it works": "stop()\nprint('not reached')",
    "in a destructor": "class Odd:\n    def __del__(self):\n        stop()\nOdd()\nprint('not reached')",
    "turned into another error": "try:\n    stop()\nexcept BaseException:\n    raise ImportError('no module')",
    "turned into another end": "try:\n    stop()\nexcept BaseException:\n    raise SystemExit(2)",
    "twice": "try:\n    stop()\nfinally:\n    stop()\n    print('not reached')",
    "lost": "try:\n    stop()\nexcept BaseException:\n    pass",
}


def ended(script, number, advice=""):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    word = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}[number]
    assert (done.returncode, done.stderr.strip()) == (128 + number, word + advice)
    assert "not reached" not in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
def test_a_signal_ends_a_command_with_one_line(moment, number):
    indented = "".join(f"    {line}\n" for line in moment.splitlines())
    ended(IN_COMMAND.format(signal=int(number), command=indented), number)


def test_a_command_may_say_what_to_do_next():
    command = "    advise('go on')\n    stop()\n"
    ended(IN_COMMAND.format(signal=int(signal.SIGTERM), command=command), signal.SIGTERM, advice="; go on")


def test_a_signal_after_the_work_changes_nothing():
    """Python cleans up for a while after the last line; what is done is done."""
    late = "    import atexit\n    atexit.register(stop)\n"
    script = IN_COMMAND.format(signal=int(signal.SIGTERM), command=late)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("biselect.cli", signal.SIGTERM),
        ("typer", signal.SIGINT),
        ("biselect.cli.select", signal.SIGINT),
        ("numpy", signal.SIGINT),
        ("numpy.linalg", signal.SIGTERM),
        ("biselect.pages.html", signal.SIGINT),
        pytest.param("pyarrow", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param("scipy.sparse", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("biselect.core.files", signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
def test_a_signal_during_an_import_ends_it_alike(tmp_path, module, number):
    arguments = ["demo", "--out", str(tmp_path / "out"), "--quiet", "--kinds", "1"]
    ended(AT_IMPORT.format(module=module, signal=int(number), arguments=arguments), number)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_two_files_leaves_a_whole_answer(tmp_path, number, problem_file):
    script = f"""
import os, sys
from biselect.core import files
real, count = os.fsync, []
def interrupted(descriptor):
    real(descriptor)
    count.append(0)
    if len(count) == 4:
        os.kill(os.getpid(), {int(number)})
os.fsync = interrupted
from biselect.__main__ import main
sys.argv = ["biselect", "solve", {str(problem_file)!r}, "--out", {str(tmp_path / "out")!r}, "-q"]
main()
"""
    ended(script, number)
    assert [path.name for path in tmp_path.iterdir()] == ["p.npz"]


@pytest.mark.slow
def test_ctrl_c_for_a_whole_group_is_one_line_too(tmp_path):
    """As a terminal sends it: to the workers of a study as well, here while they start."""
    script = f"""
import sys
from pathlib import Path
from biselect._stopping import run_stoppable
def load():
    from biselect_studies.runner import run
    from biselect_studies.task import tasks_for
    cell = {{"N": 8, "D": 6, "k": 2, "m": 2, "noise": 0.5, "methods": ("feature-first", "exact")}}
    print("ready", flush=True)
    return lambda: run(tasks_for("benchmark", cell, 100_000, block=20), Path({str(tmp_path)!r}))
run_stoppable(load)
"""
    for wait in (0.5, 1.5, 3.0, 6.0):
        running = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        running.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(wait)
        os.killpg(running.pid, signal.SIGINT)
        _, errors = running.communicate(timeout=120)
        assert (running.returncode, errors) == (130, "interrupted\n")
