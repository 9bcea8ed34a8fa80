"""Options say the same in Python, on the command line and in messages."""

import shlex

import pytest

from biselect.errors import InputError
from biselect.options import (
    ANY,
    Columns,
    Csv,
    Search,
    Stated,
    Weighing,
    in_flags,
    in_python,
    non_defaults,
    refuse_others,
    running,
    running_command,
    spell,
)


def test_what_is_left_as_it_is_is_left_out():
    assert non_defaults(Columns(exclude=[], show=(), types={})) == {}
    assert in_python(Search()) == "search=Search()" and in_flags(Search()) == ""


def test_names_that_commas_cannot_part_stand_alone():
    words = shlex.split(in_flags(Columns(exclude=["a", "b c", "d,e", " f"])))
    assert words == ["--exclude", "a,b c", "--exclude", "d,e", "--exclude", " f"]


@pytest.mark.parametrize(
    ("options", "python", "flags"),
    [
        (Csv(decimal=",", thousands=""), "csv=Csv(decimal=',', thousands='')", "--decimal , --thousands ''"),
        (Csv(decimal=ANY), "csv=Csv(decimal=...)", "--decimal"),
        (Search(neighbours=(1, 0)), "search=Search(neighbours=(1, 0))", "--neighbours 1 0"),
        (
            Columns(types={"a b": "date:hour"}),
            "columns=Columns(types={'a b': 'date:hour'})",
            "--column 'a b=date:hour'",
        ),
        (Weighing(missing=Stated("weigh")), "weighing=Weighing(missing='weigh')", "--missing weigh"),
        (Weighing(map=object()), "weighing=Weighing(map=map)", None),
    ],
)
def test_a_message_spells_options_as_its_reader_types_them(options, python, flags):
    assert spell(options) == python == in_python(options) and running_command() is None
    if flags is not None:
        with running("biselect select pool.csv"):
            assert spell(options) == flags == in_flags(options) and running_command() == "biselect select pool.csv"


def test_parameters_are_spelled_too():
    assert spell(k=ANY, older="a b") == "k=, older='a b'"
    with running("biselect"):
        assert spell(k=3, older="a b") == "-k 3 --older 'a b'"


def test_what_has_no_part_is_refused():
    refuse_others(Search(seed=3), "seed")
    with pytest.raises(InputError, match=r"search=Search\(time_limit=3\): this plays no part here"):
        refuse_others(Search(seed=3, time_limit=3), "seed")
