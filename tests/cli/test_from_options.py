"""A command is read off the fields of its options."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from biselect.cli._help import FIRST, grouped
from biselect.cli.from_options import Only, make_command
from biselect.options import Flag, Options, Search


@dataclass(frozen=True, kw_only=True)
class Trip(Options, heading="The way"):
    """Where to."""

    distance: Annotated[float, Flag("How far.", "-d", "--distance", first=True)]
    stops: Annotated[Sequence[str], Flag("Where to halt.", "--stop", value="PLACES")] = ()
    names: Annotated[Mapping[str, str], Flag("What a place is called.", "--name", value="PLACE=NAME")] = field(
        default_factory=dict
    )
    box: Annotated[tuple[int, int], Flag("Width and height.", value="WIDTH HEIGHT")] = (1, 2)
    by: Annotated[str, Flag("By what.", choices=("foot", "train"))] = "foot"
    fast: Annotated[bool, Flag("In a hurry.")] = False
    plan: Annotated[Path | None, Flag("A file.")] = None
    anything: Annotated[Any, Flag("Whatever.")] = None
    doubled: Annotated[int, Flag("Parsed.", parse=lambda text: 2 * int(text), value="NUMBER")] = 1
    secret: Annotated[int, Flag("Python alone has it.", offered=False)] = 7


taken = []


def go(
    place: Annotated[str, typer.Argument(help="The goal.")],
    trip: Trip,
    search: Annotated[Search, Only("solver", seed="Of the dice.")] = Search(seed=3, time_limit=9.0),
    loud: Annotated[bool, typer.Option("--loud", rich_help_panel="Sound", help="Shout.")] = False,
) -> None:
    """Go there."""
    taken[:] = [place, trip, search, loud]


def call(*words):
    runner = CliRunner().invoke(typer_app(), ["go", *words])
    return runner.exit_code, runner.output


def typer_app():
    class Main(typer.core.TyperGroup):
        def get_command(self, ctx, name):
            return make_command(name, go)

    app = typer.Typer(cls=Main)
    app.callback()(lambda: None)
    return app


def test_what_is_typed_arrives_in_the_objects():
    words = ["home", "-d", "2.5", "--stop", "a", "--stop", "b,c", "--name", "x=1=y", "--box", "3", "4", "--by", "train"]
    more = ["--fast", "--plan", "p.txt", "--anything", "60%", "--doubled", "4", "--seed", "5", "--loud"]
    assert call(*words, *more)[0] == 0
    trip = Trip(
        distance=2.5,
        stops=("a", "b,c"),
        names={"x=1": "y"},
        box=(3, 4),
        by="train",
        fast=True,
        plan=Path("p.txt"),
        anything="60%",
        doubled=8,
    )
    assert taken == ["home", trip, Search(seed=5, time_limit=9.0), True]


def test_what_is_not_typed_is_what_the_function_or_the_class_has():
    assert call("home", "-d", "1")[0] == 0
    assert taken == ["home", Trip(distance=1.0), Search(seed=3, time_limit=9.0), False]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["home"], "Missing option '-d'"),
        (["home", "-d", "1", "--secret", "1"], "No such option"),
        (["home", "-d", "1", "--time-limit", "1"], "No such option"),
        (["home", "-d", "1", "--name", "x"], "'x' is no PLACE=NAME"),
        (["home", "-d", "1", "--seed", "-1"], "Invalid value for '--seed'"),
    ],
)
def test_what_is_wrong_is_refused(words, said):
    code, output = call(*words)
    assert code == 2 and said in output


def test_help_groups_flags_by_their_class():
    command = make_command("go", go)
    groups = grouped([one for one in command.params if one.param_type_name == "option"])
    assert list(groups) == [FIRST, "The way", "Solving", "Sound"]
    by_name = {one.name: one for one in command.params}
    assert by_name["by"].metavar == "foot|train" and by_name["seed"].help == "Of the dice."
    assert by_name["seed"].default == 3 and by_name["distance"].required


def run_with(setup, *arguments):
    code = f"import sys\n{setup}\nfrom biselect import cli\nsys.argv = ['biselect', *{arguments!r}]\ncli.main()"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


ALONE = "from biselect import extensions\nextensions.entry_points = lambda group: []"


@pytest.mark.parametrize(
    ("command", "folders"), [("train", "./quantum"), ("run", "./quantum"), ("reproduce", "./studies ./quantum")]
)
@pytest.mark.parametrize("more", [(), ("--help",), ("x", "--quick", "--out", "y")])
def test_a_command_of_a_package_that_is_missing_says_how_to_get_it(command, folders, more):
    outcome = run_with(ALONE, command, *more)
    assert outcome.returncode == 1 and outcome.stdout == ""
    assert f"pip install {folders} in a clone" in outcome.stderr and outcome.stderr.count("\n") == 1


def test_help_shows_it_with_its_package():
    shown = " ".join(run_with(ALONE, "--help").stdout.split())
    assert "reproduce the command 'reproduce' comes with biselect-studies: pip install" in shown


def test_a_command_that_cannot_be_loaded_leaves_the_others_alone():
    broken = (
        "from biselect import extensions\nfrom importlib.metadata import EntryPoint\n"
        "extensions.entry_points = lambda group: [EntryPoint('odd', 'no_such_module:odd', group)]"
    )
    assert run_with(broken, "doctor", "--help").returncode == 0
    outcome = run_with(broken, "odd")
    assert outcome.returncode == 1 and "Traceback" not in outcome.stderr
    assert outcome.stderr.startswith("error: the command 'odd' cannot be loaded: ModuleNotFoundError")
    helped = run_with(broken, "--help")
    assert helped.returncode == 0 and "'odd' cannot be loaded" in helped.stdout


def test_a_command_loads_no_other():
    code = "import atexit; atexit.register(lambda: print(*sys.modules))"
    loaded = run_with(code, "select", "--help").stdout.splitlines()[-1].split()
    ours = [name for name in loaded if name.startswith("biselect")]
    assert "biselect.cli.select" in ours and "biselect.cli.monitor" not in ours
    assert not [name for name in ours if name.startswith(("biselect_quantum", "biselect_studies"))]
