"""`biselect app` as a process: how a browser gets in, who else does not, whose its files are, and how it ends."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biselect.sessions.store import SessionFile

SCRIPT = "from biselect.__main__ import main\nmain()\n"
PACKAGES = (
    "biselect jinja2 joblib lazy_loader numba numpy pandas pyarrow rich scipy sklearn starlette typer uvicorn yaml"
)


class Served:
    """A running workbench, asked as its own pages ask."""

    def __init__(self, process):
        self.process, self.token = process, ""
        self.home = process.stdout.readline().strip().rstrip("/")
        self.port = int(self.home.rpartition(":")[2])
        self.code = self.next_code()

    def next_code(self):
        return self.process.stdout.readline().strip().removeprefix("code ")

    def enter(self, code, origin="null"):
        """The token, as a page gets it."""
        answer = self.post("/enter", origin, code=code).decode()
        return re.search(r'id="token">"([^"]+)"', answer)[1]

    def get(self, address):
        asked = urllib.request.Request(self.home + address, headers={"X-Biselect-Token": self.token})
        return urllib.request.urlopen(asked, timeout=60).read()

    def post(self, address, origin=None, **form):
        headers = {"Origin": origin or self.home, "X-Biselect-Token": self.token}
        body = urllib.parse.urlencode(form).encode()
        asked = urllib.request.Request(self.home + address, body, headers)
        return urllib.request.urlopen(asked, timeout=60).read()

    def job(self, address, **form):
        """Start a job and wait for its end."""
        self.post(address, **form)
        deadline = time.monotonic() + 120
        while not (told := json.loads(self.get("/job")))["finished"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert told["error"] is None, told


@contextmanager
def served(folder, *more, cwd=None, command=("-m", "biselect"), **environment):
    line = [sys.executable, *command, "app", folder, *more]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, cwd=cwd, env={**os.environ, **environment}, **pipes) as process:
        try:
            yield Served(process)
        finally:
            process.kill()


@pytest.fixture(autouse=True)
def needs_the_extra():
    pytest.importorskip("uvicorn", reason="needs the app extra")


def write_tables(folder):
    rng = np.random.default_rng(0)
    for name, rows in (("normal", 200), ("pool", 60)):
        table = pd.DataFrame(rng.normal(size=(rows, 4)).round(3), columns=list("abcd"))
        table.insert(0, "id", [f"{name}{i}" for i in range(rows)])
        table.to_csv(folder / f"{name}.csv", index=False)


def test_it_lets_in_one_browser_a_code_until_it_is_interrupted(tmp_path):
    with served(tmp_path / "new", "--no-open") as running:
        assert running.home.startswith("http://127.0.0.1:")
        running.token = running.enter(running.code)
        assert "Review rows one by one" in running.get("/").decode()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            running.enter(running.code)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"{running.home}/job", timeout=30)
        running.process.stdin.write("\n")  # Enter
        running.process.stdin.flush()
        assert running.process.stdout.readline().strip() == f"{running.home}/"
        assert running.enter(running.next_code(), running.home) == running.token
        running.process.send_signal(signal.SIGINT)
        _, said = running.process.communicate(timeout=30)
    assert running.process.returncode == 130 and "Traceback" not in said
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="looks into /proc and at rights")
def test_the_browser_opens_a_file_of_the_owner_s_and_no_command_line_holds_a_secret(tmp_path):
    recorder, opened = tmp_path / "browser", tmp_path / "opened"
    recorder.write_text(f'#!/bin/sh\nprintf %s "$1" > "{opened}~" && mv "{opened}~" "{opened}"\n')
    recorder.chmod(0o755)
    with served(tmp_path, BROWSER=f"{recorder} %s", TMPDIR=str(tmp_path)) as running:
        while not opened.exists():
            time.sleep(0.05)
        page = Path(urllib.parse.urlparse(opened.read_text()).path)
        assert [stat.S_IMODE(place.stat().st_mode) for place in (page, page.parent)] == [0o600, 0o700]
        code = re.search(r'name="code" value="([^"]+)"', page.read_text())[1]
        assert code != running.code
        running.token = running.enter(code)
        assert not page.exists()
        running.job("/look", table=_a_table(tmp_path), then="/table")  # the process beside it runs
        lines = b"".join(place.read_bytes() for place in Path("/proc").glob("[0-9]*/cmdline") if _is_readable(place))
        assert not any(secret.encode() in lines for secret in (running.token, running.code, code))
        running.process.send_signal(signal.SIGINT)
        running.process.communicate(timeout=30)
    assert not page.parent.exists()


def _a_table(folder):
    write_tables(folder)
    return "pool.csv"


def _is_readable(place):
    try:
        return bool(place.read_bytes())
    except OSError:  # it has ended
        return False


@pytest.mark.skipif(sys.platform == "win32", reason="looks at rights")
def test_whatever_it_writes_is_its_owner_s_alone(tmp_path):
    write_tables(tmp_path)
    before = os.umask(0)  # a user who shares everything
    try:
        with served(tmp_path, "--no-open") as running:
            running.token = running.enter(running.code)
            running.post("/files?name=brought.csv", x=1)
            running.job("/look", table="pool.csv", then="/table")
            running.job("/choose", table="pool.csv", against="file", which="normal.csv", k=4, m=2)
            running.job("/export")
            written = [path for path in tmp_path.rglob("*") if path.name not in ("pool.csv", "normal.csv")]
    finally:
        os.umask(before)
    assert {path.name for path in written} >= {
        "brought.csv",
        "review.sqlite",
        "export",
        "answers.csv",
        "report",
        "proof.json",
    }
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in written} == {0}


def until_cut(connection, trickle=b""):
    """Seconds until the server cuts a connection on which nothing more comes, or a byte at a time."""
    began = time.monotonic()
    connection.settimeout(0.2)
    while time.monotonic() - began < 30:
        try:
            if not connection.recv(4096):
                break
        except TimeoutError:
            connection.sendall(trickle)
        except OSError:
            break
    return time.monotonic() - began


def test_two_windows_lose_and_repeat_nothing_although_the_server_is_killed(tmp_path):
    write_tables(tmp_path)
    windows, acknowledged = [f"{n}0000000-0000-0000-0000-000000000000" for n in range(2)], []
    for kill in range(3):
        with served(tmp_path, "--no-open") as running:  # which ends by a kill
            running.token = running.enter(running.code)
            if not kill:
                running.job("/look", table="pool.csv", then="/table")
                running.job("/choose", table="pool.csv", against="file", which="normal.csv", m=2)
            for turn in range(3):
                rows = [json.loads(running.post("/next", window=window)) for window in windows]
                assert len({row["row"] for row in rows}) == 2
                for row, who in zip(rows, ("Ana", "Ben"), strict=True):
                    form = {"row": row["row"], "choice": 0, "after": row["last"], "verdict": "fine", "who": who}
                    if turn == 2 and who == "Ben":
                        break  # a row that was open when it was killed
                    assert json.loads(running.post("/answer", **form))["last"]
                    acknowledged.append(row["row"])
    answers = SessionFile(tmp_path).standing(0).answers
    assert [answer.row for answer in answers] == acknowledged and len({*acknowledged}) == 15


def test_half_open_connections_are_cut_and_hold_nobody_up(tmp_path):
    with served(tmp_path, "--no-open") as running, ExitStack() as held:
        running.token = running.enter(running.code)
        lines = ["POST /answer HTTP/1.1", f"Host: 127.0.0.1:{running.port}", f"Origin: {running.home}"]
        lines += [f"X-Biselect-Token: {running.token}", "Content-Length: 100000"]
        head = "\r\n".join(lines)
        refused = head.replace(running.token, "guess")
        halves = ["", "GET / HT", head, f"{head}\r\n\r\na=b", f"{refused}\r\n\r\na=b"]
        halves += [f"{head}\r\n\r\n".replace("/answer", address) for address in ("/enter", "/files?name=x.csv")]

        def connection(sent):
            found = held.enter_context(socket.create_connection(("127.0.0.1", running.port)))
            found.sendall(sent.encode())
            return found

        waiting = [connection(sent) for sent in halves * 45]
        slow = [connection(sent) for sent in halves]
        began = time.monotonic()
        assert b"Review rows" in running.get("/") and time.monotonic() - began < 5
        with ThreadPoolExecutor(len(slow) + 1) as together:
            trickling = [together.submit(until_cut, one, b"x") for one in slow]
            assert all(until_cut(one) < 20 for one in waiting) and all(one.result() < 20 for one in trickling)
        assert time.monotonic() - began < 20 and b"Review rows" in running.get("/")
        assert [path.name for path in tmp_path.iterdir()] == []


def before_us():
    """Names that Python has imported when the first line of a module runs that was started with `-m`."""
    code = "import runpy, sys; print('biselect', *{name.partition('.')[0] for name in sys.modules})"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def hostile(folder, *, but=()):
    """Lay a module beside the tables for every name that somebody may import; each says so where it is."""
    mark = folder.with_name("ran")
    text = f"open({str(mark)!r}, 'a').write(__name__ + '\\n')\nraise ImportError('this must not run')\n"
    public = [name for name in sys.stdlib_module_names if not name.startswith("_")]
    for name in {*public, *PACKAGES.split(), "sitecustomize", "usercustomize"} - {*but}:
        (folder / f"{name}.py").write_text(text)
    (folder / ".numba_config.yaml").write_text("cache_dir: planted\n")  # of pickles, which Numba would load
    return mark


@pytest.mark.parametrize("how", ["script", "module"])
def test_no_code_that_lies_beside_the_tables_is_run(tmp_path, how):
    """`python -m` looks for `biselect`, and for what it needs itself, in the working directory: not ours to change."""
    folder = tmp_path / "tables"
    folder.mkdir()
    write_tables(folder)
    script = tmp_path / "biselect"
    script.write_text(SCRIPT)
    mark = hostile(folder, but=before_us() if how == "module" else [])
    command = ["-m", "biselect"] if how == "module" else [script]
    tables = ["pool.csv", "--reference", "normal.csv", "--id-column", "id", "-k", "3", "-m", "2"]
    lines = [
        ["review", ".", *tables],
        ["inspect", "pool.csv"] if how == "module" else ["select", *tables, "--out", "x"],
    ]
    for line in lines:
        done = subprocess.run([sys.executable, *command, *line], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    with served(Path("."), "--no-open", cwd=folder, command=command) as running:
        running.token = running.enter(running.code)
        running.job("/look", table="pool.csv", then="/table")
        window = "00000000-0000-0000-0000-000000000000"
        assert json.loads(running.post("/next", window=window))["name"].startswith("pool")
    assert not mark.exists(), mark.read_text()
    assert not (folder / "__pycache__").exists()


def test_processes_of_processes_do_not_look_there_either(tmp_path):
    """Whatever a command starts inherits the rule, a pool of workers among it; nor does Numba, for its cache."""
    pytest.importorskip("yaml", reason="Numba reads no settings without it")
    (tmp_path / "tables").mkdir()
    mark = hostile(tmp_path / "tables")
    code = """
import os, subprocess, sys
from biselect import __main__
def command():
    from joblib import Parallel, delayed
    assert Parallel(n_jobs=2)(delayed(abs)(-number) for number in range(4)) == [0, 1, 2, 3]
    subprocess.run([sys.executable, "-c", "import json, traceback"], check=True)
    import numba
    assert "planted" not in numba.config.CACHE_DIR
__main__._load = lambda: command
__main__.main()
"""
    (tmp_path / "start").write_text(code)
    done = subprocess.run(
        [sys.executable, tmp_path / "start"], cwd=tmp_path / "tables", capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert not mark.exists(), mark.read_text()


def test_without_the_extra_it_says_how_to_get_it(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "biselect.app.server", None)
    outcome = run("app", tmp_path)
    assert outcome.code == 1 and "pip install '.[app]'" in outcome.err
