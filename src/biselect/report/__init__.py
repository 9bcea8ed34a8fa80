"""The answer for people: computed to plain data first, then rendered."""

from biselect.report.files import write_outputs
from biselect.report.render import render_html
from biselect.report.summary import summarise
from biselect.report.view import explore, shared_block

__all__ = ["explore", "render_html", "shared_block", "summarise", "write_outputs"]
