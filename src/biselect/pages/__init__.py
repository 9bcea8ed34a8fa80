"""Plain data to pages and files; nothing is computed here."""

from biselect.pages.html import render_html
from biselect.pages.monitor import render_monitor

__all__ = ["render_html", "render_monitor"]
