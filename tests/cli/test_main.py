import re
import subprocess
import sys
from pathlib import Path

import biselect


def test_version_and_help(run):
    assert run("--version").out.strip() == biselect.__version__
    assert "select" in run("--help").out
    module = subprocess.run([sys.executable, "-m", "biselect", "--version"], capture_output=True, text=True, check=True)
    assert module.stdout.strip() == biselect.__version__


def table_of_codes():
    page = Path(__file__).parents[2] / "docs" / "reference" / "exit-codes.md"
    return {int(code) for code in re.findall(r"^\| (\d+) \|", page.read_text(encoding="utf-8"), re.MULTILINE)}


def ended(what):
    """The exit code, as a shell sees it, of a command that does `what`; a process of its own, for signals."""
    code = f"""
import os, signal, sys
from biselect import cli, errors
def stop():
    {what}
cli.COMMANDS.register("stop", stop)
sys.argv = ["biselect", "stop"]
cli.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def test_the_page_of_exit_codes_is_true(run, tmp_path):
    in_process = {
        0: run("--version").code,
        2: run("select", "absent.csv", "-k", 1, "-m", 1, "--reference", "absent.csv").code,
    }
    assert all(code == seen for code, seen in in_process.items())
    by_itself = {
        1: "raise OSError(28, 'No space left on device')",
        3: "raise errors.InfeasibleError('nothing fits')",
        130: "os.kill(os.getpid(), signal.SIGINT)",
        143: "os.kill(os.getpid(), signal.SIGTERM)",
    }
    assert all(code == ended(what) for code, what in by_itself.items())
    assert table_of_codes() == {*in_process, *by_itself}


def test_the_page_opens_in_a_browser_where_there_is_one(run, tables, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or len(opened) < 3)
    asked = ["select", tables / "pool.parquet", "-k", 2, "-m", 2, "--reference", tables / "reference.parquet"]
    asked += ["--id-column", "id", "--exclude", "fraud", "--kinds", 1]
    refused = run(*asked, "--open")
    assert refused.code == 2 and "--open needs the folder of --out" in refused.err
    assert run(*asked, "--open", "--out", tmp_path / "a").code == 0
    assert run("report", tmp_path / "a", "--open", "--out", tmp_path / "b.html").code == 0
    assert opened == [(tmp_path / "a" / "report.html").as_uri(), (tmp_path / "b.html").as_uri()]
    older = ("--older", tables / "reference.parquet")
    watched = run("monitor", tables / "reference.parquet", *older, "--out", tmp_path / "w", "--open")
    assert watched.code == 0 and f"found no browser; the page is {tmp_path / 'w' / 'monitor.html'}" in watched.err


def test_memory_that_is_not_there_is_one_line(run, tables, monkeypatch):
    def hungry(*_, **__):
        raise MemoryError("Unable to allocate 7.28 TiB")

    monkeypatch.setattr("biselect.reviews.review", hungry)
    outcome = run("select", tables / "pool.parquet", "-k", 1, "-m", 1, "--reference", tables / "reference.parquet")
    assert outcome.code == 1 and "not enough memory (Unable to allocate 7.28 TiB); take fewer rows" in outcome.err
