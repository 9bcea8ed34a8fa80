"""Tutorials run from top to bottom as a reader types them, Python and shell in one folder, and print what they show."""

import doctest
import os
import re
import subprocess
import sys
from math import isclose
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PROMPT = "$ "
NUMBER = r"\d+(?:\.\d+)?"


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


def run_shell(command: str, folder: Path) -> str:
    """What a command prints on stdout; `biselect` and `python` are those of this interpreter."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"$ {command}{done.stdout}{done.stderr}"
    return done.stdout


def alike(shown: str, printed: str) -> bool:
    """Equal, `...` standing for anything; or with the same words, and every number off by a tenth or by two at most.

    Trained angles end a little elsewhere on another processor, and what is compiled or drawn from them with them.
    """
    if doctest.OutputChecker().check_output(shown, printed, FLAGS):
        return True
    words, numbers = zip(*(taken_apart(text) for text in (shown, printed)), strict=True)
    return words[0] == words[1] and all(isclose(*pair, rel_tol=0.1, abs_tol=2) for pair in zip(*numbers, strict=True))


def taken_apart(text: str) -> tuple[list[str], list[float]]:
    """A text without numbers, spaces and the lines of tables; and its numbers."""
    return re.sub(NUMBER, "#", re.sub("[━─]+", "", text)).split(), [float(found) for found in re.findall(NUMBER, text)]


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


@pytest.mark.parametrize("page", WITH_SHELL, ids=lambda page: page.stem)
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
    for other in ("depth 43, 123 hits", "width 33, 123 hits", "depth 33", "depth 33, 123 hits, 5"):
        with pytest.raises(AssertionError, match="depth 33"):
            check_shell(f"$ echo 'depth 33, 123 hits'\n{other}\n", tmp_path)
    with pytest.raises(AssertionError, match="false"):
        check_shell("$ false\n", tmp_path)


def test_the_commands_of_the_readme_run(tmp_path):
    """In a folder with the files that they name; `make` is what runs these tests."""
    prepare(tmp_path)
    lines = [line for _, text in blocks(ROOT / "README.md") for line in text.replace("\\\n", " ").splitlines()]
    ours = [line.removeprefix(PROMPT).removeprefix(".venv/bin/") for line in lines]
    ours = [line for line in ours if line.startswith("biselect ")]
    assert {"select", "train", "compile"} <= {line.split()[1] for line in ours}
    for command in ours:
        run_shell(command, tmp_path)


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
    write_csv(table.drop_columns("time").slice(0, 120), folder / "normal.csv")
    write_csv(table.drop_columns("time").slice(120), folder / "pool.csv")
    weights = {"drug": [f"d{i}" for i in range(8)], **{f"t{j}": rng.exponential(size=8) for j in range(5)}}
    write_csv(pa.table(weights), folder / "weights.csv")
    SelectionProblem(coupling=rng.normal(size=(5, 3)), k=2, m=1).save(folder / "problem.npz")
