"""Aggregates from outside: by hand, in contexts, through files, and back again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenure import Add, Tenure, UserError
from tenure.learning.exchange import bring_in, written
from tenure.playbook.aggregates import Number
from tenure.playbook.delta import Observe
from tenure.playbook.foreign import read_foreign


@pytest.fixture
def book(tmp_path: Path) -> Tenure:
    return Tenure.open(f"sqlite:///{tmp_path / 'book.db'}", scope="fin", embedder="none")


def sums(book: Tenure) -> list[tuple[str, str, str]]:
    return [(row.key, row.unit, row.figure("sum")) for table in book.aggregates() for row in table.rows]


def test_revoking_an_origin_recomputes_and_can_be_taken_back(book: Tenure) -> None:
    values: tuple[Number, ...] = (120, "130.50", 0.1)
    for place, value in enumerate(values):
        assert book.observe("bids", "paid", value, key="A", unit="EUR", run="r1", step=place, origin="local/web").status == "applied"
    book.observe("bids", "paid", "7", key="A", unit="EUR", run="r2", step=0, origin="local/file")
    assert sums(book) == [("A", "EUR", "257.6")]
    assert book.revoke(origin="local/web", reason="planted").version is not None
    assert sums(book) == [("A", "EUR", "7")]
    assert book.revoke(origin="local/web").version is None
    book.revoke(origin="local/web", revoked=False)
    assert sums(book) == [("A", "EUR", "257.6")]
    with pytest.raises(UserError, match="Nothing is named"):
        book.revoke()


def test_a_rollback_brings_the_figures_back(book: Tenure) -> None:
    book.observe("bids", "paid", 1, mark="m")
    with book.store.reading(book.scope) as reading:
        version = reading.version()
    book.observe("bids", "paid", 2, mark="m", show=["median"])
    book.observe("bids", "asked", 5)
    book.rollback(version)
    assert [(table.name, table.show, table.rows[0].figure("sum")) for table in book.aggregates()] == [
        ("paid", ("count", "mean", "min", "max", "last 3"), "1")
    ]


def test_a_context_shows_the_rows_that_the_task_names_behind_the_lessons(book: Tenure) -> None:
    book.apply([Add("bids", "Ask three bidders.")])
    book.apply([Observe("bids", "price paid", str(place), "EUR", f"bidder {place:03d}", run="r", step=place) for place in range(300)])
    found = book.context("What did bidder 217 ask last time?", budget=4000)
    assert found.text.index("Ask three bidders") < found.text.index("## figures")
    assert "bidder 217 | 1 | 217" in found.text
    assert "and 288 more of 300 rows" in found.text
    assert found.parts["figures"] <= 600
    assert found.tokens <= 4000
    assert "figures" not in Tenure.open("memory://", scope="x", embedder="none").context("bids").parts


def test_an_export_brings_all_numbers_along_and_twice_is_once(book: Tenure) -> None:
    book.observe("bids", "paid", "1.5", key="A", unit="EUR", show=["sum"])
    book.observe("bids", "paid", "1.5", key="A", unit="EUR")
    book.observe("bids", "paid", 2, key="B", run="r", step=3, origin="local/web")
    gone = book.observe("bids", "paid", 9, key="C")
    book.revoke(ids=[gone.id])
    text = written(book.playbook, "json")
    other = Tenure.open("memory://", scope="other", embedder="none")
    for target in (other, other, book):
        with target.store.writing(target.scope) as work:
            bring_in(work, read_foreign(text), ids=target.ids, at=target.clock.now(), author="import:file")
        assert sums(target) == [("A", "EUR", "3"), ("B", "", "2")]
        assert target.aggregates()[0].show == ("sum",)
    assert "figures" not in written(book.playbook, "ace")


def test_keys_are_redacted_and_long_numbers_are_not(book: Tenure) -> None:
    secret = "AKIA" + "ABCDEFGHIJKLMNOP"
    book.observe("bids", "paid", "4111111111111111", key=f"token {secret}")
    held = json.dumps([sums(book), book.context("bids").text]) + written(book.playbook, "json")
    assert secret not in held
    assert "4111111111111111" in held


def test_a_context_inherits_the_tables_of_the_scopes_above(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path / 'book.db'}", "memory://"):
        above = Tenure.open(url, scope="acme/fin", embedder="none")
        below = Tenure(above.store, "acme/fin/recon", embedder="none")
        other = Tenure(above.store, "acme/hr", embedder="none")
        above.observe("bids", "paid", 120)
        above.observe("bids", "asked", 7)
        below.observe("bids", "asked", 8)
        other.observe("bids", "secret", 9)
        text = below.context("bids").text
        assert "paid" in text
        assert "- bids: asked | count" in text
        assert "- bids (of acme/fin): asked | count" in text, "a scope's own table does not hide the one above it"
        assert "| 7" in text
        assert "| 8" in text
        assert text.index("| 8") < text.index("| 7"), "its own comes first"
        assert "secret" not in text
