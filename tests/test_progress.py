import io
import sys
import threading
from types import SimpleNamespace

import pytest

import biselect as bs
from biselect import progress
from biselect.progress import progress_of, shown_elsewhere, steps_of

PROBLEM = bs.SelectionProblem(coupling=[[3, 0, 1], [0, 2, 0], [2, 0, 2]], k=2, m=2)


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Bar:
    """A bar that notes what it is told."""

    def __init__(self, begin):
        self.begin, self.told = begin, []
        Bar.made.append(self)

    def show(self, name, done, best):
        self.told.append((name, done, best))
        self.seen.set()

    def clear(self):
        self.told.append("cleared")


@pytest.fixture
def bars(monkeypatch):
    """Everybody watches, and nobody waits."""
    Bar.made, Bar.seen = [], threading.Event()
    monkeypatch.setattr(progress, "_place", lambda: Bar)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    return Bar.made


def test_long_work_is_shown_and_taken_away(bars):
    with progress_of(None, "Solving") as told:
        told(0.25, -8.0)
        Bar.seen.wait()
        while ("Solving", 0.25, "best score 8") not in bars[0].told:
            Bar.seen.wait(0.01)
    assert bars[0].told[-1] == "cleared"


def test_short_work_is_not_shown(bars, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 3600.0)
    with progress_of(None, "Solving"):
        pass
    assert bars[0].told == []


def test_steps_share_one_bar_and_what_they_call_shows_none(bars):
    step = steps_of(None)
    for name in ("Reading", "Solving"):
        with step(name) as told:
            assert told is not None
            bs.solve(PROBLEM)
            Bar.seen.wait()
            Bar.seen.clear()
    assert len(bars) == 1 and {entry[0] for entry in bars[0].told if entry != "cleared"} == {"Reading", "Solving"}


def test_a_callback_is_used_as_it_is_and_false_shows_nothing(bars):
    seen = []
    with progress_of(lambda *told: seen.append(told), "Solving") as told:
        told(0.5, 1.0)
        bs.solve(PROBLEM)
    with progress_of(False, "Solving") as told:
        assert told is None
        bs.solve(PROBLEM)
    with shown_elsewhere():
        bs.solve(PROBLEM)
    assert seen == [(0.5, 1.0)] and bars == []
    bs.solve(PROBLEM)  # and afterwards as before
    bs.solve(PROBLEM, progress=True)
    assert len(bars) == 2


def test_only_people_see_it(monkeypatch):
    assert progress._place() is None  # under pytest nobody watches
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert progress._place() is progress._TerminalBar
    found = []
    thread = threading.Thread(target=lambda: found.append(progress._place()))
    thread.start()
    thread.join()
    assert found == [None]
    monkeypatch.setattr("multiprocessing.current_process", lambda: SimpleNamespace(name="LokyProcess-1"))
    assert progress._place() is None


def test_a_terminal_gets_a_bar_that_goes_away(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    bar = progress._TerminalBar(0.0)
    bar.show("Solving [red]\x1b", float("nan"), "")
    bar.show("Solving", 0.5, "best score 8")
    bar.clear()
    assert "[red]�" in screen.getvalue() and "best score 8" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[1A\x1b[2K")


def test_a_notebook_gets_one_output_that_is_replaced(monkeypatch):
    shown = []

    def display(content, raw, display_id):
        shown.append(content)
        return SimpleNamespace(update=lambda content, raw: shown.append(content))

    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    assert progress._place() is progress._NotebookBar
    bar = progress._NotebookBar(0.0)
    bar.show("<Solving>", float("nan"), "")
    bar.show("Solving", 0.5, "best score 8")
    bar.clear()
    first, second, last = (content["text/html"] for content in shown)
    assert "&lt;Solving&gt;" in first and 'value="0.500"' in second and last == ""
