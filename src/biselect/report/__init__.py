"""Plain data to pages and files; nothing is computed here."""

from biselect.report.monitor import render_monitor
from biselect.report.render import render_html

__all__ = ["render_html", "render_monitor"]
