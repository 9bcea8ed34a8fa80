import re
from pathlib import Path

import pytest

import biselect
from biselect.cli import app
from biselect.cli.flags import flags_of, in_flags

FLAGS = {"exclude": "--exclude", "must_columns": "--must-column", "k": "-k", "missing": "--missing"}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("leave out with exclude=['a', 'b c']", "leave out with --exclude 'a,b c'"),
        ("give both k= and m=", "give both -k and m="),
        ("missing='median', or", "--missing median, or"),
        ("""exclude=["it's"]: no""", """--exclude 'it'"'"'s': no"""),
        ("must_columns=['x']: there", "--must-column x: there"),
        ("k=3", "-k 3"),
        ("k = 0 is out of range", "k = 0 is out of range"),
        ("not_exclude=1 stays", "not_exclude=1 stays"),
        ("exclude=[open", "--exclude[open"),
    ],
)
def test_parameters_become_flags(message, said):
    assert in_flags(message, FLAGS) == said


def test_a_command_without_options_changes_nothing():
    assert in_flags("exclude=['a']", flags_of(None)) == "exclude=['a']"


def test_the_flags_are_those_of_the_command_itself():
    from typer.main import get_command

    flags = flags_of(get_command(app).commands["select"])
    assert flags["must_columns"] == "--must-column" and flags["k"] == "-k" and flags["reference"] == "--reference"
    assert flags["map"] == "--map" and "pool" not in flags


@pytest.mark.parametrize("part", ["core", "calibrate", "data", "report", "review", "errors.py", "estimators.py"])
def test_the_library_names_no_flag(part):
    root = Path(biselect.__file__).parent / part
    for path in [root] if root.is_file() else sorted(root.rglob("*.py")):
        if path.name in ("circuit.py", "training.py", "patch.py"):
            continue
        assert not re.search(r"(?<![-\w<])--[a-z]", path.read_text()), path
