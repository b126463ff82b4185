"""What the product promises of trust holds in the long-term memory: walls between tenants, secrets in every field, a sound tree."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import asdict
from pathlib import Path

import pytest

from tenure import Run, Step, Task, Tenure
from tenure.learning.memory_redaction import plain_name, shown_topics
from tenure.learning.session_memory import remember_session
from tenure.memory_tree.entries import Entry
from tenure.memory_tree.topics import Topic
from tenure.playbook.run import Origin
from tenure.traces.echo import CLOSE, OPEN, without_injected
from tests.learning.test_forgetting_memory import NOW, Fixed, entry

KEY, MAIL = "AKIAABCDEFGHIJKLMNOP", "dana.whitfield@example.com"


@pytest.fixture(params=["memory", "sqlite"])
def book(request: pytest.FixtureRequest, tmp_path: Path) -> Tenure:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'book.db'}"
    return Tenure.open(url, scope="acme/desk", embedder="none", clock=Fixed())


def everything(book: Tenure) -> str:
    """All that a memory holds and shows."""
    memory = book.memory
    with book.store.reading(book.scope) as look:
        kept = [look.entries(), look.memory_texts(), *(look.nodes(kind) for kind in ("day", "week", "month"))]
        where = [f"{day}#1" for day in look.memory_days()]
    shown = [memory.root(), memory.start(), memory.recall("rotate the key"), *map(memory.session, where)]
    return repr((kept, shown, memory.node("2026-11"), memory.read("plan", name=MAIL)))


def test_no_secret_is_kept_or_shown_whichever_field_it_stands_in(book: Tenure) -> None:
    memory = book.memory
    memory.log(f"rotate the key {KEY}", topic=f"mail {MAIL}", session=f"s-{KEY}", role=MAIL, event=f"event {KEY}")
    memory.checkpoint(request=f"rotate {KEY}", decisions=f"tell {MAIL}", session=MAIL, event=MAIL)
    memory.flush(f"flushed {KEY}", event=f"flush {KEY}")
    memory.write("plan", f"rotate {KEY}", name=MAIL)
    memory.write("scratchpad", f"{MAIL} has {KEY}")
    fields = {"topic": MAIL, "session": KEY, "role": MAIL, "event": f"imported {KEY}", "origin": f"local/mail/{MAIL}"}
    memory.keep([Entry(id=f"chat {KEY}", at="2026-11-29T10:00:00.000000+00:00", day="2026-11-29", text=f"said {KEY}", **fields)])  # type: ignore[arg-type]
    memory.compact()
    said = everything(book)
    assert "AKIA" not in said
    assert "whitfield" not in said
    assert "rotate the key" in said
    assert memory.read("plan", name=MAIL) == "rotate [redacted:aws-key]"
    # The same event is still one entry; another secret is another event, and so is another text under a name that lost one.
    assert memory.log("again", event=f"event {KEY}") is not None
    assert memory.log("again", event=f"event {KEY}") is None
    assert memory.log("another", event="event AKIAABCDEFGHIJKLMNOQ") is not None


def test_names_that_lose_a_secret_stay_apart_and_others_stay_as_they_are() -> None:
    assert plain_name("claude-code:0b1f6f3e-9c1d-4f0e-8a52-2f3f5cf0e7aa") == "claude-code:0b1f6f3e-9c1d-4f0e-8a52-2f3f5cf0e7aa"
    assert plain_name(KEY) != plain_name("AKIAABCDEFGHIJKLMNOQ")
    assert plain_name(KEY) == plain_name(KEY)
    # What is left of a phone number fits thousands of others: nobody can try them all and know.
    left = plain_name("+49 170 1234567")
    assert re.fullmatch(r"\[redacted:phone\]#[0-9a-f]{4}", left)
    assert sum(plain_name(f"+49 170 {n:07}", "[redacted:phone]") == left for n in range(300_000)) > 1
    # Names of entries with different texts stay apart even where those few digits are the same.
    assert plain_name(KEY, text="one") != plain_name(KEY, text="another")
    (topic,) = shown_topics([Topic(name=f"a {MAIL}", subs=("b", KEY), days=("2026-11-29",))])
    assert (topic.name, topic.subs) == ("a [redacted:email]", ("b", "[redacted:aws-key]"))


@pytest.mark.parametrize("other", ["globex/desk", "acme", "acme/desk2", "acme/desk/below", "acme2/desk", "acme/Desk"])
def test_a_memory_never_shows_in_another_scope(book: Tenure, other: str) -> None:
    theirs = book.in_scope(other)
    other = theirs.scope
    empty = everything_but_clock(theirs)
    book.memory.keep([entry(1, "the zebra signs invoices", topic="zebras", session="s", event="e")])
    book.memory.log("zebras are striped", type="feedback", topic="zebras")
    for layer, name in (("scratchpad", ""), ("plan", "zebras"), ("knowledge", "zebras")):
        book.memory.write(layer, "zebra", name=name)
    book.memory.compact()
    assert everything_but_clock(theirs) == empty
    assert "zebra" not in repr(empty)
    assert other not in book.store.scopes()
    with book.store.reading(other) as look:
        assert [hits.hits for hits in look.find_in_log("zebra invoices wall1 said", limit=9)] == [(), ()]
        assert look.check_memory() == []
    # The same ids and events are free there, and taking them out there leaves ours.
    theirs.memory.keep([entry(1, "mine", event="e")])
    assert book.store.scopes() == sorted([book.scope, other])
    with book.store.writing(other) as work:
        assert work.drop_entries(["e1", "unknown"]) == 1
        work.put_memory_file("plan", "zebras", "")
    assert len(book.memory.recall("zebra").found) > 0
    assert book.memory.read("plan", name="zebras") == "zebra"
    assert book.check_memory() == ()


def everything_but_clock(book: Tenure) -> object:
    memory = book.memory
    with book.store.reading(book.scope) as look:
        kept = [look.entries(), look.memory_days(), look.stale_periods(), look.memory_texts(), look.counts()]
        kept += [look.nodes(kind) for kind in ("day", "week", "month")]
    found = memory.recall("zebra invoices")
    return kept, memory.root(), (found.topics, found.nodes, found.found), memory.read("knowledge", name="zebras")


def test_a_tree_that_does_not_follow_from_its_entries_is_found_out(tmp_path: Path) -> None:
    with Tenure.open(f"sqlite:///{tmp_path / 'book.db'}", scope="acme/desk", embedder="none", clock=Fixed()) as book:
        assert book.check_memory() == ()
        book.memory.keep([entry(n, f"flour number {n}", days=30 * n) for n in range(6)])
        book.memory.compact()
        assert book.check_memory() == ()
        book.memory.log("late")  # what was not compacted yet is behind, not wrong
        assert book.check_memory() == ()
        book.memory.compact()
        with sqlite3.connect(tmp_path / "book.db") as other:
            other.execute("UPDATE memory_entries SET body = replace(body, 'number 5', 'number 7')")
        other.close()
        assert book.check_memory() == ("nodes that do not follow from the raw log: 2026-07-03, 2026-W27, 2026-07",)
        with sqlite3.connect(tmp_path / "book.db") as other:
            other.execute("DELETE FROM memory_entries WHERE id = 'e3'")
            other.execute("DELETE FROM memory_words WHERE rowid = (SELECT n FROM memory_entries WHERE id = 'e1')")
        other.close()
        wrong = book.check_memory()
        assert wrong[:3] == (
            "entries that are not in the text index, so that recall does not find them: 1",
            "rows of the text index that belong to no entry: 1",
            "nodes of days without entries: 2026-09-01",
        )


def session(*said: tuple[str, str], **more: str) -> Run:
    steps = [Step(kind="message", role=role, content=text) for role, text in said]
    thought = Step(kind="thought", role="assistant", content="think of zebras")
    return Run(id="claude-code:s", task=Task(text=said[0][1]), scope="acme/desk", steps=(*steps, thought), session="s", **more)  # type: ignore[arg-type]


def remembered(book: Tenure, run: Run) -> int:
    return remember_session(book.memory, book.store, run, at=NOW, own_words=without_injected)


def test_a_session_is_written_down_once_and_grows(book: Tenure) -> None:
    shown, only_ours = f"Ship it {OPEN}>a lesson{CLOSE}", f"{OPEN}>only ours{CLOSE}"
    first = session(("user", shown), ("assistant", f"With {KEY}?"), ("user", only_ours))
    assert (remembered(book, first), remembered(book, first)) == (2, 0)
    grown = session(*((one.role, one.content) for one in first.steps[:3]), ("user", "yes"))
    assert remembered(book, grown) == 1
    with book.store.reading(book.scope) as look:
        kept = look.entries()
    assert [(one.role, one.text, one.type, one.session) for one in kept] == [
        ("user", "Ship it", "log", "claude-code:s"),
        ("assistant", "With [redacted:aws-key]?", "log", "claude-code:s"),
        ("user", "yes", "log", "claude-code:s"),
    ]
    assert {one.topic for one in kept} == {"Ship it"}
    assert "AKIA" not in repr([asdict(one) for one in kept])


def test_nothing_is_written_down_of_a_session_that_was_forgotten_or_whose_origin_is_revoked(book: Tenure) -> None:
    mallory = Origin(principal="mallory", channel="web", trusted=False)
    run = Run(
        id="r", task=Task(text="pay"), steps=(Step(kind="message", role="user", content="pay me"),), scope="acme/desk", origin=mallory
    )
    book.keep(run)
    assert remembered(book, run) == 1
    book.revoke_origin("mallory")
    assert remembered(book, session(("user", "hello"))) == 1
    assert remembered(book, run) == 0
    book.lift_revocation("mallory")  # which brings back what was written down before
    assert remembered(book, run) == 0
    assert "pay me" in repr(book.memory.recall("pay me").found)
    book.forget(runs="r")
    assert remembered(book, run) == 0


def test_a_revoked_origin_is_out_of_the_memory_at_once_and_comes_back_whole(book: Tenure) -> None:
    book.memory.keep([entry(1, "the zebra signs invoices", origin="mallory/web/page (untrusted)"), entry(2, "flour for the baker")])
    book.memory.compact()
    before = everything(book)
    told = book.revoke_origin("mallory")
    assert told.entries == ("e1",)
    assert "zebra" not in repr((book.memory.root(), book.memory.node("2026-11"), book.memory.recall("zebra").found))
    assert "baker" in book.memory.root()
    assert book.check_memory() == ()
    assert book.lift_revocation("mallory").entries == ("e1",)
    assert everything(book) == before
    book.revoke_origin("mallory")
    assert book.forget(subjects="zebra", dry_run=True).entries == ("e1",)
    assert book.forget(origins="mallory").entries == ("e1",)
    with book.store.reading(book.scope) as look:
        assert "zebra" not in repr((look.entries(), look.memory_texts()))
