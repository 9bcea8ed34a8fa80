"""Plain data to pages and files; nothing is computed here."""

from biselect.pages.html import render_html, render_inspection
from biselect.pages.monitor import render_monitor

__all__ = ["render_html", "render_inspection", "render_monitor"]
