import pytest
import typer

from biselect.cli.from_options import make_command
from biselect.cli.options import Output
from biselect.cli.select import Budgets
from biselect.options import flags_of


def test_a_budget_is_a_number_or_auto():
    parse = flags_of(Budgets)["m"][1].parse
    assert (parse("3"), parse("auto")) == (3, "auto")
    with pytest.raises(typer.BadParameter, match="'few' is neither a whole number nor auto"):
        parse("few")


def test_what_is_written_and_printed_is_asked_for_by_the_same_flags_everywhere():
    def command(budgets: Budgets, output: Output = Output()) -> None:
        """Do it."""

    made = make_command("it", command)
    flags = {parameter.name: parameter.opts for parameter in made.params}
    assert flags["out"] == ["--out"] and flags["json"] == ["--json"] and flags["quiet"] == ["--quiet", "-q"]
    assert {parameter.name for parameter in made.params if parameter.required} == {"k", "m"}
