"""A command that comes with another package says so where that package is not installed."""

import subprocess
import sys

import pytest


def without_other_packages(*arguments):
    code = (
        "import sys\nfrom biselect import cli\ncli.entry_points = lambda group: []\n"
        f"sys.argv = ['biselect', *{arguments!r}]\ncli.main()"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize("arguments", [(), ("--list",), ("theory-gaussian", "--quick", "--out", "x")])
def test_reproducing_without_the_studies_says_how_to_get_them(arguments):
    found = without_other_packages("reproduce", *arguments)
    assert found.returncode == 1 and "pip install biselect-studies" in found.stderr and "Traceback" not in found.stderr


def test_the_help_names_the_command_and_its_package():
    lines = [line for line in without_other_packages("--help").stdout.splitlines() if "reproduce" in line]
    assert len(lines) == 1
    assert "biselect-studies" in without_other_packages("reproduce", "--help").stdout
