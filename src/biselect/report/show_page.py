"""Showing a page to whoever asked for it: below the cell of a notebook, elsewhere in the browser."""

import sys
import tempfile
import webbrowser
from html import escape
from importlib import import_module
from pathlib import Path

from biselect.core.files import write_file
from biselect.progress import in_notebook

HEIGHT = 720  # pixels of a page in a notebook


def show_page(page: str) -> None:
    """Show one self-contained page."""
    if in_notebook():
        import_module("IPython.display").display({"text/html": _frame(page), "text/plain": "Report"}, raw=True)
        return
    folder = Path(tempfile.mkdtemp(prefix="biselect-"))  # stays: the browser reads it after we are gone
    file = folder / "report.html"
    write_file(file, page)
    if not webbrowser.open(file.as_uri()):
        print(f"Open {file} in a browser.", file=sys.stderr)


def _frame(page: str) -> str:
    """The page in a frame of its own: its style and script reach nothing outside."""
    look = f'width="100%" height="{HEIGHT}" style="border:0;background:white"'
    return f'<iframe sandbox="allow-scripts allow-downloads" title="Report" {look} srcdoc="{escape(page)}"></iframe>'
