"""Draws docs/images/payments-report.png: makes the tables of the analyst's tutorial, and their report."""

import doctest
import os
import re
import subprocess
import tempfile
from pathlib import Path

from report_page import IMAGES, photograph

TUTORIAL = Path(__file__).parents[1] / "tutorials" / "analyst.md"


def main() -> None:
    """Make the tables and the report as the page says."""
    text = TUTORIAL.read_text(encoding="utf-8")
    tables = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    command = re.search(r"\$ (.* --reference .* --out answer)\n", text)[1]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        names: dict = {}
        for example in doctest.DocTestParser().get_examples(tables):
            exec(example.source, names)
        subprocess.run(command, shell=True, check=True)
        photograph(Path("answer/report.html").absolute(), IMAGES / "payments-report.png", 1440, 1000)


if __name__ == "__main__":
    main()
