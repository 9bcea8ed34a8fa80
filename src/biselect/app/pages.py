"""The workbench's pages: plain data into templates, with the report's look and words."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from biselect._version import __version__
from biselect.pages.html import render_page
from biselect.pages.review_rounds import grouped
from biselect.pages.words import words_of

FORMAT = "biselect-workbench-1"


def page(template: str, title: str, **content: Any) -> str:
    """One page; `title` is the key of its words."""
    words = words_of()
    told = {"format": FORMAT, "version": __version__, "title": str(words.say(title)), **content}
    return render_page(
        f"{template}.html", told, FORMAT, package="biselect.app", words=words, grouped=grouped, address=quote
    )
