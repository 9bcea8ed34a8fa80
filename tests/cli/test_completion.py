import os
import shutil
import subprocess
import sys

import pytest


def complete(run, monkeypatch, line, shell="bash"):
    """What the shell would offer at the end of a line."""
    words = line.split(" ")
    monkeypatch.setenv("_BISELECT_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    return run().out


@pytest.mark.parametrize(
    ("begun", "offered"),
    [
        ("biselect sel", ["select"]),
        ("biselect select p.csv --solver exa", ["exact"]),
        ("biselect select p.csv --map gaussian-", ["gaussian-robust"]),
        ("biselect select p.csv --preset ", ["default", "paper"]),
        ("biselect train p.npz --target bo", ["boston"]),
        ("biselect run here --on noi", ["noisy:FakeBoston"]),
        ("biselect select absent.csv --exclude a", []),
    ],
)
def test_names_are_completed(run, monkeypatch, begun, offered):
    assert complete(run, monkeypatch, begun).split() == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_answered_too(run, monkeypatch, shell):
    assert "pittsburgh" in complete(run, monkeypatch, "biselect compile p.npz --target pitts", shell)


def test_columns_of_the_given_table_are_completed(run, monkeypatch, tables):
    (tables / "export.csv").write_text('\ufeffid;"Betrag";Land code\n1;2,5;DE\n', encoding="utf-8")
    (tables / "rows.jsonl").write_text('{"amount": 1, "hour": 2}\n')
    (tables / "image.png").write_bytes(b"\x89PNG")
    for begun, offered in (
        ("pool.parquet --id-column i", "id\n"),
        ("export.csv --exclude ", "id\nBetrag\nLand code\n"),
        ("export.csv --exclude id,B", "id,Betrag\n"),
        ("export.csv --delimiter ; --show=L", "Land code\n"),
        ("rows.jsonl --time-column h", "hour\n"),
        ("image.png --exclude a", "\n"),
    ):
        found = complete(run, monkeypatch, f"biselect select {tables}/{begun}")
        assert found.replace("--show=", "").strip() == offered.strip()


def test_the_script_works_in_bash(tmp_path):
    """As installed: the function that bash calls, with a line that somebody types."""
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    program = tmp_path / "biselect"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m biselect "$@"\n')
    program.chmod(0o755)
    typed = 'COMP_WORDS=(biselect select p.csv --missing ""); COMP_CWORD=4; _biselect_completion biselect'
    script = f'eval "$(_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION=1 biselect --show-completion bash)"; {typed}'
    done = subprocess.run(
        ["bash", "--norc", "-c", f'{script}; echo "${{COMPREPLY[@]}}"'],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["weigh", "median", "error"]
