"""The answer for people: computed to plain data first, then rendered."""

from biselect.report.files import write_outputs
from biselect.report.render import render_html
from biselect.report.summary import summarise

__all__ = ["render_html", "summarise", "write_outputs"]
