"""Every link of the documents leads somewhere, and every document can be found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.architecture.tracked import ROOT, files, name, sources

if TYPE_CHECKING:
    from pathlib import Path

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
DOCUMENTS = [path for path in files() if path.suffix == ".md"]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def _text(path: Path) -> str:
    return FENCED.sub("", path.read_text())


def _anchors(path: Path) -> set[str]:
    """What the forges make of headings: lower case, words joined by hyphens."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in HEADING.findall(_text(path))
    }


def _is_dead(document: Path, link: str) -> bool:
    target, _, anchor = link.partition("#")
    path = (document.parent / target) if target else document
    if not path.exists():
        return True
    return bool(anchor) and anchor not in _anchors(path)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_links_lead_somewhere(document):
    links = [
        link
        for link in LINK.findall(_text(document))
        if not link.startswith(("http:", "https:", "mailto:"))
    ]
    assert [link for link in links if _is_dead(document, link)] == []


def test_documents_that_are_mentioned_exist():
    """In documents and in the code, where a docstring sends the reader to a page."""
    mentioned = {
        (name(path), target)
        for path in (*DOCUMENTS, *sources())
        for target in re.findall(r"\bdocs/[\w-]+\.md\b", path.read_text())
    }
    assert mentioned
    assert [pair for pair in mentioned if not (ROOT / pair[1]).exists()] == []


def test_index_lists_every_page():
    index = _text(ROOT / "docs" / "README.md")
    missing = [
        page.name
        for page in PAGES
        if page.name != "README.md" and f"({page.name})" not in index
    ]
    assert missing == []


def test_every_picture_is_shown():
    shown = {
        (document.parent / link).resolve()
        for document in DOCUMENTS
        for link in LINK.findall(document.read_text())
        if link.endswith(".png")
    }
    pictures = {path for path in files() if path.suffix == ".png"}
    assert pictures
    assert pictures - shown == set()
    assert max(path.stat().st_size for path in pictures) < 200_000
