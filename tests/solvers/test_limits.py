"""Time limits and Ctrl-C, without a clock where possible: what must come back, whatever is late."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect as bs
from biselect.core.exact_sums import at_least
from biselect.core.rules import Group, Rules
from biselect.solvers import (
    SOLVERS,
    _branch_and_bound,
    _exact,
    registry,
    response,
    solver_names,
)
from biselect.solvers._branch_and_bound import eliminate, search_on, search_tree
from biselect.solvers._incumbent import Incumbent
from biselect.solvers._reduction import reduce_problem
from biselect.solvers.registry import Answer, Run, keeps_limits
from biselect.solvers.response import by_features, glance
from biselect.testing.oracles import brute_force
from biselect.testing.strategies import problems, ruled_problems

NOISE = bs.SelectionProblem(coupling=np.abs(np.random.default_rng(0).normal(size=(200, 30))), k=12, m=4)
MANY = {"coordinate-ascent": {"starts": 10**6}, "random": {"draws": 10**9}, "swap-sa": {"restarts": 10**5}}
MANY |= {"annealing": {"restarts": 10**5}, "kawasaki": {"steps": 10**9}, "tabu": {"steps": 10**9}}


@pytest.fixture
def never():
    """Something to wait for in vain; whoever was left behind goes on when the test is over."""
    over = threading.Event()
    yield over
    over.set()


def stuck(over):
    """A step that looks at no clock, as an import or the compiler does."""
    assert over.wait(120), "nobody answered in its place"


def assert_honest(answer):
    """Feasible, with the energy of the choice and a bound that holds."""
    problem = answer.problem
    assert problem.obeys(answer.samples, answer.features)
    assert answer.energy == problem.energy(answer.samples, answer.features)
    assert answer.bound <= answer.energy and not answer.proven_optimal


@pytest.mark.parametrize("limit", [1e-9, 0.02])
def test_a_solver_that_never_looks_is_answered_for(monkeypatch, never, limit):
    @keeps_limits("all")
    def deaf(problem, run):
        stuck(never)
        return Answer(samples=np.arange(problem.k), features=np.arange(problem.m))

    monkeypatch.setitem(SOLVERS._things, "deaf", deaf)
    rules = Rules(forced_in=[7], forced_out=[3, 4], groups=[Group(members=range(20, 90), at_most=2)])
    for problem in (NOISE, bs.SelectionProblem(coupling=NOISE.coupling, k=12, m=4, sample_rules=rules)):
        answer = bs.solve(problem, "deaf", time_limit=limit, trajectory=True)
        assert_honest(answer)
        assert answer.info["method"] == "a glance" and answer.info["trajectory"] == []
        assert answer.bound <= bs.solve(problem).energy


@pytest.mark.parametrize("name", [name for name in solver_names() if name != "qaoa"])
def test_no_solver_waits_for_what_it_loads_or_compiles(monkeypatch, never, name):
    """Folding the forced choices is what every solver begins with; kernels come later."""
    monkeypatch.setattr(registry, "reduce_problem", lambda problem: stuck(never))
    assert_honest(bs.solve(NOISE, name, time_limit=0.02))


@pytest.mark.parametrize("step", ["root_bound", "_walk", "search_tree", "spectral_bound"])
def test_what_exact_has_reached_is_not_lost_where_a_step_is_late(monkeypatch, never, step):
    monkeypatch.setattr(_exact, "INSTANT_CELLS", -1)
    monkeypatch.setattr(_exact, "LOOP_CELLS", -1)
    done = bs.solve(NOISE, "exact")
    with patch.object(_exact, step, lambda *_, **__: stuck(never)):
        answer = bs.solve(NOISE, "exact", time_limit=1)
    assert_honest(answer)
    assert answer.bound <= done.energy
    assert answer.info["steps"][0] == "coordinate ascent"
    assert np.isfinite(answer.bound)


@pytest.mark.parametrize("name", MANY)
def test_work_that_was_left_behind_ends(name):
    before = set(threading.enumerate())
    assert_honest(bs.solve(NOISE, name, time_limit=1e-3, **MANY[name]))
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
        assert not thread.is_alive()


@settings(max_examples=100)
@given(problems() | ruled_problems(), st.integers(1, 40))
def test_a_glance_is_feasible_and_its_bound_holds(problem, cells):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(response, "GLANCE_CELLS", cells)
        samples, features, bound = glance(problem)
    assert problem.obeys(samples, features)
    assert bound <= brute_force(problem)


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-20, 1e16, 1e297])
def test_a_glance_at_numbers_of_any_size(size):
    rng = np.random.default_rng(1)
    for scale in (1.0, 0.3, 1e5):
        problem = bs.SelectionProblem(
            coupling=size * rng.uniform(-1, 1, size=(6, 5)),
            sample_scores=rng.uniform(-1, 1, size=6),
            feature_scores=size * rng.uniform(-1, 1, size=5),
            k=2,
            m=3,
            coupling_weight=scale,
        )
        samples, features, bound = glance(problem)
        assert problem.obeys(samples, features)
        with np.errstate(over="ignore", invalid="ignore"):
            assert bound <= brute_force(problem) or bound == -np.inf


@settings(max_examples=60)
@given(problems(), st.data())
def test_a_search_that_is_broken_off_and_goes_on_proves_the_same(problem, data):
    task, optimum = by_features(problem), brute_force(problem)
    slack = 1e-9 * (1 + abs(optimum))
    climb = bs.solve(problem, "coordinate-ascent", starts=1)
    best = Incumbent(task, reduce_problem(problem), climb.features, climb.samples)
    root = _exact.root_bound(task, best.units)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_branch_and_bound, "DIVE_CELLS", data.draw(st.sampled_from([0, 100, 10**9])))
        patched.setattr(_branch_and_bound, "NODES_PER_ROUND", data.draw(st.integers(1, 4)))
        found, reached = search_tree(root, eliminate(task, root, best), best, expiring(0), 1), np.inf
        while found.batch:
            assert found.bound <= reached, "more time never loosens the bound"
            reached = found.bound
            assert -at_least(found.rest.grid.score(found.bound)) <= optimum + slack
            search_on(found, found.rest, best, expiring(data.draw(st.integers(1, 3))), 1)
    assert found.bound is None
    assert -best.floor <= optimum + slack


def expiring(looks):
    """A run that has expired after so many looks, whatever the clock says."""
    left = [looks]

    def expired(self):
        left[0] -= 1
        return left[0] < 0

    return type("Expiring", (Run,), {"expired": expired})()


def test_doubtful_leaves_are_left_open_when_time_is_up(monkeypatch):
    """Exact arithmetic may have to compare thousands of them, so it looks at the byte between any two."""
    problem = bs.SelectionProblem(coupling=0.1 * np.random.default_rng(0).integers(0, 2, size=(30, 12)), k=6, m=4)
    task, byte, offers = by_features(problem), np.zeros(1, dtype=np.uint8), []
    best = Incumbent(task, reduce_problem(problem), np.arange(4), np.arange(6))
    root = _exact.root_bound(task, best.units)
    offer = Incumbent.offer

    def counted(self, subset, **options):
        offers.append(subset)
        byte[0] = len(offers) == 2
        return offer(self, subset, **options)

    monkeypatch.setattr(Incumbent, "offer", counted)
    monkeypatch.setattr(Run, "stop_flag", lambda run: nullcontext(byte))
    found = search_tree(root, eliminate(task, root, best), best, Run(stop=byte), 1)
    assert len(offers) == 2 and found.batch and found.bound is not None
    byte[0] = 0
    search_on(found, found.rest, best, Run(stop=byte), 1)
    assert len(offers) > 4 and found.bound is None
    assert -best.floor == pytest.approx(bs.solve(problem).energy)


INTERRUPTED = """
import os, signal, sys
import numpy as np
import biselect as bs

class Interrupt:
    seen = 0

    def find_spec(self, name, *_):
        Interrupt.seen += 1
        if {moment!r} in (name, Interrupt.seen):
            os.kill(os.getpid(), signal.SIGINT)

problem = bs.SelectionProblem(coupling=np.abs(np.random.default_rng(0).normal(size=(300, 30))), k=12, m=8)
sys.meta_path.insert(0, Interrupt())
try:
    bs.solve(problem, {solver!r}, time_limit={limit}, progress=False)
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
sys.meta_path.pop(0)
best = bs.solve(problem, "exact")
again = bs.solve(problem, {solver!r}, time_limit=60)
print(best.proven_optimal, again.score <= best.score)
"""


def assert_usable_after_ctrl_c(moment, *, solver="exact", limit=None, cache=None):
    """Interrupt a first solve when it looks for a module, by name or by number, and solve again in the same process."""
    script = INTERRUPTED.format(moment=moment, solver=solver, limit=limit)
    kept = {"NUMBA_CACHE_DIR": str(cache)} if cache else {}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, **kept})
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    first, second = done.stdout.splitlines()
    assert second == "True True"
    return first == "interrupted"


@pytest.mark.parametrize("moment", ["biselect.solvers._exact", "multiprocessing.reduction", "numba.core.typing"])
def test_ctrl_c_in_a_first_solve_leaves_a_usable_process(moment):
    assert assert_usable_after_ctrl_c(moment)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, 30])
@pytest.mark.parametrize("moment", range(1, 900, 37))
def test_ctrl_c_at_any_import_leaves_a_usable_process(moment, limit):
    assert_usable_after_ctrl_c(moment, limit=limit)


@pytest.mark.slow
@pytest.mark.parametrize("solver", solver_names())
@pytest.mark.parametrize("moment", [40, 400, 700])
def test_ctrl_c_in_a_first_solve_with_nothing_compiled(moment, solver, tmp_path):
    assert_usable_after_ctrl_c(moment, solver=solver, cache=tmp_path, limit=60)  # HiGHS would go on for hours


def test_ctrl_c_ends_the_work_too(monkeypatch):
    """What is left behind sees that nobody waits, also without a limit."""
    looks, interrupted = [], threading.Event()

    @keeps_limits("all")
    def endless(problem, run):
        looks.append(run)
        with run.stop_flag() as stop:
            while not stop[0]:
                threading.Event().wait(0.001)
        interrupted.set()
        return Answer(samples=np.arange(problem.k), features=np.arange(problem.m))

    monkeypatch.setitem(SOLVERS._things, "endless", endless)
    threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        bs.solve(NOISE, "endless")
    assert interrupted.wait(60) and looks[0].expired()
