from biselect.cli.from_options import make_command
from biselect.cli.options import Output
from biselect.cli.select import Budgets


def test_what_is_written_and_printed_is_asked_for_by_the_same_flags_everywhere():
    def command(budgets: Budgets, output: Output = Output()) -> None:
        """Do it."""

    made = make_command("it", command)
    flags = {parameter.name: parameter.opts for parameter in made.params}
    assert flags["out"] == ["--out"] and flags["json"] == ["--json"] and flags["quiet"] == ["--quiet", "-q"]
    assert flags["k"] == ["-k"] and flags["m"] == ["-m"] and not any(one.required for one in made.params)
