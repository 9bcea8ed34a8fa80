"""Tutorials run from top to bottom as a reader types them, Python and shell in one folder, and print what they show."""

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from math import isclose
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PROMPT = "$ "
NUMBER = r"\d+(?:\.\d+)?"
PLAIN = re.compile(r"biselect [^|&;<>$`*?~]+")  # nothing in it that needs a shell


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of every block of code; indented ones have no language."""
    tokens = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    return [(token.info.strip(), token.content) for token in tokens if token.type in ("fence", "code_block")]


PAGES = sorted((ROOT / "docs").rglob("*.md"))
WITH_SHELL = [page for page in PAGES if any(kind == "console" for kind, _ in blocks(page))]


def commands(text: str) -> list[tuple[str, str]]:
    """Every command after a prompt, a backslash continuing it, with the output shown below it."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines(keepends=True):
        if line.startswith(PROMPT):
            found.append((line.removeprefix(PROMPT), ""))
        else:
            command, shown = found[-1]
            found[-1] = (command + line, shown) if command.endswith("\\\n") else (command, shown + line)
    return found


def run_here(words: list[str], folder: Path) -> str:
    """What a `biselect` command prints, without the seconds that a process of its own takes to start."""
    from biselect.cli import main

    printed, said = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, chdir(folder), redirect_stdout(printed), redirect_stderr(said):
        patch.setattr(sys, "argv", words)
        patch.setenv("COLUMNS", "100")
        patch.setenv("NO_COLOR", "1")
        patch.setattr("webbrowser.open", lambda address: True)
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
    assert code == 0, f"$ {shlex.join(words)}\n{printed.getvalue()}{said.getvalue()}"
    return printed.getvalue()


def run_shell(command: str, folder: Path) -> str:
    """What a command prints on stdout; `biselect` and `python` are those of this interpreter."""
    if PLAIN.fullmatch(alone := command.partition(" #")[0].strip()):
        return run_here(shlex.split(alone), folder)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"$ {command}{done.stdout}{done.stderr}"
    return done.stdout


def alike(shown: str, printed: str) -> bool:
    """Equal, `...` standing for anything; or word by word, and every number off by a tenth of itself at most.

    Trained angles end a little elsewhere on another processor, and what is compiled or drawn from them with them. A
    page has `...` in place of a number that this moves further.
    """
    if doctest.OutputChecker().check_output(shown, printed, FLAGS):
        return True
    words, found = (re.sub("[━─]+", "", text).split() for text in (shown, printed))  # the lines of a table may stretch
    return follows(words, found)


def follows(shown: list[str], printed: list[str]) -> bool:
    """Whether the words are near each other one by one, `...` standing for any number of them."""
    if not shown or shown[0] == "...":
        return printed == [] if not shown else any(follows(shown[1:], printed[at:]) for at in range(len(printed) + 1))
    return bool(printed) and near(shown[0], printed[0]) and follows(shown[1:], printed[1:])


def near(shown: str, printed: str) -> bool:
    """Whether two words are the same but for `...` and for a tenth of their numbers."""
    if "..." in shown:
        return re.fullmatch(re.escape(shown).replace(r"\.\.\.", ".+"), printed) is not None
    numbers, found = ([float(number) for number in re.findall(NUMBER, word)] for word in (shown, printed))
    same = re.sub(NUMBER, "#", shown) == re.sub(NUMBER, "#", printed)
    return same and all(isclose(*pair, rel_tol=0.1) for pair in zip(numbers, found, strict=True))


def check_shell(text: str, folder: Path) -> None:
    for command, shown in commands(text):
        printed = run_shell(command, folder)
        assert not shown or alike(shown, printed), f"$ {command}{printed}"


def check_python(text: str, page: Path, names: dict) -> None:
    test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    said: list[str] = []
    failed = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append, clear_globs=False).failed
    names.update(test.globs)
    assert not failed, "".join(said)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] * (page.stem == "first-qaoa")) for page in WITH_SHELL],  # it trains
    ids=lambda page: page.stem,
)
def test_a_page_with_a_shell_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for kind, text in blocks(page):
        if kind == "console":
            check_shell(text, tmp_path)
        elif kind == "python":
            check_python(text, page, names)


def test_no_block_of_a_tutorial_is_left_out():
    """Without a prompt nothing would run; tutorials without a shell are doctested like every other page."""
    tutorials = [page for page in PAGES if page.parent.name == "tutorials"]
    assert len(tutorials) >= 4
    for page in tutorials:
        prompts = {"python": ">>> ", "console": PROMPT}
        kinds = [kind for kind, text in blocks(page) if kind and text.startswith(prompts.get(kind, "?"))]
        assert kinds and len(kinds) == sum(bool(kind) for kind, _ in blocks(page)), page


def test_a_command_that_prints_something_else_is_caught(tmp_path):
    check_shell("$ echo one \\\n    two\none ...\n", tmp_path)
    check_shell("$ echo 'depth 33, 123 hits'\ndepth 34, 119 hits\n", tmp_path)
    check_shell("$ echo '[1.2 %, 7.7 %], depth 33, 8 hits'\n[... %, 7.7 %], depth 34, ... hits\n", tmp_path)
    for other in ("depth 43, 123 hits", "width 33, 123 hits", "depth 33", "depth 33, 123 hits, 5"):
        with pytest.raises(AssertionError, match="depth 33"):
            check_shell(f"$ echo 'depth 33, 123 hits'\n{other}\n", tmp_path)
    for small in ("gap 0, p = 1", "gap 2, p = 3", "gap 2, p = 1.2", "gap -2, p = 1", "... 3, p = 1"):
        with pytest.raises(AssertionError, match="gap 2"):
            check_shell(f"$ echo 'gap 2, p = 1'\n{small}\n", tmp_path)
    with pytest.raises(AssertionError, match="false"):
        check_shell("$ false\n", tmp_path)


def test_the_commands_of_the_readme_run(tmp_path):
    """In a folder with the files that they name; `make` is what runs these tests."""
    prepare(tmp_path)
    lines = [line for _, text in blocks(ROOT / "README.md") for line in text.replace("\\\n", " ").splitlines()]
    ours = [line.removeprefix(PROMPT).removeprefix(".venv/bin/") for line in lines]
    ours = [line for line in ours if line.startswith("biselect ")]
    assert {"select", "train", "compile", "quantum"} <= {line.split()[1] for line in ours}
    for command in ours:
        if not command.startswith("biselect quantum"):
            run_shell(command, tmp_path)


@pytest.mark.slow
def test_the_paper_s_system_runs_from_the_readme(tmp_path):
    (command,) = re.findall(r"biselect quantum --demo.*", (ROOT / "README.md").read_text(encoding="utf-8"))
    run_shell(command, tmp_path)
    assert (tmp_path / "circuit-demo" / "index.html").exists()


def test_the_demo_prints_what_the_readme_shows(tmp_path):
    """The finding, the first row, the proof and the labels."""
    (shown,) = (text for kind, text in blocks(ROOT / "README.md") if kind == "text")
    printed = " ".join(run_shell("biselect demo --out report", tmp_path).split())
    wanted = [" ".join(line.split()) for line in shown.splitlines() if line != "…"]
    assert [line for line in wanted if line not in printed] == [] and len(wanted) >= 6
    assert any(line.startswith("Proven: ") for line in wanted)


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("*.md")], ids=lambda page: page.stem)
def test_nothing_is_left_to_be_filled_in(page):
    assert re.findall(r"\b(?:RANDOM|TODO|TBD|XXX|FIXME)\b", page.read_text(encoding="utf-8")) == []


def prepare(folder: Path) -> None:
    """Small tables and a problem under the names that the README uses."""
    import numpy as np
    import pyarrow as pa
    from pyarrow.csv import write_csv
    from pyarrow.parquet import write_table

    from biselect import SelectionProblem

    rng = np.random.default_rng(0)
    names = ["id", "time", *"abcdef"]
    rows = {name: np.arange(200) if name in ("id", "time") else rng.normal(size=200) for name in names}
    table = pa.table(rows)
    write_table(table, folder / "all.parquet")
    write_csv(table, folder / "all.csv")
    write_csv(table, folder / "your-file.csv")
    write_csv(table.drop_columns("time").slice(0, 120), folder / "normal.csv")
    write_csv(table.drop_columns("time").slice(120), folder / "pool.csv")
    weights = {"drug": [f"d{i}" for i in range(8)], **{f"t{j}": rng.exponential(size=8) for j in range(5)}}
    write_csv(pa.table(weights), folder / "weights.csv")
    SelectionProblem(coupling=rng.normal(size=(5, 3)), k=2, m=1).save(folder / "problem.npz")
