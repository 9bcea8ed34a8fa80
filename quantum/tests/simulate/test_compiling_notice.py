import builtins
import io
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from biselect.core import SelectionProblem
from biselect.progress import say_to_whoever_watches, shown_elsewhere
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.training.trainer import backend_for
from biselect_quantum.simulate import _compiled as compiled
from biselect_quantum.simulate import limits as first_use
from biselect_quantum.simulate.backends import PLAIN_AMPLITUDES, TINY, choose_backend


class Terminal(io.StringIO):
    def isatty(self):
        return True


def out_of_reach(*what, **how):
    raise AssertionError("a backend was chosen by what this machine holds")


def hide_the_machine(patched):
    """Whoever looks at a file, a folder, the environment or a GPU fails."""
    patched.setattr(builtins, "open", out_of_reach)
    for name in ("stat", "listdir", "scandir", "getenv"):
        patched.setattr(os, name, out_of_reach)
    patched.setattr(os, "environ", None)
    patched.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(is_available=out_of_reach)))


def test_the_sector_and_the_work_alone_choose_a_backend(monkeypatch):
    """Never what lies in Numba's cache, nor a GPU: one seed gives the same angles on every machine."""
    problems = [SelectionProblem(coupling=np.ones((n, 12)), k=k, m=4) for n, k in ((4, 1), (6, 4), (12, 4), (20, 5))]
    sizes = [problem.sector.size for problem in problems]
    assert sizes[0] < TINY < sizes[1] < PLAIN_AMPLITUDES < sizes[2] < 10**6 < sizes[3]
    with monkeypatch.context() as patched:
        hide_the_machine(patched)
        plain = [choose_backend(problem) for problem in problems]
        short, long = ([backend_for(problem, p, count) for problem in problems] for p, count in ((1, 1), (3, 2000)))
    assert plain == ["plain", *3 * ["compiled"]]
    assert long == 4 * ["compiled"]
    assert short == ["plain", "plain", "auto", "auto"]


TRAINED = """
import json, sys, numpy as np
from biselect.core import SelectionProblem
from biselect_quantum.circuits import Ansatz
rng = np.random.default_rng(7)
for n, d, k, m in ((8, 6, 3, 2), (12, 8, 3, 5)):
    problem = SelectionProblem(coupling=rng.exponential(size=(n, d)), k=k, m=m)
    for start in ("dicke", "random"):
        trained = Ansatz(problem, 2, start=start).train(evaluations=80, seed=3)
        print(trained.angles.tobytes().hex(), trained.value.hex(), trained.evaluations)
"""


@pytest.mark.slow
def test_a_fresh_machine_trains_the_same_angles_as_a_warm_one(tmp_path):
    def trained():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
        command = [sys.executable, "-c", TRAINED]
        return subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout

    fresh = trained()
    assert list(tmp_path.rglob("*.nbi"))  # kernels lie there now
    assert fresh == trained() and len(fresh.splitlines()) == 4


def test_the_compiled_simulator_says_that_it_compiles(monkeypatch):
    told = []
    monkeypatch.setattr(compiled, "tell_when_compiling", lambda: told.append("once"))
    Ansatz(SelectionProblem(coupling=np.ones((3, 2)), k=1, m=1), 1, backend="compiled")
    assert told == ["once"]


@pytest.mark.parametrize("watched", [True, False])
def test_a_person_is_told_and_nobody_else(monkeypatch, watched):
    stream = Terminal() if watched else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    say_to_whoever_watches("compiling")
    assert ("compiling" in stream.getvalue()) == watched
    with shown_elsewhere(silent=True):
        say_to_whoever_watches("not this")
    assert "not this" not in stream.getvalue()


def test_compiling_that_takes_long_is_told_once(monkeypatch):
    import numba
    from numba.core import event

    monkeypatch.setitem(event._registered, "numba:compile", [])  # the listener of this process may have spoken already
    said = []
    monkeypatch.setattr(first_use, "say_to_whoever_watches", said.append)
    monkeypatch.setattr(first_use, "PATIENCE", 0.0)
    first_use.tell_when_compiling.__wrapped__()
    for step in range(5):
        numba.njit(lambda x, step=step: x + step)(1.0)
    for _ in range(500):
        if said:
            break
        time.sleep(0.01)
    assert said == [first_use.WORDS]
