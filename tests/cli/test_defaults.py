import inspect
import json
import os
import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from biselect.cli import app
from biselect.cli._toml import key_of, read_defaults

WHOLE = """
[select]
k = 2
m = 2
reference = "reference.parquet"
id-column = "id"
exclude = ["fraud", "u"]
neighbours = [1, 0]
open = false
kinds = 3
column = {y = "number"}
"""


@pytest.fixture
def here(tables, monkeypatch):
    monkeypatch.chdir(tables)
    return tables


def test_defaults_come_from_the_file_are_said_and_recorded(run, here):
    (here / "biselect.toml").write_text(WHOLE)
    first = run("select", "pool.parquet", "--out", "a")
    assert first.code == 0 and "from biselect.toml: -k 2 -m 2 --reference reference.parquet" in first.err
    recorded = shlex.split(json.loads((here / "a" / "report.json").read_text())["reproduce"]["command"])
    assert recorded[:2] == ["biselect", "select"] and "y=number" in recorded
    (here / "biselect.toml").unlink()
    again = run(*recorded[1:-1], "b")
    assert again.code == 0 and "biselect.toml" not in again.err
    assert (here / "a" / "selection.json").read_bytes() == (here / "b" / "selection.json").read_bytes()


def test_the_example_of_the_docs_is_taken(here):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "defaults.md").read_text(encoding="utf-8")
    (here / "biselect.toml").write_text(re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1])
    found = read_defaults(get_command(app).commands)
    assert found["select"]["k"] == "20" and found["select"]["neighbours"] == ["1", "0"]
    assert found["monitor"] == {"older": "normal.csv", "false_alarms": "0.01"}


def test_the_command_line_beats_the_file(run, here):
    (here / "biselect.toml").write_text(WHOLE)
    done = run("select", "pool.parquet", "-k", "3", "--exclude", "fraud", "--quiet", "--json")
    assert done.err == "" and len(json.loads(done.out)["samples"]) == 3
    helped = run("select", "-h").out
    assert "[biselect.toml: 2]" in helped and "[biselect.toml: 3]" in helped


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[selct]\nk = 1", "[selct] is no command; did you mean 'select'?"),
        ("[select]\nid_colum = 'a'", "[select] has no option 'id_colum'; did you mean 'id-column'?"),
        ("k = 1", "k stands in no section"),
        ("[select]\nk = 'many'", "[select] k: "),
        ("[select]\nk = true", "[select] k: takes a value"),
        ("[select]\nk = [1, 2]", "[select] k: takes one value"),
        ("[select]\nneighbours = 1", "[select] neighbours: takes a list of 2 values"),
        ("[select]\nproof = 1", "[select] proof: is true or false"),
        ("[select]\nshow = [{a = 1}]", "[select] show: takes numbers and text"),
        ("[select\n", "biselect.toml: cannot be read"),
        ("[select]\npool = 'x'", "[select] has no option 'pool'"),
    ],
)
def test_a_file_that_is_wrong_is_refused_by_name(run, here, content, said):
    (here / "biselect.toml").write_text(content)
    refused = run("select", "pool.parquet", "-m", "2", "--reference", "reference.parquet")
    assert refused.code == 2 and refused.err.startswith("error: biselect.toml") and said in refused.err
    assert run("select", "-h").code == 0  # help helps to mend it


def test_the_doctor_says_what_is_wrong_with_it(run, here):
    (here / "biselect.toml").write_text("[selct]\nk = 1")
    outcome = run("doctor")
    assert outcome.code == 1 and "[selct] is no command" in outcome.out


def test_the_doctor_shows_the_file(run, here, monkeypatch):
    monkeypatch.setenv("HOME", str(here))
    (here / "biselect.toml").write_text(WHOLE)
    (here / ".zfunc").mkdir()
    (here / ".zfunc" / "_biselect").touch()
    facts = json.loads(run("doctor", "--json").out)
    assert facts["defaults"]["file"] == str(here / "biselect.toml") and facts["completion"] == ["zsh"]
    assert facts["defaults"]["values"]["select"][:4] == ["-k", "2", "-m", "2"]
    assert "select -k 2 -m 2" in run("doctor").out


def test_nothing_of_the_file_steers_the_terminal(run, here):
    (here / "biselect.toml").write_text('[select]\nid-column = "\\u001b[31mid"\n')
    told = run("select", "pool.parquet", "-k", "1", "-m", "1", "--reference", "reference.parquet")
    assert "\x1b" not in told.err and told.code == 2
    assert "\x1b" not in run("doctor").out


REACHING = [(name, "on", "'dask://h:1'") for name in ("select", "check", "monitor", "summarise", "run")] + [
    ("select", "on", "'dask://stranger.example:8786'"),
    ("select", "reference", "'//stranger.example/share/normal.csv'"),
    ("select", "reference", "'\\\\stranger.example\\share\\normal.csv'"),
    ("monitor", "older", "'smb://stranger.example/normal.csv'"),
    ("select", "exclude", "['u', 'http://stranger.example']"),
    ("select", "out", "'/elsewhere'"),
    ("select", "out", "'../elsewhere'"),
    ("select", "out", "'inside/../../elsewhere'"),
    ("select", "out", "'link/elsewhere'"),
    ("inspect", "out", "'link/page.html'"),
    ("summarise", "out", "'../normal.npz'"),
]


@pytest.mark.parametrize(("section", "key", "value"), REACHING)
def test_the_file_of_a_folder_reaches_out_of_it_nowhere(run, here, tmp_path_factory, section, key, value):
    (here / "link").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    (here / "biselect.toml").write_text(f"[{section}]\n{key} = {value}\n")
    refused = run("select", "pool.parquet", "-k", "2", "-m", "2", "--reference", "reference.parquet")
    assert refused.code == 2 and f"error: biselect.toml: [{section}] {key}: a file beside tables" in refused.err
    assert "biselect/biselect.toml" in refused.err.replace("\n", "")  # where it may stand


def test_every_option_that_takes_a_place_was_thought_about():
    """A new one is either refused from the file of a folder or known to be only read."""
    read = {"reference", "older", "pool", "answers", "replay", "angles", "table", "start-from"}
    commands = get_command(app).commands
    options = [(command, one) for command in commands.values() for one in command.params]
    options = [(command, one) for command, one in options if one.param_type_name == "option"]
    places = {
        key_of(one)
        for command, one in options
        if "Path" in str(inspect.get_annotations(command.callback.__wrapped__, eval_str=True)[one.name])
    }
    assert "out" in places and places <= read | {"out"}, places
    reaching = {"host", "url", "address", "cluster", "server", "proxy", "folder", "script", "exec", "plugin"}
    assert not reaching & {key_of(one) for _, one in options}


def test_the_users_own_file_may_reach_out_and_gives_way_to_that_of_the_folder(run, here):
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "biselect" / "biselect.toml"
    own.parent.mkdir()
    own.write_text(f"[select]\nk = 3\nm = 2\nout = '{here.parent / 'own answer'}'\nreference = 'reference.parquet'\n")
    (here / "biselect.toml").write_text("[select]\nk = 2\nid-column = 'id'\nexclude = ['fraud']\n")
    done = run("select", "pool.parquet")
    assert done.code == 0, done.err
    assert json.loads((here.parent / "own answer" / "selection.json").read_text())["samples"] == ["r3", "r7"]
    assert json.loads(run("doctor", "--json").out)["defaults"]["file"] == f"{here / 'biselect.toml'}, {own}"
    own.write_text("[select]\non = 'dask://127.0.0.1:1'\n")
    refused = run("select", "pool.parquet", "-m", "2", "--reference", "reference.parquet", "--duplicates", "first")
    assert refused.code == 2 and "on=" in refused.err.replace("--on ", "on=")  # taken from there, as if typed
    own.write_text("[select]\nno-such = 1\n")
    assert str(own) in run("select", "pool.parquet", "-m", "2").err.replace("\n", "")
