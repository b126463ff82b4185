"""Pages over a playbook with some weeks of work in it, with keys of every role, and a browser where there is one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from tenure import Tenure
from tenure.governance.access import Role
from tenure.ports import Store
from tenure.serving.service.app import Room, build_app
from tenure.serving.service.callers import make_key
from tenure.serving.service.engine import Engine
from tenure.serving.web import mount_pages
from tenure.stores.in_memory import InMemoryStore
from tests.serving.web.playbooks import NOW, Weeks, fill

OURS = {"origin": "https://tenure.test", "sec-fetch-site": "same-origin"}
"""What a browser says of a form on one of our own pages."""


@dataclass
class Site:
    """An app with pages, and people who look at it.

    Attributes:
        book: behind it.
        clock: of it.
        app: it.
    """

    book: Tenure
    clock: Weeks
    app: FastAPI
    keys: dict[str, str] = field(default_factory=dict)

    def key(self, role: Role = "admin", scope: str = "acme/finance", days: int | None = None) -> str:
        made = make_key(self.book.store, self.book.clock, self.book.ids, scope=scope, role=role, by="test", label=f"{role}s", days=days)
        self.keys[made.text] = made.key.id
        return made.text

    def visit(self, role: Role | None = "admin", scope: str = "acme/finance") -> Browser:
        client = TestClient(self.app, base_url="https://tenure.test", follow_redirects=False)
        browser = Browser(client)
        if role is not None:
            assert browser.sign_in(self.key(role, scope)).status_code == 303
        return browser


class Browser:
    """A browser without script: follows links, fills in forms."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def sign_in(self, key: str, **more: str):  # type: ignore[no-untyped-def]
        return self.client.post("/sign-in", data={"key": key, **more}, headers=OURS)

    def get(self, path: str, *, status: int = 200) -> str:
        reply = self.client.get(path)
        assert reply.status_code == status, (path, reply.status_code, reply.text[:400])
        return reply.text

    def token(self, path: str = "/scopes") -> str:
        found = re.search(r'name="token" value="([0-9a-f]+)"', self.get(path))
        assert found is not None
        return found[1]

    def post(self, path: str, *, status: int = 303, **data: object) -> str:
        """Send a form; the page that comes after it."""
        reply = self.client.post(path, data={"token": self.token(), **data}, headers=OURS)
        assert reply.status_code == status, (path, reply.status_code, reply.text[:400])
        return self.get(reply.headers["location"]) if status == 303 else reply.text


def said(page: str) -> str:
    """What a page says came of a form, without markup."""
    found = re.search(r'<div id="said" role="status">(.*?)</div>', page, re.DOTALL)
    assert found is not None
    return re.sub(r"<[^>]+>", "", found[1])


def made_site(store: Store | None = None, *, weeks: int = 12, scope: str = "acme/finance", without_keys: bool = False) -> Site:
    clock = Weeks(NOW - timedelta(days=13), timedelta(minutes=60 if weeks > 20 else 170))
    book = Tenure(store or InMemoryStore(), scope, clock=clock, embedder="none")
    fill(book, clock, weeks=weeks)
    app = build_app(Engine(book), rooms=[Room(mount=mount_pages)], rate=0, failures=0, without_keys=without_keys)
    return Site(book, clock, app)


@pytest.fixture(scope="module")
def shared_site() -> Iterator[Site]:
    """For tests that change nothing but keys."""
    site = made_site()
    yield site
    site.book.close()


@pytest.fixture
def site() -> Iterator[Site]:
    site = made_site(weeks=4)
    yield site
    site.book.close()
