import pytest
from typer.main import get_command

from biselect.cli import HEADINGS, app
from biselect.cli._help import FIRST, grouped
from biselect.options import Kinds, Search, Weighing, flags_of

ALL = get_command(app).commands


@pytest.mark.parametrize("name", [None, *ALL])
def test_help_fits_80_columns_and_shows_no_type(run, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    words = [] if name is None else [name]
    helped = run(*words, "-h")
    assert helped.code == 0 and helped.out == run(*words, "--help").out
    assert helped.out.startswith(f"Usage: {' '.join(['biselect', *words])} ")
    assert max(map(len, helped.out.splitlines())) <= 80
    assert not [line for line in helped.out.splitlines() if line.endswith("-")]  # nothing torn at a hyphen
    for noise in ("<", "[x>=", "TEXT\n", "\x1b"):
        assert noise not in helped.out


def test_what_matters_comes_first(run):
    shown = run("select", "-h").out
    first = shown.partition("What matters most:")[2].partition("\n\n")[0]
    flags = ("-k ", "-m ", "-r, --reference ", "--reference-until ", "--time-column ", "--id-column ", "--out ")
    places = [first.index(flag) for flag in flags]
    assert places == sorted(places)
    assert shown.index("What matters most:") < shown.index("Columns:") < shown.index("Output:")
    assert "Usage: biselect select POOL [OPTIONS]" in shown


def test_every_option_stands_in_one_group():
    for command in ALL.values():
        taken = [parameter for parameter in command.params if parameter.param_type_name == "option"]
        groups = grouped(taken)
        assert sum(map(len, groups.values())) == len(taken)
    assert {name for names in HEADINGS.values() for name in names} >= {*ALL}


def test_help_is_what_the_fields_say():
    options = {parameter.name: parameter for parameter in ALL["select"].params}
    for cls in (Weighing, Kinds, Search):
        for name, (_, flag) in flags_of(cls).items():
            assert (name in options) == flag.offered
            assert not flag.offered or (options[name].help, options[name].rich_help_panel) == (flag.help, cls.heading)
            assert f"{name}: {flag.help}" in cls.__doc__


def test_an_option_in_no_group_is_shown_all_the_same():
    class Unknown:
        name = "new"

    assert list(grouped([Unknown()])) == [FIRST]


def test_the_words_that_help_offers_are_those_of_the_library():
    from biselect.weights.alignment import DRIFT
    from biselect.weights.paper import PRESETS
    from biselect.weights.weigher import MISSING

    taken = {parameter.name: parameter.metavar for parameter in ALL["select"].params}
    for name, words in {"missing": MISSING, "drift": DRIFT, "preset": PRESETS}.items():
        assert {*taken[name].split("|")} == {*words}


def test_a_wrong_option_is_answered_with_the_nearest(run):
    answered = run("select", "--sed", "3")
    assert answered.code == 2 and "--seed" in answered.err and "╭" not in answered.err
