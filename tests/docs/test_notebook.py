"""The notebook of the tutorials runs from its beginning, and shows what is kept in it."""

import json
import runpy
from pathlib import Path

import pytest

pytest.importorskip("nbclient", reason="needs the docs extra")
DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOK = DOCS / "tutorials" / "notebook.ipynb"


def shown(notebook) -> list[list[str]]:
    """What each code cell shows, as plain text."""
    outputs = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [["".join(output["data"]["text/plain"]) for output in some] for some in outputs]


def test_the_notebook_was_run_from_its_beginning():
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert all(len(cell["outputs"]) == 1 and "data" in cell["outputs"][0] for cell in cells)
    assert NOTEBOOK.stat().st_size < 400_000


@pytest.mark.slow
def test_the_notebook_shows_what_is_kept_in_it():
    again = runpy.run_path(str(DOCS / "figures" / "example_notebook.py"))["executed"]()
    assert shown(again) == shown(json.loads(NOTEBOOK.read_text(encoding="utf-8")))
