"""The README's longer example runs as it stands (its short one is a doctest)."""

import re
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_36_qubit_example_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[1] / "README.md").read_text(), re.S)
    example = next(block for block in blocks if "Ansatz(" in block)
    exec(example, {})
    size, energy, uniform = map(float, capsys.readouterr().out.split())
    assert size == 169_303_680
    assert energy < uniform  # even untrained angles of the right sign help
