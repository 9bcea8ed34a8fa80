"""The documentation site: Sphinx reads the Markdown pages, the docstrings and the command line itself."""

import logging
import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

from biselect import __version__

sys.path.append(str(Path(__file__).parent / "extensions"))

logging.getLogger("qiskit").setLevel(logging.WARNING)  # it tells of every pass that it builds

project = "biselect"
version = release = __version__
copyright = "the biselect authors, Apache-2.0"
html_title = "biselect"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "command_line", "public_names"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # docs/figures/example_notebook.py runs it, and so do the tests

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False  # the signature has them
napoleon_use_rtype = False
default_role = "py:obj"  # single backticks in docstrings are code, and links where a name is known
python_use_unqualified_type_names = True

nitpicky = True
nitpick_ignore = [
    ("py:obj", "biselect_studies.experiments"),  # described by the studies
    ("py:obj", "biselect.columns.counts"),  # this and the next two: between passes over a large table
    ("py:class", "biselect.weights.reference.Windows"),
    ("py:class", "biselect.weights.weighed_tables.WeighedTables"),  # this and the next four: the one score
    ("py:class", "biselect.weights.scoring.Scoring"),
    ("py:obj", "biselect.weights.scoring.Scoring"),
    ("py:class", "biselect.weights.directed.CellWeights"),
    ("py:class", "biselect.weights.whole_row.WholeRow"),
    ("py:class", "biselect.reviews._null.Null"),  # the draws of a finding
    ("py:class", "biselect.tables._frames.NamedMatrix"),  # a table as the weigher takes it
    ("py:class", "biselect.extensions.Thing"),  # this and the next: whatever a registry holds, or a decorator marks
    ("py:class", "biselect.solvers.registry.Function"),
    ("py:class", "biselect.core.rules.Blocks"),  # this and the next two: between a circuit's spec and its simulator
    ("py:class", "biselect_studies.quantum.trade.TradePoint"),  # this and the next four are what functions give back
    ("py:class", "biselect.sessions.store.Withdrawal"),
    ("py:class", "biselect.reviews.reasons.Part"),
    ("py:class", "biselect_quantum.devices.readout.Corrected"),
    ("py:class", "biselect_quantum.pipelines._pipeline.Pipeline"),
    ("py:class", "biselect_quantum.devices.execution.run.Measurement"),
    ("py:class", "biselect_quantum.devices.layout.Qubit"),  # this and the next are numbers
    ("py:class", "biselect_quantum.devices.layout.Clbit"),
    ("py:class", "biselect_quantum.devices.compile.NativeCircuit"),  # what compiling adds to a DeviceCircuit
    ("py:class", "biselect_quantum.devices.noise.noisy_circuit.Step"),
]
nitpick_ignore_regex = [("py:.*", r"(?!biselect(_quantum|_studies)?\.).*")]  # other packages'

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_search_summary = False  # summaries are fetched, which a page opened from disk may not do
html_last_updated_fmt = None
html_theme_options = {"top_of_page_buttons": [], "light_css_variables": {"code-font-size": "80%"}}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
linkcheck_timeout = 20


def close_blocks(app: Sphinx, page: str, source: list[str]) -> None:
    """Take away the blank line that doctest needs at the end of a block."""
    if not source[0].startswith("{"):  # a notebook is JSON
        source[0] = re.sub(r"\n\n```$", "\n```", source[0], flags=re.MULTILINE)


def setup(app: Sphinx) -> None:
    """Read pages that way."""
    app.connect("source-read", close_blocks)
