"""Links between our pages lead somewhere on disk too, for those who read them as plain Markdown."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]


def tokens(page: Path):
    """Every token of a page, those within lines included."""
    for token in MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
        yield token
        yield from token.children or []


def links(page: Path) -> list[str]:
    found = [token.attrs.get("href") or token.attrs.get("src") for token in tokens(page)]
    return [link for link in found if link and not re.match(r"[a-z]+:", link)]


def anchors(page: Path) -> set[str]:
    """Headings as GitHub and MyST name them."""
    parsed = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    headings = [after.content for token, after in pairwise(parsed) if token.type == "heading_open"]
    plain = [re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower()) for heading in headings]
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_link_is_broken(page):
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), f"{link} leads out of the repository"
        assert not anchor or anchor in anchors(target), link


def test_links_are_seen():
    assert sum(len(links(page)) for page in PAGES) > 80
    assert "a-second-witness" in anchors(ROOT / "docs" / "how-to" / "proof.md")


def test_no_picture_is_left_over():
    shown = {(page.parent / link).resolve() for page in PAGES for link in links(page)}
    assert {*(ROOT / "docs" / "images").iterdir()} <= shown
