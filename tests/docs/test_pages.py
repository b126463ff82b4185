"""Pages hang together: links lead somewhere, and every page can be reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import ROOT, anchors_in, links_in, pages, place

OUTSIDE = ("http://", "https://", "mailto:")


@pytest.mark.parametrize("page", pages(), ids=place)
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    broken = []
    for link in links_in(page.read_text(encoding="utf-8")):
        if link.startswith(OUTSIDE):
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors_in(path.read_text(encoding="utf-8"))):
            broken.append(link)
    assert broken == []


def test_every_page_of_docs_is_linked_from_its_front_page() -> None:
    front = ROOT / "docs" / "README.md"
    linked = {(front.parent / link.partition("#")[0]).resolve() for link in links_in(front.read_text(encoding="utf-8"))}
    unreachable = [place(page) for page in pages() if page.is_relative_to(ROOT / "docs") and page != front and page not in linked]
    assert unreachable == []
